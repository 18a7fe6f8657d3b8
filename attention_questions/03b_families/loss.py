"""Checks of assignment 03b: the loss of a text, and thirty steps of training."""

from attention_questions.prelude import CheckFailed, Question, kind, math, same, services, torch
from coursegrade.kit.differentiable import gradients_get_through
from coursekit.models.gpt2 import GPT2, GPT2Config, next_token_loss

from . import solution

# -- text_loss -------------------------------------------------------------------------------------------------------

LOGITS = torch.tensor([[2.0, 0.3, 1.1, -0.5], [0.2, 2.6, 0.7, -1.0], [1.0, 1.4, 0.1, 1.9]])
UNLIKE = torch.tensor([[1000.0, 999.0, 998.0], [0.0, 1.0, -1.0], [-1000.0, -998.0, -999.0], [0.0, 0.0, 0.0]])
GREAT = 1000 * torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [1.0, 1.0, 1.0]])


def _teaches(answer, arguments):
    logits, ids = arguments
    gradients_get_through(answer, arguments, lambda leaf: next_token_loss(leaf[None, :-1], ids[None, 1:]),
                          torch.tensor(1.0, dtype=logits.dtype))


text_loss = Question(solution.text_loss, (1, 2), {
    "three tokens": (LOGITS, torch.tensor([0, 2, 1])), "another text": (LOGITS, torch.tensor([3, 0, 3])),
    "two tokens": (LOGITS[:2], torch.tensor([1, 2])),
    "a model that knows nothing": (torch.zeros(5, 4), torch.tensor([0, 1, 2, 3, 0])),
    "logits of a thousand": (GREAT, torch.tensor([2, 1, 2])),
    "rows of very different size": (UNLIKE, torch.tensor([0, 2, 1, 0])),
    "double precision": (LOGITS.double(), torch.tensor([0, 2, 1]))},
    forbidden=("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "torch.log_softmax",
               "torch.special_log_softmax", "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss", "torch.nn.LogSoftmax",
               "torch.distributions.Categorical", "coursekit.models.next_token_loss"),
    instead="a maximum, exp, sum and log, or torch.logsumexp", also=_teaches,
    otherwise="Write out T = 2 by hand: one row of logits counts, the first; one token is its target, the second; the "
              "loss is −log of that token's probability.",
    hints={"shapes": "A text of T tokens has T − 1 next tokens, and T − 1 rows of logits score them. And does a sum "
                     "over the words keep its axis (keepdim=True)?"},
    promises={"There are always two tokens or more": lambda logits, ids: len(ids) > 1},
    why="The logarithm of a softmax is a difference, and logsumexp takes the largest logit out: nothing overflows, "
        "nothing is rounded to 0.\nRows and targets are cut to the same length first, so the shift stands in one line.")
PAIRS, CHOSEN = "logits[:-1], ids[1:]", "log_p[torch.arange(len(targets)), targets]"
UNSHIFTED = ("Row t is held against token t, which the model has already read. It scores token t + 1: where is the "
             "shift?")
ROLLED = ("The last row is held against the first token (roll). Nothing follows the last token: its row has no target.")
text_loss.mistakes(
    *((UNSHIFTED, f"{PAIRS} → {pairs}") for pairs in ("logits, ids", "logits[:-1], ids[:-1]")),
    ("Row t is held against token t: both lost their first entry. It scores token t + 1.",
     f"{PAIRS} → logits[1:], ids[1:]"),
    ("The shift goes the wrong way: row t + 1 is held against token t. Row t scores token t + 1.",
     f"{PAIRS} → logits[1:], ids[:-1]"),
    (ROLLED, f"{PAIRS} → logits, ids.roll(-1)"),
    (ROLLED, f"{PAIRS} → logits, ids.roll(-1)", ".mean() → .sum() / (len(ids) - 1)"),
    ("The sign is missing: log-probabilities are negative, a loss is not.", "return - → return "),
    ("That is the sum. The mean over the T − 1 next tokens is asked for.", ".mean() → .sum()"),
    ("Divided by T. There are T − 1 next tokens in a text of T.", ".mean() → .sum() / len(ids)"),
    ("Token 0 was left out. Here it is a word like any other: all T − 1 next tokens count.",
     f"{CHOSEN} → {CHOSEN}[targets != 0]"),
    ("The maximum was taken out before exp, and never came back: it is taken from the logits, too, or added again "
     "behind the logarithm.", "logsumexp(rows → logsumexp(rows - rows.amax(1, keepdim=True)"),
    ("The mean was taken before the logarithm. Each token has a −log p of its own, and their mean is the loss.",
     f"{CHOSEN}.mean() → {CHOSEN}.exp().mean().log()"),
    ("That is in bits. The natural logarithm is asked for.", ".mean() → .mean() / torch.tensor(2.0).log()"),
    ("The logarithm is missing.", f"{CHOSEN} → {CHOSEN}.exp()"),
    ("That is the perplexity, exp of the loss.", f"-{CHOSEN}.mean() → (-{CHOSEN}.mean()).exp()"),
    ("These are logits, not log-probabilities: log Σ exp is still to be subtracted.",
     " - torch.logsumexp(rows, 1, keepdim=True) → "),
    ("log_p[:, ids] is a table: every row at every id. Row and column go together, pair by pair: log_p[torch.arange(T "
     "− 1), ids[1:]], or gather.", f"{CHOSEN} → log_p[:, targets]"),
    *(("The softmax runs over the tokens. Each row is a distribution over the words: axis −1.",
       f"(rows, 1 → ({over}, 0") for over in ("rows", "logits")),
    ("That is the entropy of the model's own distributions: the tokens that did come do not count in it.",
     f"{CHOSEN} → (log_p.exp() * log_p).sum(1)"),
    ("One number is asked for: the mean over the tokens that have one before them.", ".mean() → "),
    *((("The loss stops growing somewhere: was a small number added to the probability, or was it clamped? The "
        "logarithm of a softmax needs neither: u_i − log Σ exp(u), with a maximum taken out."),
       f"{CHOSEN} → ({CHOSEN}.exp() + {low}).log()") for low in (1e-8, 1e-9, 1e-10, 1e-12)))


@text_loss.suspect
def _(got, logits, ids):
    if kind(got) in ("a number", "a whole number"):
        yield "A loss stays a tensor, without dimensions: gradients get through nothing else."
    if not got.isfinite():
        yield ("exp(1000) is infinite, and the log of a probability that was rounded to 0 is −∞. The logarithm of a "
               "softmax is a difference, u_i − log Σ exp(u), and there the maximum of *each row* can be taken out "
               "first.")


# -- overfit ---------------------------------------------------------------------------------------------------------

def start(D, T_max, d_e, K, L, seed):
    """Weights to begin training with: every matrix of size 1/√d_e."""
    torch.manual_seed(seed)
    model = GPT2(GPT2Config(D, T_max, d_e, K, L))
    return {name: torch.randn_like(w) * d_e ** -0.5 if w.dim() == 2 else w.clone()
            for name, w in model.state_dict().items()}


def _one_run(answer, arguments):
    """Fewer steps are the beginning of the same run, and each takes one gradient."""
    *others, steps = arguments
    with services.watch(solution.overfit, ["torch.autograd.backward"]) as due:
        services.run(solution.overfit, (*others, 1))
    for few in (1, steps // 2):
        with services.watch(answer, ["torch.autograd.backward"]) as seen:
            begun = services.run(answer, (*others, few))
        what, advice = next(_fault(begun, *others, few, share=math.inf), (None, None))
        if what:
            raise CheckFailed(f"With `steps` = {few}: {what}. {advice}")
        if len(seen.calls) >= 2 * few * len(due.calls):
            raise CheckFailed(f"With `steps` = {few} more gradients than that are taken. A step is one gradient.")
    if not same(begun[1], services.run(answer, arguments)[1][:few + 1], (1e-2, 1e-2)):
        raise CheckFailed(f"With `steps` = {few} the losses are others than the first {few + 1} of {steps} steps. "
                          "Is each of them computed, and does the learning rate not depend on `steps`?")


overfit = Question(solution.overfit, (2, 2), {
    "twelve tokens": (start(10, 12, 16, 2, 2, seed=1), torch.tensor([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]), 2, 30),
    "a larger vocabulary": (start(60, 16, 24, 4, 1, seed=2), torch.arange(0, 60, 4), 4, 30)},
    returns="weights, losses", also=_one_run,
    otherwise="Each step: the loss of the text by your two functions, its gradient, a step of the optimiser. Which "
              "learning rates did you try? 0.01 is a good one for Adam here; it may be smaller or larger.",
    hints={"require grad|non-leaf": "Gradients are wanted for tensors of your own: `w.clone().requires_grad_()` for "
                                    "each weight, in this order. `.item()` makes a number of a loss, after "
                                    "`.backward()`.",
           "changed": "An optimiser's step changes the very tensors that it was given: give it copies, "
                      "`w.clone().requires_grad_()`. (A new dictionary, or `w.detach()`, holds the same numbers.)",
           "endless": "Thirty steps take half a second on a free machine: is there a loop too many, or is the machine "
                      "busy? Run the check once more."},
    why="Adam moves every weight by about the learning rate, whatever the size of its gradient, so that thirty steps "
        "are enough.\nThe copies are the leaves that the optimiser knows; what was given stays as it was.")
NAMES = "The dictionary that comes back has the same keys, and tensors of the same shapes."
COUNT = "Is each loss kept where it is computed, and one more behind the loop?"
ITEM = "`.item()` makes a number of a loss. A tensor holds on to all that it was made of."
FIRST = "Is the first loss taken before the first step?"
LAST = "Is it taken behind the last step, of the weights that are returned?"
NAN = "The numbers have grown without bound. Is the learning rate too large?"
UPHILL = "The loss rises from the first step on. Does the step go downhill, and is the learning rate small enough?"
STILL = ("The loss does not move. Does the optimiser know the tensors that the loss is made of, is a step taken, and "
         "are there gradients when it is (`zero_grad` before `backward`)?")


def _loss(weights, ids, K):
    return solution.text_loss(solution.gpt2_logits(ids, weights, K), ids).item()


def _fault(got, weights, ids, K, steps, share=0.1):
    """Yields what is wrong with a run, and what to do about it; None for the second is `otherwise`.

    share: to what part of the first loss it must fall.
    """
    if type(got) not in (list, tuple) or len(got) != 2 or kind(got[0]) != "a dictionary" or kind(got[1]) != "a list":
        yield "due: weights, losses", "A dictionary, then a list."
    trained, losses = got
    if any(kind(trained.get(name)) != "a tensor" or trained[name].shape != w.shape for name, w in weights.items()):
        yield "the weights that came back have not the names and shapes of those that were given", NAMES
    if len(losses) != steps + 1:
        yield f"there are {len(losses)} losses: one before each step and one at the end make {steps + 1}", COUNT
    if any(kind(loss) != "a number" for loss in losses):
        yield "losses: plain numbers", ITEM
    first, last = (_loss(which, ids, K) for which in (weights, {name: w.detach() for name, w in trained.items()}))
    if not same(losses[0], first, (1e-3, 1e-3)):
        yield f"the first loss is {losses[0]:.3f}, and that of the weights that were given is {first:.3f}", FIRST
    if not math.isfinite(last):
        yield f"the weights that came back have the loss {last}", NAN
    if not same(losses[-1], last, (1e-3, 1e-3)):
        yield f"the last loss is {losses[-1]:.3f}, and that of the weights that came back is {last:.3f}", LAST
    if last > share * first:
        yield (f"the loss went from {first:.2f} to {last:.2f}, and should fall to a tenth, {share * first:.2f}",
               STILL if same(last, first, (1e-2, 1e-2)) else
               UPHILL if min(last, losses[1]) > first else
               "The first step is a good one, and later ones are not. Are old gradients cleared before a new one? Or "
               "is the learning rate too large?" if losses[1] < 0.9 * first else None)


def _as_if(scale):
    """overfit as if training made the weights that much larger."""
    def answer(weights, ids, K, steps):
        after = {name: scale * w for name, w in weights.items()}
        return after, [_loss(weights, ids, K)] + [_loss(after, ids, K)] * steps
    return answer


overfit.judge(_fault)
overfit.mistakes(                               # what comes back says enough, so that nothing is trained for it here
    (NAMES, lambda weights, ids, K, steps: ({}, [0.0])),
    (COUNT, lambda weights, ids, K, steps: (weights, [0.0] * steps)),
    (ITEM, lambda weights, ids, K, steps: (weights, [torch.ones(())] * (steps + 1))),
    (FIRST, lambda weights, ids, K, steps: (weights, [0.0] * (steps + 1))),
    (LAST, lambda weights, ids, K, steps: (weights, [_loss(weights, ids, K)] + [0.0] * steps)),
    (NAN, _as_if(math.nan)), (UPHILL, _as_if(2)), (overfit.otherwise, _as_if(0.9)),
    (STILL, lambda weights, ids, K, steps: (weights, [_loss(weights, ids, K)] * (steps + 1))))
