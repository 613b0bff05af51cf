"""A wrong mapping costs a replay, not a call: which kept answers are sent again, and as what."""

import pytest

from groundwire.adapters.call import Cost
from groundwire.schemas.payload import Payload
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.payloads import Kept, Selection, Wanted
from groundwire.streams.stages.reread import Rereading
from tests.unit.stage_fakes import (
    NOON_MS,
    FakeProvider,
    Road,
    always,
    body_about,
    failed,
    payloads_of,
    reply_of,
    writes_of,
)

PAID = Cost(1_000, "answer")


async def asked(road: Road, query: str, **more: object) -> Payload:
    (payload,) = payloads_of(await road.ask({"query": query, "request_id": query, **more}), "answer")
    return payload


def placed(*payloads: Payload, start: int = 0, timestamp_ms: int = NOON_MS) -> list[InboundRecord]:
    return [
        InboundRecord(PAYLOADS.name, 0, start + at, b"key", payload.encode(), (), timestamp_ms)
        for at, payload in enumerate(payloads)
    ]


def select(records: list[InboundRecord], road: Road, **wanted: object) -> list[Kept]:
    selection = Selection(road.directory, road.settings, Wanted(**wanted))  # type: ignore[arg-type]
    for see in (selection.look, selection.take):
        for record in records:
            see(record)
    return selection.kept


async def test_an_answer_nobody_could_read_is_kept_and_grounds_the_request_once_it_can_be_read() -> None:
    unreadable = failed("bad_answer", status=200, cost=PAID, body=body_about("alpha", "tide tables"))
    road = Road(FakeProvider("alpha", script=always(unreadable)))
    outputs = await road.ask({"query": "tide tables"})
    assert reply_of(outputs).status == "ungrounded"
    (payload,) = payloads_of(outputs, "answer")
    reread = Rereading(road.directory, road.settings)(payload)
    assert reread is not None and (reread.provider, reread.results) == ("alpha", 2)
    again = road.unify(placed(reread.payload)[0], NOON_MS + 5_000)
    first, second = reply_of(outputs), reply_of(again)
    assert (second.status, second.reply_id, second.cost_micro_usd) == ("grounded", first.reply_id, 1_000)
    (write,) = writes_of(again)
    assert write.entry is not None and write.entry.cost_micro_usd == 1_000


@pytest.mark.parametrize("body", ["<html>an error page</html>", "{" + "x" * 300_000])
async def test_pages_and_huge_answers_that_nobody_could_read_are_not_kept(body: str) -> None:
    road = Road(FakeProvider("alpha", script=always(failed("bad_answer", status=200, cost=PAID, body=body))))
    assert (await asked(road, "tide tables")).answers == []


async def test_what_was_served_stays_what_is_served() -> None:
    """The first vendor's answer can be read now; the request was answered by the second and keeps its answer."""
    unreadable = failed("bad_answer", status=200, cost=PAID, body=body_about("alpha", "tide tables"))
    road = Road(FakeProvider("alpha", script=always(unreadable)), FakeProvider("beta"))
    payload = await asked(road, "tide tables")
    reread = Rereading(road.directory, road.settings)(payload)
    assert reread is not None and (reread.provider, reread.payload) == ("beta", payload)


async def test_an_answer_that_still_holds_nothing_says_why() -> None:
    road = Road(FakeProvider("alpha"))
    payload = await asked(road, "tide tables")
    broken = payload.answers[0].model_copy(update={"body": "{}"})
    reread = Rereading(road.directory, road.settings)(payload.model_copy(update={"answers": [broken]}))
    assert reread is not None and reread.results == 0
    assert reread.problem == "alpha: the answer can't be read: not the documented shape"


async def test_marks_and_outcomes_without_an_answer_are_nothing_to_replay() -> None:
    road = Road(FakeProvider("alpha", script=always(failed("server_error"))))
    outputs = await road.ask({"query": "tide tables"})
    assert select(placed(*payloads_of(outputs)), road) == []


async def test_answers_are_chosen_by_request_question_provider_and_time() -> None:
    road = Road(FakeProvider("alpha"), FakeProvider("beta"))
    tides = await asked(road, "tide tables")
    moon = await asked(road, "moon phases", providers=["beta"])
    records = [*placed(tides), *placed(moon, start=1, timestamp_ms=NOON_MS + 60_000)]

    def queries(**wanted: object) -> list[str]:
        return [one.reread.payload.plan.query for one in select(records, road, **wanted)]

    assert queries() == ["tide tables", "moon phases"]
    assert queries(provider="beta") == ["moon phases"]
    assert queries(query="tide tables") == ["tide tables"]
    assert queries(request_ids=frozenset({"moon phases"})) == ["moon phases"]


async def test_each_outcome_is_sent_once_however_often_it_stands_on_the_log() -> None:
    road = Road(FakeProvider("alpha"))
    payload = await asked(road, "tide tables")
    (kept,) = select(placed(payload, payload, payload), road)
    assert kept.record.offset == 2


async def test_a_newer_answer_of_the_same_question_is_sent_behind_an_older_one() -> None:
    """Else the replay would put the older answer in the place of the newer one."""
    road = Road(FakeProvider("alpha"))
    old = await asked(road, "tide tables")
    raw = old.answers[0]
    new = old.model_copy(
        update={
            "payload_id": "new",
            "plan": old.plan.model_copy(update={"request_id": "new", "reply_id": "new"}),
            "answers": [raw.model_copy(update={"received_at_ms": raw.received_at_ms + 1})],
        }
    )
    kept = select(placed(new, old), road, request_ids=frozenset({"tide tables"}))
    assert [(one.reread.payload.plan.request_id, one.added) for one in kept] == [("tide tables", False), ("new", True)]
    assert len(select(placed(new, old), road, request_ids=frozenset({"new"}))) == 1


async def test_more_than_fits_into_memory_is_refused() -> None:
    road = Road(FakeProvider("alpha"))
    (record,) = placed(await asked(road, "tide tables"))
    selection = Selection(road.directory, road.settings, Wanted(), most_bytes=100)
    selection.look(record)
    with pytest.raises(CommandError, match="narrow the choice with --since and --until"):
        selection.take(record)


async def test_shared_answers_are_corrected_too_and_write_nothing_to_the_cache() -> None:
    road = Road(FakeProvider("alpha"), settings=Settings(routes={"default": ["alpha"]}))
    payload = await asked(road, "tide tables")
    shared = payload.model_copy(
        update={
            "kind": "shared",
            "plan": payload.plan.model_copy(update={"request_id": "second", "reply_id": "second"}),
            "marks": [],
            "attempts": [],
            "paid_micro_usd": 1_000,
        }
    )
    kept = select(placed(payload, shared), road)
    assert [one.reread.payload.kind for one in kept] == ["answer", "shared"]
    outputs = road.unify(placed(kept[1].reread.payload)[0], NOON_MS)
    assert (reply_of(outputs).reply_id, writes_of(outputs)) == ("second", [])


async def test_an_answer_read_again_stands_under_the_key_its_question_has_now() -> None:
    """A key holds the version of the provider file: a corrected file asks for another one."""
    wrong, right = (FakeProvider("alpha", spec_changes={"about": about}) for about in ("wrong", "right"))
    right.spec = right.spec.model_copy(update={"answer": right.spec.answer.model_copy(update={"title": ["headline"]})})
    before, after = Road(wrong), Road(right)
    for request in (
        {"query": "tide tables", "language": "EN", "depth": 20},
        {"query": "tide tables", "freshness": "live", "tenant": "acme"},
        {"query": "who won the match today", "filters": {"include_domains": ["b.example", "a.example"]}},
    ):
        (payload,) = payloads_of(await before.ask(request), "answer")
        reread = Rereading(after.directory, after.settings)(payload)
        (now,) = payloads_of(await after.ask(request), "answer")
        assert payload.plan.chain[0].cache_key != now.plan.chain[0].cache_key
        assert reread is not None
        assert [(step.cache_key, step.facet) for step in reread.payload.plan.chain] == [
            (step.cache_key, step.facet) for step in now.plan.chain
        ]
