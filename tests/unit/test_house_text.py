"""Nothing in the repository speaks of one person's machine, or fixes where packages come from."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Each word is spelled in two pieces, so that this file may be searched too.
FORBIDDEN = {
    "a path of one machine": re.compile(
        "|".join(["/wo" + r"rk/", "/ro" + r"ot/", "/ho" + r"me/[a-z]", "/tmp/" + "gw"])
    ),
    "a package registry's address": re.compile(
        "|".join(
            [
                *["py" + r"pi\.org", "python" + r"hosted\.org", "npm" + r"js\.(org|com)", "repo1?" + r"\.maven"],
                *["crates" + r"\.io", "deb" + r"\.debian\.org", "proxy\\.go" + r"lang\.org"],
            ]
        )
    ),
    "unfinished work": re.compile(r"\b(TO" + "DO|FIX" + "ME|X" + r"XX)\b"),
    "a merge that was not finished": re.compile(r"^(<{7}|>{7}) ", re.MULTILINE),
    "where it was made": re.compile("|".join(["farm" + "-[a-z]+", "Co-Auth" + "ored-By", "Generated " + "with"])),
}


def _texts() -> dict[str, str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a Git checkout: there is no list of the repository's files")
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if b"\0" not in content[:8192]:
                texts[name] = content.decode("utf-8")
    return texts


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    found = []
    for name, text in _texts().items():
        for number, line in enumerate(text.splitlines(), 1):
            if FORBIDDEN[what].search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_a_forbidden_word_would_be_seen() -> None:
    assert FORBIDDEN["a package registry's address"].search("https://py" + "pi.org/simple")
    assert FORBIDDEN["a path of one machine"].search("cd /wo" + "rk/main")
    assert FORBIDDEN["unfinished work"].search("# TO" + "DO: later")


def test_prose_and_code_are_utf_8_and_end_with_a_line() -> None:
    written = {name: text for name, text in _texts().items() if not name.endswith(".json")}
    assert [name for name, text in written.items() if text and not text.endswith("\n")] == []
