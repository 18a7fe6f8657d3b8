"""coursekit: the small library behind the open course "Attention, explained?".

The core, whose rooms import only those above them, and all of them `inputs`, what functions take and refuse:

    text         documents in: tokenizers, byte pairs, pieces of words
    show         what people look at: highlighted words, heatmaps, widgets
    models       what is explained: attention, classifiers, GPT-2, shipped weights; what explainers ask of a model
    explain      attributions out
    evaluate     are they any good?

and the rooms that some lectures open:

    worlds       toy tasks with a known answer, generated texts
    debate       is attention explanation? its tests
    people       studies that ask people, and their statistics
    compare      many explainers and metrics in one table; jobs that go on after a stop
    own          anybody's model and corpus
    results      what was found elsewhere: papers' tables run again, and what lectures say

`import coursekit` loads none of them, so it is instant; write `from coursekit import text` or
`from coursekit.models import ...` for what you need.

>>> import coursekit
>>> coursekit.__version__.count(".")
2
"""

from . import moved as moved

__version__ = "0.3.0"
