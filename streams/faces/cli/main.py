"""The program: global options, the list of commands, and one way for errors to end (a message, exit code 2)."""

import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from groundwire.streams.faces.cli import (
    ask,
    asyncapi,
    cache,
    dead_letters,
    demo,
    doctor,
    experiment,
    freshness,
    lake,
    mcp,
    payloads,
    providers,
    replay,
    report,
    run,
    sandbox,
    topics,
)
from groundwire.streams.faces.cli.terminal import err, plain
from groundwire.streams.faces.client import ClientError
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session
from groundwire.streams.runtime.broker import BrokerUnavailable
from groundwire.streams.runtime.configuration import ConfigurationError
from groundwire.streams.runtime.topics_admin import BrokerUnreachable

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Web search for LLM agents as a streaming gateway: cached, audited, any vendor.\n\n"
    "Begin with [bold]groundwire demo[/], or start it with [bold]groundwire up --sandbox[/] and ask: "
    "[bold]groundwire search how does photosynthesis work[/]",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"groundwire {version('groundwire')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings file. Default: groundwire.yaml here, if there is one.")
    ] = None,
    home: Annotated[
        Path | None, typer.Option("--home", help="State folder. Default: GROUNDWIRE_HOME or .groundwire")
    ] = None,
    _version_asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    context.obj = Session(config=config, flags={"home": home} if home is not None else {})


run.register(app)
ask.register(app)
replay.register(app)
report.register(app)
demo.register(app)
doctor.register(app)
freshness.register(app)
asyncapi.register(app)
mcp.register(app)
sandbox.register(app)
app.add_typer(cache.app, name="cache")
app.add_typer(providers.app, name="providers")
app.add_typer(topics.app, name="topics")
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(payloads.app, name="payloads")
app.add_typer(lake.app, name="lake")
app.add_typer(experiment.app, name="experiment")


def main() -> int:
    """Run one command. 0 done, 1 found wanting, 2 misuse or something missing, 130 interrupted."""
    # A command says itself what went wrong; without a handler, aiokafka's own lines would stand around it. Those that run
    # for long set up logging of their own.
    logging.getLogger("aiokafka").addHandler(logging.NullHandler())
    try:
        app()
    except (CommandError, ClientError, ConfigurationError, BrokerUnavailable, BrokerUnreachable) as error:
        err.print(f"[red]groundwire:[/] {plain(str(error))}", soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output is gone (`| head`): nothing more to say, and nobody to say it to.
        sys.stderr.close()
        return 0
    return 0
