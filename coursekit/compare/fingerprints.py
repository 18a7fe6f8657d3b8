"""What tells one explainer, or one model, from another: so that kept results are never taken for those of others."""

import dis
import hashlib
import os
import pickle
import sysconfig
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from coursekit import moved
from coursekit.explain.asking import scores_of
from coursekit.explain.masks import Away

from .jobs import one_thread

INSTALLED = tuple(f"{folder}{os.sep}" for folder in (
    Path(__file__).parents[1], *map(sysconfig.get_path, ("stdlib", "purelib", "platlib"))))


def settings(explainer):
    """An explainer in words, its name and what a partial sets, with a fingerprint of all that its result hangs on.

    Functions of installed packages count by their name. All others, also those without one, by what they are made of:
    code, constants, defaults, and what they take from around them. ValueError, in one line, for what cannot be told
    from its like: an object that pickle does not take.

    >>> by_ten, by_more = (lambda model, document, n=n: model(n) for n in (10, 11))
    >>> settings(len)[:7], settings(by_ten) == settings(by_more)
    ('len {} ', False)
    """
    named = getattr(explainer, "func", explainer)
    try:
        found = _digest(repr(_parts(explainer, ())).encode())
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError("this explainer hangs on something that cannot be told from others of its kind, so that its "
                         f"results cannot be kept: leave out path, or pass numbers and strings ({error})") from None
    return f"{getattr(named, '__name__', type(named).__name__)} {getattr(explainer, 'keywords', {})} {found}"


def weights_of(model):
    """The fingerprint of all weights of a model of torch, also of one in a partial or a pipeline; None for others. To
    that of a model from `away` belongs what it says.

    >>> weights_of(len) is None, len(weights_of(torch.nn.Linear(1, 1)))
    (True, 16)
    """
    if isinstance(model, Away):
        return f"{weights_of(model.box)} {model.by} {model.token}"
    for inside in (model, *(model.args if isinstance(model, partial) else ())):
        module = inside if isinstance(inside, torch.nn.Module) else getattr(inside, "model", None)
        if isinstance(module, torch.nn.Module):
            return _digest(*map(_bytes, (*module.parameters(), *module.buffers())))
    return None


def scores_alone(model_or_predict, documents):
    """What a model says of each document, asked alone; None where it fails there, as it will when that is explained.

    >>> scores_alone(lambda documents: [1 / len(d) for d in documents], [["good", "film"], []])
    [0.5, None]
    """
    scores = []
    with one_thread():
        for document in documents:
            try:
                scores.append(scores_of(model_or_predict, [list(document)])[0].tolist())
            except Exception:
                scores.append(None)
    return scores


def _parts(value: Any, around: tuple):
    """What tells a value from others, as nested lists of strings and the like. around: the functions that it is in."""
    if isinstance(value, partial):
        return ["partial", *(_parts(part, around) for part in (value.func, value.args, value.keywords))]
    if isinstance(value, MethodType):
        return ["method", _parts(value.__func__, around), _parts(value.__self__, around)]
    if isinstance(value, FunctionType) and not _installed(value) and value not in around:
        code, around = value.__code__, (*around, value)
        names = {step.argval for part in _codes(code) for step in dis.get_instructions(part)
                 if step.opname == "LOAD_GLOBAL"}
        taken = {name: value.__globals__[name] for name in sorted(names & value.__globals__.keys())}
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        made = [[part.co_code, part.co_names, *(_parts(constant, around) for constant in part.co_consts
                                                if not isinstance(constant, CodeType))] for part in _codes(code)]
        return [value.__name__, made, *(_parts(part, around) for part in (value.__defaults__, value.__kwdefaults__,
                                                                          taken, held))]
    if isinstance(value, (FunctionType, BuiltinFunctionType, ModuleType, type)):
        module = getattr(value, "__module__", "")                       # by its first name: files outlive a move
        return [moved.FORMERLY.get(module, module), getattr(value, "__qualname__", value.__name__)]
    if isinstance(value, torch.nn.Module):
        return [type(value).__qualname__, weights_of(value)]
    if isinstance(value, Mapping):
        return [[_parts(part, around) for part in item] for item in value.items()]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(_parts(part, around)) for part in value)
    if isinstance(value, (list, tuple)):
        return [_parts(part, around) for part in value]
    if callable(value) and hasattr(value, "__dict__"):
        return [type(value).__qualname__, _parts(type(value).__call__, around), _parts(vars(value), around)]
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), _digest(_bytes(value))]
    return value if isinstance(value, (str, bytes, int, float, type(None))) else _digest(pickle.dumps(value))


def _installed(function):
    """Is a function found by its name, in a package that is not changed between two runs?"""
    return function.__code__.co_filename.startswith(INSTALLED) and "<" not in function.__qualname__


def _codes(code):
    """A function's code, and that of the functions in it."""
    return [code, *(part for inner in code.co_consts if isinstance(inner, CodeType) for part in _codes(inner))]


def _bytes(tensor):
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()


def _digest(*parts):
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:16]
