"""The check of assignment 06 on an experiment of the student's own: what an explanation is compared with."""

from coursegrade.kit.experiment import experiment

from . import solution

my_experiment = experiment(
    solution.my_experiment, (2, 0),
    why="The review and the experiment that takes words away stay; one baseline becomes four. The four begin "
        "with the one, so that nothing else differs between the two numbers.",
    hints={"dimensions except|same length": "The two lists that are compared have different lengths: explained and "
           "lost give a number for each word of a document. Are both of the same one?",
           "size of tensor|must match|stack expects": "Two tables of different lengths meet. A baseline has as many "
           "rows as its document has tokens: is it made anew where the document is another one?",
           "concatenate list .*str": "The second argument of lost is a list: [\"[UNK]\"], or [] for nothing.",
           "expected Tensor as element": "A baseline is a table, not a word, and no list: model.embed([word] * "
           "len(d)) makes one, and explained(d, one, two) is given two."})
