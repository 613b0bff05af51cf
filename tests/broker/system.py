"""A whole Groundwire in child processes, and a raw Kafka client that shares no code with it."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

GROUNDWIRE = [sys.executable, "-m", "groundwire.streams.faces.cli"]
# For an `up` that hangs: one that has ended is seen at once, and how long a busy machine takes to load everything proves nothing.
READY_WITHIN_S = 110.0


class Up:
    """`groundwire up --sandbox` on its own state folder, ready when the constructor's `start` returns."""

    def __init__(self, home: Path, *arguments: str, environ: dict[str, str] | None = None) -> None:
        self.home = home
        self.log = home / "up.log"
        self.environ = {**os.environ, "GROUNDWIRE_HOME": str(home), "NO_COLOR": "1", **(environ or {})}
        self._arguments = arguments
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, patience_s: float = READY_WITHIN_S) -> "Up":
        self.home.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*GROUNDWIRE, "up", "--sandbox", "--median-ms", "0", *self._arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environ,
                cwd=self.home,
            )
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            if re.search(r"^Groundwire is ready", self.output(), re.M):
                return self
            if self.process.poll() is not None:
                code = self.process.returncode
                raise AssertionError(f"ended with {code} before it was ready:\n{self.output()[-4000:]}")
            time.sleep(0.1)
        raise AssertionError(f"not ready within {patience_s} s:\n{self.output()[-4000:]}")

    def output(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    @property
    def run_file(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.home / "run" / "up.json").read_text())
        return document

    @property
    def brokers(self) -> str:
        return str(self.run_file["brokers"])

    def sandbox(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask the sandbox's control interface; POST when there is a body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.run_file["sandbox"].rstrip("/") + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def command(self, *arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*GROUNDWIRE, *arguments],
            env=self.environ,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )


class RawClient:
    """Publishes bytes to the request topic and collects replies, by contract.md alone."""

    def __init__(self, brokers: str, reply_topic: str = "search.replies.v1") -> None:
        self._brokers = brokers
        self._reply_topic = reply_topic
        self.replies: list[tuple[dict[str, Any], list[tuple[str, bytes]], Any]] = []

    async def __aenter__(self) -> "RawClient":
        self._producer = AIOKafkaProducer(bootstrap_servers=self._brokers, max_request_size=4 * 1024 * 1024)
        await self._producer.start()
        self._consumer = AIOKafkaConsumer(bootstrap_servers=self._brokers, fetch_max_wait_ms=20)
        await self._consumer.start()
        await self._consumer.topics()
        numbers = self._consumer.partitions_for_topic(self._reply_topic) or set()
        partitions = [TopicPartition(self._reply_topic, number) for number in sorted(numbers)]
        self._consumer.assign(partitions)
        await self._consumer.seek_to_end()
        for partition in partitions:
            await self._consumer.position(partition)
        self._task = asyncio.create_task(self._collect())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._consumer.stop()
        await self._producer.stop()

    async def _collect(self) -> None:
        async for record in self._consumer:
            self.replies.append((json.loads(record.value), list(record.headers), record))

    async def publish(
        self,
        value: bytes | None,
        *,
        headers: list[tuple[str, bytes]] | None = None,
        topic: str = "search.requests.v1",
        key: bytes | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        await self._producer.send_and_wait(
            topic, value=value, key=key, headers=headers or [], partition=partition, timestamp_ms=timestamp_ms
        )

    async def ask(self, query: str, patience_s: float = 20, **fields: Any) -> dict[str, Any]:
        """A well-formed request and its reply."""
        request_id = fields.pop("request_id", f"raw-{uuid.uuid4()}")
        await self.publish(
            json.dumps({"query": query, "request_id": request_id, **fields}, ensure_ascii=False).encode()
        )
        reply, _, _ = await self.reply(lambda body, _: body["request_id"] == request_id, patience_s)
        return reply

    async def ask_raw(
        self, value: bytes | None, *, patience_s: float = 20, **record: Any
    ) -> tuple[dict[str, Any], list[tuple[str, bytes]], Any]:
        """Any bytes, with a correlation header of our own dialect added; the reply that carries it back."""
        correlation = uuid.uuid4().bytes
        headers = [*record.pop("headers", []), ("correlation-id", correlation)]
        await self.publish(value, headers=headers, **record)
        return await self.reply(lambda _, back: ("correlation-id", correlation) in back, patience_s)

    async def reply(self, matches: Any, patience_s: float = 20) -> tuple[dict[str, Any], list[tuple[str, bytes]], Any]:
        deadline = time.monotonic() + patience_s
        seen = 0
        while time.monotonic() < deadline:
            for body, headers, record in self.replies[seen:]:
                if matches(body, headers):
                    return body, headers, record
            seen = len(self.replies)
            await asyncio.sleep(0.01)
        raise AssertionError(f"no such reply within {patience_s} s; {len(self.replies)} others came")
