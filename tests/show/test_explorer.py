"""The explorer's state, what it sends to the browser, the drawing that stands in for it. tests/browser clicks on it."""

import base64
import sys

import nbformat
import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from traitlets import TraitError

from coursekit.show import arrows, attention_explorer, highlight
from coursekit.show.views import explorer
from tools import notebooks
from tools.normalise import normalise

WORDS = ["not", "a good", "film", "\n"]
A = np.random.default_rng(0).dirichlet(np.ones(4), (3, 2, 4)) * 7       # (L, K, T, T), not between 0 and 1


def unpacked(shown, shape):
    return np.frombuffer(shown["weights"], "<u2").reshape(shape) / 65535 * shown["largest"]


def test_one_layer_at_a_time_is_sent_and_nothing_is_lost():
    view = attention_explorer(A, WORDS, layer=1)
    for layer in (1, 2, 0):
        view.layer = layer
        assert view.shown["layer"] == layer and (view.shown["L"], view.shown["K"]) == (3, 2)
        assert abs(unpacked(view.shown, (2, 4, 4)) - A[layer]).max() <= A.max() / 65535
    assert view.tokens == view.columns == ["not", "a good", "film", "↵"]


def test_the_state_is_set_from_python_and_checked():
    view = attention_explorer(torch.tensor(A, requires_grad=True), WORDS, heads=[1], token=2)
    assert (view.layer, view.heads, view.token) == (0, [1], 2)
    view.layer, view.heads, view.token = np.int64(2), (1, 0, 1), A[0, 0, 0].argmax()
    assert (view.layer, view.heads) == (2, [0, 1]) and view.token == A[0, 0, 0].argmax()
    view.token = None
    for name, value, words in [
            ("layer", 3, "layer must be from 0 to 2, got 3"), ("token", -1, "token must be from 0 to 3, got -1"),
            ("heads", [0, 2], "head must be from 0 to 1, got 2"), ("heads", [], "at least one head")]:
        with pytest.raises(TraitError, match=words):
            setattr(view, name, value)
        with pytest.raises(TraitError, match=words):
            attention_explorer(A, WORDS, **{name: value})
    assert (view.layer, view.heads, view.token) == (2, [0, 1], None)


def test_one_layer_and_cross_attention():
    view = attention_explorer(A[0], WORDS)
    assert view.shown["L"] == 1 and view.shown["weights"] == attention_explorer(A[:1], WORDS).shown["weights"]
    cross = attention_explorer(A[:, :, :2], ["le", "film"], keys=WORDS, token=1)
    assert cross.shown["K"] == 2 and len(cross.shown["weights"]) == 2 * 2 * 2 * 4
    assert cross.static() == arrows(A[0, :, 1:2].mean(0), ["film"], WORDS, title="Layer 0, mean of all heads")


def test_the_drawing_shows_the_present_state():
    view = attention_explorer(A, WORDS)
    assert view.static() == arrows(A[0].mean(0), WORDS, title="Layer 0, mean of all heads")
    view.layer, view.heads, view.token = 2, [1], 3
    assert view.static() == arrows(A[2, 1, 3:], ["\n"], WORDS, title="Layer 2, head 1")
    data, _ = view._repr_mimebundle_()
    assert data["text/html"] == view.static().html and data["text/plain"] == view.static().text
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == view.model_id


def test_what_stands_for_a_long_text_is_small():
    uniform, words = np.full((2, 16, 256, 256), 1 / 256), [f" word{i}" for i in range(256)]
    view = attention_explorer(uniform, words, heads=[0, 3, 4])
    assert explorer.KEPT not in view._repr_mimebundle_()[0]
    assert len(view.shown["weights"]) <= 2 ** 21 and len(view.static().html) <= 100_000
    title = "Layer 0, mean of heads 0, 3, 4"
    assert view.static() == highlight(words, uniform[0, 0, 0], title=f"{title}, mean over queries")
    view.token = 7
    assert view.static() == highlight(words, uniform[0, 0, 0], title=f"{title}, from  word7")


def test_a_committed_notebook_keeps_the_drawing(tmp_path):
    path = tmp_path / "00_trial.ipynb"
    code = "from coursekit.show import attention_explorer as see\nsee([[[0.9, 0.1], [0.2, 0.8]]], ['good', 'film'])"
    nbformat.write(new_notebook(cells=[new_code_cell(code)]), path)
    notebook, problem = notebooks.execute(path)
    assert problem == "" and "application/vnd.jupyter.widget-view+json" in notebook.cells[0].outputs[0].data
    [kept] = normalise(notebook).cells[0].outputs
    drawn = arrows([[0.9, 0.1], [0.2, 0.8]], ["good", "film"], title="Layer 0, head 0")
    weights = kept.data.pop(explorer.KEPT)                                      # for the book
    assert base64.b64decode(weights["layers"][0]) == attention_explorer([[[9, 1], [2, 8]]], ["a", "b"]).shown["weights"]
    assert kept.data == {"text/html": drawn.html, "text/plain": drawn.text} and "widgets" not in notebook.metadata


def test_without_anywidget_one_line_says_what_to_install(monkeypatch):
    explorer._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs anywidget, .* pip install -e '\.\[lab\]'$"):
        attention_explorer(A, WORDS)


@pytest.mark.parametrize("call, error, words", [
    (lambda: attention_explorer(A, WORDS[:3]), ValueError, r"A must have shape \(any, any, 3, 3\), got \(3, 2, 4, 4\)"),
    (lambda: attention_explorer(A[0], WORDS, WORDS[:3]), ValueError, r"shape \(any, 4, 3\), got \(2, 4, 4\)"),
    (lambda: attention_explorer(A[0, 0], WORDS), ValueError, r"got \(4, 4\)"),
    (lambda: attention_explorer(-A, WORDS), ValueError, "not negative"),
    (lambda: attention_explorer(A / 0, WORDS), ValueError, "finite"),
    (lambda: attention_explorer(A, "abcd"), TypeError, "tokens must be a list of strings"),
    (lambda: attention_explorer(A, WORDS, "abcd"), TypeError, "keys must be a list of strings"),
    (lambda: attention_explorer(np.ones((1, 0, 1, 1)), ["a"]), ValueError, "at least one weight"),
    (lambda: attention_explorer(np.ones((17, 256, 256)), ["a"] * 256), ValueError, "1,114,112 weights .* shorter text"),
])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input_gets_one_clear_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
