"""JupyterLab's settings for the course; `make lab`, Binder and the README's other ways name this folder in
JUPYTER_CONFIG_PATH. Beside it, labconfig/ keeps the state of controls when a notebook is saved (`saved_clean` makes a
picture of it) and asks for no news."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.saving import saved_clean  # noqa: E402

get_config().FileContentsManager.pre_save_hook = saved_clean  # noqa: F821 (Jupyter gives this file `get_config`)
