"""Bad records: each an error reply or a dead letter as the contract says; the next good request is answered, nobody dies."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.broker.system import RawClient, Up


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    system = Up(tmp_path_factory.mktemp("bad") / "home").start()
    yield system
    assert system.stop() == 0, system.output()[-3000:]


@pytest.mark.parametrize(
    ("value", "kind", "field"),
    [
        (b'{"query": ""}', "invalid_request", "query"),
        (json.dumps({"query": "x" * 5000}).encode(), "invalid_request", "query"),
        (b'{"query": "a", "dept": 3}', "invalid_request", "dept"),
        (b'{"query": "a", "depth": "5"}', "invalid_request", "depth"),
        (b'{"query": "a", "filters": {"safe_search": "maybe"}}', "invalid_request", "filters.safe_search"),
        (b'{"query": "a", "providers": ["nobody"]}', "invalid_request", "providers"),
        (b'{"query": "a", "route": "nowhere"}', "invalid_request", "route"),
        (b'{"query": "a"', "invalid_json", None),
        (b"\xff\xfe", "invalid_json", None),
        (b"[1, 2]", "invalid_request", None),
        (b'{"query": "a", "query": "b"}', "invalid_json", "query"),
        (b'{"query": "' + b"x" * 1_000_000 + b'"}', "too_large", None),
    ],
)
async def test_a_bad_request_gets_an_error_reply_and_the_next_is_served(
    up: Up, value: bytes, kind: str, field: str | None
) -> None:
    async with RawClient(up.brokers) as client:
        reply, _, _ = await client.ask_raw(value)
        assert reply["status"] == "error"
        assert reply["error"]["kind"] == kind
        assert field is None or reply["error"]["field"] == field
        assert reply["error"]["message"]
        good = await client.ask("how does photosynthesis work")
        assert good["status"] == "grounded"


async def test_a_null_record_is_a_dead_letter_and_an_error_reply_where_there_is_a_correlation(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        reply, _, _ = await client.ask_raw(None, key=b"a tombstone needs one")
        assert reply["status"] == "error"
        await client.publish(None, key=b"and here nobody waits")
        assert (await client.ask("how does photosynthesis work"))["status"] == "grounded"
    letters = json.loads(up.command("dead-letters", "list", "--json").stdout)
    assert sum(letter["value_base64"] is None for letter in letters) >= 2


async def test_a_reply_topic_that_is_not_allowed_is_answered_on_the_default_one_and_kept(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        reply, _, _ = await client.ask_raw(b'{"query": "a"}', headers=[("reply-topic", b"billing.secrets")])
    assert reply["error"]["kind"] == "not_allowed"
    assert reply["error"]["field"] == "headers.reply-topic"
    letters = json.loads(up.command("dead-letters", "list", "--json").stdout)
    assert any(letter["reason"] == "not_allowed" for letter in letters)


async def test_the_same_id_with_other_content_is_a_conflict_and_with_the_same_content_the_same_reply(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        first = await client.ask("what is kimchi made of", request_id="twice")
        client.replies.clear()
        same = await client.ask("what is kimchi made of", request_id="twice")
        client.replies.clear()
        other = await client.ask("what is bread made of", request_id="twice")
    assert same["reply_id"] == first["reply_id"]
    assert (same["status"], same["results"], same["context"]) == (first["status"], first["results"], first["context"])
    assert other["error"]["kind"] == "conflict"


async def test_a_conflict_is_found_also_by_the_worker_that_comes_after_a_crash(up: Up) -> None:
    """Where both contents lie on one partition, as they do for a producer that keys its requests by their ids."""
    name = "before the crash"

    def asked(query: str) -> bytes:
        return json.dumps({"query": query, "request_id": name, "timeout_s": 120}).encode()

    async with RawClient(up.brokers) as client:
        await client.publish(asked("what is rye bread made of"), key=name.encode())
        first, _, _ = await client.reply(lambda body, _: body["request_id"] == name)
        assert first["status"] == "grounded"
        assert up.process is not None
        children = psutil.Process(up.process.pid).children(recursive=True)
        frontline = next(child for child in children if child.cmdline()[-2:] == ["frontline", "--supervised"])
        os.kill(frontline.pid, signal.SIGKILL)
        await client.publish(asked("what is oat bread made of"), key=name.encode())
        # Killed before it had committed, the first request is answered once more: that is the same reply, under the same id.
        other, _, _ = await client.reply(
            lambda body, _: body["request_id"] == name and body["reply_id"] != first["reply_id"], patience_s=80
        )
    assert other["status"] == "error"
    assert other["error"]["kind"] == "conflict"


async def test_garbage_on_an_internal_topic_is_a_dead_letter(up: Up) -> None:
    topics = [
        "search.lookups.v1",
        "search.fetches.v1",
        "search.payloads.v1",
        "search.cache-writes.v1",
        "search.events.v1",
    ]
    async with RawClient(up.brokers) as client:
        for topic in topics:
            await client.publish(b"not a record", topic=topic)
        assert (await client.ask("how does photosynthesis work"))["status"] == "grounded"
        assert (await client.ask("a fresh question after the garbage"))["status"] == "grounded"
    # The lake's writer collects for a while before it looks at its batch.
    found: set[str] = set()
    deadline = time.monotonic() + 20
    while not found >= set(topics) and time.monotonic() < deadline:
        await asyncio.sleep(1)
        found = {letter["topic"] for letter in json.loads(up.command("dead-letters", "list", "--json").stdout)}
    assert found >= set(topics)


def test_a_dead_letter_can_be_mended_and_replayed(up: Up, tmp_path_factory: pytest.TempPathFactory) -> None:
    letters = json.loads(up.command("dead-letters", "list", "--json").stdout)
    letter = next(one for one in letters if one["topic"] == "search.requests.v1" and one["reason"] == "invalid_json")
    mended = tmp_path_factory.mktemp("mended") / "request.json"
    mended.write_text('{"query": "how does photosynthesis work", "request_id": "mended"}')
    done = up.command("dead-letters", "replay", letter["dead_letter_id"], "--value", str(mended))
    assert done.returncode == 0, done.stderr
