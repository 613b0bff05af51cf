"""`groundwire freshness`: why a question gets its class, and how long its answer may live."""

import time
from typing import Annotated

import typer

from groundwire.streams.faces.cli.terminal import age, out, plain, print_json
from groundwire.streams.faces.session import Session
from groundwire.streams.stages.freshness import explain_freshness

SHOWN_SIGNS = 8


def register(app: typer.Typer) -> None:
    app.command("freshness")(freshness)


def freshness(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(help="The question.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Explain a question's freshness class: what decided, which words and signs spoke for it, and its time to live.

    Example: [bold]groundwire freshness who is the mayor of oslo[/]
    """
    session: Session = context.obj
    settings = session.settings()
    found = explain_freshness(" ".join(query), settings.freshness, asked_at_ms=time.time_ns() // 1_000_000)
    kind, span = found.freshness.kind, found.freshness.span
    ttl_s = settings.cache.ttl_s[kind]
    if as_json:
        print_json(
            {
                "freshness": kind,
                "span": span,
                "ttl_s": ttl_s,
                "decided_by": found.decided_by,
                "words": [{"class": word_class, "word": word} for word_class, word in found.words],
                "changes_with_time": found.probability,
                "static_below": found.threshold,
                "signs": [{"sign": sign, "weight": weight} for sign, weight in found.weighed],
            }
        )
        return
    out.print(f"[bold]{kind}[/], decided by: {found.decided_by}")
    out.print(
        f"  lives        {age(ttl_s)} at most; provider, result domains and the vendor's terms may shorten it",
        soft_wrap=True,
    )
    if span is not None:
        out.print(f"  means        {span}, which is part of its cache key")
    if found.words:
        out.print(
            "  words        " + ", ".join(f"{plain(word)} ({word_class})" for word_class, word in found.words),
            soft_wrap=True,
        )
    if found.probability is not None:
        out.print(f"  changes      with probability {found.probability:.2f}; static below {found.threshold:.2f}")
        out.print(
            "  signs        " + ", ".join(f"{plain(s)} {w:+.2f}" for s, w in found.weighed[:SHOWN_SIGNS]),
            soft_wrap=True,
        )
