"""`groundwire mcp`: the tool for agents."""

from typing import Annotated

import typer

from groundwire.streams.faces.session import Session
from groundwire.streams.runtime.logs import configure_logging


def register(app: typer.Typer) -> None:
    app.command("mcp")(mcp)


def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP on loopback instead of stdio.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port for --http.")] = 8642,
) -> None:
    """Serve one MCP tool, `web_search`, over stdio (or HTTP).

    Example, for a host's configuration: {"command": "groundwire", "args": ["mcp"]}
    """
    # Imported here: the SDK brings a web framework that no other command needs.
    from groundwire.streams.faces.mcp import build_server

    session: Session = context.obj
    settings = session.settings()
    configure_logging(settings.log)  # first come: the SDK's own would paint every line over four
    server = build_server(settings)
    if http:
        server.run("streamable-http", host="127.0.0.1", port=port)
    else:
        server.run("stdio")
