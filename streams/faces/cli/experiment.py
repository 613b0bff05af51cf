"""`groundwire experiment`: the paper's experiments on your own questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from groundwire.streams.faces.cli.replay import run_replay, show_passes
from groundwire.streams.faces.cli.terminal import out, plain, print_json, waiting
from groundwire.streams.faces.questions import read_questions
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.runtime.runfile import RunFile

if TYPE_CHECKING:
    from groundwire.lake.reports.experiment import WarmCache

app = typer.Typer(no_args_is_help=True, help="The paper's experiments on your own questions.")


@app.callback()
def experiment() -> None:
    """A group of one command so far keeps its name this way."""


@app.command("warm-cache")
def warm_cache(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=".csv, .tsv, .jsonl or .txt, or one of these as .gz.")],
    column: Annotated[str | None, typer.Option(help="Column or key that holds the question.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests in flight at once.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Both passes and the comparison as JSON.")] = False,
) -> None:
    """Replay questions twice and print both passes beside the paper's figures, with the conditions named.

    Exit code 1 when a question went unanswered.

    Example: [bold]groundwire experiment warm-cache questions.csv --column problem --limit 500[/]
    """
    from groundwire.lake.reports.experiment import warm_cache as compare  # brings Polars

    session: Session = context.obj
    settings = connected(session.settings(), on_wait=waiting)
    questions = read_questions(file, column, limit)
    result = run_replay(settings, questions, passes=2, concurrency=concurrency)
    running = RunFile.read(settings.home)
    outcome = compare(
        [one.model_dump(by_alias=True) for one in result.passes],
        questions=len(questions),
        source=file.name,
        sandbox=running is not None and running.sandbox is not None,
    )
    if as_json:
        print_json({**result.model_dump(by_alias=True), "comparison": outcome.model_dump()})
    else:
        show_passes(result)
        _show(outcome)
    if any(one.answered < one.requests for one in result.passes):
        raise typer.Exit(1)


def _show(outcome: "WarmCache") -> None:
    table = Table(title=f"warm cache, {outcome.questions:,} questions", title_justify="left")
    for name in ("", "pass 1", "pass 2", "change", "paper"):
        table.add_column(name, justify="left" if not name else "right")
    for line in outcome.lines:
        table.add_row(line.measure, line.first, line.second, line.change, line.paper)
    out.print(table)
    for condition in outcome.conditions:
        out.print(f"  [dim]{plain(condition)}[/]")
