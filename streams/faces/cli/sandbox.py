"""`groundwire sandbox`: the vendors' stand-ins alone."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("sandbox")(sandbox)


def sandbox(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 0,
    median_ms: Annotated[float, typer.Option(min=0, help="Median latency, milliseconds; 0: answer at once.")] = 300.0,
    sigma: Annotated[float, typer.Option(min=0, max=3, help="Spread of the log-normal latency.")] = 0.35,
    seed: Annotated[int, typer.Option(help="Of latency and of chance faults.")] = 1,
    invoice: Annotated[Path | None, typer.Option(help="Keep the bill in this file through a kill.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Address and environment variables as one JSON line.")
    ] = False,
) -> None:
    """Serve local stand-ins for all vendors until Ctrl-C: true wire formats, scripted faults, a price list, an invoice.

    Example: [bold]groundwire sandbox --port 8700 --median-ms 100[/]
    """
    from groundwire.adapters.sandbox import serve  # brings a web server

    code = serve(port=port, median_ms=median_ms, sigma=sigma, seed=seed, invoice_file=invoice, as_json=as_json)
    if code:
        raise typer.Exit(code)
