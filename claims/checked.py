"""What is wrong with the claims of a lecture, one line each. `tests/notebooks/test_claims.py` asks; none is run."""

import inspect
import json

from .runner import all_runs, claims_of, kept, replicate, why_not_current
from .written import plain, texts

FEWEST = 6                      # claims of a lecture
LINES = 15                      # of a claim's function


def unsaid(claims, said) -> list[str]:
    """Claims whose sentence does not stand in the lecture, its deck, notes or quiz ({place: text})."""
    said = [plain(text) for text in said.values()]
    return [f"{number}: no page says “{claim.sentence}”: take it over word for word" for number, claim in claims.items()
            if not any(plain(claim.sentence) in text for text in said)]


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
    return [*too_few(claims, lecture), *unsaid(claims, texts(lecture)), *too_long(claims),
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
    """Are two values equal, but for what another machine rounds?"""
    if None in (one, other) or isinstance(one, bool) or isinstance(other, bool):
        return one == other
    return abs(one - other) <= 1e-3 * max(1, abs(one), abs(other))
