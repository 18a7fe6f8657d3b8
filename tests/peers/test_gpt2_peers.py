"""Our GPT-2 beside transformers' on the same weights: logits, attention maps, gradients, cache, files."""

import pytest
import torch
import transformers

from coursekit.models import GPT2

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def peer(V=61, T=24, d=24, K=4, L=3, seed=0, **more):
    """A random GPT2LMHeadModel with explicit attention, its weights large enough for heads that disagree."""
    torch.manual_seed(seed)
    config = transformers.GPT2Config(vocab_size=V, n_positions=T, n_embd=d, n_head=K, n_layer=L, bos_token_id=0,
                                     eos_token_id=0, attn_implementation="eager", **more)
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def some_ids(n, T, V=61, seed=1):
    return torch.randint(V, (n, T), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("sizes", [dict(), dict(K=1, L=1, d=8), dict(K=6, L=2), dict(K=2, L=5, d=32, V=300),
                                   dict(activation_function="gelu_pytorch_tanh"), dict(layer_norm_epsilon=1e-3)])
@torch.no_grad()
def test_logits_maps_and_streams_are_theirs(sizes):
    theirs = peer(**sizes)
    ours, ids = GPT2.from_huggingface(theirs), some_ids(3, 24)
    answer = theirs(ids, output_attentions=True, output_hidden_states=True)
    assert (ours(ids) - answer.logits).abs().max() < 1e-5
    maps = torch.stack(answer.attentions, 1)                                            # (n, L, K, T, T)
    assert (ours.attentions(ids).transpose(0, 1) - maps).abs().max() < 1e-6
    assert (maps.tril().max(-1).values - 1 / torch.arange(1, 25)).abs().max() > 0.05    # far from uniform
    streams = torch.stack(answer.hidden_states)                                         # their last one is normed
    torch.testing.assert_close(ours.stream(ids)[:-1], streams[:-1], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(ours.norm(ours.stream(ids)[-1]), streams[-1], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_exact_gelu_would_show():
    theirs, ids = peer(), some_ids(3, 24)
    ours = GPT2.from_huggingface(theirs)
    for block in theirs.transformer.h:
        block.mlp.act = torch.nn.GELU()
    assert (ours(ids) - theirs(ids).logits).abs().max() > 1e-4
    with pytest.raises(ValueError, match="'activation_function': 'gelu'"):
        GPT2.from_huggingface(peer(activation_function="gelu"))


def test_loss_and_every_gradient_are_theirs():
    theirs, ids = peer(), some_ids(4, 24)
    ours = GPT2.from_huggingface(theirs)
    loss = theirs(ids, labels=ids).loss
    loss.backward()
    ours.loss(ids).backward()
    assert ours.loss(ids).item() == pytest.approx(loss.item(), abs=1e-5)
    gradients = dict(theirs.named_parameters())
    assert len(gradients) == len(list(ours.parameters()))
    torch.testing.assert_close(ours.W_e.grad, gradients["transformer.wte.weight"].grad, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(ours.W_p.grad, gradients["transformer.wpe.weight"].grad, atol=1e-6, rtol=1e-4)
    for block, other in zip(ours.blocks, theirs.transformer.h, strict=True):
        for mine, yours in ((block.attention.qkv, other.attn.c_attn), (block.attention.output, other.attn.c_proj),
                            (block.mlp[0], other.mlp.c_fc), (block.mlp[2], other.mlp.c_proj)):
            torch.testing.assert_close(mine.weight.grad.T, yours.weight.grad, atol=1e-6, rtol=1e-4)
            torch.testing.assert_close(mine.bias.grad, yours.bias.grad, atol=1e-6, rtol=1e-4)
        for mine, yours in ((block.norm_attention, other.ln_1), (block.norm_mlp, other.ln_2)):
            torch.testing.assert_close(mine.weight.grad, yours.weight.grad, atol=1e-6, rtol=1e-4)


@torch.no_grad()
def test_the_cache_is_theirs_in_a_padded_batch():
    theirs, ids, padding = peer(), some_ids(3, 12), torch.tensor([0, 4, 7])
    ours = GPT2.from_huggingface(theirs)
    seen = (torch.arange(12) >= padding[:, None]).long()
    positions = (seen.cumsum(-1) - 1).clamp(min=0)
    answer = theirs(ids[:, :9], attention_mask=seen[:, :9], position_ids=positions[:, :9], use_cache=True)
    logits, cache = ours.step(ids[:, :9], padding=padding)
    assert (logits - answer.logits[:, -1]).abs().max() < 1e-5
    for t in range(9, 12):
        answer = theirs(ids[:, t:t + 1], attention_mask=seen[:, :t + 1], position_ids=positions[:, t:t + 1],
                        past_key_values=answer.past_key_values, use_cache=True)
        logits, cache = ours.step(ids[:, t:t + 1], cache)
        assert (logits - answer.logits[:, -1]).abs().max() < 1e-5
    for (keys, values), layer in zip(cache.layers, answer.past_key_values.layers, strict=True):
        torch.testing.assert_close(keys[1, :, 4:], layer.keys[1, :, 4:], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(values[1, :, 4:], layer.values[1, :, 4:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shard", ["1GB", "20KB"])
@pytest.mark.parametrize("head", [True, False])
def test_their_folders_load(tmp_path, shard, head):
    theirs = peer()
    (theirs if head else theirs.transformer).save_pretrained(tmp_path, max_shard_size=shard)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (shard == "20KB")
    ours = GPT2.from_huggingface(tmp_path)
    directly = GPT2.from_huggingface(theirs if head else theirs.transformer)
    for a, b in zip(ours.parameters(), directly.parameters(), strict=True):
        assert torch.equal(a, b)


def test_loading_shares_no_memory_with_their_model():
    theirs = peer()
    ours, ids = GPT2.from_huggingface(theirs), some_ids(1, 5)
    before = ours(ids)
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.zero_()
    assert torch.equal(ours(ids), before)


def test_other_architectures_are_refused():
    for more, words in ((dict(n_inner=50), "n_inner"), (dict(scale_attn_by_inverse_layer_idx=True), "inverse_layer"),
                        (dict(add_cross_attention=True), "cross_attention")):
        with pytest.raises(ValueError, match=words) as caught:
            GPT2.from_huggingface(peer(**more))
        assert "\n" not in str(caught.value)
    bert = transformers.BertModel(transformers.BertConfig(vocab_size=30, hidden_size=12, num_hidden_layers=1,
                                                          num_attention_heads=2, intermediate_size=20))
    with pytest.raises(ValueError, match="'model_type': 'bert'"):
        GPT2.from_huggingface(bert)


@torch.no_grad()
def test_at_the_size_of_gpt2_small():
    torch.manual_seed(0)
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval()
    ours, ids = GPT2.from_huggingface(theirs), some_ids(1, 24, 50257)
    assert sum(weight.numel() for weight in ours.parameters()) == theirs.num_parameters() == 124_439_808
    logits = theirs(ids).logits
    assert (ours(ids) - logits).abs().max() < 1e-4 and logits.std() > 0.3
