"""A table of numbers, as readable in a terminal, a plain-text diff or a screen reader as in a notebook."""

import numbers
from collections.abc import Mapping, Sequence

from coursekit.inputs import as_strings, plural

from .html import Html, display_width, escape, heading, visible


def table(rows: Sequence[Sequence] | Mapping[str, Sequence], columns: Sequence[str], formats=".3g",
          title: str | None = None) -> Html:
    """Rows of names and numbers under the names of their columns.

    rows: a list of rows (sequences, one value a column), or a dict from the name of each row to its other values.
    columns: the names of the columns, the one of the rows' names included. Strings are shown as they are, whole
    numbers in full, other numbers by `formats`: one format for all, or a dict from a column's name to its own (".3g"
    where it has none). A dict's format also applies to whole numbers. None is an empty place ("–"), booleans are "yes"
    and "no". Numbers stand at the right, words at the left.
    Raises ValueError in one line for a row of another length than `columns`, for a format that does not fit its value,
    and for a format of a column that is not there.

    >>> table({"tame": [0.8591, 64], "peaky": [0.8524, 64]}, ["model", "accuracy", "reviews"], {"accuracy": ".1%"})
    model  accuracy  reviews
    tame      85.9%       64
    peaky     85.2%       64
    """
    columns = [visible(name) for name in as_strings(columns, "columns")]
    rows = [[name, *values] for name, values in rows.items()] if isinstance(rows, dict) else [list(row) for row in rows]
    own = formats if isinstance(formats, dict) else {}
    unknown = sorted(set(own) - set(columns))
    if unknown:
        raise ValueError(f"formats names the column {unknown[0]!r}, and the columns are {', '.join(columns)}")
    for i, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValueError(f"row {i} has {plural(len(row), 'value')} for {plural(len(columns), 'column')}")
    common = ".3g" if own else formats
    cells = [[_cell(value, own.get(name), common, name) for value, name in zip(row, columns, strict=True)]
             for row in rows]
    right = [any(_is_number(row[j]) for row in rows) for j in range(len(columns))]
    return Html(f'<div style="margin:4px 0">{heading(title)}{_html(columns, cells, right)}</div>',
                ("" if title is None else f"{visible(title)}\n") + _text([columns, *cells], right))


def _is_number(value):
    return (isinstance(value, numbers.Real) or hasattr(value, "item")) and not isinstance(value, bool)


def _cell(value, own, common, column):
    if hasattr(value, "item") and not isinstance(value, numbers.Real):             # a tensor or array of one number
        value = value.item()
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not _is_number(value) or (isinstance(value, numbers.Integral) and own is None):
        return visible(str(value))
    try:
        return format(value, own or common)
    except ValueError:
        raise ValueError(f"the format {own or common!r} of column {column!r} does not fit {value!r}") from None


def _text(lines, right):
    widths = [max(display_width(line[j]) for line in lines) for j in range(len(right))]

    def padded(cell, j):
        space = " " * (widths[j] - display_width(cell))
        return space + cell if right[j] else cell + space

    return "\n".join("  ".join(padded(cell, j) for j, cell in enumerate(line)).rstrip() for line in lines)


def _html(columns, cells, right):
    style = ['style="text-align:right"' if at_right else 'style="text-align:left"' for at_right in right]
    head = "".join(f'<th scope="col" {s}>{escape(name)}</th>' for name, s in zip(columns, style, strict=True))
    body = "".join("<tr>" + f'<th scope="row" {style[0]}>{escape(first)}</th>'
                   + "".join(f"<td {s}>{escape(cell)}</td>" for cell, s in zip(rest, style[1:], strict=True)) + "</tr>"
                   for first, *rest in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
