"""A corpus explained beside lime, shap and captum: documents of 60 words, a BERT of six layers, minilm-sentiment.

`python -m bench.corpus` takes two documents and a minute, `python -m bench.corpus 100` three quarters of an hour, as
each sample is a pass through six layers. A second argument is LIME's number of samples; KernelSHAP takes as many, but
at least the 4 for each word that ours asks for.
"""

import copy
import sys
from functools import partial
from itertools import chain, islice
from time import process_time

import captum.attr
import numpy as np
import shap
import torch
from lime.lime_text import LimeTextExplainer
from tqdm import tqdm

from bench import compare, in_turns, table
from coursekit.explain import evaluate_masks, integrated_gradients, kernel_shap, lime
from coursekit.models import has_encoder, load_weights
from coursekit.own import explain_corpus
from coursekit.worlds import reviews

WHY = """
CPU seconds for all documents on one thread, the two sides in turns, document by document. Ours: explain_corpus. Theirs:
the packages as they come, asking the same weights as transformers runs them by itself (its fastest attention), in
batches of 32 as they come, each as long as its longest.
deleted:  LIME's own default. The copies have all lengths: predicted by length, they are padded less.
replaced: all copies have one length, and the model is all that counts.
LIME draws the same masks, so coefficients agree; KernelSHAP samples, so ranks do ("rank": Spearman's, the mean over
documents, and the largest gap in Σφ); of integrated gradients "left" is what they miss of the score's change, ours /
theirs, at most. Both sides are asked to tell it: captum takes its 50 nodes all the same, ours by themselves ("enough",
ten documents at most) twice as many until nothing moves: 4 + … + 64.
Masks of a document are asked in batches, and of a corpus one document after the other. What would it save to put masks
of several in one batch? At most that of the last two rows: texts of twelve tokens, each without one of them."""
T = 60


def long_documents(model, n):
    """n documents (T,) of whole words and marks, one generated review after the other."""
    words = chain.from_iterable(model.tokenizer.tokenize(review.text) for review in reviews(40 * n, seed=2))
    whole = (word for word in words if word.isalpha() or word in ".,!?")
    return [list(islice(whole, T)) for _ in range(n)]


class Theirs:
    """What one writes with transformers, and the packages that ask it: document → scores (T,) or (distinct words,)."""

    def __init__(self, model):
        self.tokenizer = model.tokenizer
        self.model = copy.deepcopy(model.model)
        self.model.set_attn_implementation("sdpa")
        self.baseline = model.baseline

    def logits(self, texts):
        """(n, 2)."""
        with torch.no_grad():
            return torch.cat([self.model(**self.tokenizer(texts[i:i + 32], padding=True, return_tensors="pt")).logits
                              for i in range(0, len(texts), 32)]).double().numpy()

    def log_odds(self, texts):
        """(n, 2): what is explained is log-odds, for both labels."""
        logits = self.logits(texts)
        return (logits[:, 1] - logits[:, 0])[:, None] * [-1, 1]

    def lime(self, document, bow, samples):
        """By LimeTextExplainer, in the order of its features."""
        explainer = LimeTextExplainer(split_expression=r"\s+", bow=bow, mask_string="[UNK]", random_state=0)
        found = explainer.explain_instance(" ".join(document), self.log_odds, num_features=len(document),
                                           num_samples=samples)
        return np.array([weight for _, weight in sorted(found.local_exp[1])])

    def shap(self, document, samples):
        """By KernelExplainer."""
        words = np.array(document, dtype=object)

        def score(kept):
            texts = np.where(kept > 0, words, "[UNK]").tolist()
            return self.log_odds([" ".join(text) for text in texts])[:, 1]

        kernel = shap.KernelExplainer(score, np.zeros((1, T)))
        return kernel.shap_values(np.ones((1, T)), nsamples=samples, l1_reg=False, silent=True)[0]

    def captum(self, document):
        """By IntegratedGradients on the embeddings, from [UNK], its own 50 steps, told what it misses as ours is."""
        def score(e):
            logits = self.model(inputs_embeds=e).logits
            return logits[:, 1] - logits[:, 0]

        ids = self.tokenizer(" ".join(document), return_tensors="pt")["input_ids"]
        e, e0 = self.model.get_input_embeddings()(ids), self.baseline(document).detach()[None]
        by = captum.attr.IntegratedGradients(score)
        found, _ = by.attribute(e.detach(), e0, return_convergence_delta=True)
        return found[0, 1:-1].sum(-1).numpy()


def largest_gap(ours, theirs, change):
    """For LIME: how far the coefficients are apart."""
    return f"coefficients {max(abs(a.scores - b).max() for a, b in zip(ours, theirs, strict=True)):.0e}"


def ranks(ours, theirs, change):
    """For KernelSHAP: rank correlation, and what the sums miss."""
    rank = [np.corrcoef(a.scores.argsort().argsort(), b.argsort().argsort())[0, 1]
            for a, b in zip(ours, theirs, strict=True)]
    sums = [abs(a.scores.sum() - b.sum()) for a, b in zip(ours, theirs, strict=True)]
    return f"rank {np.mean(rank):.2f}, sums {max(sums):.0e}"


def left(ours, theirs, change):
    """For integrated gradients: what of the score's change is missing."""
    gaps = [max(abs(np.sum(getattr(found, "scores", found)) - c) for found, c in zip(side, change, strict=True))
            for side in (ours, theirs)]
    return f"left {gaps[0]:.0e} / {gaps[1]:.0e}"


def in_one_batch(name, documents=32, tokens=12):
    """A row: leave-one-out's masks of short texts, a batch for each, and all in one."""
    model, masks = load_weights(name), ~np.eye(tokens, dtype=bool)
    texts = long_documents(model, documents)
    texts = [text[:tokens] for text in texts]
    copies = [np.where(mask, text, "[UNK]").tolist() for text in texts for mask in masks]
    found = []
    one_by_one, at_once = in_turns([lambda: found.append(np.concatenate([evaluate_masks(model, text, masks)
                                                                         for text in texts])),
                                    lambda: found.append(model.predict(copies))])
    return compare(f"{name}, {documents} texts of {tokens} tokens", "one batch", one_by_one, at_once,
                   f"scores {abs(found[0] - found[-1]).max():.0e}")


def main(n=2, samples=200):
    torch.set_num_threads(1)
    n, samples = int(n), int(samples)
    subsets = max(samples, 4 * T)
    model = load_weights("minilm-sentiment")
    documents, by = long_documents(model, n), Theirs(model)
    change = [np.subtract(*model.predict([d, ["[UNK]"] * T])) for d in documents]
    by_lime, by_shap = partial(by.lime, samples=samples), partial(by.shap, samples=subsets)
    our_lime, our_shap = partial(lime, n_samples=samples), partial(kernel_shap, n_samples=subsets)
    kinds = {f"LIME, {samples} samples, deleted":
             (n, partial(our_lime, bow=True), partial(by_lime, bow=True), "lime", largest_gap, 1.5),
             f"LIME, {samples} samples, replaced":
             (n, partial(our_lime, bow=False), partial(by_lime, bow=False), "lime", largest_gap, 1),
             f"KernelSHAP, {subsets} samples": (n, our_shap, by_shap, "shap", ranks, 1),
             "integrated gradients, 50": (n, partial(integrated_gradients, n_nodes=50), by.captum, "captum", left, 1),
             "integrated gradients, enough": (min(n, 10), integrated_gradients, by.captum, "captum", left, None)}
    print(f"{n} documents of {T} words and marks, minilm-sentiment, one thread")
    rows = []
    for what, (m, explainer, package, name, agreement, target) in kinds.items():
        ours, theirs, times = [], [], []
        for document in tqdm(documents[:m], unit="document", desc=what):
            times.append(process_time())
            ours += explain_corpus(explainer, model, [document], progress=False)
            times.append(process_time())
            theirs.append(package(document))
            times.append(process_time())
        times = np.diff(np.reshape(times, (m, 3)), axis=1).sum(0)
        rows.append(compare(what, name, *times, agreement(ours, theirs, change[:m]), target))
    table(rows + [in_one_batch(name) for name in ("minilm-sentiment", "imdb-6layer")])
    print(WHY)


if __name__ == "__main__":
    if has_encoder():
        main(*sys.argv[1:])
