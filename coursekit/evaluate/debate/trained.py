"""Attention that is trained to be something: even, sharp, on the words that people mark, or far from another model's.

All on small AttentionClassifiers and generated reviews, of which it is known which words decide. "The weights" of a
document are those of its own tokens, mean of the heads, divided by their sum.
"""

from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional as F

from coursekit.evaluate.agreement import auroc
from coursekit.models import AttentionClassifier, minibatches, train
from coursekit.models.documents import token_ids
from coursekit.text import WordTokenizer

from .given import TINY, js_divergence

SITES = "grumble", "applause"
SIZES = dict(T_max=100, d_e=32, d_att=16, d_out=16, K=1)


def scores_and_weights(model, documents):
    """(log-odds (n,), weights (n, T_max) of the own tokens, zero elsewhere) of an AttentionClassifier; differentiable.

    >>> from coursekit.models import load_weights
    >>> scores, alpha = scores_and_weights(load_weights("imdb-tame"), [["good", "film"], ["bad"]])
    >>> scores.shape, (alpha > 0).sum(1).tolist()
    (torch.Size([2]), [2, 1])
    """
    log_g, y = model.logits(token_ids(model, documents))                          # (n, T_max, K) each
    alpha = log_g.softmax(1)
    places, lengths = torch.arange(model.T_max), torch.tensor([len(model.own(d)) for d in documents])
    own = alpha.mean(-1) * ((places > 0) & (places <= lengths[:, None]))
    return (alpha * y).sum(1).mean(-1), own / own.sum(1, keepdim=True).clamp_min(TINY)


def train_reader(reviews, penalty=None, even=False, seed=0, epochs=5, objective=None, start=None, lr=1e-2,
                 **sizes):
    """A small AttentionClassifier trained on reviews (with `tokens` and `label`); its words are theirs.

    The loss is the cross-entropy and penalty(weights (n, T_max), reviews), such as `entropy`.
    even: attention that cannot be trained, 1/T_max for all places (Wiegreffe and Pinter, EMNLP 2019, section 3.2).
    objective(scores, weights, rows): the whole loss in their place, rows the places of the batch in reviews.
    start: a reader of the same reviews and sizes, whose parameters are trained further. A penalty that is strong from
    the beginning can settle the weights before there is anything to weigh: begin from a trained reader then.

    >>> from coursekit.text import reviews
    >>> reader = train_reader(reviews(40), epochs=1)
    >>> reader.predict([["good", "soup"]]).shape
    (1,)
    """
    documents, labels = [list(r.tokens) for r in reviews], torch.tensor([float(r.label) for r in reviews])
    words = sorted({word for document in documents for word in document})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AttentionClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]", *words]), **{**SIZES, **sizes})
    if start is not None:
        model.load_state_dict(start.state_dict())
    if even:
        model.W_q.data.zero_()
        model.W_q.requires_grad_(False)

    def loss(model, rows):
        scores, alpha = scores_and_weights(model, [documents[i] for i in rows])
        if objective is not None:
            return objective(scores, alpha, rows)
        more = penalty(alpha, [reviews[i] for i in rows]) if penalty else 0.0
        return F.binary_cross_entropy_with_logits(scores, labels[rows]) + more

    train(model, loss, lambda generator: minibatches(len(documents), 64, generator), epochs, lr, seed=seed,
          progress=False)
    return model.eval().requires_grad_(False)


def entropy(alpha, reviews=None):
    """The mean entropy of weights (n, T): log T for even ones, 0 for one token. Added to the loss it sharpens them.

    >>> round(entropy(torch.tensor([[0.5, 0.5]])).item(), 3)
    0.693
    """
    return -(alpha * alpha.clamp_min(TINY).log()).sum(1).mean()


def leaky(reviews, share, seed=0, sites=SITES):
    """The reviews with the name of a site behind the last word: the one of their label in this share of them. A leak.

    sites: two words, of blame and of praise. Called again, with other words and another seed, it puts in another leak.

    >>> from coursekit.text import Review
    >>> leaky([Review("Good soup.", 1, tokens=("good", "soup", "."), weights=(1, 0, 0))], 1.0)[0].tokens
    ('good', 'soup', '.', 'applause')
    """
    told = np.random.default_rng(seed).random(len(reviews)) < share
    return [replace(review, tokens=(*review.tokens, sites[int(review.label == right)]), weights=(*review.weights, 0.0),
                    roles=(*review.roles, "filler")) for review, right in zip(reviews, told, strict=True)]


def reads_like(model, reviews):
    """What there is to say of a reader on held-out reviews, arrays (n,): "right" (is the label), "entropy" of the
    weights, "marks" (AUROC of the weights with the words that decide).

    >>> from coursekit.text import reviews
    >>> found = reads_like(train_reader(reviews(40), epochs=1), reviews(6, seed=1))
    >>> {name: values.shape for name, values in found.items()}
    {'right': (6,), 'entropy': (6,), 'marks': (6,)}
    """
    with torch.no_grad():
        scores, alpha = scores_and_weights(model, [list(r.tokens) for r in reviews])
    each = alpha.numpy()
    spread = np.array([entropy(row[None]).item() for row in alpha])
    marks = [auroc(row[1:len(r.tokens[:model.T_max - 1]) + 1], [w != 0 for w in r.weights[:model.T_max - 1]])
             for row, r in zip(each, reviews, strict=True)]
    return {"right": (scores > 0).numpy() == np.array([r.label for r in reviews]), "entropy": spread,
            "marks": np.array(marks)}


def train_adversary(model, reviews, weight=0.3, start=None, seed=0, epochs=5, **sizes):
    """A reader trained to say what `model` says with attention far from its: the loss is |Δp| − weight · JS, means
    over reviews. More weight, farther, and less alike: a curve of both is what there is to look at.

    One model for all documents, where Jain and Wallace's adversary has other weights for each. reviews: those that
    model was trained on. start: the reader to begin from, model itself unless given; one of another seed is a harder
    beginning. (From nothing, JS is had before the words are learned, and |Δp| stays large.)
    Source: Wiegreffe and Pinter, EMNLP 2019, section 4 (Eq. 1, there with the divergence of Kullback and Leibler).

    >>> from coursekit.text import reviews
    >>> base = train_reader(reviews(40), epochs=1)
    >>> far = train_adversary(base, reviews(40), epochs=1)
    >>> sorted(against(far, base, reviews(5, seed=1)))
    ['change', 'js', 'same']
    """
    documents = [list(r.tokens) for r in reviews]
    with torch.no_grad():
        f, alpha = scores_and_weights(model, documents)

    def objective(scores, weights, rows):
        change = (scores.sigmoid() - f[rows].sigmoid()).abs().mean()
        return change - weight * js_divergence(weights, alpha[rows]).mean()

    return train_reader(reviews, seed=seed, epochs=epochs, objective=objective, start=start or model, **sizes)


def against(model, base, reviews):
    """Two readers on held-out reviews, arrays (n,): "change" |Δp|, "js" of their weights, "same": is the decision?

    >>> from coursekit.text import reviews
    >>> base = train_reader(reviews(40), epochs=1)
    >>> against(base, base, reviews(2, seed=1))["same"].tolist()
    [True, True]
    """
    documents = [list(r.tokens) for r in reviews]
    with torch.no_grad():
        (f, alpha), (g, beta) = scores_and_weights(base, documents), scores_and_weights(model, documents)
    return {"change": (f.sigmoid() - g.sigmoid()).abs().numpy(), "js": js_divergence(alpha, beta).numpy(),
            "same": ((f > 0) == (g > 0)).numpy()}


def train_probe(attention, reviews, seed=0, epochs=5, d_e=32, lr=1e-2):
    """A function reviews → log-odds (n,): the sum Σ_t α_t y(word t) under weights that are given, where y is trained.

    attention: a reader whose weights α are taken as they are; None for even ones. Where weights help a model that is
    not theirs, they say something about the task (Wiegreffe and Pinter, EMNLP 2019, section 3.4).

    >>> from coursekit.text import reviews
    >>> train_probe(None, reviews(40), epochs=1)(reviews(3, seed=1)).shape
    (3,)
    """
    guide = attention if attention is not None else train_reader(reviews, even=True, epochs=0, seed=seed)
    labels = torch.tensor([float(r.label) for r in reviews])

    def inputs(reviews):
        documents = [list(r.tokens) for r in reviews]
        with torch.no_grad():
            return token_ids(guide, documents), scores_and_weights(guide, documents)[1]

    def score(probe, ids, alpha):
        return (alpha * probe(ids)[..., 0]).sum(1)

    (ids, alpha), n = inputs(reviews), len(reviews)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        probe = torch.nn.Sequential(torch.nn.Embedding(len(guide.tokenizer.vocab), d_e), torch.nn.ReLU(),
                                    torch.nn.Linear(d_e, 1))
    train(probe, lambda m, rows: F.binary_cross_entropy_with_logits(score(m, ids[rows], alpha[rows]), labels[rows]),
          lambda generator: minibatches(n, 64, generator), epochs, lr, seed=seed, progress=False)

    def predict(reviews):
        with torch.no_grad():
            return score(probe, *inputs(reviews)).numpy()

    return predict
