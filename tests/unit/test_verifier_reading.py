"""What questions are cut into: tokens, numbers, languages; and the verdict as the calibration and a person see it."""

import pytest

from groundwire.lake.cache.verifier import Check, Verdict, numbers, tokens, verify
from groundwire.lake.cache.verifier.alignment import align
from groundwire.lake.cache.verifier.reading import Item
from groundwire.lake.cache.verifier.script import language_of
from groundwire.lake.cache.verifier.strict import read as read_strict


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("C++ and C#, .NET", ["c++", "and", "c#", ".net"]),
        ("node.js v1.20", ["node.js", "v1.20"]),
        ("iphone15 10mg", ["iphone", "15", "10", "mg"]),
        ("k8s on s3", ["k8s", "on", "s3"]),
        ("U.S. and D.C.", ["us", "and", "dc"]),
        ("don’t “quote”", ["don't", "quote"]),
        ("1,000 / 5:30 / 24/7", ["1,000", "5:30", "24/7"]),
        ("snake_case me@x.org", ["snake_case", "me@x.org"]),
        ("$5 – 10%", ["$", "5", "10", "%"]),
        ("&str 5! x²", ["&str", "5", "!", "x", "^", "2"]),
        ("😂 日本", ["😂", "日本"]),
    ],
)
def test_a_text_becomes_tokens(text: str, found: list[str]) -> None:
    assert tokens.words(tokens.fold(text)) == found


def test_operators_and_flags_are_taken_out() -> None:
    rest, exact = tokens.operators(tokens.fold('brexit site:BBC.com --max-cost -x intitle:"a b"'))
    assert rest.split() == ["brexit"] and exact == {"site:bbc.com", "--max-cost", "-x", 'intitle:"a b"'}
    assert tokens.operators("meet at 12:30 or https://x.org")[1] == frozenset()


def test_what_nobody_sees_changes_nothing() -> None:
    assert tokens.fold("ca\u200bfé") == tokens.fold("cafe\u0301") == "café"
    assert tokens.strip_accents("café") == "cafe" and tokens.strip_accents("한글") == "한글"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("twenty one", "#21"), ("one hundred and five", "#105"), ("two million", "#2000000"), ("third", "#3"),
        ("21st", "#21"), ("1,000", "#1000"), ("60k", "#60000"), ("2 lakh", "#200000"), ("xiv", "#14"), ("007", "#7"),
        ("1.20", "#1.20"), ("v2.1", "#2.1"), ("-5", "#-5"), ("2026-01-31", "#2026-1-31"), ("2.5 million", "#2500000"),
        ("five hundred thousand", "#500000"), ("3 of july", "#7-3"), ("twenty fifth", "#25"),
        ("1 million million", "#1000000000000"),
    ],
)  # fmt: skip
def test_a_number_has_one_form(said: str, meant: str) -> None:
    assert numbers.canonical(tokens.words(said)) == [meant]


@pytest.mark.parametrize("words", [["mix"], ["i", "am"], ["may", "flowers"], ["xi", "jinping"], ["hundred", "acre"]])
def test_what_is_no_number_stays(words: list[str]) -> None:
    assert numbers.canonical(words) == words


def test_a_roman_one_needs_its_war() -> None:
    assert numbers.canonical(["war", "i"]) == ["war", "#1"]
    assert numbers.roman("viii") == 8 and numbers.roman("vim") is None


@pytest.mark.parametrize(
    ("text", "hint", "language"),
    [
        ("weather in oslo", None, "en"), ("서울 weather", None, "ko"), ("天気 東京", None, "other"),
        ("wie wird das wetter", None, "other"), ("qué es la vida", None, "other"), ("die hard", None, "en"),
        ("café noir", None, "en"), ("café noir", "fr", "other"), ("weather", "fr-FR", "en"), ("погода", "en", "other"),
    ],
)  # fmt: skip
def test_a_language_is_told_as_far_as_rules_go(text: str, hint: str | None, language: str) -> None:
    assert language_of(text, hint) == language


def test_a_language_without_rules_is_compared_to_the_letter() -> None:
    assert verify("wie wird das wetter?", "Wie wird das Wetter").passed
    assert not verify("wie wird das wetter", "wie wird das wetter morgen").passed
    assert not verify("wie wird das wetter", "wird das wetter wie").passed
    assert read_strict("!").items == ()


def test_words_written_apart_are_one_word_elsewhere() -> None:
    def items(*words: str) -> list[Item]:
        return [Item(word, (word,)) for word in words]

    found = align(items("real", "estate", "agent"), items("realestate", "agent"))
    assert found.only_asked == found.only_stored == () and found.joined == 1
    other = align(items("realestate", "agent"), items("real", "estate", "agent"))
    assert other.only_asked == other.only_stored == () and other.joined == 1
    assert align(items("data", "base"), items("basedata")).joined == 0


def test_a_verdict_names_every_check_and_the_reason() -> None:
    verdict = verify("iphone 15 price", "iphone 16 price")
    assert isinstance(verdict, Verdict) and not verdict.passed and verdict.language == "en"
    assert Check("numbers", False, "#15 against #16") in verdict.checks
    assert verdict.reason.startswith("numbers: #15 against #16")
    passed = verify("cafes in rome", "rome cafe")
    assert passed.passed and passed.reason == "same words, numbers, question and order"
    assert passed.features["moved"] == 1 and passed.features["words"] == 2


def test_nothing_in_common_is_never_the_same() -> None:
    for a, b in (("", ""), ("the", "a"), ("who is it", "who is it?"), ("?", "!")):
        assert not verify(a, b).passed
