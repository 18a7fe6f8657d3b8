"""Checks of assignment 15 on people: an exact test and its interval, a vote for each of them, and a study's plan."""

from statistics import NormalDist

from attention_questions.prelude import Question, math

from . import solution

# -- exact -----------------------------------------------------------------------------------------------------------

LIBRARY = tuple(f"coursekit.evaluate.{name}" for name in (
    "exact_binomial_test", "exact_interval", "binomial_power", "people_needed"))


exact = Question(solution.exact, (2, 2), {
    "nine of ten": (9, 10, 0.5, 0.95), "chance is a tenth": (4, 20, 0.1, 0.9),
    "chance is above a half": (5, 12, 0.7, 0.8), "none of five": (0, 5, 0.5, 0.95), "all of six": (6, 6, 0.75, 0.5),
    "as likely as another": (7, 9, 0.7, 0.95), "another is a bit likelier": (7, 13, 0.35, 0.9)},
    promises={"with probability `p`, $0 < p < 1$": lambda k, n, p, confidence: 0 < p < 1,
              "whole numbers, 0 ≤ k ≤ n, n from 1 on": lambda k, n, p, confidence: 0 <= k <= n >= 1,
              "numbers between 0 and 1": lambda k, n, p, confidence: 0 < confidence < 1},
    returns="p_value, low, high", forbidden=(*LIBRARY, "scipy.stats.binomtest"), instead="a sum of your own",
    otherwise="By hand, for 2 of 2 with p = 1/2: the four outcomes 0, 1, 1, 2 have 1/4 each. No likelier than 2 are 2 "
              "and 0: p value 1/2. And low is where π² = (1 − confidence)/2.",
    why="Both ends of the interval are one search: the place where a tail reaches what the confidence leaves.\nHalving "
        "sixty times is exact to the last digit, and at k = 0 and k = n it runs to 0 and to 1 by itself.",
    hints={"endless": "60 steps of bisection are more than enough: `for _ in range(60)`."})


def _approximate(k, n, p, confidence, wilson):
    """The p value is right, the interval is that of a normal distribution: plain (Wald's), or Wilson's."""
    z, m = NormalDist().inv_cdf((1 + confidence) / 2), k / n
    a = wilson * z * z / n
    middle, half = m + a / 2, z * math.sqrt((m * (1 - m) + a / 4) / n)
    return solution.exact(k, n, p, confidence)[0], (middle - half) / (1 + a), (middle + half) / (1 + a)


NO_LIKELIER, REST = "x for x in by_chance if x <= by_chance[k] * (1 + 1e-7)", "(1 - confidence) / 2"
exact.mistakes(
    ("The p value looks at one side: so many, or more. Two-sided, all outcomes count that are no likelier than k.",
     f"{NO_LIKELIER} → by_chance[k:]"),
    ("Twice the smaller tail. That is the same where p is ½ only: which outcomes are no likelier than k?",
     f"sum({NO_LIKELIER}) → min(2 * sum(by_chance[k:]), 2 * sum(by_chance[:k + 1]), 1.0)"),
    ("Another outcome is exactly as likely as k, and rounding hides it: compare with law[k] · (1 + 1e-7).",
     " * (1 + 1e-7) → "),
    ("The p value sums outcomes as far from n · p as k is. Far is not rare where p is not ½: compare probabilities.",
     f"{NO_LIKELIER} → x for h, x in enumerate(by_chance) if abs(h - n * p) >= abs(k - n * p) - 1e-9"),
    ("Outcomes that are exactly as likely as k were left out, k itself perhaps. Rounding may hide them, too.",
     "x <= by_chance[k] * (1 + 1e-7) → x < by_chance[k] * (1 - 1e-7)"),
    ("Outcomes that are likelier than k were counted, too. The factor is for rounding alone: 1 + 1e-7.",
     "(1 + 1e-7) → 1.01"),
    ("That is how likely k alone is.", f"sum({NO_LIKELIER}) → by_chance[k]"),
    ("Each end of the interval was given all that the confidence leaves. They share it.", f"{REST} → 1 - confidence"),
    ("Each tail is as likely as the confidence here. It is what the confidence leaves, (1 − confidence)/2.",
     f"{REST} → confidence / 2"),
    ("That is the interval for 95 %, whatever `confidence` is.", f"{REST} → 0.025"),
    ("That is the interval of a normal distribution, which knows nothing of 0 and 1. Turn the exact tests round.",
     lambda *given: _approximate(*given, wilson=False)),
    ("That is Wilson's interval: a good one, and an approximation. Turn the exact tests round.",
     lambda *given: _approximate(*given, wilson=True)),
    ("k itself is missing in the tails of the interval: P(X ≥ k), and P(X ≤ k).",
     "x[k:] → x[k + 1:]", "x[:k + 1] → x[:k]"))


# -- votes -----------------------------------------------------------------------------------------------------------

def _told(rows):
    return all(page == "" if said in ("agree", "withdraw") else page in ("with", "without") and said in (
        "right", "wrong", "unsure") for _, page, said in rows)


def _rows(text):
    """Rows of a text such as "a1 agree, a1 with right"; without a page, it is ""."""
    return [(person, "".join(page), said) for person, *page, said in map(str.split, text.split(", "))]


CLASS = _rows("a1 agree, b2 with right, a1 without wrong, a1 with right, b2 agree, a1 with wrong, b2 with wrong, "
              "a1 with right, c3 agree, b2 with unsure, c3 without wrong, d4 agree, d4 with wrong, e5 agree, "
              "e5 with wrong, f6 agree, f6 with unsure, g7 agree, g7 with wrong, g7 with right")
CHANGED = _rows("j0 agree, j0 with right, d4 agree, d4 with wrong, e5 agree, e5 with right, d4 with wrong, "
                "d4 withdraw, e5 with unsure, d4 agree, d4 with right, e5 withdraw, f6 agree, f6 with right, "
                "f6 with wrong, f6 agree, f6 without right, e5 with right, g7 with right")
# What is answered last is not what most answers say; and somebody answers again who has taken all back.
LAST = _rows("k1 agree, k1 with right, k1 with right, k1 with wrong, m3 agree, m3 with right, m3 with right, "
             "m3 with wrong, l2 agree, l2 with wrong, l2 with wrong, l2 withdraw, l2 agree, l2 with right")
UNSURE = _rows("h8 agree, h8 with unsure, h8 with right, h8 without wrong, i9 agree, i9 with unsure")


votes = Question(solution.votes, (2, 2), {
    "six who answer, one who is shown nothing": (CLASS,), "who has not agreed withdraws": (_rows(
        "k1 withdraw, m2 agree, n3 agree, n3 withdraw, n3 withdraw, m2 with right"),), "some withdraw": (CHANGED,),
    "some change their minds": (LAST,), "some cannot tell": (UNSURE,), "nobody": ([],)},
    promises={"`said` is `\"agree\"`, `\"withdraw\"` (then `page` is `\"\"`), or an answer, "
              "`\"right\"`, `\"wrong\"` or `\"unsure\"`": _told},
    returns="used, right, wrong, tied", forbidden=("coursekit.people.pool", "coursekit.people.right_by_person"),
    instead="a loop of your own",
    otherwise="Take one person: agree, right, wrong, right, all with explanations. Three rows may be used, and there "
              "is one vote, for right. What do you get?",
    why="Consent is settled in a pass of its own, before anything is counted: to withdraw is one line.\nThe sum of "
        "right less wrong is kept for each person; its sign is the vote.",
    hints={"unpack": "A row has three entries: person, page, said."})

TAKEN_BACK, ANSWERED = "used = [j for j in used if rows[j][0] != person]", "elif person in agreed"
VOTE = '(said == "right") - (said == "wrong")'
GONE = ("agreed, used = set(), [] → agreed, gone, used = set(), set(), []",         # who has ever withdrawn is known
        "agreed.discard(person) → agreed.discard(person)\n            gone.add(person)")
IN_ONE = "used.append(i)\n            if rows[i][1] == \"with\":\n                sums[person] = sums.get(person, 0) + "
STILL = "An answer that was taken back still votes here. Count at the end, the rows in `used` alone."
votes.mistakes(
    (STILL, "agreed, used = set(), [] → agreed, used, sums = set(), [], {}", f"used.append(i) → {IN_ONE}{VOTE}",
     "sums = {} → ", "rows[i] for i in used) → rows[i] for i in used if False)"),
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


# -- plan ------------------------------------------------------------------------------------------------------------

plan = Question(solution.plan, (2, 2), {
    "four pages": (0.7, 4, 30), "one page": (0.75, 1, 45), "chance": (0.5, 2, 12), "three pages": (0.2, 3, 24)},
    promises={"with the same probability `p`, $0 < p < 1$": lambda p, pages, people: 0 < p < 1,
              "whole numbers from 1 on": lambda p, pages, people: pages >= 1 <= people},
    returns="right, tied, powers (people,), needed", forbidden=LIBRARY, instead="sums of your own",
    otherwise="By hand, for two pages and p = 1/2: a quarter vote right, a quarter wrong, half are tied. Of six untied "
              "votes only 0 and 6 are rare enough, p = 1/32. So powers[5] is the chance that all six are untied, 1/64, "
              "times 1/32.",
    why="The power for n untied votes is worked out once for each n; the number of untied votes is binomial and "
        "weighs them.\n`needed` is asked from the far end, the last number with too little power: power goes up in a "
        "saw.",
    hints={"ZeroDivisionError": "With nobody untied there is nothing to test: that has power 0."})

SHARE, OVER_TIES = "right / (1 - tied)", "law(N, 1 - tied) @ alone[:N + 1]"
plan.mistakes(
    ("`needed` is the first number of people with a power of .8. The power goes up in a saw, and falls below it again: "
     "from which number on does it stay?", "1 + max(( → next((", "< 0.8), default=0) → >= 0.8), 0)"),
    ("A vote is right with *more* than half of the pages. Half of them is a tie.", "2 * h > pages → 2 * h >= pages"),
    ("Ties were counted among the wrong votes, so that nobody drops out. They are no votes.",
     f"{SHARE} → right", f"{OVER_TIES} → alone[N]"),
    ("Of the *untied* votes a larger part is right: right/(1 − tied).", f"{SHARE} → right"),
    ("The number of untied votes was fixed at its mean. It is drawn as well: weigh the powers of all numbers of them.",
     f"{OVER_TIES} → alone[round(N * (1 - tied))]"),
    ("The test looks at one side. Two-sided, so many wrong votes would tell as well.",
     "2 * np.minimum(below, below[::-1]) → below[::-1]"),
    ("The test says “not chance” on the side of the wrong votes, too. That counts.",
     "[tails <= 0.05] → [(tails <= 0.05) & (2 * np.arange(n + 1) > n)]"),
    ("powers[0] is for nobody here. It is for one person.", "range(1, people + 1)]) → range(people)])"),
    ("Half of the ties were counted as right. They are no votes.",
     f"{SHARE} → right + tied / 2", f"{OVER_TIES} → alone[N]"),
    ("The tails of the test lack their ends: so many *or more*, so few *or fewer*.",
     ".cumsum() → .cumsum() - law(n, 0.5)"),
    ("`needed` is a number of people. powers[0] is for one person.", "needed if needed → needed - 1 if needed"),
    ("`needed` is 0 where the power is below .8 at the end.",
     "needed if needed <= people else 0 → min(needed, people)"))
