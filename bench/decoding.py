"""Tokens per second: greedy decoding and beam search with a KV cache, beside transformers' `generate` and without one.

Both models carry the same random weights and neither stops early. "tiny" has the size of the course's dialogue model,
"124M" that of GPT-2 small. Run it on a quiet machine: `python -m bench.decoding`, or `… tiny` for the tiny one alone.
"""

import sys

import torch
import transformers

from bench import compare, in_turns, table
from coursekit.models import GPT2, beam_search, greedy

SIZES = {"tiny": dict(vocab_size=256, n_positions=256, n_embd=64, n_head=4, n_layer=3), "124M": {}}
TOKENS = {"tiny": (16, 128), "124M": (32, 32)}                          # of the prompt, and new ones
TURNS = {"tiny": 7, "124M": 3}


def models(size):
    """transformers' GPT-2 with random weights, and ours with the same."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(**SIZES[size], bos_token_id=None, eos_token_id=None, pad_token_id=0)
    peer = transformers.GPT2LMHeadModel(config).eval()
    return peer, GPT2.from_huggingface(peer)


def peer_generate(peer, rows, n, **options):
    """The new ids of each row; prompts of unequal lengths are padded on the left."""
    T = max(map(len, rows))
    ids = torch.tensor([[0] * (T - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (T - len(row)) + [1] * len(row) for row in rows])
    return peer.generate(ids, attention_mask=mask, max_new_tokens=n, do_sample=False, **options)[:, T:].tolist()


def row(what, against, functions, n_tokens, turns, target=None):
    """One row: our seconds, theirs, the tokens a second of both, and how many tokens they agree on."""
    ours, theirs = (f() for f in functions)
    same = sum(a == b for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True))
    ours_s, theirs_s = in_turns(functions, turns)
    found = compare(what, against, ours_s, theirs_s, f"{same} of {n_tokens} tokens", target)
    return found | {"tokens/s": f"{n_tokens / ours_s:.0f} : {n_tokens / theirs_s:.0f}"}


def rows(size):
    """The comparisons for one size of model."""
    peer, ours = models(size)
    T, n = TOKENS[size]
    g = torch.Generator().manual_seed(0)
    one = [torch.randint(ours.config.vocab_size, (T,), generator=g).tolist()]
    batch = [torch.randint(ours.config.vocab_size, (T - i,), generator=g).tolist() for i in range(8)]

    def with_cache():
        return greedy(ours, one, n)

    def beams():
        return [beam_search(ours, one[0], n, width=4).hypotheses[0].ids]

    yield row(f"greedy, {size}", "transformers", [with_cache, lambda: peer_generate(peer, one, n)], n, TURNS[size],
              1.5 if size == "tiny" else 0.8)
    yield row(f"greedy, {size}, batch of 8 lengths", "transformers",
              [lambda: greedy(ours, batch, n), lambda: peer_generate(peer, batch, n)], 8 * n, TURNS[size])
    yield row(f"beam search, {size}, width 4", "transformers",
              [beams, lambda: peer_generate(peer, one, n, num_beams=4)], n, TURNS[size])
    yield row(f"greedy, {size}", "ours without cache",
              [with_cache, lambda: greedy(ours, one, n, use_cache=False)], n, TURNS[size])


def main(sizes):
    """One table for all sizes asked for."""
    print(f"greedy decoding on {torch.get_num_threads()} thread(s); tokens/s: ours : theirs")
    table([found for size in sizes for found in rows(size)])


if __name__ == "__main__":
    main(sys.argv[1:] or list(SIZES))
