"""Attention that was trained to be something: even, sharp, on the words that people mark, or far from another model's.

`load_weights("readers-…")` has the models and `tools/train_readers.py` trains them: small AttentionClassifiers of
generated reviews, of which it is known which words decide. "The weights" of a document are those of its own tokens,
mean of the heads, divided by their sum.
"""

from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional as F

from coursekit.evaluate.agreement import auroc
from coursekit.models import AttentionClassifier, minibatches, train
from coursekit.models.documents import token_ids
from coursekit.text import WordTokenizer

from .permuted import TINY, js_divergence

SITES = "grumble", "applause"
D_E = 32
SIZES = dict(T_max=100, d_e=D_E, d_att=16, d_out=16, K=1)


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


def new_reader(reviews, seed=0, **sizes):
    """A small AttentionClassifier, not trained yet, whose words are those of the reviews.

    >>> from coursekit.worlds import reviews
    >>> new_reader(reviews(2)).config["d_e"]
    32
    """
    words = sorted({word for review in reviews for word in review.tokens})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AttentionClassifier(WordTokenizer(["[PAD]", "[UNK]", "[CLS]", *words]), **{**SIZES, **sizes})


def leaky(reviews, share, seed=0, sites=SITES):
    """The reviews with the name of a site behind the last word: the one of their label in this share of them. A leak.

    sites: two words, of blame and of praise. Called again, with other words and another seed, it puts in another leak.

    >>> from coursekit.worlds import Review
    >>> leaky([Review("Good soup.", 1, tokens=("good", "soup", "."), weights=(1, 0, 0))], 1.0)[0].tokens
    ('good', 'soup', '.', 'applause')
    """
    right = np.random.default_rng(seed).random(len(reviews)) < share
    return [replace(review, tokens=(*review.tokens, sites[int(review.label == named)]), weights=(*review.weights, 0.0),
                    roles=(*review.roles, "filler")) for review, named in zip(reviews, right, strict=True)]


def reads_like(model, reviews):
    """What there is to say of a reader on held-out reviews, arrays (n,): "right" (is the label), "entropy" of the
    weights, "marks" (AUROC of the weights with the words that decide).

    >>> from coursekit.models import load_weights
    >>> from coursekit.worlds import reviews
    >>> found = reads_like(load_weights("readers-plain")[0], reviews(6, seed=1))
    >>> {name: values.shape for name, values in found.items()}
    {'right': (6,), 'entropy': (6,), 'marks': (6,)}
    """
    with torch.no_grad():
        scores, alpha = scores_and_weights(model, [list(r.tokens) for r in reviews])
    each = alpha.numpy()
    spread = -(alpha * alpha.clamp_min(TINY).log()).sum(1).double().numpy()
    marks = [auroc(row[1:len(r.tokens[:model.T_max - 1]) + 1], [w != 0 for w in r.weights[:model.T_max - 1]])
             for row, r in zip(each, reviews, strict=True)]
    return {"right": (scores > 0).numpy() == np.array([r.label for r in reviews]), "entropy": spread,
            "marks": np.array(marks)}


def against(model, base, reviews):
    """Two readers on held-out reviews, arrays (n,): "change" |Δp|, "js" of their weights, "same": is the decision?

    >>> from coursekit.models import load_weights
    >>> from coursekit.worlds import reviews
    >>> base = load_weights("readers-plain")[0]
    >>> against(base, base, reviews(2, seed=1))["same"].tolist()
    [True, True]
    """
    documents = [list(r.tokens) for r in reviews]
    with torch.no_grad():
        (f, alpha), (g, beta) = scores_and_weights(base, documents), scores_and_weights(model, documents)
    return {"change": (f.sigmoid() - g.sigmoid()).abs().numpy(), "js": js_divergence(alpha, beta).numpy(),
            "same": ((f > 0) == (g > 0)).numpy()}


def train_probe(attention, reviews, seed=0, epochs=5, lr=1e-2):
    """A function reviews → log-odds (n,): the sum Σ_t α_t y(word t) under weights that are given, where y is trained.

    attention: a reader whose weights α are taken as they are; None for even ones. Where weights help a model that is
    not theirs, they say something about the task (Wiegreffe and Pinter, EMNLP 2019, section 3.4).

    >>> from coursekit.worlds import reviews
    >>> train_probe(None, reviews(40), epochs=1)(reviews(3, seed=1)).shape
    (3,)
    """
    guide = new_reader(reviews) if attention is None else attention
    if attention is None:
        guide.W_q.data.zero_()                                                    # queries that ask for nothing
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
        probe = torch.nn.Sequential(torch.nn.Embedding(len(guide.tokenizer.vocab), D_E), torch.nn.ReLU(),
                                    torch.nn.Linear(D_E, 1))
    train(probe, lambda m, rows: F.binary_cross_entropy_with_logits(score(m, ids[rows], alpha[rows]), labels[rows]),
          lambda generator: minibatches(n, 64, generator), epochs, lr, seed=seed, progress=False)

    def predict(reviews):
        with torch.no_grad():
            return score(probe, *inputs(reviews)).numpy()

    return predict
