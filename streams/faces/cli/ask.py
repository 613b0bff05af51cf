"""`groundwire search`: ask one question."""

import asyncio
from typing import Annotated, Any

import typer

from groundwire.schemas.reply import SearchReply
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.show_reply import show_reply
from groundwire.streams.faces.cli.terminal import out, print_json, waiting
from groundwire.streams.faces.client import GroundwireClient
from groundwire.streams.faces.session import Session, connected


def register(app: typer.Typer) -> None:
    app.command("search")(search)


def search(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question; several words need no quotes.")],
    depth: Annotated[int | None, typer.Option(help="Number of results, 1 to 20.")] = None,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", help="Ask this provider; repeat for a chain in that order.")
    ] = None,
    route: Annotated[str | None, typer.Option(help="A named chain from the configuration.")] = None,
    freshness: Annotated[str | None, typer.Option(help="auto, static, slow, daily or live.")] = None,
    cache: Annotated[str | None, typer.Option(help="use, refresh, bypass or only.")] = None,
    max_age: Annotated[int | None, typer.Option("--max-age", help="Oldest cached answer to accept, seconds.")] = None,
    language: Annotated[str | None, typer.Option(help="BCP-47, e.g. en or ko.")] = None,
    country: Annotated[str | None, typer.Option(help="ISO-3166, e.g. US or KR.")] = None,
    site: Annotated[
        list[str] | None, typer.Option("--site", help="Only results from this domain; may be repeated.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose budget and report line this is.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds for the whole request.")] = None,
    show_context: Annotated[bool, typer.Option("--context", help="Show the context an agent is given.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The reply itself as JSON.")] = False,
) -> None:
    """Ask, and see results, sources, price, and where the answer came from.

    Example: [bold]groundwire search --depth 3 how does photosynthesis work[/]
    """
    session: Session = context.obj
    wanted: dict[str, Any] = {
        "query": " ".join(query),
        "depth": depth,
        "providers": provider or None,
        "route": route,
        "freshness": freshness,
        "cache": cache,
        "max_age_s": max_age,
        "language": language,
        "country": country,
        "filters": {"include_domains": site} if site else None,
        "tenant": tenant,
        "timeout_s": timeout,
    }
    request = {name: value for name, value in wanted.items() if value is not None}
    reply = asyncio.run(_ask(connected(session.settings(), on_wait=waiting), request))
    if as_json:
        print_json(reply)
    else:
        show_reply(out, reply, context=show_context)
    if reply.status == "error":
        raise typer.Exit(2)
    if reply.status == "ungrounded":
        raise typer.Exit(1)


async def _ask(settings: Settings, request: dict[str, Any]) -> SearchReply:
    async with GroundwireClient(settings) as client:
        return await client.search(request)
