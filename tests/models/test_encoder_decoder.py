"""Encoder and decoder: padding is never seen, greedy agrees with the forward pass, all three kinds learn to reverse."""

import pytest
import torch

from coursekit.models import (
    GPT2,
    EncoderDecoder,
    EncoderOnly,
    GPT2Config,
    alignment_accuracy,
    as_one_sequence,
    exact_match,
    minibatches,
    target_loss,
    to_ids,
    train,
)
from coursekit.models.attention import causal_mask, sinusoidal_positions
from coursekit.models.encoder_decoder import END, PAD, DecoderBlock, Embedding
from coursekit.worlds.generated.translations import ENGLISH, FRENCH, LETTERS, reversals, translations

PAIRS = translations(12, seed=0)
SOURCE, TARGET = to_ids([p.source for p in PAIRS], ENGLISH), to_ids([p.target for p in PAIRS], FRENCH)


def model(L=2):
    torch.manual_seed(0)
    return EncoderDecoder(len(ENGLISH), len(FRENCH), d_e=16, K=2, L=L).eval()


# ids

def test_words_to_ids():
    assert [[ENGLISH[i] for i in row if i not in (PAD, END)] for row in SOURCE] == [list(p.source) for p in PAIRS]
    assert ((SOURCE == END).sum(1) == 1).all() and SOURCE.shape == (12, max(len(p.source) for p in PAIRS) + 1)
    with pytest.raises(ValueError, match="not in the vocabulary: zebra"):
        to_ids([["the", "zebra"]], ENGLISH)


def test_one_sequence_for_a_decoder():
    ids, is_target = as_one_sequence(SOURCE, TARGET)
    for row, counted, pair in zip(ids, is_target, PAIRS, strict=True):
        length = len(pair.source) + 1 + len(pair.target) + 1
        words = [ENGLISH[i] for i in row[:len(pair.source)]] + [FRENCH[i] for i in row[len(pair.source):length]]
        assert words == [*pair.source, "[START]", *pair.target, "[END]"] and (row[length:] == PAD).all()
        assert counted.nonzero().flatten().tolist() == list(range(len(pair.source) + 1, length))


def test_exact_match_and_alignment_accuracy_count():
    assert exact_match(torch.tensor([[3, 2, 0], [4, 4, 2]]), torch.tensor([[3, 2], [4, 2]])) == 0.5
    maps = torch.zeros(2, 1, 2, 3, 4)
    maps[:, 0, 0, [0, 1, 2], [2, 1, 0]] = 1.0                              # head 0 reads backwards
    maps[:, 0, 1, :, 3] = 1.0                                              # head 1 looks at the last word
    assert alignment_accuracy(maps, [(2, 1, 0), (2, 0)]).tolist() == [[pytest.approx(0.8), 0.0]]


def test_words_have_the_size_of_the_waves_that_are_added():
    torch.manual_seed(0)
    embed, ids = Embedding(500, 24, 64), torch.arange(500).reshape(25, 20)
    words = 8 * embed.words(ids)
    torch.testing.assert_close(embed(ids), words + sinusoidal_positions(20, 64))
    assert 0.9 < words.std() < 1.1


# passes

def test_shapes_and_rows():
    m = model()
    maps = m.cross_attention(SOURCE, TARGET)
    assert m(SOURCE, TARGET).shape == (*TARGET.shape, len(FRENCH))
    assert maps.shape == (12, 2, 2, TARGET.shape[1], SOURCE.shape[1])
    torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]))
    hidden = (SOURCE == PAD)[:, None, None, None].expand_as(maps)
    assert hidden.any() and (maps[hidden] == 0).all()


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_layer_of_the_decoder_is_torchs(need_weights):
    torch.manual_seed(0)
    block, twin = DecoderBlock(8, 2), torch.nn.TransformerDecoderLayer(8, 2, 32, 0, batch_first=True, norm_first=True)
    with torch.no_grad():
        for ours, theirs in ((block.attention, twin.self_attn), (block.cross, twin.multihead_attn)):
            for name in ("weight", "bias"):
                parts = [getattr(layer, name) for layer in (ours.query, ours.key, ours.value)]
                getattr(theirs, f"in_proj_{name}").copy_(torch.cat(parts))
            theirs.out_proj.load_state_dict(ours.output.state_dict())
        for ours, theirs in ((block.mlp[0], twin.linear1), (block.mlp[2], twin.linear2), (block.norm_self, twin.norm1),
                             (block.norm_cross, twin.norm2), (block.norm_mlp, twin.norm3)):
            theirs.load_state_dict(ours.state_dict())
    x, states, causal = torch.randn(3, 4, 8), torch.randn(3, 5, 8), causal_mask(4)
    seen = torch.arange(5) < torch.tensor([[5], [3], [1]])
    torch.testing.assert_close(block(x, states, seen[:, None, None], causal, need_weights)[0],
                               twin(x, states, tgt_mask=causal, memory_key_padding_mask=~seen))


def test_padding_changes_nothing():
    m = model()
    for i, pair in enumerate(PAIRS):
        s, t = SOURCE[i:i + 1, :len(pair.source) + 1], TARGET[i:i + 1, :len(pair.target) + 1]
        torch.testing.assert_close(m(s, t)[0], m(SOURCE, TARGET)[i, :t.shape[1]], atol=1e-5, rtol=1e-4)
    more = torch.nn.functional.pad(TARGET, (0, 2))
    torch.testing.assert_close(m.loss(SOURCE, more), m.loss(SOURCE, TARGET))


def test_the_decoder_sees_its_past_and_all_of_the_source():
    m, t = model(), 3
    later = TARGET.clone()
    later[:, t:] = (later[:, t:] + 1) % len(FRENCH)
    plain = m(SOURCE, TARGET)
    torch.testing.assert_close(m(SOURCE, later)[:, :t + 1], plain[:, :t + 1])
    assert (m(SOURCE, later)[:, t + 1] - plain[:, t + 1]).abs().max() > 1e-3
    other = SOURCE.clone()
    other[:, 3] = 5
    assert (m(other, TARGET)[:, 0] - plain[:, 0]).abs().max() > 1e-4


def test_the_loss_by_hand():
    m = model()
    log_p = m(SOURCE, TARGET).log_softmax(-1)
    surprise = [-log_p[i, t, TARGET[i, t]] for i, t in (TARGET != PAD).nonzero()]
    torch.testing.assert_close(m.loss(SOURCE, TARGET), torch.stack(surprise).mean())


def test_greedy_is_the_best_word_each_time():
    m = model()
    answer = m.translate(SOURCE)
    best = m(SOURCE, answer).argmax(-1)
    ended = (answer == END).cumsum(1) - (answer == END).int() > 0
    assert torch.equal(best[~ended], answer[~ended]) and (answer[ended] == PAD).all()
    assert m.translate(SOURCE, max_length=4).shape[1] <= 4
    for i in range(3):
        alone = m.translate(SOURCE[i:i + 1])[0]
        assert torch.equal(alone, answer[i, :len(alone)])


def test_bad_ids_get_one_line():
    for bad in (SOURCE[0], torch.full((1, 3), 99), torch.ones(1, 25, dtype=torch.long)):
        with pytest.raises(ValueError, match="expected ids") as caught:
            model()(bad, TARGET[:1])
        assert "\n" not in str(caught.value)


# learning: three architectures, one task

WORDS = reversals(1500, seed=0, length=(2, 4))
BACK, FRONT = to_ids([p.target for p in WORDS], LETTERS), to_ids([p.source for p in WORDS], LETTERS)


def learn(m, loss, epochs):
    return train(m, loss, lambda g: minibatches(1300, 50, g), epochs, lr=1e-2, progress=False)


def test_an_encoder_decoder_learns_to_reverse_and_where_to_look():
    torch.manual_seed(0)
    m = EncoderDecoder(len(LETTERS), len(LETTERS), d_e=32)
    learn(m, lambda m, rows: m.loss(FRONT[rows], BACK[rows]), 9)
    assert exact_match(m.translate(FRONT[1300:]), BACK[1300:]) >= 0.9
    right = alignment_accuracy(m.cross_attention(FRONT[1300:], BACK[1300:]), [p.alignment for p in WORDS[1300:]])
    assert right.max() > 0.8                                               # by chance: less than a third


def test_an_encoder_alone_learns_to_reverse():
    torch.manual_seed(0)
    m = EncoderOnly(len(LETTERS), len(LETTERS), d_e=32, L=2)
    learn(m, lambda m, rows: m.loss(FRONT[rows], BACK[rows]), 8)
    answers = m(FRONT[1300:]).argmax(-1).where(FRONT[1300:] != PAD, PAD)
    assert exact_match(answers, BACK[1300:]) >= 0.9


def test_a_decoder_alone_learns_to_reverse():
    torch.manual_seed(0)
    m = GPT2(GPT2Config(len(LETTERS), T_max=10, d_e=32, K=2, L=2))
    ids, is_target = as_one_sequence(FRONT, BACK)
    learn(m, lambda m, rows: target_loss(m, ids[rows], is_target[rows]), 8)
    best = m(ids[1300:, :-1]).argmax(-1)                                   # each word after the right ones
    right = (best == ids[1300:, 1:]) | ~is_target[1300:, 1:]
    assert right.all(1).float().mean() >= 0.9
