"""The memory of replies keeps within its bytes."""

from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.stages.answered import AnsweredBefore
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import NOON_MS, FakeDirectory, FakeProvider, plan_of, request_record


def test_the_oldest_replies_go_first() -> None:
    normalize = Normalize(Settings(routes={"default": ["alpha"]}), FakeDirectory(FakeProvider("alpha")))
    plans = [plan_of(normalize(request_record({"query": "a"}, offset=n), NOON_MS)) for n in range(10)]
    memory = AnsweredBefore(600, most_bytes=4 * 3_000)
    for plan in plans:
        memory.remember(
            plan, OutboundRecord("replies", b"k", b"r" * 1_000), OutboundRecord("events", b"k", b"e" * 900), NOON_MS
        )
    remembered = [memory.again(plan, NOON_MS) is not None for plan in plans]
    assert remembered == [False] * 6 + [True] * 4


def test_a_second_reply_does_not_replace_the_first() -> None:
    normalize = Normalize(Settings(routes={"default": ["alpha"]}), FakeDirectory(FakeProvider("alpha")))
    plan = plan_of(normalize(request_record({"query": "a"}), NOON_MS))
    memory = AnsweredBefore(600)
    for value in (b"first", b"second"):
        memory.remember(plan, OutboundRecord("replies", b"k", value), OutboundRecord("events", b"k", b"e"), NOON_MS)
    again = memory.again(plan, NOON_MS)
    assert again is not None
    assert again[0].value == b"first"
