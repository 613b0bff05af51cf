"""What a producer and a consumer are promised, on a real Kafka, with nothing broken: contract §1, §2 and §7."""

import asyncio
import json
import time
import uuid

import pytest
from harness.pipeline import Pipeline
from harness.records import DEAD_LETTERS, ONE_VENDOR, REQUESTS, Asker, TopicLog

HOUR_MS = 3_600_000


def _unlike_any_other(text: str) -> str:
    """A question of this run alone, so that no cache knows it."""
    return f"{text} {uuid.uuid4().int % 10**9}"


async def _dead_letters(
    brokers: str, partition: int, count: int, *, topic: str = REQUESTS, timeout_s: float = 30.0
) -> list[dict[str, object]]:
    """The dead letters of one partition, once there are so many. Raises TimeoutError when they don't come."""
    log = await TopicLog(brokers, DEAD_LETTERS).start()
    letters: list[dict[str, object]] = []
    end = time.monotonic() + timeout_s
    try:
        while len(letters) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(letters)} of {count} dead letters of {topic}-{partition}")
            found = [record.json() for record in await log.poll(1.0)]
            letters += [letter for letter in found if (letter["topic"], letter["partition"]) == (topic, partition)]
    finally:
        await log.stop()
    return letters


async def test_a_question_is_answered_and_asked_again_comes_from_the_cache(asker: Asker) -> None:
    query = _unlike_any_other("how high is the lighthouse of chapter")
    first = await asker.ask(query)
    assert (first["status"], first["cache"]["outcome"]) == ("grounded", "miss")
    assert first["cost_micro_usd"] > 0
    second = await asker.ask(query)
    assert second["cache"]["outcome"] in {"exact", "coalesced"}
    assert second["cost_micro_usd"] == 0
    assert second["saved_micro_usd"] == first["cost_micro_usd"]
    assert second["results"] == first["results"]


async def test_the_same_record_again_is_the_same_reply_and_no_second_bill(road: Pipeline, asker: Asker) -> None:
    query = _unlike_any_other("which minerals are in sample")
    name = await asker.send(query, request_id=uuid.uuid4().hex)
    first = (await asker.replies_to(name))[0]
    await asker.send(query, request_id=name)
    replies = await asker.all_replies_to(name, settle_s=5.0)
    assert len(replies) == 2
    for field in ("reply_id", "status", "results", "context"):
        assert replies[1][field] == first[field]
    assert road.vendors.calls(query)["count"] == 1


async def test_the_same_id_with_other_content_is_an_error_that_says_so(asker: Asker) -> None:
    name = uuid.uuid4().hex
    await asker.send(_unlike_any_other("bridge"), request_id=name, partition=3)
    await asker.replies_to(name)
    await asker.send(_unlike_any_other("another bridge"), request_id=name, partition=3)
    replies = await asker.all_replies_to(name, settle_s=5.0)
    assert [reply["status"] for reply in replies] == ["grounded", "error"]
    assert replies[1]["error"]["kind"] == "conflict"
    assert replies[1]["reply_id"] != replies[0]["reply_id"]


async def test_a_thousand_equal_requests_over_three_workers_cost_one_vendor_call(road: Pipeline, asker: Asker) -> None:
    query = _unlike_any_other("who painted the ceiling of hall")
    requests = [
        {"query": query, "request_id": uuid.uuid4().hex, "providers": ONE_VENDOR, "timeout_s": 60} for _ in range(1_000)
    ]
    await asker.send_many(requests)
    replies = await asker.replies_to(*[str(request["request_id"]) for request in requests], timeout_s=60)
    assert road.vendors.calls(query)["count"] == 1
    assert {reply["status"] for reply in replies} == {"grounded"}
    assert sum(reply["cost_micro_usd"] for reply in replies) == max(reply["cost_micro_usd"] for reply in replies)
    assert [reply["cache"]["outcome"] for reply in replies].count("miss") == 1


async def test_a_request_past_its_deadline_is_answered_at_once_and_never_fetched(road: Pipeline, asker: Asker) -> None:
    query, name = _unlike_any_other("what time is it in town"), uuid.uuid4().hex
    value = json.dumps({"query": query, "request_id": name, "timeout_s": 5}).encode()
    await asker.send_raw(value, timestamp_ms=time.time_ns() // 1_000_000 - HOUR_MS)
    reply = (await asker.replies_to(name))[0]
    assert (reply["status"], reply["context"], reply["results"]) == ("ungrounded", "", [])
    assert reply["warnings"]
    assert road.vendors.calls(query)["count"] == 0


async def test_a_poison_record_is_kept_with_its_origin_and_the_next_one_is_served(road: Pipeline, asker: Asker) -> None:
    await asker.send_raw(b"\xff\xfe this is no JSON", partition=5)
    await asker.send_raw(None, key=b"tombstone", partition=5)
    good = await asker.send(_unlike_any_other("after the poison"), partition=5)
    assert (await asker.replies_to(good))[0]["status"] == "grounded"
    letters = await _dead_letters(road.brokers, 5, 2)
    assert len(letters) == 2
    for letter in letters:
        assert letter["dead_letter_id"] == f"{letter['topic']}-{letter['partition']}-{letter['offset']}"
        assert letter["reason"]
        assert letter["message"]


@pytest.mark.parametrize(
    ("value", "kind", "field"),
    [
        (b'{"query": ""}', "invalid_request", "query"),
        (json.dumps({"query": "x" * 5_000}).encode(), "invalid_request", "query"),
        (b'{"query": "a", "dept": 3}', "invalid_request", "dept"),
        (b'{"query": "a", "depth": "5"}', "invalid_request", "depth"),
        (b'{"query": ', "invalid_json", None),
        (b'"just text"', "invalid_request", None),
        (json.dumps({"query": "a", "x-pad": "p" * 70_000}).encode(), "too_large", None),
        (b'{"query": "a", "providers": ["nobody"]}', "invalid_request", "providers"),
    ],
)
async def test_a_callers_mistake_is_an_error_reply_that_names_it(
    road: Pipeline, value: bytes, kind: str, field: str | None, asker: Asker
) -> None:
    log = await TopicLog(road.brokers, "search.replies.v1").start(at_end=True)
    try:
        mark = uuid.uuid4().bytes
        await asker.send_raw(value, headers=[("correlation-id", mark), ("reply-topic", b"search.replies.v1")])
        end = time.monotonic() + 30
        mine: list[dict[str, object]] = []
        while not mine and time.monotonic() < end:
            mine = [r.json() for r in await log.poll() if r.headers.get("correlation-id") == mark]
        assert len(mine) == 1
        assert mine[0]["status"] == "error"
        assert mine[0]["error"]["kind"] == kind  # type: ignore[index]
        if field is not None:
            assert mine[0]["error"]["field"] == field  # type: ignore[index]
    finally:
        await log.stop()


async def test_dead_letters_are_listed_shown_and_replayed_by_command(road: Pipeline, asker: Asker) -> None:
    """The records of this test are poison to the version that runs; replaying them gives them back as they were."""
    await asker.send_raw(b"poison to be replayed", partition=6)
    name = str((await _dead_letters(road.brokers, 6, 1))[0]["dead_letter_id"])
    assert name in json.dumps(await asyncio.to_thread(road.json, "dead-letters", "list"))
    shown = await asyncio.to_thread(road.command, "dead-letters", "show", name)
    assert shown.returncode == 0
    assert "poison to be replayed" in shown.stdout
    replayed = await asyncio.to_thread(road.command, "dead-letters", "replay", name)
    assert replayed.returncode == 0, replayed.stderr
    assert len(await _dead_letters(road.brokers, 6, 2)) == 2


@pytest.mark.parametrize(
    "topic",
    ["search.lookups.v1", "search.fetches.v1", "search.payloads.v1", "search.cache-writes.v1", "search.events.v1"],
)
@pytest.mark.parametrize(
    ("partition", "value", "reason"),
    [(0, b"poison", "poison"), (1, None, "poison"), (2, b'{"version": 99, "of": "the future"}', "future_version")],
    ids=["poison", "tombstone", "future"],
)
async def test_an_internal_record_nobody_can_read_is_a_dead_letter_and_the_next_is_served(
    road: Pipeline, asker: Asker, topic: str, partition: int, value: bytes | None, reason: str
) -> None:
    placed = await asker.put(topic, value, partition=partition)
    mine = (await _dead_letters(road.brokers, partition, 1, topic=topic))[-1]
    assert mine["offset"] == placed
    assert mine["reason"] == reason
    if reason == "future_version":
        assert "upgrade the workers" in str(mine["message"])
    assert (await asker.ask(_unlike_any_other(f"after poison on {topic}")))["status"] == "grounded"


async def test_a_vendor_that_hangs_does_not_keep_a_hit_waiting(road: Pipeline, asker: Asker) -> None:
    known = _unlike_any_other("what is known of bridge")
    await asker.ask(known)
    await asyncio.sleep(0.5)
    road.vendors.fault(vendor="tavily", kind="hang")
    try:
        await asker.send_many(
            [{"query": f"{known} hanging {number}", "providers": ["tavily"], "timeout_s": 20} for number in range(600)]
        )
        begun = time.monotonic()
        for _ in range(20):
            assert (await asker.ask(known))["cache"]["outcome"] == "exact"
        assert time.monotonic() - begun < 20, "hits waited for the hanging vendor"
    finally:
        road.vendors.heal()
