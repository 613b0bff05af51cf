"""Names keep their promise: what a package exports is there, and no file is called after nothing in particular."""

import ast
import importlib
import pkgutil
from collections import Counter
from pathlib import Path

import pytest

import groundwire.adapters
import groundwire.lake
import groundwire.schemas
import groundwire.streams

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (groundwire.schemas, groundwire.adapters, groundwire.lake, groundwire.streams)
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core", "stuff", "tools"}


def _packages() -> list[str]:
    names = [room.__name__ for room in ROOMS]
    for room in ROOMS:
        names += [
            module.name for module in pkgutil.walk_packages(room.__path__, prefix=room.__name__ + ".") if module.ispkg
        ]
    return sorted(names)


def _handed_on(package: str, source: str) -> set[str]:
    """Names that an `__init__` file imports from its own package and does not use: imported for others to import."""
    names: set[str] = set()
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package + "."):
            names |= {alias.asname or alias.name for alias in node.names}
    return {name for name in names - used if not name.startswith("_")}


@pytest.mark.parametrize("name", _packages())
def test_a_package_exports_what_it_says_and_says_what_it_exports(name: str) -> None:
    package = importlib.import_module(name)
    exported = list(getattr(package, "__all__", []))
    assert len(set(exported)) == len(exported), "a name stands twice in __all__"
    assert [each for each in exported if not hasattr(package, each)] == []
    source = Path(package.__file__ or "").read_text(encoding="utf-8")
    assert sorted(_handed_on(name, source) - set(exported)) == []


def test_no_file_is_called_after_nothing_in_particular() -> None:
    files = [path for room in ROOMS for path in Path(room.__path__[0]).rglob("*.py")]
    assert [str(path) for path in files if path.stem in SAYS_NOTHING] == []


def test_every_file_says_what_it_is_for() -> None:
    silent = []
    for room in ROOMS:
        for path in Path(room.__path__[0]).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if source.strip() and ast.get_docstring(ast.parse(source)) is None:
                silent.append(path.relative_to(ROOT).as_posix())
    assert silent == []


def test_test_files_have_names_of_their_own() -> None:
    counted = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in counted.items() if count > 1] == []
