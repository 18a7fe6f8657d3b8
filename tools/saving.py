"""What a learner's JupyterLab writes when a lecture is saved: the notebook as `make lectures` would have left it.

Saved as it stands, a control is only a reference to a kernel that is gone when the notebook is opened again, so every
one would read "Error displaying widget"; bertviz's pages would swell the file, and git would call each lecture that
was merely run a changed one. Written normalised (normalise.py), a control is a note and the picture that it last
showed, and a lecture that was run and not edited is the committed file again, to the letter. What `make progress` tells
of a learner's copy is noted before that (progress.py).
"""

from pathlib import Path

import nbformat

from . import progress
from .normalise import normalise
from .work import MY


def _load_jupyter_server_extension(server):
    """Jupyter's server calls this when it starts (tools/jupyter/jupyter_server_config.py names this module)."""
    server.contents_manager.register_pre_save_hook(saved_clean)


def saved_clean(model, path, contents_manager, **_):
    """A pre-save hook of Jupyter's contents manager: normalises notebooks in a folder `lectures`, nothing else.

    A notebook that cannot be normalised is saved as it is: no work is lost for the sake of cleanness.
    """
    folder = Path(contents_manager.root_dir, path.lstrip("/")).parent
    if model["type"] != "notebook" or folder.name != "lectures":
        return
    try:
        if folder.parent.name == MY:
            progress.note(folder.parent, Path(path).stem, model["content"])
        model["content"] = normalise(nbformat.from_dict(model["content"]))
    except Exception as error:
        print(f"{path} was saved as it is: {type(error).__name__}: {error}")
