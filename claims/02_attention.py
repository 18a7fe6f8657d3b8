"""What lecture 02 says, run again: other draws of weights, other sentences, translators trained from other starts."""

from . import claim

SEEDS = range(20, 40)                                   # the page draws with 0 to 19


@claim("02.1", "At GPT-2's width of 768 the largest weight is mostly three to five times the smallest.",
       over="20 other draws of words and weights", runs=SEEDS, here=0, between=(2.5, 5.5), at_least=18)
def largest_by_smallest(page, seed):
    A = page.initial_attention(0.02, 768, seed=seed)
    return A.max() / A.min()


@claim("02.2", "With $\\sigma = 1/\\sqrt{d_e}$, another common choice, here 0.125, one token mostly gets .40 of a row "
       "or more, by chance.", over="20 other draws of words and weights", runs=SEEDS, here=0, between=(0.395, 1),
       at_least=16)
def largest_of_a_row(page, seed):
    return page.initial_attention(0.125, 64, seed=seed).max()
