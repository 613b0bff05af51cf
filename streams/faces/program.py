"""What a reader types to run this program: what is printed as a next step must work when it is copied."""

import shutil
import sys
from pathlib import Path

NAME = "groundwire"


def program() -> str:
    """`groundwire` where that is found, else the path it was started by, such as `.venv/bin/groundwire`."""
    started_by = sys.argv[0]
    if Path(started_by).name != NAME:
        return NAME  # a test, a bench, or `python -m`: its path would be no command
    found = shutil.which(NAME)
    return NAME if found is not None and Path(found).resolve() == Path(started_by).resolve() else started_by
