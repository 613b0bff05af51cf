"""`groundwire providers`: which there are, and what each can do."""

from typing import Annotated

import typer
from rich.table import Table

from groundwire.streams.faces.cli.terminal import money, out, plain, print_json
from groundwire.streams.faces.session import Session

app = typer.Typer(no_args_is_help=True, help="The search vendors: list, check, try, new.")


@app.command("list")
def list_providers(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """List the providers: usable or skipped and why, price, limits, storage terms, routes.

    Example: [bold]groundwire providers list[/]
    """
    from groundwire.streams.faces.provider_rows import provider_rows  # brings the adapters and their HTTP client

    session: Session = context.obj
    settings = session.settings()
    registry = session.registry(settings)
    rows = provider_rows(registry, settings)
    if as_json:
        print_json({"providers": rows, "problems": [str(problem) for problem in registry.problems]})
        return
    table = Table()
    for name in ("provider", "state", "price a call", "depth", "timeout", "kept for", "routes"):
        table.add_column(name, overflow="fold")
    for row in rows:
        state = (
            "[green]usable[/]"
            if row["unavailable"] is None
            else f"[yellow]skipped[/] [dim]{plain(str(row['unavailable']))}[/]"
        )
        kept = f"{row['storage_max_ttl_s'] / 86_400:.0f} d" if row["storage_allowed"] else "not stored"
        table.add_row(
            str(row["provider"]),
            state,
            money(row["price_micro_usd"]),
            f"≤ {row['max_depth']}",
            f"{row['timeout_s']:g} s",
            kept,
            ", ".join(row["routes"]),
        )
    out.print(table)
    for problem in registry.problems:
        out.print(f"[red]turned away[/] {plain(str(problem))}")
