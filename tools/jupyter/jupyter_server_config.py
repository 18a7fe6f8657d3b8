"""JupyterLab's settings for the course; `make lab`, Binder and the README's other ways name this folder in
JUPYTER_CONFIG_PATH. Beside this file

    jupyter_server_config.d/  a lecture is saved clean (tools/saving.py)
    labextensions/            keys pressed on a control are the control's
    labconfig/                the state of controls is kept when a notebook is saved (saving.py makes a picture of it),
                              no news are asked for, and nbgrader's menus are hidden, which are for teachers
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))                                # for tools.saving
get_config().LabServerApp.extra_labextensions_path = [str(HERE / "labextensions")]  # noqa: F821 (Jupyter gives it)
