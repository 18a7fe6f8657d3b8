"""What a table in the output of a cell says: its words, and the numbers in all the forms that the lectures print. A
picture whose alternative text lists its bars is a table, too."""

import html
import re
from typing import NamedTuple

NUMBER = (r"(?=[+-]?\.?\d)([+-]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d*)(?:\.\d+)?(?:e[+-]?\d+)?) ?([%×]?)")
FORMS = [re.compile(form + r"(?: of \d+)?") for form in (
    f"{NUMBER} ?(?P<off>±) ?{NUMBER}", rf"{NUMBER} \[{NUMBER}, {NUMBER}\]", rf"{NUMBER} \({NUMBER} to {NUMBER}\)",
    rf"(?P<ends>){NUMBER} ?(?:to|…) ?{NUMBER}", rf"(?P<ends>)\[{NUMBER}, {NUMBER}\]",
    rf"{NUMBER} (?P<beside>\(){NUMBER}\)", NUMBER, rf"[^\d\s]+ {NUMBER}")]
LISTED = re.compile(r"(.+?) ([+-]?\d*\.?\d+(?:e[+-]?\d+)?(?: ± \d*\.?\d+)?)(?:, |\.?$)")


class Cell(NamedTuple):
    """A cell of a table: its words; its number, None where none is known; the ends of its interval; its unit."""

    text: str
    value: float | None
    low: float | None
    high: float | None
    unit: str


def number(text):
    """What a cell says: 1,234, −3.90, 93 %, 2e-7, 1.2×, 0.42 ± 0.03, 0.42 [0.39, 0.45], .38 to .45, [.38, .45], 9% of
    2479, “poem 0.94”, the first of 0.98 (0.96) and of 0.91 / 0.03, – for nothing. ValueError for anything else."""
    plain = re.sub(r"[   ]", " ", text.replace("−", "-")).strip(" ●○▲*").partition(" / ")[0]
    shown = plain.replace("-", "−") if re.search(r"\d", plain) else "–"
    if plain in ("", "–", "—", "-"):
        return Cell(shown, None, None, None, "")
    for form in FORMS:
        found = form.fullmatch(plain)
        if found:
            parts = [part for part in found.groups() if part not in ("±", "(", "")]
            numbers = [float(part.replace(",", "")) for part in parts if part not in ("%", "×")]
            unit = next((part for part in parts if part in ("%", "×")), "")
            if "off" in form.groupindex:
                value, off = numbers
                return Cell(shown, value, value - off, value + off, unit)
            if "ends" in form.groupindex:
                return Cell(shown, None, *numbers, unit)
            if "beside" in form.groupindex:
                numbers = numbers[:1]
            return Cell(shown, *(numbers if len(numbers) == 3 else numbers * 3), unit)
    raise ValueError(f"“{text}” is no number that can be drawn")


def cells(row):
    """The cells of a row of a table in HTML."""
    return re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.S)


def words(cell):
    """The words in a piece of HTML."""
    return html.unescape(re.sub("<.*?>", "", cell)).strip()


def table(shown):
    """The rows of words of what a cell shows: of its one table, the heads first, or of a picture whose alternative text
    lists its bars or its values with ±. ValueError if there is neither."""
    if shown.count("<table") == 1:
        return [[words(cell) for cell in cells(row)] for row in re.findall(r"<tr\b.*?</tr>", shown, re.S)]
    told = [words(part) for part in re.findall(r'<div class="heard">(.*?)</div>|$', shown, re.S)[:1]]
    told += [html.unescape(alt) for alt in re.findall(r'<img[^>]*?\balt="([^"]*)"', shown)]
    for text in told:
        bars = re.search(r"Bar chart(?: of ([^:]+?))? with (\d+) bars?: (.*)", text.replace("−", "-"), re.S)
        pairs = LISTED.findall(bars[3] if bars else text.replace("−", "-"))
        if bars and len(pairs) == int(bars[2]) or not bars and pairs and all("±" in value for _, value in pairs):
            return [["", bars and bars[1] or ""], *map(list, pairs)]
    raise ValueError("draw, and the cell shows neither one table nor bars that its alternative text lists")


def read(shown, turn=False):
    """(labels, heads, rows of Cells): the words of the first columns that are not all alike, joined, then one number
    for each head. turn: rows become columns; None: where there are too many columns. ValueError names the first cell
    that is no number."""
    def column(i):
        return [number(row[i]) for row in body]

    def numeric(i):
        try:
            return any(cell.low is not None for cell in column(i))
        except ValueError:
            return False

    heads, *body = table(shown)
    first = next(filter(numeric, range(1, len(heads))), 1)
    telling = [i for i in range(first) if len({row[i] for row in body}) > 1] or range(first)
    labels = [", ".join(filter(None, (row[i] for i in telling))) for row in body]
    try:
        columns = [column(i) for i in range(first, len(heads))]
    except ValueError as error:
        raise ValueError(f"draw: {error}; rows and columns choose what can") from None
    if len({cell.unit for column in columns for cell in column if cell.low is not None}) > 1:
        raise ValueError("draw: some numbers are in % or ×, and some are not; rows and columns choose")
    if turn or turn is None and len(body) <= 3 < len(columns):
        return heads[first:], labels, columns
    return labels, heads[first:], [list(row) for row in zip(*columns, strict=True)]
