"""`groundwire asyncapi`: the outside contract as an AsyncAPI 3 document."""

import typer

from groundwire.streams.faces.asyncapi import document
from groundwire.streams.faces.cli.terminal import print_json


def register(app: typer.Typer) -> None:
    app.command("asyncapi")(asyncapi)


def asyncapi() -> None:
    """Print the AsyncAPI 3 document of the topics, made from the schemas.

    Example: [bold]groundwire asyncapi > asyncapi.json[/]
    """
    print_json(document())
