"""`groundwire experiment`: the paper's experiments on your own questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from groundwire.streams.faces.cli.replay import run_replay, show_passes
from groundwire.streams.faces.cli.terminal import err, out, plain, print_json, waiting
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.questions import read_answered, read_questions
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.runtime.runfile import RunFile

if TYPE_CHECKING:
    from groundwire.lake.reports.arms import Arm, Arms
    from groundwire.lake.reports.experiment import WarmCache
    from groundwire.schemas.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The paper's experiments on your own questions.")


File = Annotated[Path, typer.Argument(help=".csv, .tsv, .jsonl or .txt, or one of these as .gz.")]
Column = Annotated[str | None, typer.Option(help="Column or key that holds the question.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")]
Concurrency = Annotated[int, typer.Option(min=1, max=1000, help="Requests in flight at once.")]
CacheMode = Annotated[str, typer.Option("--cache", help="use, refresh (vendors are asked each time) or bypass.")]


@app.command("warm-cache")
def warm_cache(
    context: typer.Context,
    file: File,
    column: Column = None,
    limit: Limit = None,
    concurrency: Concurrency = 8,
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
    outcome = compare(
        [one.model_dump(by_alias=True) for one in result.passes],
        questions=len(questions),
        source=file.name,
        sandbox=_sandboxed(settings),
    )
    if as_json:
        print_json({**result.model_dump(by_alias=True), "comparison": outcome.model_dump()})
    else:
        show_passes(result)
        _show(outcome)
    if any(one.answered < one.requests for one in result.passes):
        raise typer.Exit(1)


@app.command()
def depth(
    context: typer.Context,
    file: File,
    depths: Annotated[str, typer.Option(help="Numbers of results, 1 to 20, comma-separated.")] = "1,3,5,10",
    column: Column = None,
    limit: Limit = None,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", help="Ask this provider; repeat for a chain.")
    ] = None,
    cache: CacheMode = "use",
    context_tokens: Annotated[
        int, typer.Option(min=50, max=32_000, help="Budget of the context; a small one hides what depth brings.")
    ] = 32_000,
    concurrency: Concurrency = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Every depth and the table as JSON.")] = False,
) -> None:
    """Ask the same questions at several depths: what more results cost, how long they take, and what a model has to read.

    Exit code 1 when a question went unanswered.

    Example: [bold]groundwire experiment depth questions.csv --column problem --limit 100 --depths 1,5,10[/]
    """
    wanted = _depths(depths)
    _check_mode(cache)
    session: Session = context.obj
    settings = connected(session.settings(), on_wait=waiting)
    questions = read_questions(file, column, limit)
    common = {"cache": cache, "context_tokens": context_tokens, **({"providers": provider} if provider else {})}
    arms = [
        _arm(settings, f"depth {number}", questions, {**common, "depth": number}, concurrency=concurrency)
        for number in wanted
    ]
    from groundwire.lake.reports.arms import depth_experiment

    _finish(
        depth_experiment(
            arms,
            questions=len(questions),
            source=file.name,
            sandbox=_sandboxed(settings),
            cache=cache,
            context_tokens=context_tokens,
        ),
        as_json=as_json,
    )


@app.command()
def grounding(
    context: typer.Context,
    file: File,
    column: Column = None,
    answers: Annotated[
        str | None, typer.Option(help="Column or key that holds the expected answer; it is looked for in the context.")
    ] = None,
    limit: Limit = None,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", help="An arm of this provider alone; repeat to compare.")
    ] = None,
    route: Annotated[
        list[str] | None, typer.Option("--route", help="An arm of this route; repeat to compare. Default: `default`.")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, max=20, help="Number of results.")] = 5,
    cache: CacheMode = "use",
    concurrency: Concurrency = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Every arm and the table as JSON.")] = False,
) -> None:
    """Ask vendors or routes the same questions: how often there is something to ground an answer on, and is the answer in it?

    Exit code 1 when a question went unanswered.

    Example: [bold]groundwire experiment grounding qa.csv --column problem --answers answer --provider NAME --provider ANOTHER[/]
    """
    _check_mode(cache)
    session: Session = context.obj
    settings = connected(session.settings(), on_wait=waiting)
    if answers is None:
        questions, expected = read_questions(file, column, limit), None
    else:
        rows = read_answered(file, column, answers, limit)
        questions, expected = [question for question, _ in rows], [answer for _, answer in rows]
    ways: dict[str, dict[str, Any]] = {name: {"providers": [name]} for name in provider or []}
    ways |= {f"route {name}": {"route": name} for name in route or ([] if provider else ["default"])}
    arms = [
        _arm(
            settings,
            name,
            questions,
            {"cache": cache, "depth": depth, **way},
            answers=expected,
            concurrency=concurrency,
        )
        for name, way in ways.items()
    ]
    from groundwire.lake.reports.arms import grounding_experiment

    outcome = grounding_experiment(
        arms, questions=len(questions), source=file.name, sandbox=_sandboxed(settings), cache=cache
    )
    _finish(outcome, as_json=as_json)


def _arm(
    settings: "Settings",
    name: str,
    questions: list[str],
    options: dict[str, Any],
    *,
    concurrency: int,
    answers: Sequence[str] | None = None,
) -> "Arm":
    from groundwire.streams.faces.arms import Gathered  # brings Polars

    gathered = Gathered(answers)
    result = run_replay(
        settings,
        questions,
        passes=1,
        concurrency=concurrency,
        options=options,
        label=name,
        observe=gathered.observe,
    )
    [summary] = result.passes
    for message, count in summary.errors.items():
        err.print(f"[yellow]{plain(name)}: {count} ×[/] {plain(message)}", soft_wrap=True)
    return gathered.arm(name, summary)


def _depths(text: str) -> list[int]:
    try:
        found = list(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        found = []
    if not found or min(found) < 1 or max(found) > 20:
        raise CommandError(f"--depths {text[:64]}: give numbers from 1 to 20, comma-separated, such as 1,5,10")
    return found


def _check_mode(cache: str) -> None:
    if cache not in ("use", "refresh", "bypass"):
        raise CommandError(f"--cache {cache[:64]}: there are use, refresh and bypass")


def _sandboxed(settings: "Settings") -> bool:
    running = RunFile.read(settings.home)
    return running is not None and running.sandbox is not None


def _finish(outcome: "Arms", *, as_json: bool) -> None:
    if as_json:
        print_json(outcome)
    else:
        table = Table(title=f"{outcome.experiment}, {outcome.questions:,} questions", title_justify="left")
        table.add_column("")
        for arm in outcome.arms:
            table.add_column(plain(arm.name), justify="right", overflow="fold")
        for line in outcome.lines:
            table.add_row(line.measure, *line.values)
        out.print(table)
        for condition in outcome.conditions:
            out.print(f"  [dim]{plain(condition)}[/]")
    if any(arm.answered < arm.requests for arm in outcome.arms):
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
