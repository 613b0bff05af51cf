"""Normalising a query, whatever it holds."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.streams.stages.query import clean_query, normalize_query

_PIECES = st.sampled_from(
    [
        *"aAbB1.,!?:;-_'\"`()/ \t\n",
        *"İſßΣςéÅ한글ᄒ가각각ㄱ​‍‌🙂👩🏽️\u200f\u202e\u00ad²½㎡ﬁ…“”‘’–−。？！\u3000ｱＡ１\uffa0\u3164",
        "OR", "AND", "site:", "C++", "getItem", "Mb", "A.B", "x_Y", "👨‍👩‍👧", "\u0301", "\u1161", "\u11a8", "\u0345",
    ]
)  # fmt: skip
queries = st.one_of(st.text(min_size=1, max_size=60), st.lists(_PIECES, min_size=1, max_size=25).map("".join))


@settings(deadline=None)
@given(queries)
def test_normalising_twice_changes_nothing_more(query: str) -> None:
    once = normalize_query(query)
    assert normalize_query(once) == once


@settings(deadline=None)
@given(queries.filter(lambda query: query.strip() != ""))
def test_a_query_with_text_never_becomes_empty(query: str) -> None:
    assert normalize_query(query) != ""
    assert clean_query(query) != ""


@settings(deadline=None)
@given(queries)
def test_composed_and_decomposed_are_one(query: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", query), unicodedata.normalize("NFD", query)
    assert normalize_query(composed) == normalize_query(decomposed)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abcdeéñ한글字0123456789", min_size=1, max_size=8), min_size=1, max_size=8))
def test_spacing_and_width_make_no_difference(words: list[str]) -> None:
    plain = " ".join(words)
    wide = "\u3000 ".join("".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word) for word in words)
    assert normalize_query(f"  {wide} ?") == normalize_query(plain)


@settings(deadline=None)
@given(
    st.text(alphabet="0123456789.", min_size=1, max_size=6).filter(lambda text: text[-1] != "."),
    st.text(alphabet="0123456789.", min_size=1, max_size=6).filter(lambda text: text[-1] != "."),
)
def test_different_numbers_stay_different(one: str, other: str) -> None:
    assert (normalize_query(f"release {one}") == normalize_query(f"release {other}")) == (one == other)
