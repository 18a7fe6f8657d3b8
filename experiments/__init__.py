"""The papers' tables and figures once more: several seeds, held-out data, one result file and one figure each.

`python -m experiments` lists them with their minutes and the date of the result that is kept in `coursekit/results/`;
`… run NAME` runs one, or goes on where it was stopped; `… show NAME` prints its table. In a notebook,
`coursekit.results.recorded(NAME)` shows its figure and its numbers, which it has as data: it knows nothing of this.

An experiment is a module named paper_what. Its docstring says what the paper did, what is assumed where the course's
text of it has lost a number, and what came out. It has

    SIZE, TOY             keyword arguments of `run`: as the result was made, and a small case for the tests
    cells(seeds)          the list of settings, dictionaries of names, numbers and a seed, the quick ones first
    run(cell, **size)     what one setting gives: a dictionary of numbers, lists and dictionaries of them
    report(records)       (rows, columns) for `coursekit.show.table`, from the cells that are there
    figure(records)       a picture of the same

No model is judged by the data that it was fitted to alone: what is reported is said of new sequences, by their length.
"""
