"""Two studies with people, shown in the notebook: which classifier would you trust, and which words are to go?

Both after Ribeiro, Singh and Guestrin (KDD 2016, sections 6.3 and 6.4). Consent comes first; each answer is written to
the person's own file at once (`study_files.py`); the same cell goes on where it stopped, after a restart too. By
keyboard: Tab to a button or box, space to press it. Without a kernel a page shows where the study stands. All that a
click does can be called from Python: `agree`, `answer`, `decline`, `withdraw`. What would give the answers
away waits for them: in the file it is sealed, and on the page there is `afterwards` (`afterwards.py`).
"""

import hashlib
import json
import re
import secrets
from collections import Counter
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from coursekit.explain.asking import scores_of
from coursekit.inputs import as_whole
from coursekit.models import train_bag_of_words
from coursekit.show import highlight, table
from coursekit.show.html import Html, escape

from .study_files import Tally, read_answers, right_by_person, write_answers
from .study_widget import live_or_still, side_buttons, study_widget, word_boxes

SIDES, SAID = ("left", "right", "unsure"), ("blame", "praise")


class _Study:
    """Consent, the file, the page. A study has a name, a question, `steps`, and `_row`, `_page`, `_results`, `_inputs`;
    what else is told before consent; and `sealed`, the columns that cannot be read in the file before the end.
    """

    told = ""

    def __init__(self, path, material, seed):
        self.path, self.seed = Path(path), secrets.randbelow(10 ** 6) if seed is None else as_whole(seed, "seed")
        self.material = hashlib.sha256(json.dumps([self.name, material]).encode()).hexdigest()[:12]
        self.rows, self.declined = read_answers(path) if self.path.exists() else [], False
        self.when_changed, self.when_over = [], []                      # functions to be called then
        if self.rows:
            self.seed = int(self.rows[0]["seed"])
            if self.rows[0]["material"] != self.material:
                raise ValueError(f"{path} has the answers to another study: choose another path, or move the file")

    @property
    def step(self):
        """How many questions are answered: -1 before the consent."""
        return len(self.rows) - 1

    @property
    def done(self):
        """Is there no question left?"""
        return self.step == self.steps

    @property
    def over(self):
        """Is there nobody left to ask: are all questions answered, or has somebody said not to take part?"""
        return self.done or self.declined

    def decline(self):
        """Not take part: nothing is written, and what waits for the answers is shown."""
        self.declined = True
        self._notify(self.when_over)

    def agree(self, nickname=""):
        """Consent: make the file. nickname: letters, digits and spaces of it are kept, at most 20."""
        if not self.rows:
            name = re.sub(r"[^\w ]", "", nickname)[:20].strip()
            self._write(dict(material=self.material, person=secrets.token_hex(4), nickname=name, seed=self.seed), {})

    def answer(self, value):
        """Answer the question that is shown, and write it to the file."""
        if self.done or not self.rows:
            raise ValueError("there is no question to answer: " + ("all are" if self.rows else "agree() comes first"))
        self._write(self.rows[0], self._row(value))

    def withdraw(self):
        """Delete the file, and begin anew. Nobody else has a copy, unless you gave it away."""
        self.path.unlink(missing_ok=True)
        self.rows = []
        self._notify(self.when_changed)

    def _write(self, common, own):
        row = common | {"step": self.step + 1} | dict.fromkeys(self.columns, "") | own
        rows = [*self.rows, {name: str(value) for name, value in row.items()}]
        write_answers(self.path, rows, [] if row["step"] == self.steps else self.sealed)
        self.rows = rows
        self._notify(self.when_changed + self.when_over * self.over)

    def _notify(self, listeners):
        for listener in listeners:
            listener()

    def static(self):
        """Where the study stands, as Html."""
        if not self.rows:
            parts = [f"{self.question}{self.told} Questions: {self.steps}. What you answer is written to {self.path}, "
                     "on this machine and nowhere else, with a number drawn by chance and no name unless you type one. "
                     "The file is yours: you may stop at any time, read it (what tells right answers is sealed until "
                     "the end), delete it, give it to your teacher or not."]
        elif self.done:
            parts = [f"Done, thank you. Your answers are in {self.path}.", self._results()]
        else:
            parts = [f"Question {self.step + 1} of {self.steps}. {self.question}", *self._page(self.step)]
        return _joined(parts)

    @cached_property
    def widget(self):
        """The study as an ipywidgets box."""
        return study_widget(self)

    def _repr_mimebundle_(self, **kwargs):
        return live_or_still(self, self.static(), "\nTo answer, install ipywidgets, of the extra `lab`.", **kwargs)


def _joined(parts):
    """Strings and Htmls under one another, as Html."""
    return Html("".join(part.html if isinstance(part, Html) else f"<p>{escape(part)}</p>" for part in parts),
                "\n".join(map(str, parts)))


class ModelChoiceStudy(_Study):
    """Which of two classifiers would you trust? Review by review, with their predictions and explanations.

    models: {name: black box}, two; better: the name of the one to trust; explainer(model, tokens) -> Attribution.
    reviews: with `tokens` and `label`; each is a question. On `controls` of the pages both explanations are shuffled
    over the words, in the same way: a placebo, without which it is not known whether any colours would do. Half of the
    pages are best: then to be better on the others is a coin for whoever is not helped. Order, sides, and which pages
    these are, are drawn for each person anew, the sides for each page, so that by chance each answer is right with
    probability ½, whatever the person's habits. seed: for the drawing; None, for a class, draws one.

    >>> import tempfile
    >>> from coursekit.explain import leave_one_out
    >>> from coursekit.models.bag_of_words import BagOfWords
    >>> from coursekit.worlds import Review
    >>> models = {"leaky": BagOfWords({"monday": 2.0}), "clean": BagOfWords({"good": 1.0})}
    >>> seen = [Review("good monday", 1, tokens=("good", "monday"))]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = ModelChoiceStudy(models, seen, leave_one_out, f"{folder}/mine.csv", better="clean", controls=0)
    ...     study.agree()
    ...     study.answer("left")
    >>> study.done, study.rows[1]["correct"] == ("yes" if study.rows[1]["left"] == "clean" else "no")
    (True, True)
    """

    name, columns = "choice", ["document", "explained", "left", "right", "answer", "correct"]
    sealed = ["explained", "left", "right", "correct"]
    question = "Two classifiers say whether a review praises. Which one would you trust with reviews from elsewhere?"

    def __init__(self, models, reviews, explainer, path, better, controls=2, seed=None):
        self.names, self.reviews, documents = list(models), list(reviews), [list(r.tokens) for r in reviews]
        if len(models) != 2 or better not in models or not as_whole(controls, "controls") <= len(documents):
            raise ValueError(f"expected two models, better one of them, and at most {len(documents)} controls, got "
                             f"{self.names}, {better!r} and {controls}")
        self.better, self.controls, self.steps = better, controls, len(documents)
        self.told = (" Colours show which words spoke for what. On some pages, you are not told which, they are "
                     "shuffled over the words.") * bool(controls)
        self.scores = {name: scores_of(model, documents) for name, model in models.items()}
        self.explanations = {name: [explainer(model, d) for d in documents] for name, model in models.items()}
        super().__init__(path, [self.names, better, controls, documents, "shuffled"], seed)

    def _now(self, step):
        """(number of the review, "yes" or "shuffled", the names left and right) of a page."""
        rng = np.random.default_rng(self.seed)
        order, turned = rng.permutation(self.steps), rng.integers(2, size=self.steps)
        placebo = step in rng.permutation(self.steps)[:self.controls]
        return int(order[step]), "shuffled" if placebo else "yes", self.names[::-1 if turned[step] else 1]

    def _row(self, side):
        if side not in SIDES:
            raise ValueError(f"an answer is one of {', '.join(map(repr, SIDES))}, got {side!r}")
        i, explained, names = self._now(self.step)
        correct = "" if side == "unsure" else "yes" if names[SIDES.index(side)] == self.better else "no"
        return dict(document=i, explained=explained, left=names[0], right=names[1], answer=side, correct=correct)

    def _page(self, step):
        i, explained, names = self._now(step)
        tokens, truth = list(self.reviews[i].tokens), SAID[self.reviews[i].label]
        heads = [f"{side} says {SAID[int(self.scores[name][i] > 0)]} (truth: {truth})"
                 for side, name in zip(("Left", "Right"), names, strict=True)]
        attributions = [self.explanations[name][i] for name in names]
        if explained == "shuffled":                                             # the same way on both sides
            attributions = [replace(a, scores=np.random.default_rng([self.seed, step]).permutation(a.scores))
                            for a in attributions]
        return [highlight(a.tokens, a.scores, head)
                for a, head in zip([a.spread(tokens) for a in attributions], heads, strict=True)]

    def paper(self, path):
        """Write all questions to an HTML file that prints on a sheet each, with boxes to tick; return the key, a table.

        The sheets name the seed: a study with it, `agree` and `answer` make a file of what was ticked, "unsure" where
        nothing was. Whoever hands nothing in takes no part.
        """
        sheets, key = [[f"{self.question}{self.told} Tick one box a sheet. Write no name. You may stop at any time: "
                        "nobody learns what you ticked unless you hand the sheets in."]], []
        for step in range(self.steps):
            _, explained, names = self._now(step)
            sheets.append([f"Seed {self.seed}, question {step + 1} of {self.steps}. {self.question}", *self._page(step),
                           "☐ I trust the left one   ☐ I trust the right one   ☐ I cannot tell"])
            key.append([step + 1, explained, SIDES[names.index(self.better)]])
        style = "<style>section{break-after:page}*{print-color-adjust:exact}details{display:none}</style>"
        Html(style + "".join(f"<section>{_joined(sheet).html}</section>" for sheet in sheets), "").save(path)
        return table(key, ["question", "explanations", "right"], title=f"Key, seed {self.seed}")

    def _results(self):
        rows = {kind: next(iter(right_by_person(self.rows[1:], flag).values()), (0, 0, 0))
                for kind, flag in (("shuffled", "shuffled"), ("as they are", "yes"))}
        return table(rows, ["explanations", *Tally._fields])

    def _inputs(self, answer):
        return side_buttons(SIDES, answer)


class WordRemovalStudy(_Study):
    """Which words should the classifier not use? Tick them; it is trained again without; `rounds` times.

    reviews: to train a BagOfWords on; held_out: drawn like them, whose accuracy is shown after every round; clean:
    reviews from elsewhere, whose accuracy is shown at the end. All with `tokens` and `label`. A round offers the
    `offered` words that weigh most, |weight| times the root of how many reviews have them, in an order drawn by chance.

    >>> import tempfile
    >>> from coursekit.debate import leaky
    >>> from coursekit.worlds import reviews
    >>> seen, held_out, clean = (leaky(reviews(60, seed=s), share, seed=s) for s, share in ((0, .9), (1, .9), (2, .5)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = WordRemovalStudy(seen, held_out, clean, f"{folder}/mine.csv", rounds=1)
    ...     study.agree()
    ...     study.answer(["applause", "grumble"])
    >>> study.removed
    ('applause', 'grumble')
    """

    name, columns = "removal", ["offered", "removed", "before", "after", "clean_before", "clean_after"]
    sealed = ["clean_before", "clean_after"]
    question = "Tick the words that should not matter to praise or blame; the classifier is then trained without them."

    def __init__(self, reviews, held_out, clean, path, rounds=3, offered=12, seed=None):
        self.steps, self.n_offered = as_whole(rounds, "rounds", 1), as_whole(offered, "offered", 1)
        self.data = [([list(r.tokens) for r in part], [r.label for r in part]) for part in (reviews, held_out, clean)]
        self.counts = Counter(word for document in self.data[0][0] for word in dict.fromkeys(document))
        self.trained_without = lru_cache(99)(self.trained_without)              # what pages and blind readers need
        super().__init__(path, [rounds, offered, [documents for documents, _ in self.data]], seed)

    def trained_without(self, words):
        """(the BagOfWords trained without these words, a frozenset, its accuracy held out, and on clean reviews)."""
        words_left = [word for word, n in self.counts.items() if n >= 3 and word not in words]
        model = train_bag_of_words(*self.data[0], words_left)
        return model, *(float(((model.predict(documents) > 0) == np.array(labels)).mean())
                        for documents, labels in self.data[1:])

    @property
    def removed(self):
        """The words removed so far."""
        return tuple(word for row in self.rows[1:] for word in row["removed"].split())

    def weighs_most(self, removed):
        """The words on offer after some are removed."""
        weights = self.trained_without(frozenset(removed))[0].weights
        return sorted(weights, key=lambda word: -abs(weights[word]) * self.counts[word] ** 0.5)[:self.n_offered]

    @property
    def offered(self):
        """The words of this round."""
        return np.random.default_rng([self.seed, self.step]).permutation(self.weighs_most(self.removed)).tolist()

    def blind(self, ticks, n=19, seed=0):
        """What n readers gain elsewhere, (n,), who tick ticks[r] of the words on offer in round r, drawn by lot.

        The bar for somebody who ticked as many: if they, too, ticked by lot, then all n + 1 gains are alike in law, and
        theirs is above the median of an odd n with probability ½, but for ties.
        """
        gains = []
        for rng in np.random.default_rng(seed).spawn(n):
            removed = []
            for k in ticks:
                removed += rng.permutation(self.weighs_most(removed))[:k].tolist()
            gains.append(self.trained_without(frozenset(removed))[2] - self.trained_without(frozenset())[2])
        return np.array(gains)

    def _row(self, words):
        if set(words) - set(self.offered):
            raise ValueError(f"expected some of the words of this round, {', '.join(self.offered)}, got {words}")
        accuracies = [self.trained_without(frozenset(removed))[1:]
                      for removed in (self.removed, (*self.removed, *words))]
        return dict(offered=" ".join(self.offered), removed=" ".join(words)) | {
            name: f"{x:.4f}" for name, x in zip(self.columns[2:], np.transpose(accuracies).flat, strict=True)}

    def _page(self, step):
        (model, accuracy, _), (documents, labels) = self.trained_without(frozenset(self.removed)), self.data[1]
        rows = np.random.default_rng([self.seed, step]).permutation(len(documents))[:3]
        return [f"Right on {accuracy:.1%} of the held-out reviews. Three of them, with each word's weight:",
                *(highlight(documents[i], [model.weights.get(word, 0.0) for word in documents[i]],
                            f"says {SAID[int(model.predict(documents[i:i + 1])[0] > 0)]} (truth: {SAID[labels[i]]})")
                  for i in rows), f"The words that weigh most: {', '.join(self.offered)}"]

    def _results(self):
        rows = [["nothing yet", float(self.rows[1]["before"]), float(self.rows[1]["clean_before"])],
                *([r["removed"], float(r["after"]), float(r["clean_after"])] for r in self.rows[1:])]
        return table(rows, ["removed", "right, held out", "right, elsewhere"], ".1%")

    def _inputs(self, answer):
        return word_boxes(lambda: self.offered, answer)
