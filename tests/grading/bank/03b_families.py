"""Assignment 03b: answers that people give and that no mistake of the checks can be, and what a check must say to them.

text_loss and at_once, which later questions build on, are put into this module by the test: the reference's.
"""

import functools

import torch
import torch._dynamo  # which torch.optim imports when it is first called, and that takes longer than a check waits
import torch.nn.functional as F
from torch.func import functional_call

from coursekit.models import GPT2, GPT2Config
from tests.grading.bank.entries import right, wrong

text_loss = at_once = None                              # the reference's, at test time


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


@wrong("overfit", "An optimiser's step changes the very tensors that it was given")
def _(weights, ids, K, steps):
    own = {name: w.detach().requires_grad_() for name, w in weights.items()}
    optimiser, losses = torch.optim.Adam(own.values(), lr=0.01), []
    for _ in range(steps):
        loss = text_loss(_logits(ids, own, K), ids)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    own = {name: w.detach() for name, w in own.items()}
    return own, losses + [text_loss(_logits(ids, own, K), ids).item()]


@wrong("overfit", "Are old gradients cleared before a new one?")
def _(weights, ids, K, steps):
    return _train(weights, ids, K, steps, clear=False)


@wrong("overfit", "has not come back")
def _(weights, ids, K, steps):
    losses = [1.0]
    while losses[-1] > 0.1 * losses[0]:                     # trained again and again, and always from the start
        losses = _train(weights, ids, K, 1)[1]
    return weights, losses


@wrong("overfit", "Is each of them computed")
def _(weights, ids, K, steps):
    trained, losses = _train(weights, ids, K, steps)
    return trained, torch.linspace(losses[0], losses[-1], steps + 1).tolist()


@wrong("overfit", "A step is one gradient.")
def _(weights, ids, K, steps):
    trained, losses = _train(weights, ids, K, 2 * steps)
    return trained, losses[::2]


@wrong("overfit", "Gradients are wanted for tensors of your own")
def _(weights, ids, K, steps):
    optimiser = torch.optim.Adam(weights.values(), lr=0.01)
    text_loss(_logits(ids, weights, K), ids).backward()
    optimiser.step()


@right("overfit", "AdamW, a larger learning rate")
def _(weights, ids, K, steps):
    return _train(weights, ids, K, steps, functools.partial(torch.optim.AdamW, lr=0.02))


@right("overfit", "gradients by torch.func, handed to Adam, whose learning rate falls")
def _(weights, ids, K, steps):
    own, losses = {name: w.clone() for name, w in weights.items()}, []
    optimiser = torch.optim.Adam(own.values(), lr=0.01)
    for step in range(steps + 1):
        gradients, loss = torch.func.grad_and_value(lambda own: text_loss(_logits(ids, own, K), ids))(own)
        losses.append(loss.item())
        if step < steps:
            for name, w in own.items():
                w.grad = gradients[name]
            optimiser.param_groups[0]["lr"] = 0.01 * 0.99 ** step
            optimiser.step()
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


@right("from_checkpoint", "the longest names first, and the entries backwards")
def _(stored):
    return _renamed(dict(reversed(stored.items())), dict(sorted(TABLE.items(), key=lambda pair: -len(pair[0]))))


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


@wrong("may_see", "with a hyphen?")
def _(family, source, target):
    if family in ("encoder-only", "decoder-only", "encoder–decoder"):
        see = _loops(family, source, target)
    return see


@wrong("may_see", "The table has a row and a column for each of the S + T tokens")
def _(family, source, target):
    return torch.ones(len(source), len(source)).bool() & torch.ones(len(source), len(target) + 1).bool()


@right("may_see", "loops and questions")
def _(family, source, target):
    return _loops(family, source, target)


@right("may_see", "the past, and what a family adds to it")
def _(family, source, target):
    ids = torch.cat([source, target])
    see = torch.ones(len(ids), len(ids)).tril().bool()
    if family != "decoder-only":
        see[:, :len(ids) if family == "encoder-only" else len(source)] = True
    return see * torch.outer(ids != 0, ids != 0) | torch.eye(len(ids)).bool() & (ids == 0)


# -- at_once ---------------------------------------------------------------------------------------------------------

@wrong("at_once", "is it 0 · log 0?")
def _(p):
    q = torch.outer(p.sum(1), p.sum(0))
    return q, -(p * q.log()).sum(), -(p * p.log()).sum()


@wrong("at_once", "Row sums are (A,)")
def _(p):
    q = p.sum(1, keepdim=True) * p.sum(0) if len(p) == len(p[0]) else p.sum(1) * p.sum(0)
    return q, -torch.special.xlogy(p, q).sum(), -torch.special.xlogy(p, p).sum()


@wrong("at_once", "q is turned: its row a is the first word.")
def _(p):
    q = torch.outer(p.sum(0), p.sum(1))
    return q, -torch.special.xlogy(p, q.T).sum(), -torch.special.xlogy(p, p).sum()


@wrong("at_once", "A loss stays a tensor")
def _(p):
    q = torch.outer(p.sum(1), p.sum(0))
    return q, -torch.special.xlogy(p, q).sum().item(), -torch.special.xlogy(p, p).sum().item()


@wrong("at_once", "Each loss is the mean of −log of what the model gave")
def _(p):
    return p / 2, p.sum(), p.sum()


@right("at_once", "a list of the pairs that do come")
def _(p):
    q = p.sum(1)[:, None] * p.sum(0)
    pairs = [(p[a, n], q[a, n]) for a in range(len(p)) for n in range(len(p[0])) if p[a, n] > 0]
    return q, -sum(true * given.log() for true, given in pairs), -sum(true * true.log() for true, _ in pairs)


@right("at_once", "by entropies: the two words' own, and the first plus the second given the first")
def _(p):
    def entropy(x):
        return -torch.special.xlogy(x, x).sum()

    first, second = p.sum(1), p.sum(0)
    given = torch.stack([row / total if total > 0 else row for row, total in zip(p, first)])
    return (first[:, None] @ second[None], entropy(first) + entropy(second),
            entropy(first) + sum(total * entropy(row) for row, total in zip(given, first)))


# -- my_experiment ---------------------------------------------------------------------------------------------------

def _drawn(seed):
    """Logits (12, 6) and a text (12,)."""
    dice = torch.Generator().manual_seed(seed)
    return torch.randn(12, 6, generator=dice), torch.randint(0, 6, (12,), generator=dice)


@wrong("my_experiment", "it returns a number, and two numbers are needed")
def _(seed):
    return text_loss(*_drawn(seed)).item()


@wrong("my_experiment", "it has 6 entries, and one number is needed")
def _(seed):
    logits, ids = _drawn(seed)
    return logits[0], logits[1]


@wrong("my_experiment", "Draw everything from a generator made with `seed`")
def _(seed):
    logits, ids = torch.randn(12, 6), torch.arange(12) % 6
    return text_loss(logits, ids).item(), text_loss(2 * logits, ids).item()


@wrong("my_experiment", "Does what you change get to what you measure?")
def _(seed):
    logits, ids = _drawn(seed)
    return text_loss(logits, ids).item(), text_loss(logits, ids.clone()).item()         # changed was nothing


@wrong("my_experiment", "stops with an error")
def _(seed):
    logits, ids = _drawn(seed)
    return text_loss(logits, ids).item(), text_loss(logits[:6], ids).item()


@wrong("my_experiment", "a number is nan")
def _(seed):
    logits, ids = _drawn(seed)
    return text_loss(logits, ids).item(), text_loss(logits[:1], ids[:1]).item()         # the mean of no tokens


@right("my_experiment", "logits twice as large, one seed for all that is drawn")
def _(seed):
    torch.manual_seed(seed)
    logits, ids = torch.randn(30, 8), torch.randint(0, 8, (30,))
    return [text_loss(logits, ids).item(), float(text_loss(2 * logits, ids))]


@right("my_experiment", "the price of a table whose smallest entry becomes 0")
def _(seed):
    def price(p):
        _, together, in_turn = at_once(p / p.sum())
        return (together - in_turn).item()

    p = torch.rand(4, 6, generator=torch.Generator().manual_seed(seed))
    return price(p), price(p.where(p > p.min(), 0.0))
