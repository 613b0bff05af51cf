"""`groundwire topics`: make them, check them."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from groundwire.schemas.topics import TOPICS
from groundwire.streams.faces.cli.terminal import err, out, plain, print_json
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.runtime.topics_admin import check_topics, ensure_topics

app = typer.Typer(no_args_is_help=True, help="The topics on the broker: create, check.")

Brokers = Annotated[str | None, typer.Option("--brokers", help="host:port, comma-separated.")]


@app.command()
def create(
    context: typer.Context,
    brokers: Brokers = None,
    replication: Annotated[int | None, typer.Option(min=1, help="Default: min(3, brokers).")] = None,
) -> None:
    """Make every topic the roles need; those that are there stay as they are.

    Example: [bold]groundwire topics create --brokers localhost:9092[/]
    """
    session: Session = context.obj
    kafka = {"replication": replication} if replication is not None else None
    made = asyncio.run(ensure_topics(connected(session.settings(brokers=brokers, kafka=kafka))))
    err.print(f"{len(made)} made, {len(TOPICS) - len(made)} were there" + (f": {', '.join(made)}" if made else ""))


@app.command()
def check(
    context: typer.Context,
    brokers: Brokers = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare the broker's topics with what the roles need. Exit code 1 when something is missing.

    Example: [bold]groundwire topics check[/]
    """
    session: Session = context.obj
    problems = asyncio.run(check_topics(connected(session.settings(brokers=brokers))))
    if as_json:
        print_json({"ok": not problems, "problems": [asdict(problem) for problem in problems]})
    else:
        for problem in problems:
            out.print(
                f"[red]wrong[/] {problem.topic} {plain(problem.message)}\n      → {plain(problem.advice)}",
                soft_wrap=True,
            )
        if not problems:
            out.print(f"all {len(TOPICS)} topics are there")
    if problems:
        raise typer.Exit(1)
