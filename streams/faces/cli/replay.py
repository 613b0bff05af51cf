"""`groundwire replay`: a file of questions, as often as wanted."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.terminal import err, money, out, plain, print_json, waiting
from groundwire.streams.faces.client import GroundwireClient
from groundwire.streams.faces.questions import read_questions
from groundwire.streams.faces.replay import Observe, PassSummary, ReplayResult
from groundwire.streams.faces.replay import replay as replay_questions
from groundwire.streams.faces.session import Session, connected


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


def replay(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=".csv, .tsv, .jsonl or .txt, or one of these as .gz.")],
    column: Annotated[str | None, typer.Option(help="Column or key that holds the question.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    passes: Annotated[int, typer.Option(min=1, max=100, help="How often the whole file is asked.")] = 2,
    rate: Annotated[float | None, typer.Option(min=0.01, help="Requests a second at most.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests in flight at once.")] = 16,
    depth: Annotated[int | None, typer.Option(help="Number of results, 1 to 20.")] = None,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", help="Ask this provider; repeat for a chain.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for each request.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> None:
    """Replay questions: hits by kind, cost and latency of each pass.

    Example: [bold]groundwire replay questions.csv --column problem --limit 500[/]
    """
    session: Session = context.obj
    questions = read_questions(file, column, limit)
    options = {"depth": depth, "providers": provider or None, "timeout_s": timeout}
    result = run_replay(
        connected(session.settings(), on_wait=waiting),
        questions,
        passes=passes,
        concurrency=concurrency,
        rate_per_s=rate,
        options={name: value for name, value in options.items() if value is not None},
    )
    if as_json:
        print_json(result)
    else:
        show_passes(result)
    if any(one.answered < one.requests for one in result.passes):
        raise typer.Exit(1)


def run_replay(
    settings: Settings,
    questions: list[str],
    *,
    passes: int,
    concurrency: int,
    rate_per_s: float | None = None,
    options: dict[str, Any] | None = None,
    label: str = "",
    observe: Observe = lambda _index, _reply: None,
) -> ReplayResult:
    """Replay with a progress bar on stderr: done, rate, time left. `label` stands before it instead of the pass's number."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as bar:
        tasks: dict[int, tuple[TaskID, float]] = {}

        def progress(number: int, done: int, total: int) -> None:
            if number not in tasks:
                tasks[number] = bar.add_task(label or f"pass {number}", total=total, rate=""), time.monotonic()
            task, began = tasks[number]
            # Over the whole pass: the bar's own speed is that of its last few steps, which come in bursts.
            bar.update(task, completed=done, rate=rate(done, time.monotonic() - began))

        async def go() -> ReplayResult:
            async with GroundwireClient(settings) as client:
                return await replay_questions(
                    client,
                    questions,
                    passes=passes,
                    concurrency=concurrency,
                    rate_per_s=rate_per_s,
                    options=options or {},
                    progress=progress,
                    observe=observe,
                )

        return asyncio.run(go())


def rate(done: int, seconds: float) -> str:
    """Questions a second; nothing before there is something to divide."""
    if not done or seconds <= 0:
        return ""
    speed = done / seconds
    return f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.1f}/s"


def show_passes(result: ReplayResult) -> None:
    """The passes side by side, then the semantic hits to look at."""
    table = Table(title="replay", title_justify="left")
    table.add_column("")
    for one in result.passes:
        table.add_column(f"pass {one.number}", justify="right")
    rows: list[tuple[str, Callable[[PassSummary], str]]] = [
        ("answered", lambda one: f"{one.answered:,} of {one.requests:,}"),
        *((status, partial(_count, "status", status)) for status in _seen(result, "status")),
        *((f"from {kind}", partial(_count, "cache", kind)) for kind in _seen(result, "cache")),
        (
            "cost",
            lambda one: money(one.cost_micro_usd) + (f" + {one.cost_unknown:,} unknown" if one.cost_unknown else ""),
        ),
        ("saved", lambda one: money(one.saved_micro_usd)),
        ("receipts incomplete", lambda one: f"{one.receipts_incomplete:,}"),
        ("latency mean", lambda one: f"{one.latency_ms.mean:,.1f} ms"),
        ("latency p50", lambda one: f"{one.latency_ms.p50:,.1f} ms"),
        ("latency p95", lambda one: f"{one.latency_ms.p95:,.1f} ms"),
        ("latency p99", lambda one: f"{one.latency_ms.p99:,.1f} ms"),
        ("took", lambda one: f"{one.seconds:,.1f} s"),
    ]
    for name, value in rows:
        table.add_row(name, *(value(one) for one in result.passes))
    out.print(table)
    for one in result.passes:
        for message, count in one.errors.items():
            out.print(f"[yellow]pass {one.number}: {count} ×[/] {plain(message)}")
    if result.semantic_hits:
        out.print("[bold]semantic hits, for your eye[/]")
        for hit in result.semantic_hits:
            likeness = f"{hit.similarity:.3f}" if hit.similarity is not None else "?"
            out.print(f"  {likeness}  {plain(hit.query)}\n         ← {plain(hit.matched_query or '')}")


def _seen(result: ReplayResult, field: str) -> list[str]:
    """Statuses or outcomes in any pass, in the order they first came."""
    return list(dict.fromkeys(name for one in result.passes for name in getattr(one, field)))


def _count(field: str, name: str, one: PassSummary) -> str:
    return f"{getattr(one, field).get(name, 0):,}"
