"""`groundwire providers`: which there are, whether their files are sound, one real call, and a new one.

The adapters and their HTTP client are imported where they are used: no other command waits for them.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from groundwire.streams.faces.cli.terminal import money, out, plain, print_json, shortened
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session
from groundwire.streams.runtime.guards_file import read_guards

if TYPE_CHECKING:
    from groundwire.adapters.check import FileCheck
    from groundwire.adapters.trial import Trial

app = typer.Typer(no_args_is_help=True, help="The search vendors: list, check, try, new.")


@app.command("list")
def list_providers(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """List the providers: key, breaker, rate, price, budget, what each can do, storage terms, routes.

    Breakers are those of the fetch workers on this machine and state folder; what was spent is what the lake there knows.

    Example: [bold]groundwire providers list[/]
    """
    from groundwire.lake.reports.spending import spent_by_provider  # brings Polars
    from groundwire.streams.faces.provider_rows import provider_rows  # brings the adapters and their HTTP client

    session: Session = context.obj
    settings = session.settings()
    registry = session.registry(settings)
    guards = read_guards(settings.home)
    rows = provider_rows(registry, settings, guards, spent_by_provider(settings.lake_path, datetime.now(UTC)))
    if as_json:
        print_json({"providers": rows, "problems": [str(problem) for problem in registry.problems]})
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(f"[bold]{row['provider']}[/]", " · ".join(_how_it_is(row)))
        table.add_row("", f"[dim]{' · '.join(_what_it_can(row))}[/]")
    out.print(table)
    if not guards:
        out.print("[dim]Breakers are unknown: there is no fetch worker on this machine and state folder.[/]")
    for problem in registry.problems:
        out.print(f"[red]turned away[/] {plain(str(problem))}")


def _how_it_is(row: dict[str, Any]) -> Iterator[str]:
    """A provider's first line: can it be asked, how fast, for how much."""
    yield "[green]usable[/]" if row["unavailable"] is None else f"[yellow]skipped[/] {plain(row['unavailable'])}"
    if row["key"] == "present":
        yield "key present"
    if row["breaker"] != "unknown":
        calls = f", {row['under_way']} under way" if row["under_way"] else ""
        yield f"breaker {row['breaker'].replace('_', ' ')}{calls}"
    yield f"{money(row['price_micro_usd'])} a call"
    rate = f"{row['requests_per_s']:g}/s" if row["requests_per_s"] is not None else "no rate limit"
    yield rate + (f", {row['max_concurrency']} at once" if row["max_concurrency"] is not None else "")
    for word, period in (("today", "day"), ("this_month", "month")):
        spent, budget = row[f"spent_{word}_micro_usd"], row[f"budget_per_{period}_micro_usd"]
        of = "" if budget is None else f" of {money(budget)}"
        if spent is not None:
            yield f"{word.replace('_', ' ')} {money(spent)}{of}"
        elif of:
            yield f"budget a {period} {money(budget)}"


def _what_it_can(row: dict[str, Any]) -> Iterator[str]:
    """A provider's second line."""
    can = row["capabilities"]
    able = [what for what, how in can.items() if what != "text" and how != "–"]
    yield f"can {', '.join(able)}" if able else "can no filters"
    yield f"{'pages' if can['text'] == 'page' else 'snippets'}, at most {row['max_depth']}"
    yield f"timeout {row['timeout_s']:g} s"
    yield f"kept {row['storage_max_ttl_s'] / 86_400:g} d" if row["storage_allowed"] else "not stored"
    if row["routes"]:
        yield f"routes {', '.join(row['routes'])}"


@app.command()
def check(
    context: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Provider files; default: the shipped ones and yours.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Validate provider files and run their fixtures (`fixtures/NAME/*.yaml` beside each). Exit code 1 when one is wrong.

    Example: [bold]groundwire providers check my-providers/acme.yaml[/]
    """
    from groundwire.adapters.check import check_file
    from groundwire.adapters.registry import shipped_folder

    session: Session = context.obj
    chosen = list(files or [])
    if not chosen:
        folders = [shipped_folder(), *session.settings().provider_path]
        chosen = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    missing = [file for file in chosen if not file.is_file()]
    if missing:
        raise CommandError(f"no such file: {missing[0]}")

    async def checks() -> "list[FileCheck]":
        return [await check_file(file) for file in chosen]

    found = asyncio.run(checks())
    if as_json:
        rows = [
            {"file": str(one.file), "ok": one.ok, "fixtures": one.fixtures, "problems": [str(p) for p in one.problems]}
            for one in found
        ]
        print_json({"ok": all(one.ok for one in found), "files": rows})
    else:
        for one in found:
            mark = "[green]ok   [/]" if one.ok else "[red]wrong[/]"
            out.print(f"{mark} [bold]{one.name}[/] {_fixtures(one.fixtures)}", soft_wrap=True)
            for problem in one.problems:
                out.print(f"      {plain(str(problem))}", soft_wrap=True)
    if not all(one.ok for one in found):
        raise typer.Exit(1)


def _fixtures(count: int) -> str:
    return "no fixtures beside it: only the file itself was checked" if count == 0 else f"{count:,} fixtures"


@app.command("try")
def try_one(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Provider.")],
    query: Annotated[list[str], typer.Argument(help="The question.")],
    depth: Annotated[int, typer.Option(min=1, max=20, help="Number of results.")] = 5,
    language: Annotated[str | None, typer.Option(help="BCP-47.")] = None,
    country: Annotated[str | None, typer.Option(help="ISO-3166.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show the whole answer as it came.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Make one real call and show it: the request without secrets, the answer, the mapped results, the cost. It may cost money.

    Example: [bold]groundwire providers try acme what is kimchi made of[/]
    """
    from groundwire.adapters.call import ProviderCall
    from groundwire.adapters.trial import Trial, try_provider
    from groundwire.schemas.request import Filters

    session: Session = context.obj
    registry = session.registry(session.settings())
    if name not in registry.names():
        raise CommandError(f"no provider `{name[:64]}`; there are: {', '.join(registry.names())}")
    provider = registry.get(name)
    call = ProviderCall(
        query=" ".join(query),
        depth=provider.clamp_depth(depth),
        language=language,
        country=country,
        freshness="slow",
        filters=Filters(),
    )
    reason = provider.unavailable() or provider.unfit(call)
    if reason is not None:
        raise CommandError(f"{name} can't be asked: {reason}")

    async def go() -> Trial:
        try:
            return await try_provider(provider, call)
        finally:
            await registry.aclose()

    trial = asyncio.run(go())
    if as_json:
        print_json(trial.as_dict())
    else:
        _show_trial(trial, raw=raw)
    if trial.outcome.outcome not in ("ok", "empty"):
        raise typer.Exit(1)


def _show_trial(trial: "Trial", *, raw: bool) -> None:
    if trial.request is not None:
        out.print(f"[bold]request[/]  {trial.request.method} {plain(trial.request.url)}", soft_wrap=True)
        for name, value in trial.request.headers.items():
            out.print(f"  [dim]{plain(name)}: {plain(value)}[/]", soft_wrap=True)
        if trial.request.body is not None:
            out.print(f"  [dim]{plain(json.dumps(trial.request.body, ensure_ascii=False))}[/]", soft_wrap=True)
    outcome = trial.outcome
    reason = f": {plain(outcome.reason)}" if outcome.reason else ""
    out.print(
        f"[bold]answer[/]   {outcome.outcome}{reason} · status {outcome.status_code or 'none'} · "
        f"{outcome.body_bytes:,} bytes · {outcome.latency_ms:.0f} ms"
    )
    if outcome.body:
        shown = outcome.body if raw else outcome.body[:400]
        out.print(
            f"  [dim]{plain(shown)}{'' if raw or len(outcome.body) <= 400 else ' … (--raw shows all)'}[/]",
            soft_wrap=True,
        )
    out.print(
        f"[bold]cost[/]     {money(outcome.cost.micro_usd)} by {outcome.cost.source} {plain(outcome.cost.detail or '')}"
    )
    for warning in trial.warnings:
        out.print(f"[yellow]note[/]     {plain(warning)}")
    for number, result in enumerate(trial.results, start=1):
        date = f"  [dim]{result.published_at}[/]" if result.published_at else ""
        out.print(
            f"  [cyan]{number}[/] {plain(result.title or '(no title)')}{date}\n    [blue]{plain(result.url)}[/]",
            soft_wrap=True,
        )
        out.print(f"    [dim]{plain(shortened(result.body))}[/]")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Small letters, digits and _.")],
    url: Annotated[
        str, typer.Option(prompt="Address of the vendor's search call", help="https://api.vendor.example/v1/search")
    ],
    folder: Annotated[Path, typer.Option(help="Where to write; put it on GROUNDWIRE_PROVIDER_PATH.")] = Path(
        "providers"
    ),
    method: Annotated[str, typer.Option(help="GET or POST.")] = "POST",
    key_env: Annotated[str | None, typer.Option(help="Environment variable of the key; none: keyless.")] = None,
    key_header: Annotated[str, typer.Option(help="Header the key goes in.")] = "Authorization",
    query_field: Annotated[str, typer.Option(help="The vendor's name for the query.")] = "query",
    depth_field: Annotated[str, typer.Option(help="The vendor's name for the number of results.")] = "limit",
    results: Annotated[str, typer.Option(help="JMESPath to the rows of the answer.")] = "results",
    url_field: Annotated[str, typer.Option(help="A row's address.")] = "url",
    title_field: Annotated[str, typer.Option(help="A row's title.")] = "title",
    body_field: Annotated[str, typer.Option(help="A row's text.")] = "snippet",
    usd_per_1000: Annotated[str, typer.Option(help="List price, USD per 1,000 calls.")] = "5.00",
    max_depth: Annotated[int, typer.Option(min=1, max=100, help="Most results the vendor gives.")] = 20,
) -> None:
    """Write a commented provider file and three fixtures, which pass `providers check` as they are written.

    Example: [bold]groundwire providers new acme --url https://api.acme.example/search --key-env ACME_API_KEY[/]
    """
    from groundwire.adapters.scaffold import NewProvider, ScaffoldError, write_provider

    wanted = NewProvider(
        name=name,
        url=url,
        method=method.upper(),
        key_env=key_env,
        key_header=key_header,
        query_field=query_field,
        depth_field=depth_field,
        results=results,
        url_field=url_field,
        title_field=title_field,
        body_field=body_field,
        usd_per_1000=usd_per_1000,
        max_depth=max_depth,
    )
    try:
        written = write_provider(wanted, folder)
    except (ScaffoldError, OSError) as error:
        raise CommandError(str(error)) from None
    for file in written:
        out.print(f"written  {plain(str(file))}", soft_wrap=True)
    out.print(
        f"next     groundwire providers check {plain(str(written[0]))}\n"
        f"         GROUNDWIRE_PROVIDER_PATH={plain(str(folder))} groundwire providers try {name} a question",
        soft_wrap=True,
    )
