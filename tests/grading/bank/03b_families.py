"""Assignment 03b: answers that people give and that no mistake of the checks can be, and what a check must say to them.

text_loss, which a later question builds on, is put into this module by the test: the reference's.
"""

import functools
import math

import torch
import torch._dynamo  # which torch.optim imports when it is first called, and that takes longer than a check waits
import torch.nn.functional as F
from torch.func import functional_call

from coursekit.models import GPT2, GPT2Config
from tests.grading.bank.entries import right, wrong

text_loss = None                                        # the reference's, at test time


# -- text_loss -------------------------------------------------------------------------------------------------------

def _loss(logits, ids):
    log_p = logits[:-1] - logits[:-1].logsumexp(1, keepdim=True)
    return -log_p[torch.arange(len(ids) - 1), ids[1:]].mean()


@wrong("text_loss", "there the maximum of *each row* can be taken out first")
def _(logits, ids):
    e = torch.exp(logits[:-1])
    return -(e / e.sum(1, keepdim=True))[torch.arange(len(ids) - 1), ids[1:]].log().mean()


@wrong("text_loss", "A loss stays a tensor")
def _(logits, ids):
    return _loss(logits, ids).item()


@wrong("text_loss", "No gradient gets through it")
def _(logits, ids):
    return _loss(logits.detach(), ids)


@wrong("text_loss", "A text of T tokens has T − 1 next tokens")
def _(logits, ids):
    return -(logits - logits.logsumexp(1, keepdim=True))[torch.arange(len(ids)), ids[1:]].mean()


@wrong("text_loss", "calls torch.distributions.Categorical")
def _(logits, ids):
    return -torch.distributions.Categorical(logits=logits[:-1]).log_prob(ids[1:]).mean()


@wrong("text_loss", "Write out T = 2 by hand")
def _(logits, ids):
    return _loss(logits, ids) + _loss(logits.flip(0), ids)


@right("text_loss", "a loop over the tokens, the maximum by hand")
def _(logits, ids):
    losses = []
    for row, target in zip(logits[:-1], ids[1:]):
        row = row - row.max()
        losses.append(torch.exp(row).sum().log() - row[target])
    return sum(losses) / len(losses)


@right("text_loss", "one-hot rows and logaddexp")
def _(logits, ids):
    rows = logits[:-1]
    total = functools.reduce(torch.logaddexp, rows.unbind(1))
    return (total - (rows * F.one_hot(ids[1:], rows.shape[1])).sum(1)).mean()


# -- overfit ---------------------------------------------------------------------------------------------------------

_made = functools.cache(lambda *sizes: GPT2(GPT2Config(*sizes)))


def _logits(ids, weights, K):
    (D, d_e), T_max, L = weights["W_e"].shape, len(weights["W_p"]), sum("qkv.weight" in name for name in weights)
    return functional_call(_made(D, T_max, d_e, K, L), weights, (ids[None],))[0]


def _train(weights, ids, K, steps, make=functools.partial(torch.optim.Adam, lr=0.01), clear=True):
    own = {name: w.clone().requires_grad_() for name, w in weights.items()}
    optimiser, losses = make(list(own.values())), []
    for _ in range(steps):
        loss = text_loss(_logits(ids, own, K), ids)
        losses.append(loss.item())
        if clear:
            optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    own = {name: w.detach() for name, w in own.items()}
    return own, losses + [text_loss(_logits(ids, own, K), ids).item()]


@wrong("overfit", "and should fall to a tenth")
def _(weights, ids, K, steps):
    return _train(weights, ids, K, steps, functools.partial(torch.optim.SGD, lr=1e-3))


@wrong("overfit", "30 losses: one before each step and one at the end make 31")
def _(weights, ids, K, steps):
    trained, losses = _train(weights, ids, K, steps)
    return trained, losses[:-1]


@wrong("overfit", "and that of the weights that came back is")
def _(weights, ids, K, steps):
    return weights, _train(weights, ids, K, steps)[1]


@wrong("overfit", "and that of the weights that were given is")
def _(weights, ids, K, steps):
    return _train({name: w + 0.3 for name, w in weights.items()}, ids, K, steps)


@wrong("overfit", "the weights that came back have not the names and shapes")
def _(weights, ids, K, steps):
    trained, losses = _train(weights, ids, K, steps)
    return dict(enumerate(trained.values())), losses


@wrong("overfit", "Gradients are wanted for tensors of your own")
def _(weights, ids, K, steps):
    optimiser = torch.optim.Adam(weights.values(), lr=0.01)
    text_loss(_logits(ids, weights, K), ids).backward()
    optimiser.step()


@right("overfit", "AdamW, a larger learning rate that falls")
def _(weights, ids, K, steps):
    own = {name: w.clone().requires_grad_() for name, w in weights.items()}
    optimiser, losses = torch.optim.AdamW(own.values(), lr=0.02), []
    for step in range(steps + 1):
        loss = text_loss(_logits(ids, own, K), ids)
        losses.append(loss.item())
        for group in optimiser.param_groups:
            group["lr"] = 0.02 * (1 - step / (steps + 1))
        if step < steps:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return own, losses


@right("overfit", "Adam by hand, as in the lecture")
def _(weights, ids, K, steps):
    own, means = {name: w.clone() for name, w in weights.items()}, {name: (0, 0) for name in weights}
    losses = [text_loss(_logits(ids, own, K), ids).item()]
    for r in range(1, steps + 1):
        leaves = {name: w.clone().requires_grad_() for name, w in own.items()}
        text_loss(_logits(ids, leaves, K), ids).backward()
        for name, leaf in leaves.items():
            first, second = means[name]
            means[name] = first, second = 0.9 * first + 0.1 * leaf.grad, 0.999 * second + 0.001 * leaf.grad ** 2
            own[name] = own[name] - 0.01 * first / (1 - 0.9 ** r) / ((second / (1 - 0.999 ** r)).sqrt() + 1e-8)
        losses.append(text_loss(_logits(ids, own, K), ids).item())
    return own, losses


# -- from_checkpoint -------------------------------------------------------------------------------------------------

def _renamed(stored, replacements, left_out=("lm_head.weight", ".attn.bias", ".attn.masked_bias")):
    weights = {}
    for name, w in stored.items():
        if name.endswith(left_out):
            continue
        turn, name = ".c_" in name and name.endswith("weight"), name.removeprefix("transformer.")
        for theirs, ours in replacements.items():
            name = name.replace(theirs, ours)
        weights[name] = w.T if turn else w
    return weights


TABLE = {"wte.weight": "W_e", "wpe.weight": "W_p", "ln_f": "norm", "h.": "blocks.", "ln_1": "norm_attention",
         "ln_2": "norm_mlp", "attn.c_attn": "attention.qkv", "attn.c_proj": "attention.output", "mlp.c_fc": "mlp.0",
         "mlp.c_proj": "mlp.2"}


@wrong("from_checkpoint", "Two layers are called c_proj")
def _(stored):
    return _renamed(stored, {"c_proj": "output", **TABLE})


@wrong("from_checkpoint", "are not those of the table")
def _(stored):
    return _renamed(stored, TABLE | {"ln_1": "norm_1"})


@wrong("from_checkpoint", "holds the numbers of another weight")
def _(stored):
    return _renamed(stored, TABLE | {"ln_1": "norm_mlp", "ln_2": "norm_attention"})


@wrong("from_checkpoint", "Only names and axes change")
def _(stored):
    return {name: w.numpy() for name, w in _renamed(stored, TABLE).items()}


@wrong("from_checkpoint", "Does `return` stand inside the loop?")
def _(stored):
    return {"W_e": stored.get("wte.weight", stored.get("transformer.wte.weight"))}


@wrong("from_checkpoint", "has this model that many layers?")
def _(stored):
    return {"W_e": stored["wte.weight"], "blocks.1.mlp.0.weight": stored["h.1.mlp.c_fc.weight"]}


@right("from_checkpoint", "asks for each of the names that it wants")
def _(stored):
    there = {name.removeprefix("transformer."): w for name, w in stored.items()}
    weights = {"W_e": there["wte.weight"], "W_p": there["wpe.weight"], "norm.weight": there["ln_f.weight"],
               "norm.bias": there["ln_f.bias"]}
    for l in range(sum(name.endswith("ln_1.bias") for name in there)):
        for theirs, ours in TABLE.items():
            for kind in ("weight", "bias") if theirs[:2] not in ("wt", "wp", "h.") and theirs != "ln_f" else ():
                w = there[f"h.{l}.{theirs}.{kind}"]
                weights[f"blocks.{l}.{ours}.{kind}"] = w.t().contiguous() if w.dim() == 2 else w
    return weights


@right("from_checkpoint", "a table of replacements")
def _(stored):
    return _renamed(stored, TABLE)


# -- may_see ---------------------------------------------------------------------------------------------------------

def _loops(family, source, target):
    ids = [*source.tolist(), *target.tolist()]
    S, n = len(source), len(ids)
    see = torch.zeros(n, n, dtype=torch.bool)
    for s in range(n):
        for t in range(n):
            see[s, t] = {"encoder-only": True, "decoder-only": t <= s}.get(family, t < S or s >= S and t <= s)
            if ids[s] == 0 or ids[t] == 0:
                see[s, t] = s == t
    return see


@wrong("may_see", "True and False are asked for")
def _(family, source, target):
    return _loops(family, source, target).float()


@wrong("may_see", "Take one family, and two tokens of each text")
def _(family, source, target):
    return torch.eye(len(source) + len(target)).bool()


@wrong("may_see", "The table has a row and a column for each of the S + T tokens")
def _(family, source, target):
    return torch.ones(len(source), len(source)).bool() & torch.ones(len(source), len(target) + 1).bool()


@wrong("may_see", "right on the inputs that you see", at_once=False)
def _(family, source, target):
    see = _loops(family, source, target)
    return see if len(source) < 4 else see.fill_diagonal_(True) & (source.sum() > 40)


@right("may_see", "loops and questions")
def _(family, source, target):
    return _loops(family, source, target)


@right("may_see", "four blocks side by side")
def _(family, source, target):
    S, T = len(source), len(target)
    past = torch.tril(torch.ones(S + T, S + T)) > 0
    corner = torch.full((S, T), family == "encoder-only")
    left = torch.ones(S + T, S).bool() if family != "decoder-only" else past[:, :S]
    right_ = torch.cat([corner, torch.ones(T, T).bool() if family == "encoder-only" else past[S:, S:]])
    real = torch.cat([source, target]).bool()
    return torch.cat([left, right_], 1) * torch.outer(real, real) | torch.eye(S + T).bool() & ~real


# -- at_once ---------------------------------------------------------------------------------------------------------

@wrong("at_once", "is it 0 · log 0?")
def _(p):
    q = torch.outer(p.sum(1), p.sum(0))
    return q, -(p * q.log()).sum(), -(p * p.log()).sum()


@wrong("at_once", "Row sums are (A,)")
def _(p):
    q = p.sum(1, keepdim=True) * p.sum(0) if len(p) == len(p[0]) else p.sum(1) * p.sum(0)
    return q, -torch.special.xlogy(p, q).sum(), -torch.special.xlogy(p, p).sum()


@wrong("at_once", "Return three things")
def _(p):
    return torch.outer(p.sum(1), p.sum(0))


@wrong("at_once", "Each loss is the mean of −log of what the model gave")
def _(p):
    return p / 2, p.sum(), p.sum()


@right("at_once", "loops over the pairs")
def _(p):
    q, at_once, in_turn = torch.zeros_like(p), 0.0, 0.0
    for a in range(len(p)):
        for n in range(len(p[0])):
            q[a, n] = p[a].sum() * p[:, n].sum()
            if p[a, n] > 0:
                at_once -= (p[a, n] * torch.log(q[a, n])).item()
                in_turn -= p[a, n].item() * math.log(p[a, n])
    return q, torch.tensor(at_once, dtype=p.dtype), torch.tensor(in_turn, dtype=p.dtype)


@right("at_once", "by entropies: the two words' own, and the first plus the second given the first")
def _(p):
    def entropy(x):
        return -torch.special.xlogy(x, x).sum()

    first, second = p.sum(1), p.sum(0)
    given = torch.stack([row / total if total > 0 else row for row, total in zip(p, first)])
    return (first[:, None] @ second[None], entropy(first) + entropy(second),
            entropy(first) + sum(total * entropy(row) for row, total in zip(given, first)))
