"""An answer made of today's news does not live for a month."""

import pytest

from groundwire.schemas.reply import Result
from groundwire.schemas.request import FreshnessClass
from groundwire.streams.stages.answer_freshness import class_for_ttl
from tests.unit.stage_fakes import NOON_MS


def results(*published: str | None) -> list[Result]:
    return [
        Result(index=n, title="t", url="https://e.example", body="b", provider="alpha", published_at=at)
        for n, at in enumerate(published, start=1)
    ]


@pytest.mark.parametrize(
    ("asked", "published", "expected"),
    [
        ("slow", ["2026-12-01", "2026-11-30T20:00:00Z", None, None], "daily"),
        ("static", ["2026-12-01T09:00:00+09:00"], "daily"),
        ("slow", ["2026-12-01", None, None], "slow"),
        ("slow", ["2026-11-20", "2019-01-01"], "slow"),
        ("slow", ["yesterday", "2026-13-45"], "slow"),
        ("slow", [], "slow"),
        ("live", ["2026-12-01"], "live"),
        ("daily", ["2026-12-01"], "daily"),
    ],
)
def test_half_of_the_results_from_the_last_two_days_make_an_answer_daily(
    asked: FreshnessClass, published: list[str | None], expected: str
) -> None:
    assert class_for_ttl(asked, results(*published), NOON_MS) == expected
