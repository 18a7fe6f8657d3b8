"""Checks of assignment 04: rules for a token and the draw (rules.py), greedy texts, what greedy misses, and beams
(texts.py), reading on from a cache (reading.py); an experiment of one's own."""

from attention_questions.prelude import announce
from coursegrade.kit.experiment import experiment

from . import solution
from .reading import read_on
from .rules import draw, keep_nucleus, keep_top_k, tempered
from .texts import beam_search, greedy, missed

my_experiment = experiment(solution.my_experiment, (2, 0), why=(
    "Only the darts are changed: the table of probabilities and the number of tokens are the same in both texts. With "
    "one dart for all, the last token decides the next, so there are at most as many different groups as tokens."))

announce("decoding", [tempered, keep_nucleus, draw, greedy, missed,
                      keep_top_k, read_on, beam_search,                 # these three are a bonus, as is the worst case
                      my_experiment],
         {"rules compared": 7, "how wrong": 1})
