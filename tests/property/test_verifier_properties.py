"""The verifier for any text at all: it never raises, takes no side, and sees through dress but not through numbers."""

import re

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from groundwire.lake.cache.verifier import verify

ENGLISH = tuple(
    re.findall(
        r"\S+",
        """
        how what who when where why is are can do does the a of in to from than and or not without best cheap flights rome
        oslo python java cats dogs price weather 3 15 2024 third first usd $ % c++ tea coffee learn learning
        """,
    )
)
KOREAN = tuple(
    re.findall(
        r"\S+",
        """
        서울에서 부산까지 기차는 언제 어디 누가 무엇을 왜 몇 개의 안 없는 먹는 음식 고양이가 강아지보다 더 빠른가요 알려줘
        중에 3월 2차 가장 큰 섬은 방법을 이유는 좋은 곳 오늘 아니면
        """,
    )
)
WORDS = st.one_of(st.sampled_from(ENGLISH), st.sampled_from(KOREAN))
QUESTIONS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
ENGLISH_QUESTIONS = st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=9).map(" ".join)


@settings(deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
@example("\x00", "\u202e")
@example("v", "1" * 100)
def test_any_two_texts_get_a_verdict(a: str, b: str) -> None:
    verdict = verify(a, b)
    assert verdict.checks and verdict.reason
    assert verdict.passed == all(check.passed for check in verdict.checks)


@settings(max_examples=300, deadline=None)
@given(QUESTIONS, QUESTIONS)
def test_it_does_not_matter_which_one_is_stored(a: str, b: str) -> None:
    assert verify(a, b).passed == verify(b, a).passed


@settings(deadline=None)
@given(QUESTIONS)
def test_a_question_is_the_same_as_itself_whatever_its_dress(text: str) -> None:
    assume(verify(text, text).passed)  # not for texts that hold nothing but little words
    for dressed in (text.upper(), f"  {text} ", text + "?", text.replace(" ", "  ")):
        assert verify(text, dressed).passed, dressed


@settings(deadline=None)
@given(ENGLISH_QUESTIONS, st.integers(2, 9999), st.integers(2, 9999))
def test_another_number_is_never_let_pass(text: str, one: int, other: int) -> None:
    assume(one != other)
    assert not verify(f"{text} {one}", f"{text} {other}").passed


@settings(deadline=None)
@given(ENGLISH_QUESTIONS)
def test_a_not_is_never_overlooked(text: str) -> None:
    assume(not re.search(r"\bnot\b|\bor$|\bwhy$", text))  # `or not` asks for nothing more
    assert not verify(f"{text} not", text).passed
