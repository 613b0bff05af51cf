"""`groundwire demo`: what Groundwire is for, in a minute."""

import asyncio
import shutil
import time

import typer

from groundwire.streams.faces.background import start_up, stop
from groundwire.streams.faces.cli.terminal import out, plain
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.program import program
from groundwire.streams.faces.session import Session
from groundwire.streams.runtime.runfile import RunFile


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(context: typer.Context) -> None:
    """Start everything with sandbox vendors, ask questions, check every promise shown, and end. No key, no Docker, no Java.

    Example: [bold]groundwire demo[/]
    """
    from groundwire.streams.faces.demo import show  # brings the report and all it stands on

    session: Session = context.obj
    settings = session.settings()
    settings = settings.model_copy(update={"home": (settings.home / "demo").absolute(), "brokers": None})
    if RunFile.read(settings.home) is not None:
        raise CommandError(f"a demo is running already (state folder {settings.home})")
    try:
        shutil.rmtree(settings.home, ignore_errors=True)
        settings.home.mkdir(parents=True)
    except OSError as error:
        raise CommandError(
            f"the state folder {settings.home} can't be written: {error.strerror}; set GROUNDWIRE_HOME"
        ) from None
    started = time.monotonic()
    out.print(
        "[bold]Groundwire[/] puts one gateway between your agents and the web-search vendors: answers are shared "
        "and cached, vendors can be swapped and may fail, and every cent is on the record. This demo runs all of it on this "
        "machine, with stand-ins for the vendors (sandbox: real wire formats, a made-up little web, a price list, an invoice)."
    )
    out.print("\n[dim]starting an embedded broker, five workers and the sandbox vendors …[/]")
    process, running = start_up(settings.home, "--sandbox", environ={"GROUNDWIRE_LAKE__FLUSH_INTERVAL_S": "0.5"})
    try:
        out.print(f"[dim]ready after {time.monotonic() - started:.1f} s[/]")
        failures = asyncio.run(show(out, settings, running))
    finally:
        stop(process)
    out.print()
    out.rule("[bold]How to go on[/]", align="left")
    home, name = plain(str(settings.home)), plain(program())
    out.print(
        f"  the Parquet    {home}/lake   (Polars: groundwire.lake.scan, DuckDB, pandas)\n"
        f"  the report     {name} --home {home} report   ·   --html report.html for plots\n"
        f"  keep it on     {name} up --sandbox, then in another terminal: {name} search why is the sky blue\n"
        f"  real vendors   set a vendor's key ({name} providers list names the variables), then: {name} up\n"
        f"  a real Kafka   {name} up --brokers host:9092\n"
        f"  for agents     {name} mcp   (one tool: web_search)",
        soft_wrap=True,
    )
    seconds = time.monotonic() - started
    if failures:
        out.print(f"\n[red]{len(failures)} promise(s) did not hold[/] ({seconds:.0f} s):")
        for text in failures:
            out.print(f"  [red]✗[/] {text}")
        raise typer.Exit(1)
    out.print(f"\n[green]every promise shown held[/] ({seconds:.0f} s)")
