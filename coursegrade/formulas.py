r"""Formulas as MathML, which browsers set and print by themselves: the small part of TeX that examinations need.

Letters and numbers, _ and ^, \frac, \sqrt, \hat, \bar, \tilde, \mathrm{…}, \text{…}, \begin{pmatrix} a & b \\ c & d
\end{pmatrix}, Greek letters, log, exp, max, min, softmax, sign, and what SIGNS and SPACES name. Any
other sign stands as itself: ≤, φ, ∅, ·. Arguments have their braces: \frac{1}{2}.
"""

import re
import unicodedata
from html import escape

TOKEN = re.compile(r"\\(?:text|mathrm)\{[^{}]*\}|\\begin\{pmatrix\}.*?\\end\{pmatrix\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?"
                   r"|\S", re.S)
SIGNS = dict(zip(*[iter((r"cdot · times × le ≤ ge ≥ ne ≠ approx ≈ propto ∝ to → in ∈ notin ∉ sum ∑ prod ∏ int ∫ pm ± "
                         r"partial ∂ nabla ∇ infty ∞ mid ∣ emptyset ∅ cup ∪ cap ∩ setminus ∖ subseteq ⊆ top ⊤ dots … "
                         r"cdots ⋯ odot ⊙ ell ℓ varepsilon ε lambda λ | ‖ { { } } % %").split())] * 2, strict=True))
SPACES = {",": ".17em", ";": ".28em", "quad": "1em", "qquad": "2em"}
OVER = {"hat": "^", "bar": "¯", "tilde": "~"}


def mathml(tex, display=False):
    r"""A formula, given in TeX, as a MathML element; display: on a line of its own. ValueError if its braces do not
    match, KeyError for a command that is not set here.

    >>> mathml("x_1^2")
    '<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup></math>'
    """
    tokens = ["}", *TOKEN.findall(tex)[::-1]]
    inside = _row(tokens)
    if tokens != ["}"]:
        raise ValueError(f"${tex}$: a brace or an argument is missing, or there is one too many")
    return ('<math display="block">' if display else "<math>") + f"{inside}</math>"


def _row(tokens):
    """The MathML of what stands before the next }. Of `tokens`, which has the next one last, it takes what it sets."""
    parts = []
    while tokens and tokens[-1] != "}":
        if tokens[-1] in ("_", "^"):
            scripts = {}
            while tokens and tokens[-1] in ("_", "^"):
                sign = tokens.pop()
                scripts[sign] = _atom(tokens)
            base = parts.pop() if parts else "<mrow></mrow>"
            low, high = ("under", "over") if base[4:5] in ("∑", "∏") else ("sub", "sup")
            kind = "m" + low * ("_" in scripts) + high * ("^" in scripts)
            parts.append(f"<{kind}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{kind}>")
        elif tokens[-1] in ("-", "−") and (not parts or re.search(r"[^)\]}|‖]</mo>$", parts[-1])):
            tokens.pop()                                                # as in −2 and (−2), not as in 3 − 2
            parts.append('<mo form="prefix">−</mo>')
        else:
            parts.append(_atom(tokens))
    return "".join(parts)


def _atom(tokens):
    """The MathML of the next token, with its arguments."""
    token = tokens.pop()
    name = token[1:] if token.startswith("\\") else ""
    if token == "{":
        inside = _row(tokens)
        tokens.pop()
        return f"<mrow>{inside}</mrow>"
    if name in ("frac", "sqrt"):
        return f"<m{name}>{''.join(_atom(tokens) for _ in range(2 if name == 'frac' else 1))}</m{name}>"
    if name in OVER:
        return f'<mover accent="true">{_atom(tokens)}<mo>{OVER[name]}</mo></mover>'
    if name.startswith(("text{", "mathrm{")):
        kind = "mtext" if name.startswith("text") else "mi"
        return f"<{kind}>{escape(name.partition('{')[2][:-1])}</{kind}>"
    if name.startswith("begin"):
        cells = "".join("<mtr>" + "".join(f"<mtd>{_row(TOKEN.findall(cell)[::-1])}</mtd>" for cell in row.split("&"))
                        + "</mtr>" for row in name[len("begin{pmatrix}"):-len("\\end{pmatrix}")].split(r"\\"))
        return f"<mrow><mo>(</mo><mtable>{cells}</mtable><mo>)</mo></mrow>"
    if name in SPACES:
        return f'<mspace width="{SPACES[name]}"/>'
    if name in ("log", "exp", "max", "min", "softmax", "sign"):
        return f"<mi>{name}</mi>" + '<mspace width=".17em"/>' * (not tokens or tokens[-1] not in ("(", "_", "^"))
    case = "CAPITAL" if name.istitle() else "SMALL"
    sign = SIGNS.get(name) or unicodedata.lookup(f"GREEK {case} LETTER {name}") if name else token
    kind = "mn" if sign[:1].isdigit() else "mi" if sign.isalpha() or sign in "∞∅" else "mo"
    return f"<{kind}>{'−' if sign == '-' else escape(sign)}</{kind}>"
