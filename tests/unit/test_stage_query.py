"""What is one question and what is two, by kind."""

import unicodedata

import pytest

from groundwire.streams.stages.query import clean_query, normalize_query

SAME = {
    "white space": [("capital  of\tFrance", "capital of France"), (" a b ", "a b"), ("a\u3000b\u00a0c", "a b c")],
    "case": [
        ("Capital Of France", "capital of france"),
        ("WHAT IS DSG", "what is dsg"),
        ("iPhone 15", "iphone 15"),
        ("Node.js vs Deno", "node.js vs deno"),
        ("U.S. president", "u.s. president"),
        ("The Lord of the Rings", "the lord of the rings"),
        ("ROMEO AND JULIET", "Romeo and Juliet"),
        ("YouTube", "youtube"),
        ("TCP/IP", "tcp/ip"),
        ("100 MB", "100 mb"),
    ],
    "trailing punctuation": [
        ("capital of France?", "capital of France"),
        ("capital of France ?!", "capital of France"),
        ("서울 날씨。", "서울 날씨"),
        ("fine dining…", "fine dining"),
        ("¿Qué es DSG?", "qué es dsg"),
        ("Yahoo!", "yahoo"),
    ],
    "width": [("Ｈｅｌｌｏ　１２３？", "hello 123"), ("ｶﾀｶﾅ", "カタカナ"), ("10㎏", "10kg"), ("23℃", "23°c")],
    "composition": [
        (unicodedata.normalize("NFD", "서울 날씨"), "서울 날씨"),
        (unicodedata.normalize("NFD", "café"), "café"),
        ("2 Å", "2 å"),
    ],
    "quotes": [("“exact phrase”", '"exact phrase"'), ("what’s up", "what's up")],
    "ligatures": [("ﬁne", "fine")],
    "dashes": [("1990–2000", "1990-2000")],
    "what nobody can see": [
        ("cap\u200bital", "capital"),
        ("\u202eabc\u202c", "abc"),
        ("\ufeffabc\u2060", "abc"),
        ("so\u00adft", "soft"),
        ("a\x00b", "a b"),
        ("ab\u200dcd", "abcd"),
        ("abc\U000e0061\U000e0062", "abc"),
    ],
    "hosts": [
        ("site:Example.COM news", "site:example.com news"),
        ("HTTPS://Example.com/Path", "https://example.com/Path"),
    ],
    "operators' names": [("SITE:example.com FileType:PDF", "site:example.com filetype:pdf")],
}

DIFFERENT = {
    "versions": [("python 1.2", "python 1.20"), ("v1.2", "v12")],
    "signs": [("C", "C++"), ("C", "C#"), ("what is .NET", "what is NET"), ("C:", "C")],
    "factorial": [("5!", "5"), ("what is n!", "what is n")],
    "superscripts and fractions": [("10⁵", "105"), ("x²", "x2"), ("½ cup", "12 cup"), ("①", "1")],
    "code": [
        ("getElementById", "getelementbyid"),
        ("MAX_PATH", "max_path"),
        ("Math.random", "math.random"),
        ("std::String", "std::string"),
        ("curl -V", "curl -v"),
        ("$HOME", "$home"),
        ("toString", "tostring"),
        ("NullPointerException", "nullpointerexception"),
        ("`String`", "`string`"),
        ("/etc/X11", "/etc/x11"),
    ],
    "case as the subject": [("String vs string", "string vs string")],
    "units": [("100 Mbps", "100 MBps"), ("5 mW", "5 MW")],
    "quotes": [('"Exact Phrase"', '"exact phrase"'), ('"a b"', "a b")],
    "operators": [
        ("jaguar -car", "jaguar car"),
        ("cats OR dogs", "cats or dogs"),
        ("cats AND dogs", "cats and dogs"),
        ("site:a.com x", "site:b.com x"),
        ("paris –france", "paris -france"),
        ("site:example.com/A", "site:example.com/a"),
    ],
    "emoji": [("meaning of 🙂", "meaning of 🙃"), ("👨‍👩‍👧", "👨👩👧"), ("🏴\U000e0067\U000e0062\U000e007f", "🏴")],
    "letters": [("Maße", "Masse"), ("café", "cafe"), ("저녁", "저넉")],
    "negation": [("with sugar", "without sugar")],
    "joiners of scripts that are written joined": [("می\u200cخواهم", "میخواهم")],
}


@pytest.mark.parametrize(("kind", "pair"), [(kind, pair) for kind, pairs in SAME.items() for pair in pairs])
def test_the_same_question_has_one_text(kind: str, pair: tuple[str, str]) -> None:
    assert normalize_query(pair[0]) == normalize_query(pair[1])


@pytest.mark.parametrize(("kind", "pair"), [(kind, pair) for kind, pairs in DIFFERENT.items() for pair in pairs])
def test_a_different_question_has_another_text(kind: str, pair: tuple[str, str]) -> None:
    assert normalize_query(pair[0]) != normalize_query(pair[1])


@pytest.mark.parametrize("query", ["???", "!", "\u200b", "-", '"', "。", "\u202e\u202c", "`", "C"])
def test_a_query_that_is_there_never_becomes_empty(query: str) -> None:
    assert normalize_query(query)
    assert clean_query(query)


def test_the_vendor_gets_the_case_and_punctuation_that_were_typed() -> None:
    assert clean_query("  What is\tC++\u200b?  ") == "What is C++?"


def test_an_operator_stays_in_capitals_only_where_it_is_one() -> None:
    assert normalize_query("삼성 OR 애플") == "삼성 OR 애플"
    assert normalize_query("TRUE OR FALSE") == "true or false"


def test_a_flag_of_a_region_keeps_its_tags() -> None:
    scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    assert normalize_query(f"{scotland} population") == f"{scotland} population"
