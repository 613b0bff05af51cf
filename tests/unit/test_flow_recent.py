"""Answers at hand: an outcome whose indices point nowhere is nobody's answer, whoever brings it."""

from typing import Any

import pytest

from groundwire.schemas.cache_write import Purge
from groundwire.schemas.payload import Payload
from groundwire.streams.flow.recent import RecentAnswers, shareable_of
from tests.unit.stage_fakes import NOON_MS
from tests.unit.test_stage_unify import OK, Bench, paid, raw


@pytest.mark.parametrize(
    "broken",
    [{"chosen": 3}, {"chosen": -1}, {"attempts": []}, {"kind": "shared", "chosen": 1}],
    ids=["beyond the answers", "before them", "of no attempt", "shared and beyond"],
)
def test_an_outcome_that_contradicts_itself_is_neither_kept_nor_shared(broken: dict[str, Any]) -> None:
    bench = Bench()
    plan = bench.plan()
    sound = paid(plan, OK, answer=raw())
    recent = RecentAnswers(1_000_000, lambda *_: 60.0)
    bad = sound.model_copy(update=broken)
    assert shareable_of(bad) is None
    recent.add(bad, NOON_MS)
    assert recent.outcome_of(plan.reply_id) is None
    assert recent.share(plan, NOON_MS) is None
    recent.forget(Purge(requested_at_ms=NOON_MS))
    recent.add(sound, NOON_MS)
    assert isinstance(recent.outcome_of(plan.reply_id), Payload)
    assert recent.share(plan, NOON_MS) is not None
