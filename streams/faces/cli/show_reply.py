"""A reply for people: the answer's sources first, then where it came from, what it cost or saved, and how long it took."""

from rich.console import Console

from groundwire.schemas.reply import SearchReply
from groundwire.streams.faces.cli.terminal import age, money, plain, shortened

_STATUS = {"grounded": "green", "ungrounded": "yellow", "error": "red"}


def show_reply(
    console: Console, reply: SearchReply, *, results: int = 5, context: bool = False, body: int = 240
) -> None:
    """Print a reply: at most `results` results, `body` characters of each."""
    console.print(f"[bold]{plain(reply.query or '(unreadable request)')}[/]")
    if reply.error is not None:
        field = reply.error.field
        where = f" ({plain(field)})" if field and f"`{field}`" not in reply.error.message else ""
        console.print(f"  [red]{reply.error.kind}[/]{where}: {plain(reply.error.message)}")
    if reply.status == "ungrounded":
        who = "nobody answered" if reply.attempts else "nothing fitting is cached, and no vendor was asked"
        console.print(f"  [yellow]{who}: the context is empty, so that no agent invents a source[/]")
    for result in reply.results[:results]:
        date = f"  [dim]{result.published_at[:10]}[/]" if result.published_at else ""
        console.print(f"  [cyan]{result.index}[/] {plain(result.title or '(no title)')}{date}")
        console.print(f"    [blue]{plain(result.url)}[/]")
        if result.body:
            console.print(f"    [dim]{plain(shortened(result.body, body))}[/]")
    if len(reply.results) > results > 0:
        console.print(f"  [dim]… and {len(reply.results) - results} more (--json shows all)[/]")
    if context:
        console.print("\n[bold]context[/] [dim](what an agent is given)[/]")
        console.print(plain(reply.context) or "[dim](empty)[/]")
    console.print(f"  {origin(reply)}")
    for attempt in reply.attempts:
        if attempt.outcome != "ok":
            reason = f": {plain(attempt.reason)}" if attempt.reason else ""
            console.print(f"    [dim]{attempt.provider}[/] [yellow]{attempt.outcome}[/][dim]{reason}[/]")
    for warning in reply.warnings:
        console.print(f"    [yellow]note[/] [dim]{plain(warning)}[/]")


def origin(reply: SearchReply) -> str:
    """One line of rich markup: status, where from, price or saving, time."""
    parts = [f"[{_STATUS[reply.status]}]{reply.status}[/]"]
    cache = reply.cache
    if reply.provider is not None:
        parts.append(f"from [bold]{reply.provider}[/]")
    if cache is not None:
        if cache.outcome == "exact":
            parts.append(f"[green]exact hit[/], {age(cache.age_s)} old")
        elif cache.outcome == "semantic":
            likeness = f", similarity {cache.similarity:.3f}" if cache.similarity is not None else ""
            parts.append(
                f"[green]semantic hit[/] on “{plain(cache.matched_query or '')}”{likeness}, {age(cache.age_s)} old"
            )
        elif cache.outcome == "coalesced":
            parts.append("[green]coalesced[/] with an equal request in flight")
        else:
            parts.append(cache.outcome)
    parts.append(f"cost {money(reply.cost_micro_usd)}")
    if reply.saved_micro_usd:
        parts.append(f"saved {money(reply.saved_micro_usd)}")
    parts.append(f"{reply.latency_ms.total:.0f} ms")
    return " · ".join(parts)
