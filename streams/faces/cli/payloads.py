"""`groundwire payloads`: paid answers on the log, read again with a corrected provider file."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from groundwire.streams.faces.cli.terminal import err, out, plain, print_json, waiting
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.payloads import Kept, Wanted, read_payloads, send_again
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.stages.query import normalize_query

SHOWN = 20

app = typer.Typer(no_args_is_help=True, help="Paid answers on the log: read them again with a corrected provider file.")


@app.callback()
def payloads() -> None:
    """A group of one command keeps its name this way."""


@app.command()
def replay(
    context: typer.Context,
    request_ids: Annotated[list[str] | None, typer.Argument(metavar="REQUEST_ID…", help="Of these requests.")] = None,
    provider: Annotated[str | None, typer.Option(help="Answers from this provider.")] = None,
    since: Annotated[str | None, typer.Option(help="A date, a time, or an age: 2026-11-30, 24h, 7d.")] = None,
    until: Annotated[str | None, typer.Option(help="As --since; a date means its whole day.")] = None,
    query: Annotated[str | None, typer.Option(help="Answers to this question.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that the log has.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send them. Without it they are only listed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Send paid answers through unify again, without asking the vendor: after a provider file was corrected.

    The order: correct the file; restart the frontline, fetch and unify workers; look at what this command lists; give --yes.
    Several options together narrow the choice. Each request is answered again, under its reply_id, to where its first answer
    went; the cache's entry is replaced; nothing is booked anew. An answer that was purged meanwhile comes back: purge it again.

    Example: [bold]groundwire payloads replay --provider acme --since 24h --yes[/]
    """
    narrowed = bool(request_ids) or any(one is not None for one in (provider, since, until, query))
    if everything == narrowed:
        raise CommandError("say which answers: request ids, --provider, --since, --until, --query, or --all alone")
    from groundwire.lake.events.window import Window  # pulls the lake's package in

    try:
        window = Window.of(since, until)
    except ValueError as error:
        raise CommandError(f"--since / --until: {error}") from None
    session: Session = context.obj
    settings = session.settings()
    registry = session.registry(settings)
    if provider is not None and provider not in registry.names():
        raise CommandError(f"no provider `{provider[:64]}`; there are: {', '.join(registry.names())}")
    wanted = Wanted(
        provider=provider,
        since=window.since,
        until=window.until,
        request_ids=frozenset(request_ids or []),
        query=normalize_query(query) if query is not None else None,
    )
    settings = connected(settings, on_wait=waiting)

    async def go() -> tuple[list[Kept], int]:
        try:
            kept = await read_payloads(settings, registry, wanted)
            return kept, await send_again(settings, kept) if yes else 0
        finally:
            await registry.aclose()

    kept, sent = asyncio.run(go())
    if as_json:
        print_json({"answers": [_row(one) for one in kept], "sent": sent})
    else:
        _show(kept)
        _say(kept, sent, yes=yes)
    if not kept:
        raise typer.Exit(1)


def _row(one: Kept) -> dict[str, Any]:
    payload = one.reread.payload
    return {
        "payload_id": payload.payload_id,
        "request_id": payload.plan.request_id,
        "query": payload.plan.query,
        "provider": one.reread.provider,
        "at": f"{_moment(one)}Z",
        "kind": payload.kind,
        "results": one.reread.results,
        "problem": one.reread.problem,
        "added": one.added,
    }


def _show(kept: list[Kept]) -> None:
    if not kept:
        out.print("the log has no such answer (it keeps them for 7 days, the embedded broker until it ends)")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("at", "provider", "question"):
        table.add_column(name, overflow="fold" if name == "question" else "ellipsis", no_wrap=name != "question")
    table.add_column("results now", justify="right")
    for one in kept[-SHOWN:]:
        note = " (newer)" if one.added else " (shared)" if one.reread.payload.kind == "shared" else ""
        table.add_row(
            f"{_moment(one):%m-%d %H:%M:%S}",
            plain(one.reread.provider),
            plain(one.reread.payload.plan.query) + f"[dim]{note}[/]",
            f"{one.reread.results:,}" if one.reread.results else "[yellow]none[/]",
        )
    out.print(table)
    if len(kept) > SHOWN:
        out.print(f"[dim]the newest {SHOWN} of {len(kept):,}; --json lists all[/]")
    problems = dict.fromkeys(one.reread.problem for one in kept if one.reread.problem is not None)
    for problem in list(problems)[:5]:
        out.print(f"[yellow]note[/] {plain(problem)}", soft_wrap=True)


def _say(kept: list[Kept], sent: int, *, yes: bool) -> None:
    holding = sum(1 for one in kept if one.reread.results)
    left = f"; {len(kept) - holding:,} without results stay as they are" if holding < len(kept) else ""
    if yes:
        err.print(f"{sent:,} sent again{left}")
    elif kept:
        err.print(f"{holding:,} would be sent again{left}. Nothing was sent: give --yes to send")


def _moment(one: Kept) -> datetime:
    return datetime.fromtimestamp(one.record.timestamp_ms / 1000, UTC).replace(tzinfo=None)
