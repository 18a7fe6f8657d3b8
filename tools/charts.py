"""A table of the lecture as a picture with large letters, for a slide: `draw(kind, html, key, axis)` gives SVG.

It computes nothing but places: each number is written as the table has it. Hatches, markers and dashes say once more
what colours say.
"""

import html
import math
import re
import textwrap

from .tables import read, table

BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#4a5561", "#1c2530"
SIZE, EM, LINE = 22, 13.2, 26               # of letters, of the width of most, of a line of them; px of the SVG
WIDE, LANE = 420, 32                        # a value axis; a bar and the room around it
DASHES = "", "12 7", "3 6"


def draw(kind, shown, key, axis=None):
    """A chart as HTML: an SVG, and the table that it was made of for who listens.

    kind: bars, dots, lines, heat or words. shown: what the cell shows, HTML. key: letters that no other chart of the
    page has. axis: [low, high] of the values, or "log". ValueError: it cannot be drawn so."""
    heads, *body = table(shown)
    inside, width, height = KINDS[kind](shown, key, axis)
    listed = "; ".join(" ".join(filter(None, row)) for row in body)
    alt = f"Drawn as {kind}: " + (", ".join(filter(None, heads)) if "<table" in shown else listed)
    heard = "".join(f'<div class="heard">{one}</div>' for one in re.findall("<table.*?</table>", shown, re.S))
    return (f'<svg class="chart" role="img" aria-label="{html.escape(alt)}." width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">{patterns(key)}{inside}</svg>{heard}')


def patterns(key):
    """What areas are filled with: f"url(#{key}1)" is orange-red and hatched, 2 is grey and dotted."""
    def pattern(i, ground, mark):
        return (f'<pattern id="{key}{i}" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform='
                f'"rotate(45)"><rect width="10" height="10" fill="{ground}"/>{mark}</pattern>')
    return "<defs>" + pattern(1, ORANGE, '<rect width="3" height="10" fill="#fff"/>') + pattern(
        2, "#fff", f'<circle cx="5" cy="5" r="3" fill="{GREY}"/>') + "</defs>"


def fills(key):
    """The fills of three series."""
    return BLUE, f"url(#{key}1)", f"url(#{key}2)"


def wide(text):
    """About how many px a text is wide."""
    return EM * len(text) + 4


def text(x, y, what, anchor="start", fill=INK, size=SIZE):
    """Letters whose middle is at the height y."""
    return (f'<text x="{x:.1f}" y="{y + size * .36:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">'
            f"{html.escape(what)}</text>")


def block(x, y, what, letters, anchor="start"):
    """A text in lines of so many letters, its middle at y."""
    parts = textwrap.wrap(what, letters) or [""]
    return "".join(text(x, y + LINE * (i - (len(parts) - 1) / 2), part, anchor) for i, part in enumerate(parts))


def lines_of(what, letters):
    return max(1, len(textwrap.wrap(what, letters)))


def line(x, y, to_x, to_y, stroke=INK, width=1.5, dash=""):
    return (f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{stroke}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}"/>')


def sign(series, x, y):
    """The marker of a series."""
    colour = (BLUE, ORANGE, GREY)[series]
    if series == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour}"/>'
    if series == 1:
        return f'<rect x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 8:.1f} l8 14 h-16 z" fill="{colour}"/>'


def scale(axis, numbers, size, unit="", zero=False):
    """(a function from a value to px between 0 and size, [(value, its words)] of the ticks). ValueError: a value is not
    on the axis that was asked for."""
    log = axis == "log"
    if log and min(numbers) <= 0:
        raise ValueError(f"draw: {min(numbers):g} cannot be on an axis of logarithms")
    change = math.log10 if log else float
    low, high = (change(number) for number in (axis if axis and not log else (min(numbers), max(numbers))))
    if axis and not log and not low <= min(numbers) <= max(numbers) <= high:
        raise ValueError(f"draw: {min(numbers):g} to {max(numbers):g} is not on the axis {axis}")
    if zero and not axis:
        low, high = min(low, 0), max(high, 0)
    spread = high - low or abs(high) or 1
    if not axis and not zero or log:
        low, high = low - .05 * spread, high + .05 * spread
    rough = (high - low) / 4
    step = max(1, round(rough)) if log else min(
        (f * 10 ** math.floor(math.log10(rough)) for f in (1, 2, 2.5, 5, 10)), key=lambda step: abs(step - rough))
    ticks = [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    named = [(10 ** tick if log else tick, f"{10.0 ** tick if log else round(tick, 9):g}".replace("-", "−") + unit)
             for tick in ticks]
    return lambda value: size * (change(value) - low) / (high - low), named


def across(at, ticks, x, top, bottom, title=""):
    """A value axis along the bottom, with its grid; as many ticks as have room."""
    every = math.ceil(max(wide(name) for _, name in ticks) * (len(ticks) - 1 or 1) / WIDE)
    begin = next((i for i, (value, _) in enumerate(ticks) if value == 0), 0) % every
    drawn = [line(x + at(value), top, x + at(value), bottom, INK if value == 0 else "#d5dbe0", 2 if value == 0 else 1)
             + text(x + at(value), bottom + 18, name, "middle") for value, name in ticks[begin::every]]
    return "".join(drawn) + text(x + WIDE / 2, bottom + 46, title, "middle")


def legend(heads, key, kind, width):
    """(the names of the series with their signs, the height that they take); nothing of a single one."""
    x, y, drawn = 0, 14, ""
    for i, head in enumerate(heads if len(heads) > 1 else ()):
        if x and x + 34 + wide(head) > width:
            x, y = 0, y + LINE + 4
        drawn += (f'<rect x="{x}" y="{y - 9}" width="24" height="18" fill="{fills(key)[i]}" stroke="{INK}"/>'
                  if kind == "bars" else sign(i, x + 12, y)) + text(x + 32, y, head)
        x += 56 + wide(head)
    return drawn, (y + 20) * bool(drawn)


def few(heads):
    if len(heads) > 3:
        raise ValueError(f"draw: {len(heads)} series, at most 3 can be told apart: choose by rows or columns")


def lanes(kind, shown, key, axis):
    """Bars or dots: a row for each label, in it a lane for each column."""
    labels, heads, rows = read(shown, turn=None)
    few(heads)
    known = [cell for row in rows for cell in row if cell.low is not None]
    if kind == "bars" and (axis == "log" or any(cell.value is None for cell in known)):
        raise ValueError("draw: bars have one value each and begin at 0: draw dots of intervals and of logarithms")
    numbers = [end for cell in known for end in (cell.low, cell.high)]
    at, ticks = scale(axis, numbers, WIDE, known[0].unit, zero=kind == "bars")
    written = {cell: cell.text if kind == "bars" or cell.value is None else cell.text.split(" ")[0] for cell in known}
    room = max(100, *(wide(words) + 14 for words in written.values()))
    letters = min(24, max(map(len, labels)))
    x = wide("m" * letters) + 10 + room * (kind == "bars" and min(numbers) < 0)
    names, top = legend(heads, key, kind, x + WIDE + room)
    y, drawn = top, ""
    for label, row in zip(labels, rows, strict=True):
        high = max(LANE * len(heads) + 10 * (len(heads) > 1), LINE * lines_of(label, letters) + 6)
        drawn += block(x - 10 - room * (kind == "bars" and min(numbers) < 0), y + high / 2, label, letters, "end")
        for i, cell in enumerate(row):
            middle = y + high / 2 + LANE * (i - (len(row) - 1) / 2)
            if cell.low is None:
                drawn += text(x + at(max(0, ticks[0][0]) if axis != "log" else ticks[0][0]) + 6, middle, cell.text)
            elif kind == "bars":
                place = i if len(heads) > 1 else int(cell.value < 0)
                ends = sorted((at(0), at(cell.value)))
                drawn += (f'<rect x="{x + ends[0]:.1f}" y="{middle - 12:.1f}" width="{ends[1] - ends[0]:.1f}" '
                          f'height="24" fill="{fills(key)[place]}" stroke="{INK}" data-value="{cell.value:g}"/>')
                drawn += whisker(x, at, cell, middle, INK)
                drawn += text(x + at(cell.low if cell.value < 0 else cell.high) + (-6 if cell.value < 0 else 6), middle,
                              written[cell], "end" if cell.value < 0 else "start")
            else:
                drawn += whisker(x, at, cell, middle, (BLUE, ORANGE, GREY)[i])
                drawn += sign(i, x + at(cell.value), middle) if cell.value is not None else ""
                drawn += text(x + WIDE + 14, middle, written[cell])
        y += high
    title = heads[0] if len(heads) == 1 else ""
    return (names + across(at, ticks, x, top, y, title) + drawn, x + WIDE + room, y + 36 + 28 * bool(title))


def whisker(x, at, cell, y, colour):
    """The interval of a cell, if it has one."""
    low, high = x + at(cell.low), x + at(cell.high)
    return "" if low == high else (line(low, y, high, y, colour, 3.5) + line(low, y - 7, low, y + 7, colour, 2.5)
                                   + line(high, y - 7, high, y + 7, colour, 2.5))


FOUND = r"[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?%?"


def places(names, loose):
    """The number in each of some names; None unless each has one."""
    found = [re.findall(FOUND if loose else f"^{FOUND}$", name.replace("−", "-")) for name in names]
    if all(len(one) == 1 for one in found):
        return [float(one[0].replace(",", "").rstrip("%")) for one in found]
    return None


def curves(shown, key, axis):
    """Lines over the numbers in the first column or, if these are words, over those in the heads."""
    labels, heads, rows = read(shown)
    xs, title = places(labels, loose=False), table(shown)[0][0]
    if xs is None:
        labels, heads, rows = read(shown, turn=True)
        xs, title = places(labels, loose=True), ""
    if xs is None:
        raise ValueError("draw: lines need a number in each row of the first column, or one in each head")
    few(heads)
    known = [cell for row in rows for cell in row if cell.value is not None]
    high = 330
    up, ticks = scale(axis, [cell.value for cell in known], high, known[0].unit)
    gaps = [abs(b - a) for a, b in zip(xs, xs[1:], strict=False)]
    log = min(xs) > 0 and gaps and max(gaps) > 8 * min(gaps)
    along, _ = scale("log" if log else None, xs, WIDE)
    x, top = max(wide(name) for _, name in ticks) + 14, 16
    drawn = "".join(line(x, top + high - up(value), x + WIDE, top + high - up(value), "#d5dbe0", 1)
                    + text(x - 8, top + high - up(value), name, "end") for value, name in ticks)
    free = -99
    for name, place in sorted(zip(labels, map(along, xs), strict=True), key=lambda pair: pair[1]):
        [short] = re.findall(FOUND, name)
        if place - wide(short) / 2 > free:
            drawn, free = drawn + text(x + place, top + high + 20, short, "middle"), place + wide(short) / 2
    ends = []
    for i, head in enumerate(heads):
        points = [(x + along(at), top + high - up(row[i].value), row[i])
                  for at, row in zip(xs, rows, strict=True) if row[i].value is not None]
        route = " ".join(f"{left:.1f},{height:.1f}" for left, height, _ in points)
        drawn += (f'<polyline points="{route}" fill="none" stroke="{(BLUE, ORANGE, GREY)[i]}" stroke-width="4" '
                  f'stroke-dasharray="{DASHES[i]}"/>' + "".join(sign(i, *point[:2]) for point in points))
        ends.append([points[-1][1], head, i])
    ends.sort()                                                             # [height, name, series]
    for before, after in zip(ends, ends[1:], strict=False):                 # names do not cover each other
        after[0] = max(after[0], before[0] + LINE * (lines_of(before[1], 18) + lines_of(after[1], 18)) / 2 + 4)
    low = max(0, ends[-1][0] + LINE * lines_of(ends[-1][1], 18) / 2 - top - high)
    drawn += "".join(sign(i, x + WIDE + 28, height - low) + block(x + WIDE + 44, height - low, head, 18)
                     for height, head, i in ends)
    drawn += text(x + WIDE / 2, top + high + 50, title, "middle")
    return drawn, x + WIDE + 52 + max(wide(head[:18]) for head in heads), top + high + 36 + 30 * bool(title)


def tint(value, most):
    """(a ground between white and blue, or white and orange-red; the colour of letters on it)"""
    share = min(1, abs(value) / most) if most else 0
    colour = ORANGE if value < 0 else BLUE
    mixed = [round(255 + (int(colour[i:i + 2], 16) - 255) * share) for i in (1, 3, 5)]
    return f"rgb({','.join(map(str, mixed))})", "#fff" if value > 0 and share > .85 else INK


def strongest(rows, axis):
    """The value that has the full colour."""
    if axis == "log":
        raise ValueError("draw: colours have no axis of logarithms")
    known = [cell.value for row in rows for cell in row if cell.low is not None]
    if None in known:
        raise ValueError("draw: a colour is of one value, and cells have intervals: draw dots")
    if axis and not axis[0] <= min(known) <= max(known) <= axis[1]:
        raise ValueError(f"draw: {min(known):g} to {max(known):g} is not on the axis {axis}")
    return max(map(abs, axis or known))


def heat(shown, key, axis):
    """The table itself, its cells coloured by their values."""
    labels, heads, rows = read(shown)
    most, letters = strongest(rows, axis), min(24, max(map(len, labels)))
    wanted = [cell.text for row in rows for cell in row] + [word for head in heads for word in head.split()]
    size = max(84, *(wide(words) + 12 for words in wanted))
    x, top = wide("m" * letters) + 14, LINE * max(lines_of(head, int(size / EM)) for head in heads) + 8
    drawn = "".join(block(x + size * (i + .5), top / 2, head, int(size / EM), "middle") for i, head in enumerate(heads))
    y = top
    for label, row in zip(labels, rows, strict=True):
        high = max(44, LINE * lines_of(label, letters) + 6)
        drawn += block(x - 12, y + high / 2, label, letters, "end")
        for i, cell in enumerate(row):
            ground, ink = tint(cell.value or 0, most)
            drawn += (f'<rect x="{x + size * i:.1f}" y="{y}" width="{size:.1f}" height="{high}" fill="{ground}" '
                      f'stroke="#fff" stroke-width="2"/>'
                      + text(x + size * (i + .5), y + high / 2, cell.text, "middle", ink))
        y += high
    return drawn, x + size * len(heads), y + 2


def spoken(shown, key, axis):
    """Words on the colour of their values, written below: rows are methods and heads words or, where the first head
    says so or there is one column, rows are the words."""
    first = table(shown)[0]
    labels, heads, rows = read(shown, turn=len(first) == 2 or bool(re.match("word|token", first[0])))
    most, letters = strongest(rows, axis), min(22, max(map(len, labels)))
    left, y, drawn, most_right = (wide("m" * letters) + 14 if len(labels) > 1 else 0), 0, "", 0
    for label, row in zip(labels, rows, strict=True):
        x, begin = left, y
        for head, cell in zip(heads, row, strict=True):
            size = max(wide(head) * 1.2, wide(cell.text)) + 10
            if x > left and x + size > 1000:
                x, y = left, y + 82
            ground, ink = tint(cell.value or 0, most)
            drawn += (f'<rect x="{x:.1f}" y="{y + 4}" width="{size:.1f}" height="40" fill="{ground}"/>'
                      + text(x + size / 2, y + 24, head, "middle", ink, 26)
                      + text(x + size / 2, y + 58, cell.text, "middle"))
            x += size + 8
            most_right = max(most_right, x)
        drawn += block(left - 14, begin + 24, label, letters, "end") if len(labels) > 1 else ""
        y += 88
    return drawn, most_right, y - 8


KINDS = {"bars": lambda *a: lanes("bars", *a), "dots": lambda *a: lanes("dots", *a), "lines": curves, "heat": heat,
         "words": spoken}
