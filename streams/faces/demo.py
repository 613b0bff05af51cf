"""The demo: a whole Groundwire with sandbox vendors, shown by asking, and checked while it is shown.

Every promise on screen is looked at by the program too; one that fails makes the demo exit non-zero.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from rich.console import Console

from groundwire.lake.reports.report import Report, build_report
from groundwire.schemas.money import as_usd
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.show_reply import show_reply
from groundwire.streams.faces.client import GroundwireClient
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.runfile import RunFile

QUESTIONS = (
    "how does photosynthesis work",
    "flights from new york to london",
    "who won the football world cup in 2018",
    "서울에서 부산 가는 기차",
    "김치는 어떻게 만드나요",
)
REWORDED = (
    ("how does photosynthesis work", "can you explain how photosynthesis works?"),
    ("flights from new york to london", "flights to london from new york"),
    ("who won the football world cup in 2018", "who was the winner of the football world cup in 2018"),
    ("서울에서 부산 가는 기차", "서울에서 부산까지 가는 기차"),
    ("김치는 어떻게 만드나요", "김치 어떻게 만들어요"),
)
NEAR_MISSES = (
    ("flights from new york to london", "flights from london to new york", "the other direction"),
    ("who won the football world cup in 2018", "who won the football world cup in 2022", "another year"),
    ("서울에서 부산 가는 기차", "부산에서 서울 가는 기차", "the other direction, in Korean"),
)
FIRST_VENDOR_DOWN = "why is the sky blue"
ALL_DOWN = "what do penguins eat in winter"

LAKE_TIMEOUT_S = 20.0
SETTLE_S = 0.5  # the cache shows a write within 250 ms; twice that is a pause a watcher does not notice


@dataclass
class Demo:
    """One run. `failures` collects the promises that did not hold."""

    console: Console
    settings: Settings
    client: GroundwireClient
    sandbox: str
    failures: list[str] = field(default_factory=list)
    asked: int = 0

    def promise(self, held: bool, text: str) -> None:
        self.console.print(f"  [green]✓[/] {text}" if held else f"  [red]✗ {text}[/]")
        if not held:
            self.failures.append(text)

    def chapter(self, number: int, title: str, why: str) -> None:
        self.console.print()
        self.console.rule(f"[bold]{number}. {title}[/]", align="left")
        self.console.print(f"[dim]{why}[/]\n")

    async def ask(self, query: str, **options: Any) -> SearchReply:
        self.asked += 1
        return await self.client.search({"query": query, "depth": 3, **options})

    async def control(self, path: str, body: dict[str, Any] | None = None) -> Any:
        async with aiohttp.ClientSession() as session:
            method = "GET" if body is None else "POST"
            async with session.request(method, f"{self.sandbox.rstrip('/')}/_control/{path}", json=body) as answer:
                answer.raise_for_status()
                return await answer.json()


async def questions(demo: Demo) -> None:
    demo.chapter(
        1,
        "Ask",
        "Requests go to a Kafka topic; a search vendor is asked; replies come back with sources, price and a receipt.",
    )
    for query in QUESTIONS:
        reply = await demo.ask(query)
        show_reply(demo.console, reply, results=2, body=160)
        demo.promise(
            reply.status == "grounded" and bool(reply.context) and (reply.cost_micro_usd or 0) > 0,
            "answered with sources, and the price is known",
        )
    await asyncio.sleep(SETTLE_S)


async def again(demo: Demo) -> None:
    demo.chapter(
        2, "Ask again", "The same questions cost nothing the second time, for every agent that shares the gateway."
    )
    for query in QUESTIONS:
        reply = await demo.ask(query.upper() if query.isascii() else query + "?")
        show_reply(demo.console, reply, results=0)
        hit = reply.cache is not None and reply.cache.outcome == "exact" and reply.cost_micro_usd == 0
        demo.promise(hit, "exact hit, no vendor asked")


async def reworded(demo: Demo) -> None:
    demo.chapter(
        3,
        "Ask in other words",
        "A question that means the same finds the answer too, and the reply says which and why.",
    )
    for original, query in REWORDED:
        reply = await demo.ask(query)
        show_reply(demo.console, reply, results=0)
        cache = reply.cache
        demo.promise(
            cache is not None
            and cache.outcome == "semantic"
            and cache.matched_query is not None
            and reply.cost_micro_usd == 0,
            f"semantic hit on “{original}”",
        )


async def near_misses(demo: Demo) -> None:
    demo.chapter(
        4,
        "Ask something that only looks the same",
        "To an embedding these are nearly equal. A wrong answer is worse than a miss, so they must not hit.",
    )
    for original, query, difference in NEAR_MISSES:
        reply = await demo.ask(query)
        show_reply(demo.console, reply, results=1, body=160)
        missed = reply.cache is not None and reply.cache.outcome == "miss" and reply.status == "grounded"
        demo.promise(missed, f"no hit on “{original}”: {difference}; a vendor was asked")


async def fallback(demo: Demo) -> None:
    first = demo.settings.routes["default"][0]
    demo.chapter(
        5, f"The first vendor ({first}) goes down", "The chain moves on to the next one; the receipt shows both."
    )
    await demo.control("off", {"vendor": first, "status": 503})
    reply = await demo.ask(FIRST_VENDOR_DOWN)
    show_reply(demo.console, reply, results=1, body=160)
    demo.promise(
        reply.status == "grounded" and reply.provider != first and reply.attempts[0].provider == first,
        f"{reply.provider} answered after {first} failed",
    )


async def nobody(demo: Demo) -> None:
    demo.chapter(
        6,
        "All vendors go down",
        "The context stays empty, so that no agent invents a source; cached answers are still served.",
    )
    for name in demo.settings.routes["default"]:
        await demo.control("off", {"vendor": name, "status": 503})
    reply = await demo.ask(ALL_DOWN)
    show_reply(demo.console, reply)
    demo.promise(
        reply.status == "ungrounded" and reply.context == "", "ungrounded, with an empty context, inside its deadline"
    )
    cached = await demo.ask(QUESTIONS[0])
    demo.promise(
        cached.cache is not None and cached.cache.outcome == "exact" and cached.status == "grounded",
        f"“{QUESTIONS[0]}” is still answered, from the cache",
    )
    for name in demo.settings.routes["default"]:
        await demo.control("on", {"vendor": name})


async def money(demo: Demo) -> None:
    demo.chapter(
        7, "What it cost", "Every request and every vendor call is an event in Parquet; the report is a Polars query."
    )
    invoice = (await demo.control("invoice"))["total_micro_usd"]
    report = await _report_when_landed(demo, invoice)
    cache = report.cache
    demo.console.print(f"  requests      {report.requests}")
    demo.console.print(
        "  from          "
        + ", ".join(f"{count} {kind}" for kind, count in sorted(cache.items(), key=lambda x: -x[1]) if count)
    )
    latency = report.latency_ms
    if latency is not None:
        demo.console.print(
            f"  latency       p50 {latency.p50:.0f} ms · p95 {latency.p95:.0f} ms · p99 {latency.p99:.0f} ms"
        )
    for name, provider in report.providers.items():
        demo.console.print(
            f"  {name:<13} {provider.attempts} {'attempt' if provider.attempts == 1 else 'attempts'}, "
            f"{provider.ok} answered, {as_usd(provider.cost_micro_usd)}"
        )
    demo.console.print(f"  spent         {as_usd(report.cost_micro_usd)}")
    demo.console.print(f"  savings       {report.savings.sum}")
    demo.promise(report.requests == demo.asked, f"each of the {demo.asked} requests is in the lake once")
    demo.promise(report.cost_micro_usd == invoice, f"the ledger equals the vendors' invoice: {as_usd(invoice)}")


async def _report_when_landed(demo: Demo, invoice: int) -> Report:
    """The report once the lake has every request of the demo, or the time is up."""
    deadline = time.monotonic() + LAKE_TIMEOUT_S
    while True:
        report = await asyncio.to_thread(build_report, demo.settings, since=None, until=None, baseline=None)
        landed = report.requests == demo.asked and report.cost_micro_usd == invoice
        if landed or time.monotonic() > deadline:
            return report
        await asyncio.sleep(0.3)


CHAPTERS: tuple[Callable[[Demo], Awaitable[None]], ...] = (
    questions,
    again,
    reworded,
    near_misses,
    fallback,
    nobody,
    money,
)


async def show(console: Console, settings: Settings, running: RunFile) -> list[str]:
    """Run all chapters against a running Groundwire; returns the promises that failed."""
    if running.sandbox is None:
        raise CommandError("the demo needs sandbox vendors")
    async with GroundwireClient(settings.model_copy(update={"brokers": running.brokers})) as client:
        demo = Demo(console, settings, client, running.sandbox)
        for chapter in CHAPTERS:
            await chapter(demo)
        return demo.failures
