"""bertviz's own scripts get what bertviz itself gives them, in a page that no token breaks out of."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import bertviz.neuron_view
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, new_output

from coursekit.show import bertviz_view
from coursekit.show.html import visible
from coursekit.show.views import bertviz as ours
from tools.normalise import normalise

WORDS = ["not", "good", "film"]
draw = np.random.default_rng(0)
A = draw.dirichlet(np.ones(3), (2, 4, 3))                               # (L, K, T, T)
CROSS = draw.dirichlet(np.ones(5), (2, 4, 3))                           # (L, K, T_q, T)
Q, K = draw.normal(size=(2, 2, 4, 3, 6))                                # (L, K, T, d_att) each
VIEWS = {"head": lambda tokens: bertviz_view("head", A, tokens),
         "model": lambda tokens: bertviz_view("model", A, tokens),
         "neuron": lambda tokens: bertviz_view("neuron", A, tokens, queries=Q, keys=K)}


class Tags(HTMLParser):
    """The tags of a page with their attributes, and what stands in its scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.tags[-1][0] == "script" and data.strip():
            self.scripts.append(data)


def page_of(shown):
    [(_, div), (_, frame)] = Tags(shown.html).tags
    assert frame["sandbox"] == "allow-scripts" and div["style"] == "min-width:900px"
    return frame["srcdoc"]


def params_of(shown):
    script = Tags(page_of(shown)).scripts[-1]
    return json.JSONDecoder().raw_decode(script.partition("=")[2])[0]


@pytest.mark.parametrize("kind, real", [("head", bertviz.head_view), ("model", bertviz.model_view)])
def test_head_and_model_view_get_what_bertviz_gives_them(kind, real):
    tensors = [torch.tensor(layer)[None] for layer in CROSS]
    text = real(cross_attention=tensors, decoder_tokens=WORDS, encoder_tokens=list("abcde"), html_action="return").data
    theirs = json.JSONDecoder().raw_decode(text.partition("const params = ")[2])[0]
    mine = params_of(bertviz_view(kind, CROSS, WORDS, columns=list("abcde")))
    [expected], [got] = theirs.pop("attention"), mine.pop("attention")
    assert np.allclose(got.pop("attn"), expected.pop("attn"), atol=5.1e-5, rtol=0)
    assert expected.pop("name") == "Cross" and got == expected
    for name in set(theirs) - {"root_div_id", "display_mode", "layer", "head"}:
        assert mine[name] == theirs[name]


def test_neuron_view_gets_what_bertviz_gives_it():
    layers = [{"attn": torch.tensor(A[i])[None], "queries": torch.tensor(Q[i])[None], "keys": torch.tensor(K[i])[None]}
              for i in range(2)]

    class Model:
        eval = staticmethod(lambda: None)

        def __call__(self, ids):
            return [layers]

    tokenizer = SimpleNamespace(tokenize=str.split, convert_tokens_to_ids=lambda tokens: list(range(len(tokens))))
    theirs = bertviz.neuron_view.get_attention(Model(), "gpt2", tokenizer, " ".join(WORDS), None, True)["all"]
    [got] = params_of(VIEWS["neuron"](WORDS))["attention"]
    assert set(got) == set(theirs)
    for name, values in theirs.items():
        assert np.allclose(got[name], values, atol=5.1e-5) if np.ndim(values) > 1 else got[name] == values


@pytest.mark.parametrize("kind", VIEWS)
def test_every_parameter_that_a_script_reads_is_there(kind):
    page, params = page_of(VIEWS[kind](WORDS)), params_of(VIEWS[kind](WORDS))
    wanted = set(re.findall(r"params\['(\w+)'\]", page))
    assert len(wanted) >= 5 and wanted <= set(params) and "PYTHON_PARAMS" not in page
    for found in re.findall(r"`#\$\{config\.rootDivId\} #(\w+)`", page):
        assert f'id="{found}"' in page or found in ("expanded", "collapsed", "filter")      # the script's own; not used


@pytest.mark.parametrize("upper, bidirectional", [(1, True), (0, False)])
def test_the_neuron_view_knows_a_causal_mask(upper, bidirectional):
    masked = np.tril(np.ones((1, 3, 3))) + upper * np.triu(np.ones((1, 3, 3)), 1)
    vectors = np.ones((1, 3, 2))
    shown = bertviz_view("neuron", masked, WORDS, queries=vectors, keys=vectors)
    assert params_of(shown)["bidirectional"] == bidirectional


HOSTILE = st.sampled_from(["</script>", "<!--<script>", '"><b>', "&quot;", "'", "]]>", "${x}"])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(max_size=8) | HOSTILE, min_size=3, max_size=3), st.sampled_from(sorted(VIEWS)))
def test_no_token_breaks_out(tokens, kind):
    shown, plain = VIEWS[kind](tokens), VIEWS[kind](WORDS)
    page = Tags(page_of(shown))
    assert page.tags == Tags(page_of(plain)).tags and len(page.scripts) == 4
    [attention] = params_of(shown)["attention"]
    assert attention["left_text"] == attention["right_text"] == [visible(token) for token in tokens]
    shown.html.encode("utf-8")


def test_a_page_may_fetch_nothing():
    [policy] = [attributes["content"] for tag, attributes in Tags(page_of(VIEWS["head"](WORDS))).tags
                if attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy.split(";") == ["default-src 'none'", "script-src 'unsafe-inline'", "style-src 'unsafe-inline'"]


def test_the_same_view_twice_is_the_same_text_and_tensors_are_arrays():
    assert VIEWS["head"](WORDS).html == bertviz_view("head", torch.tensor(A, requires_grad=True), tuple(WORDS)).html
    assert bertviz_view("head", A[0], WORDS).html == bertviz_view("head", A[:1], WORDS).html


@pytest.mark.parametrize("kind, told", [
    ("head", "bertviz's head view: layer 0, all heads, from “film”."),
    ("model", "bertviz's model view: every layer and head."),
    ("neuron", "bertviz's neuron view: layer 0, head 0, from “film”.")])
def test_a_committed_notebook_keeps_a_picture_and_one_line(kind, told):
    shown = VIEWS[kind](WORDS)
    notebook = new_notebook(cells=[new_code_cell("x", outputs=[
        new_output("execute_result", shown._repr_mimebundle_(), execution_count=1) for _ in range(2)])])
    first, second = normalise(notebook).cells[0].outputs
    assert first.data == second.data and set(first.data) == {"text/html", "text/plain"}
    assert first.data["text/plain"].endswith("over 3 tokens: run this cell to see it.")
    tag, picture = Tags(first.data["text/html"]).tags[-1]
    assert tag == "img" and picture["alt"].startswith(told) and picture["src"].startswith("data:image/png;base64,")


def test_the_view_and_its_picture_open_on_the_layer_and_head_that_are_asked_for():
    shown = bertviz_view("neuron", A, WORDS, queries=Q, keys=K, layer=1, head=-1, token=1)
    assert (params_of(shown)["layer"], params_of(shown)["head"]) == (1, 3)
    weights, top = A[1, 3, 1], WORDS[A[1, 3, 1].argmax()]
    assert "layer 1, head 3, from “good”. " in shown.still().text
    assert f"{top} gets {weights.max():.2f} of the attention" in shown.still().text
    picture = bertviz_view("head", CROSS, WORDS, columns=list("abcde"), layer=1, token=0).still()
    for head, row in enumerate(CROSS[1, :, 0]):
        assert f"head {head}: {'abcde'[row.argmax()]} {row.max():.2f}" in picture.text


@pytest.mark.parametrize("kind", VIEWS)
def test_a_picture_takes_any_token_and_the_smallest_text(kind):
    odd = ["$x$ <b>", "\u202e\ud800", ""]
    assert VIEWS[kind](odd).still().png.startswith(b"\x89PNG")
    one = {"queries": np.zeros((1, 1, 1, 1)), "keys": np.zeros((1, 1, 1, 1))} if kind == "neuron" else {}
    assert bertviz_view(kind, [[[1.0]]], ["a"], **one).still().png.startswith(b"\x89PNG")


def test_no_heavy_package_is_loaded():
    code = ("import sys; from coursekit.show import bertviz_view; bertviz_view('head', [[[1.0]]], ['a']); "
            "print({'torch', 'bertviz', 'mpld3', 'sphinx', 'IPython', 'matplotlib', 'anywidget'} & set(sys.modules))")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


@pytest.mark.parametrize("package", ["bertviz", "mpld3", "sphinxcontrib-jquery"])
def test_a_missing_package_is_named_with_its_cure(package, monkeypatch):
    real = ours.distribution

    def distribution(name):
        if name == package:
            raise PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(ours, "distribution", distribution)
    with pytest.raises(ModuleNotFoundError, match=rf"package {package}, .* pip install -e '\.\[lab\]'$") as caught:
        VIEWS["head"](WORDS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("call, error, words", [
    (lambda: bertviz_view("heads", A, WORDS), ValueError, "kind must be one of 'head', 'model', 'neuron', got 'heads'"),
    (lambda: bertviz_view("head", A, WORDS[:2]), ValueError, r"A must have shape \(any, any, 2, 2\), got \(2, 4, 3, 3"),
    (lambda: bertviz_view("head", A[0, 0], WORDS), ValueError, r"got \(3, 3\)"),
    (lambda: bertviz_view("head", -A, WORDS), ValueError, "not negative"),
    (lambda: bertviz_view("head", A * np.nan, WORDS), ValueError, "finite"),
    (lambda: bertviz_view("head", A, "abc"), TypeError, "tokens must be a list of strings"),
    (lambda: bertviz_view("head", np.ones((0, 2, 1, 1)), ["a"]), ValueError, "at least one weight"),
    (lambda: bertviz_view("neuron", A, WORDS), ValueError, "needs queries and keys"),
    (lambda: bertviz_view("neuron", A, WORDS, queries=Q), ValueError, "needs queries and keys"),
    (lambda: bertviz_view("model", A, WORDS, queries=Q, keys=K), ValueError, "the other views take none"),
    (lambda: bertviz_view("neuron", CROSS, WORDS, list("abcde"), Q, K), ValueError, "leave columns out"),
    (lambda: bertviz_view("neuron", A, WORDS, queries=Q[0], keys=K), ValueError, r"queries .* shape \(2, 4, 3, any\)"),
    (lambda: bertviz_view("neuron", A, WORDS, queries=Q, keys=K[:, :2]), ValueError, r"keys must have shape"),
    (lambda: bertviz_view("neuron", A, WORDS, queries=Q, keys=K[..., :5]), ValueError, r"keys .* \(2, 4, 3, 6\), got"),
    (lambda: bertviz_view("head", A, WORDS, layer=2), ValueError, "layer must be from -2 to 1, got 2"),
    (lambda: bertviz_view("head", A, WORDS, token="not"), ValueError, "token must be from -3 to 2, got 'not'"),
    (lambda: bertviz_view("model", np.ones((12, 12, 40, 40)), ["w"] * 40), ValueError, "230,400 lines .* shorter text"),
])
def test_bad_input_gets_one_clear_line(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
