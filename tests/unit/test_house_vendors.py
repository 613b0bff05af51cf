"""A vendor's name stands in its own files, the sandbox, the configuration and the documents, and nowhere else in the code."""

import re
from pathlib import Path

from groundwire.adapters.registry import load_specs

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("schemas", "adapters", "lake", "streams")
OWN_PLACES = ("adapters/providers/", "adapters/dedicated/", "adapters/sandbox/")

# What vendors are called, beside the names of their files.
ALSO_CALLED = (
    "bright ?data",
    "google[ _-]?pse",
    "mediawiki",
    r"you\.com",
    "grounding with google",
    "claude",
    "gpt-?[0-9]",
)
# Short names are words, or parts of words; one of them is in every second sentence, but as a provider's name in quotes.
SHORT = {"you": r"[\"'`]you[\"'`]", "exa": r"\bexa(?![a-z])", "jina": r"\bjina"}
# What people type, not whom we ask.
WORDS_OF_QUESTIONS = ("lake/cache/verifier/english_words.py", "lake/cache/verifier/english.py")


def names() -> re.Pattern[str]:
    known, problems = load_specs([])
    assert (len(known) >= 16, problems) == (True, [])
    words = [SHORT.get(name, name) for name in known]
    return re.compile("|".join([*words, *ALSO_CALLED]), re.IGNORECASE)


def test_no_code_knows_a_vendor_by_name() -> None:
    pattern = names()
    found = []
    for file in (file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))):
        place = file.relative_to(ROOT).as_posix()
        if place.startswith(OWN_PLACES) or place in WORDS_OF_QUESTIONS:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{place}:{number}: {line.strip()[:100]}")
    assert found == []


def test_a_name_in_code_would_be_seen() -> None:
    pattern = names()
    for line in ('if provider.name == "serper":', "# as Tavily does", "EXA_KEY", 'chain = ["you"]', "OpenAIAdapter"):
        assert pattern.search(line), line
    assert not pattern.search("what you set for example, exactly")
