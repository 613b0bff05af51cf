"""`groundwire dead-letters`: what could not be read, why, and sending it again."""

import asyncio
import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.streams.faces.cli.terminal import err, out, plain, print_json
from groundwire.streams.faces.dead_letters import read_dead_letters, replay_letters
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session, connected

app = typer.Typer(no_args_is_help=True, help="Records nobody could read: list, show, replay.")


@app.command("list")
def list_letters(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """List the dead letters, oldest first.

    Example: [bold]groundwire dead-letters list[/]
    """
    letters = _read(context)
    if as_json:
        print_json([letter.model_dump(mode="json") for letter in letters])
        return
    if not letters:
        out.print("no dead letters")
        return
    table = Table()
    for name in ("id", "refused", "stage", "reason", "message"):
        table.add_column(name, overflow="fold")
    for letter in letters:
        when = datetime.fromtimestamp(letter.refused_at_ms / 1000, UTC)
        table.add_row(
            letter.dead_letter_id, f"{when:%Y-%m-%d %H:%M:%S}Z", letter.stage, letter.reason, plain(letter.message)
        )
    out.print(table)


@app.command()
def show(
    context: typer.Context,
    letter_id: Annotated[str, typer.Argument(metavar="ID", help="topic-partition-offset, as `list` shows it.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show one dead letter and the record it holds.

    Example: [bold]groundwire dead-letters show search.requests.v1-3-42[/]
    """
    letter = _one(_read(context), letter_id)
    if as_json:
        print_json(letter)
        return
    for name, value in letter.model_dump(exclude={"value_base64", "key_base64", "headers", "version"}).items():
        out.print(f"[bold]{name}[/] {plain(str(value))}")
    for name, content in letter.headers:
        out.print(f"[bold]header[/] {plain(name)} = {plain(repr(base64.b64decode(content)))}")
    if letter.value_base64 is not None:
        out.print("[bold]value[/]" + (" [yellow](the beginning of it)[/]" if letter.truncated else ""))
        out.print(plain(base64.b64decode(letter.value_base64).decode("utf-8", "backslashreplace")[:4000]))


@app.command()
def replay(
    context: typer.Context,
    letter_ids: Annotated[list[str] | None, typer.Argument(metavar="ID…", help="Which ones.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    value: Annotated[
        Path | None, typer.Option("--value", help="Send this file's content instead: the mended record.")
    ] = None,
) -> None:
    """Publish dead letters again to the topics they came from.

    Example: [bold]groundwire dead-letters replay search.requests.v1-3-42 --value mended.json[/]
    """
    if bool(letter_ids) == everything:
        raise CommandError("name the dead letters to replay, or give --all")
    if value is not None and len(letter_ids or []) != 1:
        raise CommandError("--value goes with exactly one dead letter")
    letters = _read(context)
    chosen = letters if everything else [_one(letters, name) for name in letter_ids or []]
    try:
        replacement = value.read_bytes() if value is not None else None
    except OSError as error:
        raise CommandError(f"{value}: {error.strerror}") from None
    session: Session = context.obj
    sent = asyncio.run(replay_letters(connected(session.settings()), chosen, replacement=replacement))
    err.print(f"{sent} sent again")


def _read(context: typer.Context) -> list[DeadLetter]:
    session: Session = context.obj
    return asyncio.run(read_dead_letters(connected(session.settings())))


def _one(letters: list[DeadLetter], letter_id: str) -> DeadLetter:
    for letter in letters:
        if letter.dead_letter_id == letter_id:
            return letter
    raise CommandError(f"no dead letter {letter_id}; `groundwire dead-letters list` shows the {len(letters)} there are")
