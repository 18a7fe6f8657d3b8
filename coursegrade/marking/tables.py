"""Tables as people and platforms save them, read; and written so that no spreadsheet takes a field for a formula."""

import csv
import io

from coursegrade.marking.files import whole


def read(path):
    """[{heading in small letters: text}] of a CSV file: with commas, semicolons or tabs, in UTF-8, UTF-16 or an old
    Windows encoding. Rows in which nothing stands are left out."""
    data = path.read_bytes()
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    head = text.partition("\n")[0]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    names = [name.strip().lower() for name in next(lines, [])]
    rows = [dict(zip(names, [field.strip() for field in line] + [""] * len(names), strict=False))
            for line in lines]                                          # what stands under no heading is not read
    return [row for row in rows if any(row.values())]


def write(path, rows, encoding="utf-8"):
    """Write dictionaries as a table, the keys of the first as its head."""
    with whole(path, newline="", encoding=encoding) as file:
        writer = csv.writer(file)
        writer.writerow([field(name) for name in rows[0]] if rows else [])
        writer.writerows([[field(value) for value in row.values()] for row in rows])


def field(value):
    """A value as a spreadsheet should have it.

    >>> field(None), field(1.5), field("=1+1")
    ('', '1.5', "'=1+1")

    Spreadsheets also take the full-width ＝ ＋ － ＠ of East Asian keyboards for the beginning of a formula.
    """
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return "'" + value if value.startswith(tuple("=+-@\t\r＝＋－＠")) else value
