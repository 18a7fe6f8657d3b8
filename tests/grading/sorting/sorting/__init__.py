"""What the notebooks of the course on sorting use."""

import random

SUITS = ("clubs", "diamonds", "hearts", "spades")


def cards(n, seed=0):
    """n cards of a shuffled deck, each a list [rank, suit]."""
    deck = [[rank, suit] for rank in range(2, 15) for suit in SUITS]
    random.Random(seed).shuffle(deck)
    return deck[:n]
