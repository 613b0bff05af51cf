"""The breaker: when it opens, what it lets pass, when it closes."""

import pytest

from groundwire.schemas.reply import AttemptOutcome
from groundwire.schemas.settings import BreakerSettings
from groundwire.streams.flow.breaker import Breaker

SETTINGS = BreakerSettings(min_calls=4, failure_rate=0.5, window_s=30, open_s=10)


def failing(breaker: Breaker, calls: int, at: float = 0.0, outcome: AttemptOutcome = "server_error") -> None:
    for _ in range(calls):
        breaker.began(at)
        breaker.ended(outcome, at)


def test_it_opens_when_enough_of_enough_calls_failed() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 2, outcome="ok")
    failing(breaker, 1)
    assert breaker.refusal(0) is None
    failing(breaker, 1)
    assert breaker.state(0) == "open"
    assert breaker.refusal(4.0) == "breaker open for 6.0 s more"


def test_few_calls_open_nothing_however_bad_they_are() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 3)
    assert breaker.state(0) == "closed"


@pytest.mark.parametrize("outcome", ["ok", "empty", "rejected", "skipped", "lost"])
def test_a_vendor_that_works_never_opens_it(outcome: AttemptOutcome) -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 50, outcome=outcome)
    assert breaker.state(0) == "closed"


@pytest.mark.parametrize(
    "outcome", ["timeout", "transport", "rate_limited", "quota", "auth", "server_error", "bad_answer"]
)
def test_every_failure_counts(outcome: AttemptOutcome) -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4, outcome=outcome)
    assert breaker.state(0) == "open"


def test_calls_outside_the_window_no_longer_count() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 3, at=0)
    failing(breaker, 1, at=31)
    assert breaker.state(31) == "closed"


def test_half_open_lets_one_probe_pass_and_its_success_closes() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4)
    assert breaker.state(10) == "half_open"
    assert breaker.refusal(10) is None
    breaker.began(10)
    assert breaker.refusal(10.5) == "breaker half open: a probe is under way"
    breaker.ended("ok", 11)
    assert breaker.state(11) == "closed"
    failing(breaker, 3, at=11)
    assert breaker.state(11) == "closed"


def test_a_failed_probe_opens_it_again() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4)
    breaker.began(10)
    breaker.ended("timeout", 12)
    assert breaker.refusal(13) == "breaker open for 9.0 s more"


def test_a_probe_that_never_comes_back_shuts_nobody_out_for_ever() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4)
    breaker.began(10)
    assert breaker.refusal(19) is not None
    assert breaker.refusal(20) is None


def test_a_probe_that_did_not_take_place_is_no_probe() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4)
    breaker.began(10)
    breaker.ended("skipped", 10)
    assert breaker.refusal(10) is None


def test_calls_from_before_it_opened_decide_nothing() -> None:
    breaker = Breaker(SETTINGS)
    failing(breaker, 4)
    breaker.ended("ok", 1)
    assert breaker.state(1) == "open"


def test_switched_off_it_never_refuses() -> None:
    breaker = Breaker(BreakerSettings(enabled=False, min_calls=1))
    failing(breaker, 10)
    assert breaker.refusal(0) is None
