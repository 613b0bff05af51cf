"""What is installed is what stands in the folders: no package forgotten, no data file left behind, nothing unpinned."""

import ast
import fnmatch
import importlib.metadata
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("schemas", "adapters", "lake", "streams")


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _tracked(*folders: str) -> list[Path]:
    """Files of the checkout as Git knows them, or of the folders when this is no checkout (an unpacked archive)."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode == 0:
        return [Path(name) for name in listing.stdout.split("\0") if name and (ROOT / name).exists()]
    return [
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


def test_the_packages_listed_are_the_folders_there_are() -> None:
    folders = {path.parent for path in _tracked(*ROOMS) if path.suffix == ".py"}
    assert sorted(_pyproject()["tool"]["setuptools"]["packages"]) == sorted(
        "groundwire." + ".".join(folder.parts) for folder in folders
    )


def test_every_package_is_a_regular_one() -> None:
    folders = {path.parent for path in _tracked(*ROOMS) if path.suffix == ".py"}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_every_data_file_is_installed_with_its_package() -> None:
    setup = _pyproject()["tool"]["setuptools"]
    packages = {name.removeprefix("groundwire.").replace(".", "/") for name in setup["packages"]}
    patterns = {
        package.removeprefix("groundwire.").replace(".", "/"): names for package, names in setup["package-data"].items()
    }

    def installed(path: Path) -> bool:
        for folder in path.parents:
            if str(folder) in packages:
                inside = str(path.relative_to(folder))
                wanted = patterns.get("*", []) + patterns.get(str(folder), [])
                # setuptools' `*` does not cross a folder, fnmatch's does.
                return any(
                    fnmatch.fnmatch(inside, pattern) and inside.count("/") == pattern.count("/") for pattern in wanted
                )
        return False

    data = [path for path in _tracked(*ROOMS) if path.suffix not in {".py", ".md"}]
    assert data, "no data file was found at all"
    assert [str(path) for path in data if not installed(path)] == []


def _pins() -> dict[str, str]:
    pins = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.split(";")[0].strip().partition("==")
            pins[canonicalize_name(name)] = version
    return pins


def _stood_on(requirements: list[str]) -> Iterator[str]:
    """Every distribution that these requirements bring on this platform, transitively."""
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ["", *requirement.extras]:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            yield name
            for text in importlib.metadata.requires(name) or []:
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    waiting.append(needed)


def _requirements() -> list[str]:
    project = _pyproject()["project"]
    listed: list[str] = project["dependencies"] + project["optional-dependencies"]["dev"]
    return [text for text in listed if (marker := Requirement(text).marker) is None or marker.evaluate()]


def test_every_package_we_stand_on_is_pinned() -> None:
    pins = _pins()
    assert sorted({name for name in _stood_on(_requirements()) if name not in pins}) == []


# Imported by a package of ours on our behalf, because of how we set that package up.
USED_BY_OTHERS = {"cramjam": "aiokafka compresses with it (compression_type lz4)"}


def test_every_package_we_ask_for_is_used() -> None:
    names: set[str] = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                    names.add(node.module.split(".")[0])
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                    names.add(node.value)  # importlib.resources and find_spec take names as text
    provided = importlib.metadata.packages_distributions()
    used = {canonicalize_name(package) for name in names for package in provided.get(name, ())}
    asked = {canonicalize_name(Requirement(text).name) for text in _pyproject()["project"]["dependencies"]}
    assert sorted(asked - used - USED_BY_OTHERS.keys()) == []


def test_every_pin_is_a_version_we_ask_for() -> None:
    pins = _pins()
    for text in _requirements():
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), text


def test_pins_are_exact_and_name_no_address() -> None:
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[A-Za-z0-9._-]+==[^\s@;]+( ; .+)?", line), line
