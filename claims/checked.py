"""What is wrong with the claims of a lecture, one line each. `tests/notebooks/test_claims.py` asks; none is run."""

import dis
import inspect
import json
import re
from math import isclose

from .runner import all_runs, claims_of, kept, replicate, why_not_current
from .written import plain, texts

FEWEST = 6                      # claims of a lecture
LINES = 15                      # of a claim's function
WORDS = 5                       # of its sentence


def unsaid(claims, said) -> list[str]:
    """Claims whose sentence does not stand in the lecture, its deck, notes or quiz ({place: text}): not as part of a
    longer word or number, nor, where it begins small, of a clause that begins before it (“it is not so that …”)."""
    said = [plain(text) for text in said.values()]
    begins = {True: r"(?:^|[^\w\s] |\b(?:and|And|but|But) )", False: r"(?<!\w)"}
    return [f"{number}: no page says “{claim.sentence}”: take it over word for word, {WORDS} words or more"
            for number, claim in claims.items() if len(claim.sentence.split()) < WORDS
            or not any(re.search(begins[claim.sentence[0].islower()] + re.escape(plain(claim.sentence)) +
                             r"(?!\w)", text) for text in said)]


def too_few(claims, lecture) -> list[str]:
    """A lecture with fewer claims than a lecture has."""
    return [f"lecture {lecture} has {len(claims)} claims, expected at least {FEWEST}: "
            f"make claim NEW={lecture}.{len(claims) + 1}"] * (len(claims) < FEWEST)


def too_long(claims) -> list[str]:
    """Claims whose function is more than a glance."""
    lines = {number: len(inspect.getsource(claim.function).partition("def ")[2].splitlines())
             for number, claim in claims.items()}
    return [f"{number}: {n} lines, at most {LINES}: let the lecture or a function of the file do it"
            for number, n in lines.items() if n > LINES]


def unvaried(claims) -> list[str]:
    """Claims whose function does not look at its replication, so that all are one."""
    return [f"{number}: its function makes no use of {name}: every replication is the same"
            for number, claim in claims.items() if (name := claim.function.__code__.co_varnames[1])
            not in [step.argval for step in dis.get_instructions(claim.function) if step.opname != "MAKE_CELL"]]


def unsupported(claims, records) -> list[str]:
    """Claims without a current result, or with one that does not hold; results that are of no claim."""
    stale = [why_not_current(claim, records.get(number)) for number, claim in claims.items()]
    failed = [f"{number} does not hold: {records[number]['line']}" for number in claims.keys() & records.keys()
              if not claims[number].verdict(records[number]["values"])]
    orphans = [f"{number} has a result and no claim: bring it back, or make claims ONLY={number.partition('.')[0]}"
               for number in records.keys() - claims.keys()]
    return [*filter(None, stale), *sorted(failed), *sorted(orphans)]


def problems(lecture: str) -> list[str]:
    """All of these for one lecture; [] if there is none."""
    claims, records = claims_of(lecture), kept(lecture)
    return [*too_few(claims, lecture), *unsaid(claims, texts(lecture)), *too_long(claims), *unvaried(claims),
            *unsupported(claims, records)]


def differ(number: str, n: int | None = None) -> list[str]:
    """Run the first n replications of a claim (all by default) and the page's own, and say which give something else
    than what is kept."""
    lecture = number.partition(".")[0]
    claim, record = claims_of(lecture)[number], kept(lecture)[number]
    values = [record["here"]] * (claim.here is not None) + record["values"]
    found = []
    for run, value in list(zip(all_runs(claim), values, strict=True))[:n]:
        again = replicate(number, json.dumps(run))["value"]
        if not alike(again, value):
            found.append(f"{number}, {run!r}: {again} now, {value} is kept")
    return found


def alike(one, other) -> bool:
    """Are two values equal, but for what another processor rounds, and a training makes of that?"""
    if None in (one, other) or isinstance(one, bool) or isinstance(other, bool):
        return one == other
    return isclose(one, other, rel_tol=0.03, abs_tol=1e-5)
