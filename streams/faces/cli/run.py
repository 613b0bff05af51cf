"""`groundwire up` and `groundwire worker`: the pipeline itself."""

import asyncio
import os
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import ROLES
from groundwire.streams.faces.cli.terminal import err, plain
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.program import program
from groundwire.streams.faces.session import Session
from groundwire.streams.runtime.configuration import load_settings
from groundwire.streams.runtime.logs import configure_logging
from groundwire.streams.runtime.runfile import AlreadyRunning, HomeUnwritable, RunFile
from groundwire.streams.runtime.worker import run_and_exit

if TYPE_CHECKING:
    from groundwire.streams.runtime.supervisor import Supervisor


def register(app: typer.Typer) -> None:
    app.command("up")(up)
    app.command("worker")(worker)


def up(
    context: typer.Context,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Local stand-ins for all vendors: no key, no money.")
    ] = False,
    brokers: Annotated[
        str | None, typer.Option("--brokers", help="A Kafka of yours, host:port; default: the embedded one.")
    ] = None,
    median_ms: Annotated[
        float, typer.Option(min=0, help="With --sandbox: the vendors' median latency, milliseconds.")
    ] = 300.0,
) -> None:
    """Run everything on this machine until Ctrl-C: broker, all roles, and with --sandbox the vendors too.

    Example: [bold]groundwire up --sandbox[/]
    """
    from groundwire.streams.runtime.supervisor import RoleFailed, Supervisor  # brings the sandbox

    session: Session = context.obj
    flags = {**session.flags, "brokers": brokers}

    def load(environ: Mapping[str, str]) -> Settings:
        return load_settings(session.config, environ, flags)

    configure_logging(load(os.environ).log)
    supervisor = Supervisor(load, os.environ, say=_say, sandbox=["--median-ms", str(median_ms)] if sandbox else None)
    try:
        asyncio.run(_run(supervisor))
    except (AlreadyRunning, HomeUnwritable, RoleFailed) as error:
        raise CommandError(str(error)) from None


async def _run(supervisor: "Supervisor") -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    err.print("[dim]starting …[/]")
    await supervisor.run(stop, _ready)
    err.print("[dim]ended[/]")


def _ready(running: RunFile, settings: Settings) -> None:
    broker = "the embedded broker" if running.embedded else "Kafka"
    name = plain(program())
    err.print(
        f"Groundwire is ready: {broker} at {running.brokers}, state in {plain(str(settings.home))}\n"
        + (f"  vendors    sandbox at {running.sandbox} (invoice: /_control/invoice)\n" if running.sandbox else "")
        + f"  ask        {name} search how does photosynthesis work\n"
        f"  look       {name} report · {name} doctor\n"
        "  end        Ctrl-C",
        soft_wrap=True,
    )


def _say(name: str, line: str) -> None:
    err.print(f"[dim]{name:<12}[/] {plain(line)}", soft_wrap=True)


def worker(
    context: typer.Context,
    role: Annotated[str, typer.Argument(help=" | ".join(ROLES))],
    brokers: Annotated[str | None, typer.Option("--brokers", help="host:port, comma-separated.")] = None,
) -> None:
    """Run one role, for many machines. SIGTERM ends it within 10 s; what it had begun is finished, or left to others.

    Example: [bold]GROUNDWIRE_BROKERS=kafka:9092 groundwire worker fetch[/]
    """
    if role not in ROLES:
        raise CommandError(f"no role `{role[:64]}`; there are: {', '.join(ROLES)}")
    session: Session = context.obj
    settings = session.settings(brokers=brokers)
    configure_logging(settings.log)
    run_and_exit(role, settings, session.environment({"home": settings.home}))
