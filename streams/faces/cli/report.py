"""`groundwire report`: requests, hits, latency, cost and savings, from the lake."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from groundwire.schemas.event import REFRESH_TENANT
from groundwire.streams.faces.cli.terminal import err, money, out, plain, print_json
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session

if TYPE_CHECKING:
    from groundwire.lake.reports.figures import Distribution
    from groundwire.lake.reports.report import Report


def register(app: typer.Typer) -> None:
    app.command("report")(report)


def report(
    context: typer.Context,
    since: Annotated[str | None, typer.Option(help="A date, a time, or an age: 2026-11-30, 24h, 7d.")] = None,
    until: Annotated[str | None, typer.Option(help="As --since; a date means its whole day.")] = None,
    baseline: Annotated[str | None, typer.Option(help="What savings are held against, e.g. built-in-35.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as one page with plots.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """What it cost, what it saved against which baseline, latency, hit rates, providers.

    Example: [bold]groundwire report --since 24h --baseline built-in-35 --html report.html[/]
    """
    from groundwire.lake.reports.report import build_report  # Polars, which no other command needs
    from groundwire.lake.reports.savings import UnknownBaselineError

    session: Session = context.obj
    try:
        found = build_report(session.settings(), since=since, until=until, baseline=baseline)
    except UnknownBaselineError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        raise CommandError(f"--since / --until: {error}") from None
    if html is not None:
        _write(found, html)
    if as_json:
        print_json(found)
    elif html is None:
        show_report(found)


def _write(found: "Report", file: Path) -> None:
    # Imported here: only this option draws.
    from groundwire.lake.reports.html import render

    try:
        file.write_text(render(found), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file}: can't be written: {error.strerror}") from None
    err.print(f"written: {file}")


def show_report(found: "Report") -> None:
    """The report for a terminal."""
    if not found.requests:
        out.print(f"no requests in {plain(found.lake)} yet: ask something with `groundwire search`, or replay a file")
        _show_left_out(found)
        return
    out.print(f"[bold]{found.requests:,} requests[/]  {_counts(found.status)}")
    if found.first_request_at and found.last_request_at:
        out.print(f"  from {_moment(found.first_request_at)} to {_moment(found.last_request_at)}")
    rates = found.hit_rates
    shares = [(kind, getattr(rates, kind)) for kind in ("exact", "semantic", "stale", "coalesced", "miss", "bypass")]
    out.print("  from  " + " · ".join(f"{kind} {share:.1%}" for kind, share in shares if share))
    table = Table(title="latency, ms", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("", "requests", "mean", "p50", "p95", "p99", "max"):
        table.add_column(name, justify="left" if not name else "right")
    rows: list[tuple[str, Distribution | None]] = [
        ("all", found.latency.total),
        *found.latency.by_cache.items(),
        *((f"stage {stage}", spread) for stage, spread in found.latency.by_stage.items()),
    ]
    for name, spread in rows:
        if spread is not None:
            figures = (spread.mean, spread.p50, spread.p95, spread.p99, spread.max)
            table.add_row(name, f"{spread.n:,}", *(f"{figure:,.1f}" for figure in figures))
    out.print(table)
    _show_providers(found)
    savings = found.savings
    out.print(f"[bold]spent[/]    {money(found.cost_micro_usd)}" + _unknown(found.ledger.unknown_cost))
    if found.ledger.refreshes:
        calls = f"{found.ledger.refreshes:,} {'call' if found.ledger.refreshes == 1 else 'calls'}"
        out.print(
            f"         of it {money(found.ledger.refreshes_micro_usd)} in {calls} to refresh cached answers ahead of "
            f"their end [dim](tenant {REFRESH_TENANT})[/]",
            soft_wrap=True,
        )
    out.print(f"[bold]savings[/]  {plain(savings.sum)}")
    out.print(f"         {plain(savings.cache_sum)}")
    for note in savings.notes:
        out.print(f"         [dim]{plain(note)}[/]")
    if found.semantic_hits.n:
        out.print(f"[bold]{found.semantic_hits.n:,} semantic hits[/] [dim](the newest, for your eye)[/]")
        for hit in found.semantic_hits.listed[:10]:
            likeness = f"{hit.similarity:.3f}" if hit.similarity is not None else "?"
            out.print(
                f"  {likeness}  {plain(hit.query or '(text not kept)')} [dim]←[/] {plain(hit.matched_query or '')}"
            )
    _show_left_out(found)


def _show_providers(found: "Report") -> None:
    if not found.providers:
        return
    table = Table(title="providers", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("", "calls", "ok", "failed", "skipped", "lost", "p50 ms", "p95 ms", "cost"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    for name, one in found.providers.items():
        spread = one.latency_ms
        times = (f"{spread.p50:,.0f}", f"{spread.p95:,.0f}") if spread is not None else ("", "")
        counts = (one.calls, one.ok, one.failed, one.skipped, one.lost)
        table.add_row(name, *(f"{count:,}" for count in counts), *times, money(one.cost_micro_usd))
    out.print(table)
    for failure in found.failures[:10]:
        status = f" {failure.status_code}" if failure.status_code else ""
        out.print(
            f"  {failure.attempts:,} × {failure.provider} [yellow]{failure.outcome}[/]{status} "
            f"[dim]{plain(failure.reason or '')}[/]"
        )


def _show_left_out(found: "Report") -> None:
    for left in found.left_out:
        out.print(f"[yellow]left out[/] {plain(left.file)}: {plain(left.reason)}")


def _moment(iso: str) -> str:
    return f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def _unknown(calls: int) -> str:
    return f" + {calls:,} calls of unknown cost" if calls else ""


def _counts(counts: dict[str, int]) -> str:
    return " · ".join(f"{count:,} {name}" for name, count in counts.items() if count)
