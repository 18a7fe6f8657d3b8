"""The check of assignment 15 on answers that may be used, and on one vote for each person."""

from attention_questions.prelude import Question

from . import solution


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


votes = Question(solution.votes, (2, 2), {
    "two who answer, one who is shown nothing": (CLASS,), "some withdraw": (CHANGED,),
    "some change their minds": (LAST,), "some cannot tell": (UNSURE,), "nobody": ([],)},
    promises={"`said` is `\"agree\"`, `\"withdraw\"` (then `page` is `\"\"`), or an answer, "
              "`\"right\"`, `\"wrong\"` or `\"unsure\"`": _told},
    returns="used, right, wrong, tied", forbidden=("coursekit.people.pool", "coursekit.people.right_by_person"),
    instead="a loop of your own",
    otherwise="Take one person: agree, right, wrong, right, all with explanations. Three rows may be used, and there "
              "is one vote, for right. What do you get?",
    hints={"unpack": "A row has three entries: person, page, said."})

TAKEN_BACK, ANSWERED = "used = [j for j in used if rows[j][0] != person]", "elif person in agreed"
VOTE = '(said == "right") - (said == "wrong")'
GONE = ("agreed, used = set(), [] → agreed, gone, used = set(), set(), []",         # who has ever withdrawn is known
        "agreed.discard(person) → agreed.discard(person)\n            gone.add(person)")
votes.mistakes(
    ("These are answers. Answers of one person hang together: each person has one vote.",
     f"sums[person] = sums.get(person, 0) + {VOTE} → sums[len(sums)] = {VOTE}"),
    ("Rows were used that came before their person agreed. A consent does not work backwards.",
     *GONE, f"{ANSWERED} → {ANSWERED} or person not in gone"),
    ("Who withdraws takes back what was answered before, too.", f"{TAKEN_BACK} → "),
    ("Some answers of who has withdrawn are still there. A loop over a list from which it removes entries skips some: "
     "make a new list of those that stay.", f"{TAKEN_BACK} → for j in used:\n                if rows[j][0] == person:\n"
                                            "                    used.remove(j)"),
    ("Who has withdrawn may agree again, and begins anew: what is answered then may be used.",
     *GONE, 'said == "agree" → said == "agree" and person not in gone'),
    ("Who has withdrawn has to agree again, before an answer may be used.",
     *GONE, f"{ANSWERED} → {ANSWERED} or person in gone"),
    ("To agree a second time takes nothing back. That is what withdrawing does.",
     f"agreed.add(person) → agreed.add(person)\n            {TAKEN_BACK}"),
    ("Pages without explanations vote as well. They are the controls: they belong into `used`, and into no vote.",
     'page == "with" → page in ("with", "without")'),
    ("`used` lacks the pages without explanations. They may be used, for the comparison.",
     'return used → return [i for i in used if rows[i][1] == "with"]'),
    ("Who withdraws takes back the own answers alone. Those of all others stay.", f"{TAKEN_BACK} → used = []"),
    ("The last answer of a person decides here. All that may be used count: more right or more wrong ones?",
     f"sums.get(person, 0) + {VOTE} → {VOTE} or sums.get(person, 0)"),
    ("Answers that were taken back still have a part in the vote. Count when all rows are read.",
     "agreed, used = set(), [] → agreed, used, ever = set(), [], []",
     "used.append(i) → used.append(i)\n            ever.append(i)",
     'sums = {} → voters = {rows[i][0] for i in used if rows[i][1] == "with"}\n    sums = {}',
     "for i in used): → for i in ever if rows[i][0] in voters):"),
    ("“I cannot tell” is no wrong answer.", 'said == "wrong" → said != "right"'),
    ("Who has only said “I cannot tell” has a vote as well, a tied one.",
     'page == "with" → page == "with" and said != "unsure"'),
    ("Rows are counted from 0.", "return used → return [i + 1 for i in used]"),
    ("“I cannot tell” is an answer, too: it may be used.", f'{ANSWERED} → {ANSWERED} and said != "unsure"'),
    ("“I cannot tell” is no right answer.", 'said == "right" → said != "wrong"'),
    ("Who has given no answer with an explanation has no vote, not a tied one.",
     "sums = {} → sums = {rows[i][0]: 0 for i in used}"))
