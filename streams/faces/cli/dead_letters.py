"""`groundwire dead-letters`: what could not be read, why, and sending it again."""

import asyncio
import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.streams.faces.cli.terminal import err, out, plain, print_json, waiting
from groundwire.streams.faces.dead_letters import read_dead_letters, replay_letters
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session, connected

SHOWN_BYTES = 4000

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
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)  # whole, to be copied into `show` and `replay`
    table.add_column("refused", no_wrap=True)
    table.add_column("why", overflow="fold")
    for letter in letters:
        table.add_row(
            plain(letter.dead_letter_id), _moment(letter.refused_at_ms), f"{letter.reason}: {plain(letter.message)}"
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
    facts = [
        ("reason", letter.reason + (f" ({letter.field})" if letter.field else "")),
        ("message", letter.message),
        ("record", f"{letter.topic}, partition {letter.partition}, offset {letter.offset}"),
        ("sent", _moment(letter.timestamp_ms)),
        ("refused", f"{_moment(letter.refused_at_ms)} by {letter.stage}"),
        *((f"header {name}", repr(base64.b64decode(content))) for name, content in letter.headers),
    ]
    for name, value in facts:
        out.print(f"[bold]{plain(name)}[/]  {plain(value)}", soft_wrap=True)
    if letter.value_base64 is not None:
        kept = base64.b64decode(letter.value_base64)
        shown = kept[:SHOWN_BYTES]
        whole = len(shown) == letter.value_bytes
        part = "" if whole else f" [yellow](the first {len(shown):,} of {letter.value_bytes:,} bytes)[/]"
        out.print(f"[bold]value[/]{part}")
        out.print(plain(shown.decode("utf-8", "backslashreplace")), soft_wrap=True)
    else:
        out.print("[bold]value[/]  none: a tombstone")


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
    sent = asyncio.run(replay_letters(connected(session.settings(), on_wait=waiting), chosen, replacement=replacement))
    err.print(f"{sent} sent again")


def _read(context: typer.Context) -> list[DeadLetter]:
    session: Session = context.obj
    return asyncio.run(read_dead_letters(connected(session.settings(), on_wait=waiting)))


def _one(letters: list[DeadLetter], letter_id: str) -> DeadLetter:
    for letter in letters:
        if letter.dead_letter_id == letter_id:
            return letter
    there = f"`groundwire dead-letters list` shows the {len(letters):,} there are" if letters else "there are none"
    raise CommandError(f"no dead letter {letter_id}; {there}")


def _moment(ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"
    except (ValueError, OverflowError, OSError):
        return f"{ms:,} ms"  # the sender's clock says so, and no calendar has it
