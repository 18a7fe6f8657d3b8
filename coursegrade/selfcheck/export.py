r"""The quizzes for a learning platform: GIFT, which Moodle reads, and QTI 1.2 in a zip file, which Canvas reads.

Every answer keeps its explanation, which the platform shows to who gives it. A number is right within the same distance
as in the lecture. An order is asked as a choice among orders, since neither format has one that both platforms mark.
"""

import random
import re
import zipfile
from html import escape
from pathlib import Path
from xml.sax.saxutils import quoteattr

from coursegrade.selfcheck.questions import kind, within
from coursegrade.selfcheck.words import inline, rendered


def answers(question):
    """[(what is given, is it right?, HTML of why)] of a question: HTML of a choice or an order; of a number the number.

    >>> answers({"ask": "1 + 2?", "number": 3, "why": "Count.", "wrong": [{"number": 2, "why": "Multiplied?"}]})
    [(3, True, '<p>Count.</p>'), (2, False, '<p>Multiplied?</p>')]
    """
    if kind(question) == "choices":
        return [(inline(one["text"]), one.get("right", False), rendered(one["why"])) for one in question["choices"]]
    name = kind(question)
    wrong = [(one[name], False, one["why"]) for one in question.get("wrong", [])]
    found = [(question[name], True, question["why"]), *wrong]
    if name == "number":
        return [(given, right, rendered(why)) for given, right, why in found]
    draw, orders = random.Random(question["ask"]), [given for given, *_ in found]
    while len(found) < 4 and len(orders) < 6:                           # three steps have six orders
        other = draw.sample(question["order"], len(question["order"]))
        if other not in orders:
            orders.append(other)
            found.append((other, False, f"The right order: {_in_line(question['order'])}. {question['why']}"))
    return [(inline(_in_line(given)), right, rendered(why)) for given, right, why in found]


def _in_line(steps):
    return "; ".join(f"({place}) {step}" for place, step in enumerate(steps, 1))


def asked(question):
    """HTML of what is asked, with the unit of a number."""
    unit = f", in {escape(question['unit'])}" if "unit" in question else ""
    return rendered(question["ask"]) + f"<p>A number{unit}.</p>" * (kind(question) == "number")


# ── Moodle ────────────────────────────────────────────────────────────────────────────────────────────────────────────

def gift(quizzes):
    r"""The text of a GIFT file. quizzes: {title: [question]}.

    >>> sum_ = {"ask": "1 + 2 = {?}", "number": 3, "why": "Count.", "wrong": [{"number": 2, "why": "1·2"}]}
    >>> print(gift({"Sums": [sum_]}))
    $CATEGORY: Sums
    <BLANKLINE>
    ::Sums 1::[html]<p>1 + 2 \= \{?\}</p><p>A number.</p>{#
        =3:0.01#<p>Count.</p>
        =%0%2:0.01#<p>1·2</p>
    }
    <BLANKLINE>
    """
    parts = []
    for title, questions in quizzes.items():
        parts.append(f"$CATEGORY: {title}\n")
        for place, question in enumerate(questions, 1):
            number = kind(question) == "number"
            lines = [("=" if right else "=%0%" if number else "~")
                     + (f"{given}:{within(question)}" if number else _escaped(given)) + f"#{_escaped(why)}"
                     for given, right, why in answers(question)]
            parts.append(f"::{_escaped(title)} {place}::[html]{_escaped(asked(question))}{{{'#' * number}\n    "
                         + "\n    ".join(lines) + "\n}\n")
    return "\n".join(parts)


def _escaped(text):
    r"""A text in GIFT: its signs are escaped, and so are backslashes; a line's end would end the question."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text).replace("\n", "\\n")


# ── Canvas ────────────────────────────────────────────────────────────────────────────────────────────────────────────

def write_qti(path, quizzes):
    """Write a QTI 1.2 package: a zip file with one assessment for each of {title: [question]}, and a manifest."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        names = {f"quiz_{place:02}": title for place, title in enumerate(quizzes)}
        for name, title in names.items():
            archive.writestr(f"{name}.xml", assessment(name, title, quizzes[title]))
        archive.writestr("imsmanifest.xml", MANIFEST.format("".join(
            f'<resource identifier="{name}" type="imsqti_xmlv1p2" href="{name}.xml"><file href="{name}.xml"/>'
            "</resource>" for name in names)))


MANIFEST = ('<?xml version="1.0" encoding="UTF-8"?><manifest identifier="quizzes" '
            'xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"><metadata><schema>IMS Content</schema>'
            "<schemaversion>1.1.3</schemaversion></metadata><organizations/><resources>{}</resources></manifest>")


def assessment(name, title, questions):
    """The XML of one quiz."""
    items = "".join(_item(f"{name}_{place}", f"{title} {place}", one) for place, one in enumerate(questions, 1))
    return ('<?xml version="1.0" encoding="UTF-8"?><questestinterop '
            'xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2">'
            f'<assessment ident="{name}" title={quoteattr(title)}><section ident="root_section">{items}</section>'
            "</assessment></questestinterop>")


def _item(name, title, question):
    number, found = kind(question) == "number", answers(question)
    what = "numerical_question" if number else "multiple_choice_question"
    labels = "".join(f'<response_label ident="{i}"><material>{_html(given)}</material></response_label>'
                     for i, (given, *_) in enumerate(found)) if not number else ""
    respond = ('<response_str ident="r" rcardinality="Single"><render_fib fibtype="Decimal"/></response_str>' if number
               else f'<response_lid ident="r" rcardinality="Single"><render_choice>{labels}</render_choice>'
                    "</response_lid>")
    rules = "".join(f"<respcondition><conditionvar>{_is(given, i, number and within(question))}</conditionvar>"
                    + '<setvar action="Set" varname="SCORE">100</setvar>' * right
                    + f'<displayfeedback feedbacktype="Response" linkrefid="f{i}"/></respcondition>'
                    for i, (given, right, _) in enumerate(found))
    said = "".join(f'<itemfeedback ident="f{i}"><flow_mat><material>{_html(why)}</material></flow_mat></itemfeedback>'
                   for i, (*_, why) in enumerate(found))
    return (f'<item ident="{name}" title={quoteattr(title)}><itemmetadata><qtimetadata><qtimetadatafield>'
            f"<fieldlabel>question_type</fieldlabel><fieldentry>{what}</fieldentry></qtimetadatafield></qtimetadata>"
            f"</itemmetadata><presentation><material>{_html(asked(question))}</material>{respond}</presentation>"
            '<resprocessing><outcomes><decvar varname="SCORE" vartype="Decimal" minvalue="0" maxvalue="100"/>'
            f"</outcomes>{rules}</resprocessing>{said}</item>")


def _is(given, i, near):
    """The condition that an answer is this one."""
    if near is False:
        return f'<varequal respident="r">{i}</varequal>'
    return (f'<or><varequal respident="r">{given}</varequal><and><vargte respident="r">{given - near:.12g}</vargte>'
            f'<varlte respident="r">{given + near:.12g}</varlte></and></or>')


def _html(text):
    return f'<mattext texttype="text/html">{escape(text)}</mattext>'


def write(folder, quizzes):
    """Write quizzes.gift and quizzes-qti.zip to a folder; return their paths."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    moodle, canvas = Path(folder, "quizzes.gift"), Path(folder, "quizzes-qti.zip")
    moodle.write_text(gift(quizzes), encoding="utf-8")
    write_qti(canvas, quizzes)
    return moodle, canvas
