"""The check of assignment 12 on an experiment of the student's own: how sure models are of closing brackets."""

from coursegrade.kit.experiment import experiment

from . import solution

my_experiment = experiment(
    solution.my_experiment, (2, 0),
    why="The same texts twice, and nothing but the kinds differs. The least of all margins is taken, not the mean: a "
        "model errs where it is least sure.",
    hints={"equal size|inhomogeneous": "All texts of one call have the same number of brackets. Ask in two calls, or "
                                       "draw all of them with one length.",
           "'.' is not balanced": "One text alone is a list, too: [text].",
           "is not balanced": "Turn both brackets of a pair, or neither.",
           "can only concatenate|'list' object has no": "`drawn` gives a list of texts. Change each of them: [… for "
                                                        "text in drawn(seed)].",
           "out of bounds": "`ask` returns two things, logits and maps. `on_top` wants the maps: ask(name, texts)[1]."})
