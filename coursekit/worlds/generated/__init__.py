"""Texts made by rule, so that what a model should find in them is known: reviews, dialogues, translations.

Each kind has a module of its name; `grammars` reads the words and sentences that two of them are made of, from the
files `*_grammar.txt` of the room `text`.
"""
