"""The check of assignment 15 on answers that may be used, and on one vote for each person."""

from coursegrade.kit.question import question

__all__ = ["votes"]


def _usable(rows, before=False, back=True, again=True, after=False, twice=False, everybody=False):
    """Numbers of the answers given under a consent that holds at the end."""
    agreed, gone, kept = set(), set(), []
    for i, (person, _, said) in enumerate(rows):
        if said == "agree":
            if again or person not in gone:
                agreed.add(person)
            kept = [j for j in kept if not twice or rows[j][0] != person]
        elif said == "withdraw":
            agreed.discard(person)
            gone.add(person)
            kept = [j for j in kept if not (back and rows[j][0] == person or everybody)]
        elif before and person not in gone or person in agreed or after and person in gone:
            kept.append(i)
    return kept


def _skipping(rows):
    """As asked for, but entries are removed from the list that the loop goes over."""
    agreed, kept = set(), []
    for i, (person, _, said) in enumerate(rows):
        if said == "agree":
            agreed.add(person)
        elif said == "withdraw":
            agreed.discard(person)
            for j in kept:                                              # noqa: B909 (that is the mistake)
                if rows[j][0] == person:
                    kept.remove(j)
        elif person in agreed:
            kept.append(i)
    return kept


def _signs(rows, used, pages=("with",), unsure=0):
    """{person: how many more right answers than wrong ones}."""
    value, found = {"right": 1, "wrong": -1, "unsure": unsure}, {}
    for i in used:
        person, page, said = rows[i]
        if page in pages:
            found[person] = found.get(person, 0) + value[said]
    return found


def _last(rows, used):
    found = {}
    for i in used:
        for person, sign in _signs(rows, [i]).items():
            found[person] = sign or found.get(person, 0)
    return found


def _never_undone(rows, used):
    found = _signs(rows, _usable(rows, back=False))
    return {person: found[person] for person in _signs(rows, used)}


def _counted(rows, used):
    found = [rows[i][2] for i in used if rows[i][1] == "with"]
    return [found.count(said) for said in ("right", "wrong", "unsure")]


def _told(rows):
    return all(page == "" if said in ("agree", "withdraw") else page in ("with", "without") and said in (
        "right", "wrong", "unsure") for _, page, said in rows)


CLASS = [("a1", "", "agree"), ("b2", "with", "right"), ("a1", "without", "wrong"), ("a1", "with", "right"),
         ("b2", "", "agree"), ("a1", "with", "wrong"), ("b2", "with", "wrong"), ("a1", "with", "right"),
         ("c3", "", "agree"), ("b2", "with", "unsure"), ("c3", "without", "wrong")]
CHANGED = [("j0", "", "agree"), ("j0", "with", "right"), ("d4", "", "agree"), ("d4", "with", "wrong"),
           ("e5", "", "agree"), ("e5", "with", "right"),
           ("d4", "with", "wrong"), ("d4", "", "withdraw"), ("e5", "with", "unsure"), ("d4", "", "agree"),
           ("d4", "with", "right"), ("e5", "", "withdraw"), ("f6", "", "agree"), ("f6", "with", "right"),
           ("f6", "with", "wrong"), ("f6", "", "agree"), ("f6", "without", "right"), ("e5", "with", "right"),
           ("g7", "with", "right")]
# What is answered last is not what most answers say; and somebody answers again who has taken all back.
LAST = [("k1", "", "agree"), ("k1", "with", "right"), ("k1", "with", "right"), ("k1", "with", "wrong"),
        ("m3", "", "agree"), ("m3", "with", "right"), ("m3", "with", "right"), ("m3", "with", "wrong"),
        ("l2", "", "agree"), ("l2", "with", "wrong"), ("l2", "with", "wrong"), ("l2", "", "withdraw"),
        ("l2", "", "agree"), ("l2", "with", "right")]
UNSURE = [("h8", "", "agree"), ("h8", "with", "unsure"), ("h8", "with", "right"), ("h8", "without", "wrong"),
          ("i9", "", "agree"), ("i9", "with", "unsure")]


@question((2, 2), {"two who answer, one who is shown nothing": (CLASS,), "some withdraw": (CHANGED,),
                   "some change their minds": (LAST,), "some cannot tell": (UNSURE,), "nobody": ([],)},
          promises={"`said` is `\"agree\"`, `\"withdraw\"` (then `page` is `\"\"`), or an answer, "
                    "`\"right\"`, `\"wrong\"` or `\"unsure\"`": _told},
          returns="used, right, wrong, tied",
          forbidden=("coursekit.people.pool", "coursekit.people.right_by_person"), instead="a loop of your own",
          otherwise="Take one person: agree, right, wrong, right, all with explanations. Three rows may be used, and "
                    "there is one vote, for right. What do you get?",
          hints={"unpack": "A row has three entries: person, page, said."})
def votes(rows, *, usable=_usable, signs=_signs, count=None, most=0, listed=lambda rows, used: used):
    """votes(rows): numbers of the rows that may be used, and how many people are more often right than wrong with
    explanations, more often wrong, and neither."""
    used = usable(rows)
    if count:
        return used, *count(rows, used)
    found = list(signs(rows, used).values())
    return (listed(rows, used), sum(v > most for v in found), sum(v < 0 for v in found),
            sum(0 <= v <= most for v in found))


votes.mistakes(
    ("These are answers. Answers of one person hang together: each person has one vote.", dict(count=_counted)),
    ("Rows were used that came before their person agreed. A consent does not work backwards.",
     dict(usable=lambda rows: _usable(rows, before=True))),
    ("Who withdraws takes back what was answered before, too.", dict(usable=lambda rows: _usable(rows, back=False))),
    ("Some answers of who has withdrawn are still there. A loop over a list from which it removes entries skips some: "
     "make a new list of those that stay.", dict(usable=_skipping)),
    ("Who has withdrawn may agree again, and begins anew: what is answered then may be used.",
     dict(usable=lambda rows: _usable(rows, again=False))),
    ("Who has withdrawn has to agree again, before an answer may be used.",
     dict(usable=lambda rows: _usable(rows, after=True))),
    ("To agree a second time takes nothing back. That is what withdrawing does.",
     dict(usable=lambda rows: _usable(rows, twice=True))),
    ("Pages without explanations vote as well. They are the controls: they belong into `used`, and into no vote.",
     dict(signs=lambda rows, used: _signs(rows, used, ("with", "without")))),
    ("`used` lacks the pages without explanations. They may be used, for the comparison.",
     dict(listed=lambda rows, used: [i for i in used if rows[i][1] == "with"])),
    ("Who withdraws takes back the own answers alone. Those of all others stay.",
     dict(usable=lambda rows: _usable(rows, everybody=True))),
    ("The last answer of a person decides here. All that may be used count: more right or more wrong ones?",
     dict(signs=_last)),
    ("Answers that were taken back still have a part in the vote. Count when all rows are read.",
     dict(signs=_never_undone)),
    ("“I cannot tell” is no wrong answer.", dict(signs=lambda rows, used: _signs(rows, used, unsure=-1))),
    ("Who has only said “I cannot tell” has a vote as well, a tied one.",
     dict(signs=lambda rows, used: _signs(rows, [i for i in used if rows[i][2] != "unsure"]))),
    ("Rows are counted from 0.", dict(listed=lambda rows, used: [i + 1 for i in used])),
    ("“I cannot tell” is an answer, too: it may be used.",
     dict(usable=lambda rows: [i for i in _usable(rows) if rows[i][2] != "unsure"])),
    ("“I cannot tell” is no right answer.", dict(signs=lambda rows, used: _signs(rows, used, unsure=1))),
    ("Who has given no answer with an explanation has no vote, not a tied one.",
     dict(signs=lambda rows, used: {rows[i][0]: 0 for i in used} | _signs(rows, used))))
