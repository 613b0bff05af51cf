"""`groundwire lake`: compact and verify the Parquet files. Arrow is imported where it is used: no other command waits for it."""

from dataclasses import asdict
from typing import Annotated

import typer

from groundwire.streams.faces.cli.terminal import out, plain, print_json
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session

app = typer.Typer(no_args_is_help=True, help="The lake's Parquet files: compact, verify.")

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command()
def compact(context: typer.Context, as_json: Json = False) -> None:
    """Merge each day's many small files into one. Safe while everything runs.

    Example: [bold]groundwire lake compact[/]
    """
    from groundwire.lake.events.compaction import CompactionBusyError
    from groundwire.lake.events.compaction import compact as compact_lake
    from groundwire.lake.events.staging import LakeUnwritableError

    session: Session = context.obj
    try:
        done = compact_lake(session.settings().lake_path)
    except (CompactionBusyError, LakeUnwritableError) as error:
        raise CommandError(str(error)) from None
    if as_json:
        print_json(asdict(done))
        return
    if done.days:
        days = ", ".join(f"{table} of {_number(days, 'day')}" for table, days in done.by_table.items())
        files = f"{_number(done.files_before, 'file')} → {done.files_after:,}"
        copies = _number(done.doubled_rows, "copy", "copies")
        out.print(
            f"merged {days}: {files}, {_number(done.rows, 'row')}, {copies} dropped, "
            f"{done.bytes_before:,} → {done.bytes_after:,} bytes",
            soft_wrap=True,
        )
    else:
        out.print("nothing to merge: no day has more than one small file")
    for file, reason in done.left_out.items():
        out.print(f"[yellow]left out[/] {plain(file)}: {plain(reason)}", soft_wrap=True)


@app.command()
def verify(context: typer.Context, as_json: Json = False) -> None:
    """Read every file whole and say what is wrong with which. Exit code 1 when something is.

    Example: [bold]groundwire lake verify[/]
    """
    from groundwire.lake.events.verification import verify as verify_lake

    session: Session = context.obj
    found = verify_lake(session.settings().lake_path)
    if as_json:
        print_json({**asdict(found), "ok": not found.problems})
    else:
        for problem in found.problems:
            out.print(f"[red]wrong[/] {plain(str(problem))}")
        for table, rows in found.rows.items():
            out.print(f"{table}: {rows:,} rows, {found.events[table]:,} events")
        if not found.problems:
            out.print(f"[green]sound[/]: {found.files:,} files read whole")
    if found.problems:
        raise typer.Exit(1)


def _number(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
