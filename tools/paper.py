"""Pages to print for the hour: `python -m tools.paper` writes docs/print/, which docs/notes link to.

Each is one page of A4, cut along its dashed lines: slips, tiles and cards for what a lecture lets hands do.
"""

import html
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRINT = ROOT / "docs" / "print"
SENTENCE = "not a bad film , not bad at all .".split()                  # lecture 07
WORDS = "DATAIAIAIA", "DAAAAABGHI", "AADDDDBGHI"                        # lecture 11
STRING = "[()[[]("                                                      # lecture 12
STYLE = """
@page { size: A4 PAGE; margin: 10mm }
body { margin: 0; font: 12px/1.4 "DejaVu Sans", Verdana, Arial, sans-serif; color: #1c2530 }
p { margin: 0 0 3mm }
main { display: grid; grid-template-columns: repeat(COLUMNS, 1fr) }
main > * { box-sizing: border-box; height: TALLmm; border: 1px dashed #4a5561; display: flex; align-items: center;
  justify-content: center; font-size: LETTERSpx; overflow: hidden }
"""


def sheet(title, about, parts, columns, tall, letters, page=""):
    """A page of equal parts, `tall` mm high, with what to do with it above them."""
    style = STYLE
    for name, value in {"PAGE": page, "COLUMNS": columns, "TALL": tall, "LETTERS": letters}.items():
        style = style.replace(name, str(value))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{style}</style></head>\n<body><p><b>{title}.</b> {about}</p>\n<main>\n"
            + "\n".join(f"<div>{part}</div>" for part in parts)
            + "\n</main></body></html>\n")


def tiles():
    """The letters that suffice for each of the words of lecture 11, for one pair of students.

    >>> "".join(tiles())
    'AAAAABDDDDGHIIIT'
    """
    most = Counter()
    for word in WORDS:
        most |= Counter(word)
    return sorted(most.elements())


def review():
    """The review of lecture 00, with its spaces wide enough to underline a word."""
    from coursekit.worlds import handwritten_reviews

    text = html.escape(handwritten_reviews()[0].text)
    return f'<p style="padding:0 8mm;font-size:23px;line-height:2.1;word-spacing:.25em">{text}</p>'


def sheets():
    """Each page by the name of its file in docs/print/."""
    cards = [f'<span style="color:{colour}">{letter}</span>'
             for letter, colour in zip("ABCD", ("#0072b2", "#b34f00", "#00694d", "#8a3d6c"), strict=True)]
    return {
        "brackets": sheet("Lecture 12 · Brackets", f"Push and pop {STRING} with hands: a card for each sign, an "
                          "opening one goes on the stack. One page for a table, and one card to close with.",
                          [html.escape(sign) for sign in STRING + ")"], 2, 65, 150),
        "cards": sheet("Cards for votes", "One page for each student: what is predicted is held up, all at once.",
                       cards, 2, 132, 330),
        "review": sheet("Lecture 00 · A review", "Underline four words that decide, before any colours are looked at. "
                        "Two students a page.", [review()] * 2, 1, 130, 23),
        "slips": sheet("Lecture 07 · Ten slips", "One slip a token, in a bag: draw how many go, then which. One page "
                       "for a table.", SENTENCE, 2, 52, 64),
        "strip": sheet("Lecture 09 · A strip that never grows", "Cut, and glue the four into one of a metre. Words are "
                       "pieces of it, as wide as they are loud.", [""] * 4, 1, 42, 20, "landscape"),
        "tiles": sheet("Lecture 11 · Letter tiles", f"For two pairs of students: the upper half of the page is one "
                       f"pair's. Each lays {', '.join(WORDS)}, one after another.", tiles() * 2, 4, 32, 76)}


def main():
    PRINT.mkdir(exist_ok=True)
    for name, page in sheets().items():
        (PRINT / f"{name}.html").write_text(page, encoding="utf-8")
        print(f"docs/print/{name}.html")


if __name__ == "__main__":
    main()
