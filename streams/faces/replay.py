"""Replays questions through a running Groundwire and counts what came back. The commands `replay` and `experiment` share it."""

import asyncio
import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from groundwire.schemas.reply import SearchReply
from groundwire.streams.faces.client import ClientError, GroundwireClient

# Pass, questions done, questions in all; once with 0 when a pass begins.
Progress = Callable[[int, int, int], None]

# Each question's number and reply, for who wants to know more of it than is counted here.
Observe = Callable[[int, SearchReply], None]

# So many in a row without a reply are a Groundwire that is gone, not a few requests that were lost on the way.
FEWEST_SILENT = 3


class SemanticHit(BaseModel):
    """One semantic hit, for a human eye."""

    model_config = ConfigDict(extra="forbid")

    query: str
    matched_query: str | None
    similarity: float | None
    probability: float | None


class LatencySummary(BaseModel):
    """Milliseconds, as the client saw them: from sending to having the reply."""

    model_config = ConfigDict(extra="forbid")

    mean: float
    p50: float
    p95: float
    p99: float


class PassSummary(BaseModel):
    """One pass over the questions."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    number: int = Field(alias="pass")
    requests: int
    answered: int
    status: dict[str, int]
    cache: dict[str, int]
    cost_micro_usd: int
    cost_unknown: int = Field(description="Replies whose cost is unknown; they are not in the sum.")
    saved_micro_usd: int
    latency_ms: LatencySummary
    seconds: float
    receipts_incomplete: int = Field(
        description="Misses without an attempt, or answers without a provider: should be 0."
    )
    errors: dict[str, int]


class ReplayResult(BaseModel):
    model_config = ConfigDict(extra="forbid")

    passes: list[PassSummary]
    semantic_hits: list[SemanticHit]


async def replay(
    client: GroundwireClient,
    questions: Sequence[str],
    *,
    passes: int,
    concurrency: int,
    rate_per_s: float | None,
    options: dict[str, Any],
    progress: Progress,
    observe: Observe = lambda _index, _reply: None,
) -> ReplayResult:
    """Ask every question `passes` times, in order, at most `concurrency` at once and `rate_per_s` a second.

    `options` are further request fields. A question without a reply counts as unanswered and does not end the replay; as many
    in a row as are asked at once (three at least) do: then nobody is there, and each one more would take its whole timeout.
    """
    run = secrets.token_hex(4)
    enough = max(concurrency, FEWEST_SILENT)
    summaries: list[PassSummary] = []
    hits: list[SemanticHit] = []
    for number in range(1, passes + 1):
        gathered = _Pass(number)
        progress(number, 0, len(questions))
        started = time.perf_counter()
        window = asyncio.Semaphore(concurrency)

        async def ask(
            index: int, question: str, gathered: _Pass = gathered, window: asyncio.Semaphore = window
        ) -> None:
            sent = time.perf_counter()
            body = {**options, "query": question, "request_id": f"replay-{run}-{gathered.number}-{index}"}
            try:
                reply = await client.search(body)
            except ClientError as error:
                gathered.failed(str(error))
            else:
                gathered.answered(reply, (time.perf_counter() - sent) * 1000)
                observe(index, reply)
            finally:
                window.release()
            progress(gathered.number, gathered.seen, len(questions))

        async with asyncio.TaskGroup() as group:
            for index, question in enumerate(questions):
                if rate_per_s is not None:
                    await asyncio.sleep(max(0.0, started + index / rate_per_s - time.perf_counter()))
                await window.acquire()
                if gathered.silent >= enough:
                    gathered.given_up(len(questions) - index)
                    break
                group.create_task(ask(index, question))
        summaries.append(gathered.summary(len(questions), time.perf_counter() - started))
        hits.extend(gathered.semantic_hits)
        if gathered.silent >= enough:
            break
    return ReplayResult(passes=summaries, semantic_hits=hits)


class _Pass:
    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.replies = 0
        self.silent = 0
        self.status: Counter[str] = Counter()
        self.cache: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.latencies_ms: list[float] = []
        self.cost = self.saved = self.unknown = self.incomplete = 0
        self.semantic_hits: list[SemanticHit] = []

    def failed(self, message: str) -> None:
        self.seen += 1
        self.silent += 1
        self.errors[message.splitlines()[0]] += 1

    def given_up(self, unasked: int) -> None:
        self.errors[f"not asked, because the last {self.silent} questions got no reply"] += unasked

    def answered(self, reply: SearchReply, latency_ms: float) -> None:
        self.seen += 1
        self.replies += 1
        self.silent = 0
        self.status[reply.status] += 1
        self.latencies_ms.append(latency_ms)
        if reply.error is not None:
            self.errors[f"{reply.error.kind}: {reply.error.message}"] += 1
        if reply.cache is not None:
            self.cache[reply.cache.outcome] += 1
            if reply.cache.outcome == "semantic":
                self.semantic_hits.append(
                    SemanticHit(
                        query=reply.query or "",
                        matched_query=reply.cache.matched_query,
                        similarity=reply.cache.similarity,
                        probability=reply.cache.probability,
                    )
                )
        if reply.cost_micro_usd is None:
            self.unknown += 1
        else:
            self.cost += reply.cost_micro_usd
        self.saved += reply.saved_micro_usd or 0
        self.incomplete += not _complete(reply)

    def summary(self, requests: int, seconds: float) -> PassSummary:
        ordered = sorted(self.latencies_ms)
        return PassSummary(
            number=self.number,
            requests=requests,
            answered=self.replies,
            status=dict(self.status),
            cache=dict(self.cache),
            cost_micro_usd=self.cost,
            cost_unknown=self.unknown,
            saved_micro_usd=self.saved,
            latency_ms=LatencySummary(
                mean=round(sum(ordered) / len(ordered), 2) if ordered else 0.0,
                p50=_percentile(ordered, 50),
                p95=_percentile(ordered, 95),
                p99=_percentile(ordered, 99),
            ),
            seconds=round(seconds, 3),
            receipts_incomplete=self.incomplete,
            errors=dict(self.errors),
        )


def _complete(reply: SearchReply) -> bool:
    """A receipt says who answered, from where, when it ends, and what it cost or saved."""
    if reply.status != "grounded":
        return reply.status == "error" or reply.cache is not None
    if reply.provider is None or reply.cache is None or reply.latency_ms.total < 0:
        return False
    if reply.cache.outcome in ("miss", "bypass"):
        return any(attempt.outcome == "ok" for attempt in reply.attempts)
    return reply.cache.outcome == "coalesced" or reply.cache.age_s is not None


def _percentile(ordered: Sequence[float], percent: int) -> float:
    if not ordered:
        return 0.0
    return round(ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)], 2)
