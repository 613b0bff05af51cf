"""`groundwire doctor`."""

import asyncio
from typing import Annotated

import typer

from groundwire.streams.faces.cli.terminal import out, plain, print_json
from groundwire.streams.faces.session import Session


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Check Python, broker, topics, model, keys and disk, each with what to do. Exit code 1 when something is wrong.

    Example: [bold]groundwire doctor[/]
    """
    from groundwire.streams.faces.doctor import diagnose  # brings all that it looks at

    session: Session = context.obj
    diagnosis = asyncio.run(diagnose(session, session.settings()))
    if as_json:
        print_json(diagnosis)
    else:
        for check in diagnosis.checks:
            mark = "[green]ok   [/]" if check.ok else "[red]wrong[/]"
            out.print(f"{mark} [bold]{check.name}[/]: {plain(check.message)}", soft_wrap=True)
            if check.advice:
                out.print(f"      → {plain(check.advice)}", soft_wrap=True)
    if not diagnosis.ok:
        raise typer.Exit(1)
