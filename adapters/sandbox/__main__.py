"""`python -m groundwire.adapters.sandbox`: the vendors' stand-ins as a process."""

import argparse
import sys
from pathlib import Path

from groundwire.adapters.sandbox import serve


def main(arguments: list[str] | None = None) -> int:
    """Parses the flags and serves."""
    parser = argparse.ArgumentParser(
        prog="python -m groundwire.adapters.sandbox",
        description="Local stand-ins for search vendors, on loopback. No key is needed and nothing is paid.",
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--median-ms", type=float, default=300.0, help="median latency; 0: answer at once")
    parser.add_argument("--sigma", type=float, default=0.35, help="spread of the log-normal latency")
    parser.add_argument("--seed", type=int, default=1, help="of latency and of chance faults")
    parser.add_argument("--invoice", type=Path, default=None, metavar="FILE", help="keeps the bill through a kill")
    parser.add_argument("--json", action="store_true", help="print the address and the environment as one JSON line")
    parser.add_argument("--with-parent", action="store_true", help="end when the process that started this one ends")
    given = parser.parse_args(arguments)
    return serve(
        port=given.port,
        median_ms=given.median_ms,
        sigma=given.sigma,
        seed=given.seed,
        invoice_file=given.invoice,
        as_json=given.json,
        with_parent=given.with_parent,
    )


if __name__ == "__main__":
    sys.exit(main())
