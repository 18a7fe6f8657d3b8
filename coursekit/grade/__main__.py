"""The old name of `python -m coursegrade`."""

import importlib
import sys

if __name__ == "__main__":
    print("`python -m coursekit.grade` is now `python -m coursegrade`", file=sys.stderr)
    sys.exit(importlib.import_module("coursegrade.__main__").main())
