"""Run claims, and keep what came out: coursekit/results/claims/NN.json."""

import functools
import hashlib
import importlib
import json
import time
from datetime import date
from math import isfinite
from pathlib import Path
from statistics import median

from coursekit.compare.jobs import compute, one_thread
from coursekit.models import weights
from coursekit.results import HERE
from experiments.runner import machine, plain, replace

from . import Claim
from .pages import digest, page_of, parts, weights_loaded

CLAIMS = Path(__file__).parent
RESULTS = HERE / "claims"
AT_ONCE = 2


def lectures(only: str = "") -> list[str]:
    """The numbers of the lectures that have claims; with `only`, of this one. ValueError if it has none."""
    found = [path.stem.partition("_")[0] for path in sorted(CLAIMS.glob("[0-9]*_*.py"))]
    if only and only not in found:
        raise ValueError(f"lecture {only} has no claims: choose one of {', '.join(found)}")
    return [only] if only else found


@functools.cache
def claims_of(lecture: str) -> dict[str, Claim]:
    """{number: claim} of a lecture, in the order of their numbers.
    Raises ValueError where two have the same number, a number is of another lecture, or no function is its own."""
    [path] = CLAIMS.glob(f"{lecture}_*.py")
    module = importlib.import_module(f"claims.{path.stem}")
    found = [thing for thing in vars(module).values() if isinstance(thing, Claim)]
    numbers = [claim.number for claim in found]
    for number, claim in zip(numbers, found, strict=True):
        if numbers.count(number) > 1 or number.partition(".")[0] != lecture:
            raise ValueError(f"{path.name}: claims are numbered {lecture}.1, {lecture}.2 and so on, each number once; "
                             f"got {number}")
        if vars(module).get(claim.function.__name__) is not claim:
            raise ValueError(f"{path.name}: write @claim(\"{number}\", …) above a function of its own, at the margin")
    return {claim.number: claim for claim in sorted(found, key=lambda claim: int(claim.number.partition(".")[2]))}


def replicate(number: str, run: str, _digest: str = "") -> dict:
    """What one replication of a claim gives: its value, CPU seconds, and the files of weights behind it.

    _digest: of what is run; `compute` keeps it beside the result, so that one of other code is not taken for it."""
    lecture = number.partition(".")[0]
    claim = claims_of(lecture)[number]
    page, started = page_of(lecture, parts(claim.function, lecture)[1]), time.process_time()
    with one_thread(), weights_loaded() as loaded:
        value = claim.function(page, json.loads(run))
    value = value.item() if hasattr(value, "item") else value                   # of an array or a tensor
    bounds = claim.between or claim.median
    if not isinstance(value, int | float) or isinstance(value, bool) == bool(bounds):
        raise ValueError(f"got {value!r}, expected {'a number, as there are bounds' if bounds else 'True or False'}")
    return {"value": plain(value) if isfinite(value) else None, "seconds": round(time.process_time() - started, 1),
            "weights": sorted(loaded | page.loaded)}


def kept(lecture: str, folder=RESULTS) -> dict:
    """{number: record} of what is kept of a lecture's claims."""
    path = Path(folder, f"{lecture}.json")
    return json.loads(path.read_text(encoding="utf8"))["claims"] if path.exists() else {}


def run(lecture: str, trains=False, again=False, folder=RESULTS, progress=True) -> dict:
    """Run the claims of a lecture whose results are missing or of other code, texts or weights, and keep them all.

    trains: also those that train for minutes. again: also those whose results are current. Stopped at any time, it goes
    on with the next replication. What is kept of claims that are gone goes. Returns {number: record}.
    """
    claims, records, path = claims_of(lecture), kept(lecture, folder), Path(folder, f"{lecture}.json")
    due = {number: claim for number, claim in claims.items()
           if (trains or not claim.trains) and (again or why_not_current(claim, records.get(number)))}
    loaded = seal(weights.known_hashes(weights.FOLDER))
    digests = {number: digest(claim) for number, claim in due.items()}
    todo = {(number, json.dumps(one), digests[number] + loaded): f"{number}, {one!r}"
            for number, claim in due.items() for one in all_runs(claim)}
    begun = path.with_suffix(".all.jsonl" if trains else ".jsonl")              # hours of the one outlive the other
    results = dict(compute(replicate, todo, begun, {"lecture": lecture}, None, AT_ONCE, progress, of="claim"))
    records = kept(lecture, folder) | {number: record(claim, digests[number], [
        results[number, json.dumps(one), digests[number] + loaded] for one in all_runs(claim)])
        for number, claim in due.items()}                                       # of another process, too
    keep({number: records[number] for number in claims if number in records}, lecture, path)
    begun.unlink(missing_ok=True)
    return kept(lecture, folder)


def all_runs(claim):
    """The page's own run, if there is one, and then the replications."""
    return [claim.here] * (claim.here is not None) + claim.runs


def record(claim, of, results):
    """What is kept of a claim: what was asked, what came out, of what, where and when; and a seal over all of it."""
    values = [result["value"] for result in results]
    here, others = values[:-len(claim.runs)], values[-len(claim.runs):]
    known, source = weights.known_hashes(weights.FOLDER), "".join(sum(parts(claim.function, claim.lecture), ()))
    files = sorted({name for result in results for name in result["weights"]} & known.keys()    # of what is shipped
                   | {name for name in known if f'"{Path(name).stem}"' in source})              # loaded earlier
    found = {"sentence": claim.sentence, "over": claim.over, "requires": claim.requires,
             "runs": claim.runs, "values": others, "here": here[0] if here else None,
             "holds": claim.verdict(others), "line": line(claim, others, here), "digest": of,
             "weights": {name: known[name][:16] for name in files},
             "seconds": round(sum(result["seconds"] for result in results), 1),
             "date": date.today().isoformat(), "machine": machine()}
    return {**found, "seal": seal(found)}


def line(claim, values, here):
    """One line for people: "20 of 20: median 3.7, from 2.9 to 5.02 (here 3.12)"."""
    said = f"{sum(map(claim.holds, values))} of {len(values)}" if claim.median is None else f"{len(values)}"
    numbers = [value for value in values if not isinstance(value, bool) and value is not None]
    if numbers:
        said += f": median {median(numbers):.3g}, from {min(numbers):.3g} to {max(numbers):.3g}"
    shown = [("yes" if value else "no") if isinstance(value, bool) else f"{value:.3g}" for value in here]
    return said + "".join(f" (here {value})" for value in shown)


def seal(found):
    """Sixteen digits that change with anything that is kept of a claim."""
    text = json.dumps({key: value for key, value in found.items() if key != "seal"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def why_not_current(claim, found) -> str:
    """Why what is kept of a claim is not its result; "" if it is."""
    again = f"make claims{'-all' * claim.trains} ONLY={claim.lecture}"
    if found is None:
        return f"{claim.number} has no result: {again}"
    if found.get("seal") != seal(found):
        return f"{claim.number}: its result is not as it was written: {again}"
    if found["digest"] != digest(claim) or (found["sentence"], found["over"], found["requires"], found["runs"]) != (
            claim.sentence, claim.over, claim.requires, claim.runs):
        return f"{claim.number}: its sentence, code or cells are no longer those that were run: {again}"
    known = weights.known_hashes(weights.FOLDER)
    if changed := [name for name, of in found["weights"].items() if not known.get(name, "").startswith(of)]:
        return f"{claim.number}: {changed[0]} is no longer what was loaded: {again}"
    return ""


def keep(records, lecture, path):
    """Write the records, a line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(f"  {json.dumps(number)}: {json.dumps(found, ensure_ascii=False)}"
                      for number, found in records.items())
    replace(path, f'{{\n "lecture": {json.dumps(lecture)},\n "claims": {{\n{rows}\n }}\n}}\n'.encode())
