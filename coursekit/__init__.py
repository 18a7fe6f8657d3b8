"""coursekit: the small library behind the open course "Attention, explained?".

The rooms, each of which imports only those above it, and all of them `inputs`, what functions take and refuse:

    text         documents in: tokenizers, generated and hand-written reviews, public data sets
    show         what people look at: highlighted words, heatmaps, widgets
    models       what is explained: attention, classifiers, GPT-2, shipped weights; what explainers ask of a model
    tasks        toy worlds with a known answer
    explain      attributions out
    evaluate     are they any good?
    results      what the papers' tables and figures were, run again
    grade        exercises and marks

`import coursekit` loads none of them, so it is instant; write `from coursekit import text` or
`from coursekit.models import ...` for what you need.

>>> import coursekit
>>> coursekit.__version__.count(".")
2
"""

__version__ = "0.2.0"
