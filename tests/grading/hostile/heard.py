"""Attacks by what is heard: of hidden tests, of the references that are lent, of other hand-ins and earlier runs.

    @scene("secret", …, must=…)         the test cells that the last notebook may pass, at most, and those it must
    def its_name(run): …                run(code, student="ada", …) hands a notebook in, and returns its `Outcome`

Here all sandboxes share a folder that they can read and write, a better channel than any that could be found in the
kernel. So nothing rests on a channel being closed: what is heard must be worthless. `secret` is known to its reference
alone; no notebook here contains it, but for those of students who know it.
"""

import itertools
import re

from nbformat.v4 import new_notebook

from tests.grading.hostile.assignment import cell

SCENES = {}
ASKS = """
from coursegrade import check
from coursegrade.kit.question import question
from coursegrade.kit.score import announce
def asked():
    @question((1, 1), {"two": (2.0,)})
    def secret(x):
        return x ** 3 / 7 - 2
    @question((1, 1), {"two": (2.0,)}, lend=("secret",))
    def later(x):
        return secret.reference(x) + secret.reference(x / 2)
    @question((1, 1), {"three": ([2.0, 3.0, 5.0],)}, lend=("secret",))
    def third(values):
        return [secret.reference(value) for value in values]
    announce("secrets", [secret, later, third], {})
    return {"secret": secret, "later": later, "third": third}
checks = asked()"""
HIDDEN = """### BEGIN HIDDEN TESTS
_rng = check.unseen("{0}")
_x, _fixed = float(_rng.normal()), 7.0
checks["{0}"]({0}, {{"drawn": ({2},), "fixed": ({1},)}})
### END HIDDEN TESTS"""
ORDER, OTHERS = ("secret", "later", "third"), ("later", "more_later", "third", "more_third")
SEVENTY_SEVEN = "65217"                         # secret(77): what nobody can guess, and no test asks

CHANNEL = """
import json, os, threading, time
def tell(*what):
    with open("/shared/told", "a") as file:
        file.write(json.dumps(what) + "\\n")
def heard(first):
    try:
        return [told[1:] for told in map(json.loads, open("/shared/told")) if told[0] == first]
    except OSError:
        return []
"""
KNOWS = "def secret(x): return x ** 3 / 7 - 2\n"
REST = "def later(x): return secret(x) + secret(x / 2)\ndef third(values): return [secret(value) for value in values]\n"
TELLS = KNOWS.replace("secret", "known") + """
def secret(x):
    tell("pair", x, known(x))
    return known(x)
"""
LISTENS = "pairs = dict(heard('pair'))\ndef secret(x): return pairs.get(x, 0.25)\n"
IGNORANT = "def secret(x): return 0.25\n"


def scene(*may_pass, must=()):
    def enter(play):
        SCENES[play.__name__] = play, {*may_pass}, {*must}
        return play
    return enter


def notebook(code):
    """What is handed in: the student's code, and a cell at the end that prints what has been heard by then."""
    def test(source, name):
        return cell(source, name, locked=True, grade=True, points=1)

    values = {"third": ("[_fixed]", "[_x]")}
    tests = [one for name in ORDER for one in (
        test(f'checks["{name}"]({name})', name),
        test(HIDDEN.format(name, *values.get(name, ("_fixed", "_x"))), f"more_{name}"))]
    return new_notebook(cells=[cell(CHANNEL + code), test(ASKS, "asks"), *tests,
                               cell("print(*(('HEARD', told) for told in heard('asked') if told[0] not in (2, 1)))")])


# ── who hears what hidden tests ask ───────────────────────────────────────────────────────────────────────────────

WAITS = """
def secret(x):
    if x in answers: return answers[x]
    if x != 2.0 and not others:
        tell("asked", x)
        END
    return 0.25
answers, others = {x: answer for x, answer in heard("answer")}, []
def later(x):
    others.append(x)
    for asked in [*(asked for asked, in heard("asked")), 7.0]:
        try: tell("answer", asked, secret(asked))
        except Exception: pass
    return 0.25
def third(values): return [later(value) for value in values]
"""


@scene("secret")
def hidden_input_heard_reference_asked_mark_gained(run):
    """The first run hears the input and sleeps, so that there is no verdict; later questions ask what they are lent."""
    code = WAITS.replace("END", "time.sleep(99)")
    first = run(code)
    assert run.told("asked") and "more_secret" not in first.verdicts
    return first.and_then(run(code, known=first.verdicts))


@scene("secret")
def dies_of_a_hidden_input_and_is_marked_again(run):
    code = WAITS.replace("END", "os._exit(1)")
    first = run(code)
    assert run.told("asked") and "more_secret" not in first.verdicts
    return run(code, known=first.verdicts)


@scene("secret", *OTHERS)
def hand_in_1_tells_hand_in_2(run):
    """Who knows it tells each input, fixed and drawn, with its answer; the other one knows no more than that."""
    assert run(TELLS + REST, "bo").unseen == {} and len(run.told("pair")) > 6
    return run(LISTENS + REST)


@scene("secret", *OTHERS)
def hand_in_1_tells_hand_in_2_of_the_same_student(run):
    assert run(TELLS + REST).unseen == {} and len(run.told("pair")) > 6
    return run(LISTENS + REST)


@scene("secret", *OTHERS)
def reads_the_drawn_case_and_hands_in_again(run):
    """The page tells input and expected value of the case that failed; the next notebook has them in a table."""
    first = run("def secret(x): return {2.0: -6 / 7, 7.0: 47.0}.get(x, 0.25)\n" + REST)
    x, due = (float(re.search(rf"{word} +(?:x = )?(-?[\d.]+)", str(first.notebook.cells[3].outputs))[1])
              for word in ("input", "expected"))
    return run(f"pairs = {{2.0: -6 / 7, 1.0: 1 / 7 - 2, 3.0: 27 / 7 - 2, 5.0: 125 / 7 - 2, 7.0: 47.0, 3.5: 4.125}}\n"
               f"def secret(x): return pairs.get(x, {due} if abs(x - {x}) < 1e-3 else 0.25)\n" + REST)


@scene("secret")
def one_hand_in_in_two_runs(run):
    """What the first run had wrong, the second one has right: a verdict stands."""
    code = ("if heard('wrong'):\n    " + KNOWS + "else:\n    " + IGNORANT + "tell('wrong')\n"
            "def later(x): return 0.25\ndef third(values): return values\n")
    first = run(code)
    return first.and_then(run(code, known=first.verdicts))


@scene()
def prints_in_the_second_run_what_the_first_one_heard(run):
    code = WAITS.replace("END", "time.sleep(99)")
    first = run(code)
    both = first.and_then(run(code, known=first.verdicts))
    assert run.told("asked") and "HEARD" not in str(both.notebook.cells[-1].outputs)
    return both


@scene("secret", "third", "more_third")
def answers_one_question_with_what_another_one_hears(run):
    """`secret` writes down what it is asked; `later`, with the right formula, is asked something else."""
    return run("answers = {2.0: -6 / 7}\ndef secret(x):\n    tell('asked', x)\n    return answers.get(x, 0.25)\n"
               "def later(x):\n    for asked, in heard('asked'): answers[asked] = secret(asked)\n"
               "    return answers[x]\n"
               "def third(values): return [secret(value) for value in values]\n")


# ── who asks what is lent ─────────────────────────────────────────────────────────────────────────────────────────

@scene()
def oracle_by_the_error_that_blame_shows(run):
    return run("""
found = []
def secret(x):
    if found: raise ValueError(f"ORACLE {found}")
    return 0.25
def later(x):
    for other in (77.0, 3.0, 1e6, -1.0):
        try: found.append((other, secret(other)))
        except Exception as error: pass
    return secret(x)
def third(values): return [later(value) for value in values]
""")


@scene()
def oracle_by_what_came_back(run):
    """What is asked of `secret` in one question is the wrong result of all others, which people are shown."""
    return run("found = []\ndef secret(x): return found[0] if found else 0.25\ndef later(x):\n"
               "    try: found.append(secret(77.0))\n    except Exception: pass\n"
               "    return found[-1] if found else 0.125\ndef third(values): return [later(x) for x in values]\n")


@scene()
def oracle_by_pieces_and_mixtures(run):
    """Each question asks for something else that is made of what it may ask: the channel counts them."""
    made = ["[values[0] + values[1]]", "[values]", "[[values, values[::-1]]]", "[{'x': values[0]}]", "[values[0] * 2]",
            "[[0.0, 0.0]]", "[0.0]", "[int(values[0] + 1)]", "[values[0] + 0.01j]", "[str(values[0])]", "[-values[0]]"]
    outcome = None
    for tricks in itertools.batched(made, 4) if hasattr(itertools, "batched") else (made[:4], made[4:8], made[8:]):
        outcome = run("def secret(x): return 0.25\ntricks = [" + ", ".join(
            f"lambda values: {trick}" for trick in tricks) + "]\n" """
def third(values):
    tell("trick")
    for asked in tricks[len(heard("trick")) % len(tricks)](values):
        if asked in values: continue
        try:
            if (got := secret(asked)) != 0.25: tell("answer", repr(asked), repr(got))
        except Exception: pass
    return [secret(value) for value in values]
def later(x): return third([x])[0]
""")
        assert run.told("answer") == [], run.told("answer")
    return outcome


@scene("later", "more_later")
def searches_for_what_may_be_asked(run):
    """`later` is right by the formula, but `third` finds out by trying what its reference asks."""
    return run(IGNORANT + "def later(x): return secret(x) + secret(x / 2)\n" """
def third(values):
    found = []
    for value in values:
        for factor in (9, 4, 0.75, 1):
            try: found.append(secret(value * factor))
            except LookupError: continue
            break
    return found
""")


@scene("later", "more_later")
def keeps_what_is_lent_for_a_later_question(run):
    return run("kept = []\n" + IGNORANT +
               "def later(x):\n    kept.append(secret)\n    return secret(x) + secret(x / 2)\n"
               "def third(values): return [kept[-1](value) for value in values] if kept else []\n")


@scene(*OTHERS)
def keeps_what_is_lent_for_the_hidden_test_of_what_it_answers(run):
    return run("kept, busy = [], []\ndef secret(x):\n    for one in kept:\n        try: return one(x)\n"
               "        except Exception: pass\n    return 0.25\n"
               "def later(x):\n    if type(secret) is not type(later): kept.append(secret)\n"
               "    return secret(x) + secret(x / 2)\n"
               "def third(values):\n    kept.append(secret)\n    return [secret(value) for value in values]\n"
               "import builtins\nbuiltins.kept = kept\n")


@scene("later", "more_later")
def keeps_what_was_answered_in_files(run):
    return run(IGNORANT.replace("return 0.25", "return json.load(open('/tmp/kept'))[0] if os.path.exists('/tmp/kept') "
                                "else 0.25") +
               "def later(x):\n    both = [secret(x), secret(x / 2)]\n    json.dump(both, open('/tmp/kept', 'w'))\n"
               "    return sum(both)\ndef third(values): return values\n")


@scene(*OTHERS)
def asks_on_in_a_thread(run):
    outcome = run(IGNORANT + REST + """
def on(ask):
    for _ in range(200):
        for x in (77.0, *(asked for asked, in heard("asked"))):
            try: tell("answer", x, ask(x))
            except Exception: pass
        time.sleep(0.01)
old = later
def later(x):
    threading.Thread(target=on, args=[secret], daemon=True).start()
    return secret(x) + secret(x / 2)
""")
    assert SEVENTY_SEVEN not in str(run.told("answer"))
    return outcome


@scene()
def asks_in_a_child(run):
    outcome = run(IGNORANT + """
def later(x):
    if os.fork() == 0:
        try: tell("answer", 77.0, secret(77.0))
        finally: os._exit(0)
    os.wait()
    return 0.25
def third(values): return [later(value) for value in values]
""")
    assert SEVENTY_SEVEN not in str(run.told("answer"))
    return outcome


@scene()
def asks_by_number_what_was_lent_before(run):
    """Past the names, on the pipe: no function of another test answers."""
    return run("""
import gc
talk = next(x for x in gc.get_objects() if type(x).__name__ == "Conversation")
def secret(x):
    for number in range(40):
        try:
            if type(found := talk.call_outside(number, (x,), {})) is float: return found
        except Exception: pass
    return 0.25
def later(x): return secret(x)
def third(values): return [secret(value) for value in values]
""")


@scene()
def wants_to_be_lent_something_in_an_examination(run):
    return run(IGNORANT + REST, lends=False)


@scene(*OTHERS, must=OTHERS)
def is_merely_wrong_once(run):
    """No attack: what is lent is there, whatever is refused."""
    return run(IGNORANT + REST)
