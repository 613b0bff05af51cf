"""`groundwire cache`: what is kept, for which question, and forgetting it.

The store is imported where it is used: it takes two seconds, which no other command should wait for.
"""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from groundwire.schemas.cache_write import CacheEntry, Purge
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli import judge
from groundwire.streams.faces.cli.terminal import age, err, money, out, plain, print_json, waiting
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.purge import now_ms, publish_purge
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.stages.query import normalize_query

app = typer.Typer(no_args_is_help=True, help="The cache: what it holds, forgetting, and the semantic tier's decisions.")
app.add_typer(judge.app)

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command()
def stats(context: typer.Context, as_json: Json = False) -> None:
    """Count what the cache view of this state folder holds.

    Example: [bold]groundwire cache stats[/]
    """
    from groundwire.lake.cache.errors import ViewDamaged
    from groundwire.lake.cache.stats import cache_stats

    session: Session = context.obj
    try:
        found = cache_stats(session.settings())
    except (ViewDamaged, OSError) as error:
        raise CommandError(str(error)) from None
    if as_json:
        print_json(found)
        return
    out.print(f"[bold]{found.entries:,} entries[/], {found.semantic_entries:,} of them in the semantic tier")
    for name, counts in (("provider", found.providers), ("freshness", found.freshness), ("model", found.models)):
        out.print(f"  {name:<10} " + (" · ".join(f"{key} {count:,}" for key, count in counts.items()) or "none"))
    if found.oldest_age_s is not None:
        ages = " · ".join(f"{name} {count:,}" for name, count in found.ages.items() if count)
        out.print(f"  age        {age(found.newest_age_s)} to {age(found.oldest_age_s)}: {ages}")
    out.print(f"  on disk    {found.bytes / 1024**2:,.1f} MiB in {found.segments} segments, {plain(found.path)}")
    for table in found.tables:
        out.print(
            f"             {plain(table.name)}: {table.rows:,} rows, {table.indexed:,} indexed, {table.bytes / 1024**2:,.1f} MiB"
        )
    out.print(f"  to tidy    {found.superseded:,} superseded, {found.ended:,} ended")


@app.command()
def get(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question.")],
    as_json: Json = False,
) -> None:
    """Show every cached answer for a question, whatever its provider, depth and locale. Exit code 1 when there is none.

    Example: [bold]groundwire cache get how does photosynthesis work[/]
    """
    session: Session = context.obj
    entries = asyncio.run(_entries(session.settings(), " ".join(query)))
    if as_json:
        print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        now = now_ms()
        for entry in entries:
            kind = "exact and semantic" if entry.semantic else "exact only"
            out.print(
                f"[bold]{plain(entry.normalized_query)}[/]  {entry.provider} · depth {entry.depth} · {entry.freshness} · "
                f"{kind} · {age((now - entry.stored_at_ms) / 1000)} old · ends in {age((entry.expires_at_ms - now) / 1000)} · "
                f"cost {money(entry.cost_micro_usd)} · tenant {plain(entry.tenant)}"
            )
            for result in entry.results:
                out.print(f"  [cyan]{result.index}[/] {plain(result.title)}  [blue]{plain(result.url)}[/]")
        if not entries:
            out.print("nothing is cached for this question")
    if not entries:
        raise typer.Exit(1)


async def _entries(settings: Settings, query: str) -> list[CacheEntry]:
    from groundwire.lake.cache.view import CacheReader

    reader = CacheReader(settings)
    await reader.start()
    try:
        if reader.failure is not None:
            raise CommandError(reader.failure)
        return await reader.get(normalize_query(query), now_ms())
    finally:
        await reader.stop()


@app.command()
def purge(
    context: typer.Context,
    query: Annotated[str | None, typer.Option(help="Answers to this question.")] = None,
    provider: Annotated[str | None, typer.Option(help="Answers from this provider.")] = None,
    domain: Annotated[str | None, typer.Option(help="Answers with a result from this domain or below it.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Answers paid by this tenant.")] = None,
    before: Annotated[
        str | None, typer.Option(help="Answers stored before this moment, ISO, UTC if no zone is given.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything.")] = False,
) -> None:
    """Forget cached answers, on every node. Several options together narrow the choice.

    Example: [bold]groundwire cache purge --provider acme --before 2026-11-30T12:00[/]
    """
    chosen = (query, provider, domain, tenant, before)
    if everything == any(one is not None for one in chosen):
        raise CommandError("say what to forget: --query, --provider, --domain, --tenant, --before, or --all alone")
    session: Session = context.obj
    settings = session.settings()
    if provider is not None:
        known = session.registry(settings).names()
        if provider not in known:
            raise CommandError(f"no provider `{provider[:64]}`; there are: {', '.join(known)}")
    settings = connected(settings, on_wait=waiting)
    wanted = Purge(
        query=normalize_query(query) if query is not None else None,
        provider=provider,
        domain=domain.lower() if domain is not None else None,
        tenant=tenant,
        before_ms=_moment_ms(before) if before is not None else None,
        requested_at_ms=now_ms(),
    )
    asyncio.run(publish_purge(settings, wanted))
    err.print("the purge is in the log; every node applies it within a second")


def _moment_ms(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--before {text}: not an ISO moment like 2026-11-30 or 2026-11-30T12:00") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
