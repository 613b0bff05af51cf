"""Keys are planted for every vendor, every vendor repeats them in every way it can, and all that was written is searched."""

import asyncio
import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import lancedb
import polars as pl
import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from typer.testing import CliRunner

from groundwire.adapters.sandbox.environment import KEYS
from groundwire.adapters.sandbox.vendors import VENDORS
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import TOPICS
from groundwire.streams.faces.cli.main import app
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.log_ends import log_ends
from tests.broker.system import RawClient, Up

VENDOR_NAMES = [vendor.name for vendor in VENDORS]
VARIABLES = {vendor: next(name for name in names if name.endswith("_KEY")) for vendor, names in KEYS.items()}
# Letters that every way of writing changes: / + = & in addresses, + and / in base64, / in JSON, & in HTML.
SECRETS = {vendor: f"pl4nt/{vendor}+9=Zq&k7" for vendor in VENDOR_NAMES}
SECOND_KEY = "pl4nt/second+key=8&w"
PASSWORD = "pl4nt/password+5=x&m"
SASL_PASSWORD = "pl4nt/sasl+3=r&t"
ALL_SECRETS = [*SECRETS.values(), SECOND_KEY, PASSWORD, SASL_PASSWORD]


def spellings(secret: str) -> set[str]:
    """How a secret may stand in a text. In base64 it can lie in three ways; its last letters depend on what follows."""
    plain = secret.encode()
    in_base64 = [
        base64.b64encode(bytes(at) + plain).decode()[(0, 2, 3)[at] : len(bytes(at) + plain) // 3 * 4] for at in range(3)
    ]
    return {
        secret,
        quote(secret, safe=""),
        re.sub("%..", lambda code: code[0].lower(), quote(secret, safe="")),
        quote_plus(secret),
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        secret.replace("&", "&amp;"),
        *in_base64,
        *(text.replace("+", "-").replace("/", "_") for text in in_base64),
    }


NEEDLES = {spelling.encode(): secret for secret in ALL_SECRETS for spelling in spellings(secret)}


def found_in(text: bytes) -> set[str]:
    """The secrets that a text holds, each with the spelling it was found in."""
    return {f"{secret} as {needle.decode()}" for needle, secret in NEEDLES.items() if needle in text}


def in_every_spelling(secret: str) -> str:
    return " ".join(sorted(spellings(secret)))


def faults_of(vendor: str) -> list[dict[str, Any]]:
    """Each is met by the question that has its name in it."""
    secret = SECRETS[vendor]
    said = f"refused: {in_every_spelling(secret)} (Authorization: Bearer {secret})"
    page = f"<html><title>403 {secret}</title><body>{said}</body></html>"
    as_error = json.dumps(
        {"error": {"message": said, "code": secret}, "success": False, "message": said, "detail": said}
    )
    # Results for every vendor's way of calling them: those who don't know them find nothing, or a wrong answer.
    row = {"title": said, "url": f"https://a.example/?k={quote(secret, safe='')}", "snippet": said, "content": said}
    row |= {"link": row["url"], "text": said, "description": said, "name": said}
    rows = {name: [row] for name in ("organic", "results", "web", "items", "data", "pages", "sources")}
    rows |= {"query": {"search": [row], "pages": {"1": row}}, "hits": [row]}
    faults: list[dict[str, Any]] = [
        {"kind": "raw", "status": 200, "body": page, "content_type": "text/html"},
        {"kind": "raw", "status": 200, "body": as_error},
        {"kind": "raw", "status": 200, "body": json.dumps(rows)},
        {"kind": "raw", "status": 502, "body": said, "content_type": f"text/plain; note={quote(secret)}"},
        {"kind": "redirect", "location": f"https://elsewhere.example/?key={quote(secret, safe='')}"},
        {"kind": "status", "status": 503, "headers": {"X-Debug": secret, "Retry-After": secret}},
        {"kind": "truncated", "headers": {"X-Debug": secret}},
        *({"kind": "key_echo", "status": status} for status in (200, 400, 401, 402, 422, 429, 500)),
        {"kind": "wrong_types"},
        {"kind": "close"},
    ]
    return [{"vendor": vendor, "query_contains": f"mark{at:02}x", **fault} for at, fault in enumerate(faults)]


MARKS = [f"mark{at:02}x" for at in range(len(faults_of("serper")))]


@pytest.fixture(scope="module")
def second_sandbox() -> Iterator[str]:
    """One more sandbox, whose address carries a password."""
    command = [sys.executable, "-m", "groundwire.adapters.sandbox", "--median-ms", "0", "--json", "--with-parent"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    yield str(json.loads(process.stdout.readline())["address"])
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, second_sandbox: str) -> Iterator[Up]:
    address = second_sandbox.replace("http://", f"http://pl4nt-user:{quote(PASSWORD, safe='')}@")
    environ = {
        **{VARIABLES[vendor]: SECRETS[vendor] for vendor in VARIABLES},
        "SEARXNG_AUTHORIZATION": SECRETS["searxng"],
        "GROUNDWIRE_PROVIDERS__TAVILY__API_KEYS": json.dumps([SECOND_KEY]),
        "GROUNDWIRE_PROVIDERS__WIKIPEDIA__BASE_URL": f"{address}/wikipedia",
        "GROUNDWIRE_KAFKA__SASL_PASSWORD": SASL_PASSWORD,
        "GROUNDWIRE_LOG__LEVEL": "DEBUG",
        "GROUNDWIRE_LAKE__FLUSH_INTERVAL_S": "0.3",
        "GROUNDWIRE_BREAKER__ENABLED": "false",
        "GROUNDWIRE_RETRY__RETRY_AFTER_CAP_S": "0.01",
        "GROUNDWIRE_FETCH__ON_EMPTY": "accept",
        **{f"GROUNDWIRE_PROVIDERS__{vendor.upper()}__REQUESTS_PER_S": "1000" for vendor in VENDOR_NAMES},
        **{f"GROUNDWIRE_PROVIDERS__{vendor.upper()}__MAX_CONCURRENCY": "8" for vendor in VENDOR_NAMES},
        **{f"GROUNDWIRE_PROVIDERS__{vendor.upper()}__STORAGE__ALLOWED": "true" for vendor in VENDOR_NAMES},
    }
    system = Up(tmp_path_factory.mktemp("keys") / "home", environ=environ).start()
    yield system
    system.stop()


async def every_record(brokers: str) -> list[tuple[str, bytes]]:
    """(topic, key + value + headers as they lie in the log) of every record of every topic."""
    partitions = [TopicPartition(topic.name, number) for topic in TOPICS for number in range(topic.partitions)]
    ends = {at: end for at, end in (await log_ends(Settings(brokers=brokers), partitions)).items() if end > 0}
    consumer = AIOKafkaConsumer(
        bootstrap_servers=brokers, fetch_max_wait_ms=20, max_partition_fetch_bytes=16 * 1024 * 1024
    )
    await consumer.start()
    found: list[tuple[str, bytes]] = []
    try:
        consumer.assign(list(ends))
        await consumer.seek_to_beginning()
        async with asyncio.timeout(30):
            while any([await consumer.position(at) < end for at, end in ends.items()]):
                for batch in (await consumer.getmany(timeout_ms=200)).values():
                    for record in batch:
                        headers = b" ".join(name.encode() + b"=" + value for name, value in record.headers)
                        found.append((record.topic, b"|".join([record.key or b"", record.value or b"", headers])))
    finally:
        await consumer.stop()
    return found


def every_file(home: Path) -> dict[str, bytes]:
    """The state folder: each file as it lies there, and the lake's and the cache's tables unpacked."""
    texts = {str(file.relative_to(home)): file.read_bytes() for file in home.rglob("*") if file.is_file()}
    for file in (home / "lake").rglob("*.parquet"):
        texts[f"{file.relative_to(home)} unpacked"] = pl.read_parquet(file).write_json().encode()
    view = lancedb.connect(home / "cache")
    for name in view.list_tables().tables:
        texts[f"cache table {name}"] = repr(view.open_table(name).to_arrow().to_pylist()).encode()
    return texts


COMMANDS = [
    ["report", "--json", "--html", "report.html"],
    ["doctor", "--json"],
    ["providers", "list", "--json"],
    ["cache", "stats", "--json"],
    ["dead-letters", "list", "--json"],
    ["search", "--json", "--provider", "serper", "mark07x", "said", "by", "a", "command"],
    ["search", "--provider", "tavily", "mark02x", "said", "by", "a", "command"],
    *(["providers", "try", vendor, "mark07x", "tried"] for vendor in ("serper", "exa", "gemini", "searxng")),
    *(["providers", "try", "--json", vendor, "mark01x", "tried"] for vendor in ("brave", "tavily", "wikipedia")),
    ["providers", "try", "--raw", "tavily", "mark02x", "tried"],
]


def outputs_of(up: Up) -> dict[str, str]:
    """What the commands say, in this process: starting fourteen takes longer than all the rest."""
    runner, said = CliRunner(), {}
    for command in COMMANDS:
        done = runner.invoke(app, command, env=up.environ)
        assert done.exception is None or isinstance(done.exception, SystemExit | CommandError), (
            command,
            done.exception,
        )
        said[" ".join(command)] = done.output + str(done.exception or "")
    return said


async def test_no_key_is_in_anything_that_was_written(up: Up, monkeypatch: pytest.MonkeyPatch) -> None:
    up.sandbox("/_control/faults", [fault for vendor in VENDOR_NAMES for fault in faults_of(vendor)])
    async with RawClient(up.brokers) as client:
        asked = [(vendor, mark) for vendor in VENDOR_NAMES for mark in (*MARKS, "honest")]
        replies = await asyncio.gather(
            *(
                client.ask(f"{mark} question to {vendor}", providers=[vendor], patience_s=60, timeout_s=60)
                for vendor, mark in asked
            )
        )
        await client.publish(b"not json at all")
    said = {(vendor, mark): reply for (vendor, mark), reply in zip(asked, replies, strict=True)}

    # It has to have been tried: every vendor answered and refused, and keys were taken out of what they said.
    assert [vendor for vendor in VENDOR_NAMES if said[vendor, "honest"]["status"] != "grounded"] == []
    outcomes = {attempt["outcome"] for reply in replies for attempt in reply["attempts"]}
    assert {"ok", "auth", "bad_answer", "server_error", "rejected", "transport"} <= outcomes
    redacted = [vendor for (vendor, _), reply in said.items() if "[redacted]" in json.dumps(reply)]
    assert set(VARIABLES) <= set(redacted)

    monkeypatch.chdir(up.home)
    outputs = await asyncio.to_thread(outputs_of, up)
    texts = {f"output of {name}": output.encode() for name, output in outputs.items()}
    texts |= every_file(up.home)
    records = await every_record(up.brokers)
    for number, (topic, record) in enumerate(records):
        texts[f"record {number} of {topic}"] = record

    # And everything has to have been read.
    assert len(up.log.read_bytes()) > 10_000 and b"DEBUG" in up.log.read_bytes().upper()
    assert {topic for topic, _ in records} == {topic.name for topic in TOPICS}
    assert sum(name.endswith("unpacked") for name in texts) >= 2
    assert any(name.startswith("cache table entries") and b"honest" in text for name, text in texts.items())
    assert all(outputs.values()) and (up.home / "report.html").stat().st_size > 1_000

    leaks = [f"{name}: {leak}" for name, text in texts.items() for leak in sorted(found_in(text))]
    assert leaks == []


def test_a_key_would_be_found_however_it_is_written() -> None:
    for secret in ALL_SECRETS:
        for text in (
            f"the key {secret} is wrong",
            f"https://a.example/?key={quote(secret, safe='')}&q=1",
            base64.b64encode(f"user:{secret}".encode()).decode(),
            base64.b64encode(f"Bearer {secret} …".encode()).decode(),
            json.dumps({"key": secret}),
        ):
            assert [one for one in found_in(text.encode()) if one.startswith(secret)], text
    assert found_in(b"nothing of it") == set()
