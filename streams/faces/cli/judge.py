"""`groundwire cache explain · judge · calibrate · feedback`: the semantic tier in the owner's hands.

The store and the model are imported where they are used: no other command waits for them.
"""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.cli.terminal import err, out, plain, print_json, waiting
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session, connected

if TYPE_CHECKING:
    from groundwire.lake.cache.calibration_fit import Fitted
    from groundwire.lake.cache.judge import Judge, Judgement

app = typer.Typer()

Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
SHOWN_ROWS = 20


@app.command()
def explain(
    context: typer.Context,
    stored: Annotated[str, typer.Argument(metavar="A", help="The stored question.")],
    asked: Annotated[str, typer.Argument(metavar="B", help="The question asked.")],
    language: Annotated[str | None, typer.Option(help="BCP-47, when the text does not show it.")] = None,
    as_json: Json = False,
) -> None:
    """Say whether B would be served A's answer: similarity, each check's verdict, probability, decision.

    Example: [bold]groundwire cache explain "flights from nyc to london" "flights from london to nyc"[/]
    """
    session: Session = context.obj
    found = _judge(session.settings()).explain(stored, asked, language)
    if as_json:
        print_json(found)
        return
    served = f"[green]served[/], by the {found['tier']} tier" if found["hit"] else "[yellow]not served[/]"
    out.print(f"{served}: {plain(found['reason'])}", soft_wrap=True)
    out.print(
        f"  similarity   {found['similarity']:.4f} (at least {found['min_similarity']:g})\n"
        f"  probability  {found['probability']:.4f} (at least {found['threshold']:g})\n"
        f"  A            {plain(found['normalized']['a'])}\n"
        f"  B            {plain(found['normalized']['b'])}",
        soft_wrap=True,
    )
    for check in found["checks"]:
        mark = "[green]✓[/]" if check["passed"] else "[red]✗[/]"
        out.print(f"  {mark} {check['name']:<12} [dim]{plain(check['detail'])}[/]", soft_wrap=True)


@app.command()
def judge(
    context: typer.Context,
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help=".tsv, .csv or .jsonl (or .gz) with a, b, same.")],
    as_json: Json = False,
) -> None:
    """Decide a whole file of pairs: for each, whether B would be served A's answer; totals where they are labelled.

    Example: [bold]groundwire cache judge pairs.tsv --json[/]
    """
    from groundwire.lake.cache.judge import read_pairs

    session: Session = context.obj
    judgement = _judge(session.settings()).judge_all(_read(lambda: read_pairs(pairs)))
    if as_json:
        print_json(judgement.to_json())
    else:
        _show_judgement(judgement)


def _show_judgement(judgement: "Judgement") -> None:
    found = judgement.to_json()
    out.print(
        f"[bold]{found['pairs']:,} pairs[/]: {found['hits']:,} served "
        f"({found['exact_hits']:,} exact, {found['semantic_hits']:,} semantic)"
    )
    if found["labelled"]:
        precision = "–" if found["precision"] is None else f"{found['precision']:.4f}"
        recall = "–" if found["recall"] is None else f"{found['recall']:.4f}"
        out.print(
            f"  right {found['true_hits']:,} · wrong {found['false_hits']:,} · missed {found['missed']:,} · "
            f"precision {precision} · recall {recall}"
        )
    wrong = [row for row in found["rows"] if row["hit"] and row["same"] == 0]
    for row in wrong[:SHOWN_ROWS]:
        out.print(
            f"  [red]wrong[/] {row['similarity']:.3f}  {plain(row['a'])}\n               {plain(row['b'])}  "
            f"[dim]{plain(row['reason'])}[/]",
            soft_wrap=True,
        )
    if len(wrong) > SHOWN_ROWS:
        out.print(f"  [dim]… and {len(wrong) - SHOWN_ROWS} more (--json shows all)[/]")


@app.command()
def calibrate(
    context: typer.Context,
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help=".tsv, .csv or .jsonl (or .gz) with a, b, same.")],
    max_false_hit_rate: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Share of semantic hits that may be wrong.")
    ] = 0.01,
    output: Annotated[
        Path | None, typer.Option(help="Where the calibration goes. Default: calibration.json in the state folder.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write a calibration whose rate is not proven too; the file says so.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print, and write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Refit the semantic tier on your labelled pairs: the curve, the threshold, and a bound on the false-hit rate.

    The bound is an exact binomial one. Where the pairs are too few to show the rate, it says so and what they do show,
    writes nothing and ends with exit code 1. Workers take a new calibration at their next start.

    Example: [bold]groundwire cache calibrate pairs.tsv --max-false-hit-rate 0.01[/]
    """
    from groundwire.lake.cache.calibration_fit import calibrate as fit
    from groundwire.lake.cache.judge import read_pairs

    session: Session = context.obj
    settings = session.settings()
    labelled = _judge(settings).labelled(_read(lambda: read_pairs(pairs)))
    try:
        fitted = fit(labelled, max_false_hit_rate=max_false_hit_rate, made_from=pairs.name)
    except ValueError as error:
        raise CommandError(f"{pairs}: {error}") from None
    target = output or settings.calibration_path
    written = not dry_run and (fitted.certified or force)
    if written:
        _write(target, json.dumps(fitted.calibration.to_json(), indent=2))
    if as_json:
        print_json({**fitted.to_json(), "written": str(target) if written else None})
    else:
        _show_fitted(fitted)
        if written:
            unproven = "" if fitted.certified else ", though its rate is not proven"
            err.print(f"written{unproven}: {plain(str(target))}; workers take it at their next start", soft_wrap=True)
        elif not dry_run:
            err.print("nothing written: workers go on with what they have; --force writes it all the same")
    if not fitted.certified:
        raise typer.Exit(1)


def _write(target: Path, text: str) -> None:
    """Whole or not at all: a worker that starts meanwhile reads the old one."""
    staged = target.with_name(f"{target.name}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(text, encoding="utf-8")
        staged.replace(target)
    except OSError as error:
        raise CommandError(f"{target}: can't be written: {error.strerror}") from None


def _show_fitted(fitted: "Fitted") -> None:
    table = Table(title="thresholds", title_justify="left")
    for name in ("", "probability", "hits", "wrong", "precision", "recall", "wrong at most"):
        table.add_column(name, justify="right" if name else "left")
    for point in fitted.points:
        chosen = "→" if point == fitted.chosen else ""
        table.add_row(
            chosen,
            f"{point.threshold:.3f}",
            f"{point.hits:,}",
            f"{point.false_hits:,}",
            f"{point.precision:.4f}",
            f"{point.recall:.4f}",
            f"{point.upper_bound:.2%}",
        )
    out.print(table)
    mark = "[green]holds[/]" if fitted.certified else "[yellow]not proven[/]"
    out.print(f"{mark}: {plain(fitted.note)}", soft_wrap=True)


@app.command()
def feedback(
    context: typer.Context,
    request_id: Annotated[str, typer.Argument(metavar="REQUEST_ID", help="Of a semantic hit, as `report` lists it.")],
    wrong: Annotated[bool, typer.Option("--wrong/--right", help="Was the answer served the wrong one?")],
    tenant: Annotated[str | None, typer.Option(help="When the id is used by several tenants.")] = None,
) -> None:
    """Give a verdict on a semantic hit. A wrong one is purged on every node; both kinds are kept as pairs to calibrate on.

    Example: [bold]groundwire cache feedback 6f1c… --wrong[/]
    """
    from groundwire.streams.faces.feedback import find_hit, purge_hit, remember

    session: Session = context.obj
    settings = session.settings()
    hit = find_hit(settings, request_id, tenant)
    if wrong:
        asyncio.run(purge_hit(connected(settings, on_wait=waiting), hit))
    kept = remember(settings, hit, same=not wrong)
    err.print(
        f"{'purged, and kept' if wrong else 'kept'} as a pair in {plain(str(kept))}; "
        f"teach with `groundwire cache calibrate {plain(str(kept))}`",
        soft_wrap=True,
    )


def _judge(settings: Settings) -> "Judge":
    from groundwire.lake.cache.calibration import CalibrationUnusable
    from groundwire.lake.cache.embedder import Embedder
    from groundwire.lake.cache.errors import EmbedderUnavailable
    from groundwire.lake.cache.judge import Judge
    from groundwire.lake.cache.semantic import calibration_of
    from groundwire.streams.stages.query import normalize_query

    semantic = settings.cache.semantic
    try:
        return Judge(
            Embedder.load(settings.cache.embedding, home=settings.home),
            normalize_query,
            calibration_of(settings),
            min_similarity=semantic.min_similarity,
            min_probability=semantic.min_probability,
        )
    except (EmbedderUnavailable, CalibrationUnusable) as error:
        raise CommandError(str(error)) from None


def _read(read: Any) -> Any:
    from groundwire.lake.cache.judge import PairsUnusable

    try:
        return read()
    except PairsUnusable as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: can't be read: {error.strerror}") from None
