"""GPT-2: its pieces are what they say, a cache changes nothing, weights go in whole or not at all."""

import json
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch.nn import functional as F

from coursekit.models import GPT2, GPT2Config, gelu, layer_norm, minibatches, train
from coursekit.models.gpt2 import next_token_loss

TINY = GPT2Config(vocab_size=30, T_max=16, d_e=12, K=3, L=2)


def gpt2(config=TINY, seed=0):
    """A random model whose attention is far from uniform, so that a wrong mask or position would show."""
    torch.manual_seed(seed)
    model = GPT2(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model


def some_ids(n, T, seed=1, D=30):
    return torch.randint(D, (n, T), generator=torch.Generator().manual_seed(seed))


# pieces

def test_printed_pieces_equal_the_fused_ones():
    torch.manual_seed(0)
    x, gain, shift = 5 * torch.randn(4, 7, 32), torch.randn(32), torch.randn(32)
    torch.testing.assert_close(layer_norm(x, gain, shift), F.layer_norm(x, (32,), gain, shift), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(gelu(x), F.gelu(x, approximate="tanh"))


def test_the_two_gelus_differ_by_a_little():
    x = torch.linspace(-5, 5, 1001)
    gap = (gelu(x) - F.gelu(x)).abs()
    assert 1e-4 < gap.max() < 1e-3 and gap[500] == 0


def test_a_normed_row_has_mean_zero_and_variance_one():
    y = layer_norm(100 + 3 * torch.randn(5, 64), torch.ones(64), torch.zeros(64))
    torch.testing.assert_close(y.mean(-1), torch.zeros(5), atol=1e-4, rtol=0)
    torch.testing.assert_close(y.var(-1, unbiased=False), torch.ones(5), atol=1e-3, rtol=0)


@pytest.mark.parametrize("sizes, count", [
    (dict(), 124_439_808), (dict(d_e=1024, K=16, L=24), 354_823_168), (dict(d_e=1280, K=20, L=36), 774_030_080),
    (dict(d_e=1600, K=25, L=48), 1_557_611_200)])
def test_the_four_released_sizes(sizes, count):
    with torch.device("meta"):
        assert sum(weight.numel() for weight in GPT2(GPT2Config(**sizes)).parameters()) == count


def test_it_starts_as_gpt2_does():
    torch.manual_seed(0)
    model = GPT2(GPT2Config(vocab_size=500, T_max=64, d_e=128, K=4, L=8))
    for name, weight in model.named_parameters():
        weight = weight.detach()
        if name.endswith(("norm_attention.weight", "norm_mlp.weight", "norm.weight")):
            assert (weight == 1).all()
        elif name.endswith("bias"):
            assert (weight == 0).all()
        else:
            writes = name.endswith(("attention.output.weight", "mlp.2.weight"))
            assert weight.std().item() == pytest.approx(0.005 if writes else 0.02, rel=0.05), name   # 0.02/√(2·8)
    assert model.loss(some_ids(8, 64, D=500)).item() == pytest.approx(math.log(500), abs=0.1)


def test_bad_sizes_get_one_line():
    for bad in (dict(d_e=10, K=3), dict(L=0), dict(vocab_size=0)):
        with pytest.raises(ValueError, match="multiple of K"):
            GPT2Config(**bad)


# passes

def test_the_forward_pass_by_hand():
    """One sequence, head by head, from the printed pieces."""
    model, ids = gpt2().double(), some_ids(1, 7)
    x = model.W_e[ids[0]] + model.W_p[:7]
    for block in model.blocks:
        q, k, v = block.attention.qkv(layer_norm(x, *block.norm_attention.parameters())).split(12, -1)
        heads = []
        for i in range(3):
            part = slice(4 * i, 4 * i + 4)
            scores = (q[:, part] @ k[:, part].T / 2).masked_fill(torch.ones(7, 7).triu(1) == 1, -math.inf)
            heads.append(scores.softmax(-1) @ v[:, part])
        x = x + block.attention.output(torch.cat(heads, -1))
        y = layer_norm(x, *block.norm_mlp.parameters())
        x = x + block.mlp[2](gelu(block.mlp[0](y)))
    torch.testing.assert_close(model(ids)[0], layer_norm(x, *model.norm.parameters()) @ model.W_e.T, atol=1e-10, rtol=0)


def test_the_fast_path_equals_the_explicit_one():
    model, ids = gpt2(), some_ids(3, 16)
    fast, _, none = model.run(ids)
    explicit, _, maps = model.run(ids, need_weights=True)
    assert none == [None, None] and maps[0].shape == (3, 3, 16, 16)
    torch.testing.assert_close(torch.stack(fast), torch.stack(explicit), atol=1e-5, rtol=1e-5)
    padding = torch.tensor([0, 2, 9])
    torch.testing.assert_close(model.run(ids, None, padding)[0][-1], model.run(ids, None, padding, True)[0][-1],
                               atol=1e-5, rtol=1e-5)


def test_nobody_sees_the_future():
    model, ids = gpt2(), some_ids(2, 10)
    later = ids.clone()
    later[:, 6:] = (later[:, 6:] + 1) % 30
    torch.testing.assert_close(model(ids)[:, :6], model(later)[:, :6])
    assert (model(ids)[:, 6:] - model(later)[:, 6:]).abs().max() > 0.1


def test_attention_maps():
    model, ids = gpt2(), some_ids(2, 9)
    A = model.attentions(ids)
    assert A.shape == (2, 2, 3, 9, 9) and (A.triu(1) == 0).all()
    torch.testing.assert_close(A.sum(-1), torch.ones(2, 2, 3, 9))
    torch.testing.assert_close(model.attentions(ids[1]), A[:, 1])
    assert A.requires_grad


def test_the_stream_leads_to_the_logits():
    model, ids = gpt2(), some_ids(2, 9)
    stream = model.stream(ids)
    assert stream.shape == (3, 2, 9, 12)
    torch.testing.assert_close(stream[0], model.W_e[ids] + model.W_p[:9])
    torch.testing.assert_close(model.logits(stream[-1]), model(ids))


@pytest.mark.parametrize("ids", [torch.zeros(1, 17, dtype=torch.long), torch.zeros(1, 0, dtype=torch.long),
                                 torch.zeros(4, dtype=torch.long), torch.zeros(1, 4)])
def test_bad_ids_get_one_line(ids):
    with pytest.raises(ValueError, match="1 ≤ T ≤ 16") as caught:
        gpt2()(ids)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", [-1, 30])
def test_ids_outside_the_vocabulary_get_one_line(word):
    with pytest.raises(ValueError, match="between 0 and 29") as caught:
        gpt2()(torch.tensor([[1, word]]))
    assert "\n" not in str(caught.value)


# loss

def test_the_loss_is_the_mean_surprise():
    model, ids = gpt2(), some_ids(3, 8)
    log_p = model(ids).log_softmax(-1)
    surprise = [-log_p[i, t, ids[i, t + 1]] for i in range(3) for t in range(7)]
    torch.testing.assert_close(model.loss(ids), torch.stack(surprise).mean())
    torch.testing.assert_close(next_token_loss(model(ids)[:, :-1], ids[:, 1:]), model.loss(ids))
    with pytest.raises(ValueError, match="at least two"):
        model.loss(ids[:, :1])


def test_it_learns_to_count_on():
    """Sequences a, a+s, a+2s, … modulo 10: the step s has to be read off the first two tokens."""
    start, step = torch.meshgrid(torch.arange(10), torch.arange(1, 5), indexing="ij")
    ids = (start.reshape(-1, 1) + step.reshape(-1, 1) * torch.arange(8)) % 10                      # (40, 8)
    torch.manual_seed(0)
    model = GPT2(GPT2Config(vocab_size=10, T_max=8, d_e=32, K=4, L=2))
    train(model, GPT2.loss, lambda g: [ids[rows] for rows in minibatches(40, 40, g)], 150, lr=5e-3, progress=False)
    assert (model(ids).argmax(-1)[:, 1:-1] == ids[:, 2:]).float().mean() > 0.99


# cache

@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4).filter(lambda cuts: sum(cuts) <= 16), st.integers(0, 99))
def test_steps_of_any_size_equal_one_pass(cuts, seed):
    model, ids = gpt2(), some_ids(2, sum(cuts), seed)
    full, cache = model(ids), None
    for start, t in zip([sum(cuts[:i]) for i in range(len(cuts))], cuts, strict=True):
        logits, cache = model.step(ids[:, start:start + t], cache)
        torch.testing.assert_close(logits, full[:, start + t - 1], atol=2e-5, rtol=1e-5)
    assert cache.length == sum(cuts) and not logits.requires_grad


@pytest.mark.parametrize("t", [1, 4])
def test_attention_maps_from_a_cache(t):
    model, ids = gpt2(), some_ids(2, 9)
    _, cache = model.step(ids[:, :-t])
    for cached, full in zip(model.run(ids[:, -t:], cache, need_weights=True)[2], model.attentions(ids), strict=True):
        torch.testing.assert_close(cached, full[:, :, -t:], atol=1e-5, rtol=1e-5)


def test_unequal_lengths_padded_on_the_left():
    model, ids, padding = gpt2(), some_ids(4, 7), torch.tensor([0, 2, 5, 6])
    other = ids.clone()
    other[torch.arange(7) < padding[:, None]] = 29                                                # any token will do
    logits, cache = model.step(ids, padding=padding)
    torch.testing.assert_close(model.step(other, padding=padding)[0], logits, atol=1e-5, rtol=1e-5)
    for new in (some_ids(4, 1, 5), some_ids(4, 3, 6)):
        for i, p in enumerate(padding):
            alone = model(ids[i:i + 1, p:])[0, -1]
            torch.testing.assert_close(logits[i], alone, atol=2e-5, rtol=1e-5)
        logits, cache = model.step(new, cache)
        ids = torch.cat([ids, new], 1)
    assert torch.isfinite(logits).all()


def test_a_cache_is_reordered_and_branches():
    model, ids = gpt2(), some_ids(3, 6)
    padding = torch.tensor([1, 0, 3])
    _, cache = model.step(ids, padding=padding)
    before = [keys.clone() for keys, _ in cache.layers]
    index, new = torch.tensor([2, 0, 2, 1]), some_ids(4, 1, 9)
    logits, longer = model.step(new, cache.reorder(index))
    fresh, _ = model.step(torch.cat([ids[index], new], 1), padding=padding[index])
    torch.testing.assert_close(logits, fresh, atol=2e-5, rtol=1e-5)
    assert longer.length == 7 and cache.length == 6
    assert all(torch.equal(keys, old) for (keys, _), old in zip(cache.layers, before, strict=True))


def test_a_full_context_is_said():
    model = gpt2()
    _, cache = model.step(some_ids(1, 16))
    with pytest.raises(ValueError, match="after 16 tokens"):
        model.step(some_ids(1, 1), cache)


# edits

@pytest.mark.parametrize("layer", [0, 1, 2])
def test_an_edit_sees_and_replaces_the_stream(layer):
    model, ids, seen = gpt2(), some_ids(2, 5), []
    plain, stream = model(ids), model.stream(ids)
    with model.editing(layer, lambda x, ids: seen.append((x, ids)) or x):
        torch.testing.assert_close(model(ids), plain)
    torch.testing.assert_close(seen[0][0], stream[layer])
    assert torch.equal(seen[0][1], ids)
    push = torch.zeros(12).index_fill(0, torch.tensor([3]), 5.0)
    with model.editing(layer, lambda x, ids: x + push):
        edited = model(ids)
        torch.testing.assert_close(model.stream(ids)[layer], stream[layer] + push)
        logits, cache = model.step(ids[:, :3])
        logits, _ = model.step(ids[:, 3:], cache)
        torch.testing.assert_close(logits, edited[:, -1], atol=2e-5, rtol=1e-5)
    assert (edited - plain).abs().max() > 0.1
    assert torch.equal(model(ids), plain)


def test_two_edits_and_a_failing_one():
    model, ids = gpt2(), some_ids(1, 4)
    with model.editing(1, lambda x, ids: x * 0), model.editing(2, lambda x, ids: x + 1):
        assert (model.stream(ids)[1] == 0).all()
    with pytest.raises(ZeroDivisionError), model.editing(1, lambda x, ids: 1 / 0):
        model(ids)
    assert model.edits == {}
    with pytest.raises(ValueError, match="L = 2"), model.editing(3, lambda x, ids: x):
        pass


# Hugging Face's files, written here by hand

CONFIG = {"model_type": "gpt2", "vocab_size": 30, "n_positions": 16, "n_ctx": 16, "n_embd": 12, "n_head": 3,
          "n_layer": 2, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}


def stored(model, prefix=""):
    """The model's weights under the names and in the shapes of the released files, masks included."""
    theirs = {"W_e": "wte.weight", "W_p": "wpe.weight", "norm.weight": "ln_f.weight", "norm.bias": "ln_f.bias"}
    pieces = {"norm_attention": "ln_1", "attention.qkv": "attn.c_attn", "attention.output": "attn.c_proj",
              "norm_mlp": "ln_2", "mlp.0": "mlp.c_fc", "mlp.2": "mlp.c_proj"}
    for l in range(model.config.L):
        theirs |= {f"blocks.{l}.{ours}.{kind}": f"h.{l}.{name}.{kind}"
                   for ours, name in pieces.items() for kind in ("weight", "bias")}
    weights = {prefix + theirs[name]: (w.T if w.dim() == 2 and "c_" in theirs[name] else w).detach().clone()
               for name, w in model.named_parameters()}
    weights = {name: w.contiguous() for name, w in weights.items()}
    masks = {f"{prefix}h.{l}.attn.bias": torch.ones(1, 1, 16, 16).tril() for l in range(model.config.L)}
    masks |= {f"{prefix}h.{l}.attn.masked_bias": torch.tensor(-1e4) for l in range(model.config.L)}
    return weights | masks


def write(folder, weights, config=CONFIG):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_old_files_with_masks_and_either_prefix(tmp_path, prefix):
    model, ids = gpt2(), some_ids(2, 9)
    head = {"lm_head.weight": model.W_e.detach().clone()} if prefix else {}
    loaded = GPT2.from_huggingface(str(write(tmp_path, stored(model, prefix) | head)))
    assert loaded.config == TINY and not loaded.training
    assert torch.equal(loaded(ids), model(ids))
    loaded.loss(ids).backward()
    assert all(weight.grad is not None for weight in loaded.parameters())


def test_half_precision_and_shards(tmp_path):
    model, weights = gpt2(), stored(gpt2())
    write(tmp_path, {})
    (tmp_path / "model.safetensors").unlink()
    shards = {"a.safetensors": dict(list(weights.items())[::2]), "b.safetensors": dict(list(weights.items())[1::2])}
    for name, part in shards.items():
        save_file({key: w.half() for key, w in part.items()}, tmp_path / name)
    index = {"weight_map": {key: name for name, part in shards.items() for key in part}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    loaded = GPT2.from_huggingface(tmp_path)
    assert loaded.W_e.dtype == torch.float32
    for (name, a), b in zip(loaded.named_parameters(), model.parameters(), strict=True):
        assert torch.equal(a, b.half().float()) and a.is_contiguous(), name
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="no b.safetensors"):
        GPT2.from_huggingface(tmp_path)


def damage(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize("spoil, error, words", [
    (lambda folder: (folder / "config.json").unlink(), FileNotFoundError, "no config.json"),
    (lambda folder: (folder / "model.safetensors").unlink(), FileNotFoundError, "no model.safetensors"),
    (damage, ValueError, "damaged"),
    (lambda folder: write(folder, {k: w for k, w in stored(gpt2()).items() if k != "wpe.weight"}), ValueError,
     r"wpe.weight should be \(16, 12\), got nothing"),
    (lambda folder: write(folder, stored(gpt2()) | {"score.weight": torch.ones(2, 12)}), ValueError,
     "score.weight should be nothing"),
    (lambda folder: write(folder, stored(gpt2()), CONFIG | {"n_layer": 1}), ValueError, "should be nothing"),
    (lambda folder: write(folder, stored(gpt2()), CONFIG | {"n_positions": 8}), ValueError, r"should be \(8, 12\)"),
    (lambda folder: write(folder, stored(gpt2()), CONFIG | {"activation_function": "gelu"}), ValueError, "'gelu'"),
    (lambda folder: write(folder, stored(gpt2()), CONFIG | {"n_inner": 100}), ValueError, "n_inner"),
    (lambda folder: write(folder, stored(gpt2()), CONFIG | {"model_type": "bert"}), ValueError, "bert"),
])
def test_files_that_do_not_fit_get_one_line(tmp_path, spoil, error, words):
    spoil(write(tmp_path / "model", stored(gpt2())))
    with pytest.raises(error, match=words) as caught:
        GPT2.from_huggingface(tmp_path / "model")
    assert "\n" not in str(caught.value)


def hub(monkeypatch, answer):
    """A stand-in for huggingface_hub, which answers with an exception or a folder."""
    def snapshot_download(name, allow_patterns):
        if isinstance(answer, Exception):
            raise answer
        return str(answer)
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(snapshot_download=snapshot_download))


def test_a_name_is_looked_up_on_the_hub(tmp_path, monkeypatch):
    hub(monkeypatch, write(tmp_path / "model", stored(gpt2())))
    assert torch.equal(GPT2.from_huggingface("gpt2").W_e, gpt2().W_e)


def test_without_a_network_the_hubs_cache_is_read(tmp_path):
    """By huggingface_hub itself, in a cache laid out as its own."""
    cache = tmp_path / "models--some--gpt"
    write(cache / "snapshots/abc", stored(gpt2()))
    (cache / "refs").mkdir()
    (cache / "refs/main").write_text("abc")
    code = "from coursekit.models import GPT2; print(GPT2.from_huggingface('some/gpt').config.d_e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=os.environ | {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"})
    assert done.stdout == "12\n"


def test_offline_one_line_says_how_to_get_the_weights(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    hub(monkeypatch, ConnectionError("long\nstory"))
    with pytest.raises(FileNotFoundError, match="cannot be downloaded .*config.json and model.safetensors") as caught:
        GPT2.from_huggingface("gpt2")
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FileNotFoundError, match="huggingface_hub, .* is not installed.* folder"):
        GPT2.from_huggingface("gpt2")
    with pytest.raises(TypeError, match="got int"):
        GPT2.from_huggingface(3)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
def test_weights_are_in_memory_once(tmp_path):
    sizes = dict(vocab_size=8000, T_max=128, d_e=512, K=8, L=4)
    with torch.device("meta"):
        shapes = {name: w.shape for name, w in stored(GPT2(GPT2Config(**sizes))).items()}
    names = {"n_positions": 128, "n_ctx": 128, "n_embd": 512, "n_head": 8, "n_layer": 4, "vocab_size": 8000}
    write(tmp_path, {name: torch.zeros(shape) for name, shape in shapes.items()}, CONFIG | names)
    code = ("import re, sys; from coursekit.models import GPT2\n"
            "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1]) * 1024\n"
            "before = peak(); GPT2.from_huggingface(sys.argv[1]); print(peak() - before)")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1.5 * (tmp_path / "model.safetensors").stat().st_size
