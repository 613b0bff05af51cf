"""A sandbox as a process: says where it is, serves until it is told to end."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

from groundwire.adapters.sandbox.environment import sandbox_environment
from groundwire.adapters.sandbox.server import Sandbox

PARENT_CHECK_S = 0.5


def serve(
    *,
    port: int = 0,
    median_ms: float = 300.0,
    sigma: float = 0.35,
    seed: int = 1,
    invoice_file: Path | None = None,
    as_json: bool = False,
    with_parent: bool = False,
) -> int:
    """Serves until SIGTERM or SIGINT, and answers with the exit code: 0, or 2 when the port or the file can't be had.

    Prints one line with the address as soon as it is listening. `with_parent`: ends when the process that started it does.
    """
    try:
        sandbox = Sandbox(port=port, median_ms=median_ms, sigma=sigma, seed=seed, invoice_file=invoice_file)
    except OSError as error:
        sys.stderr.write(f"The sandbox can't keep its invoice in {invoice_file}: {error.strerror or error}\n")
        return 2
    try:
        asyncio.run(_serve(sandbox, as_json=as_json, with_parent=with_parent))
    except OSError as error:
        sys.stderr.write(f"The sandbox can't listen on 127.0.0.1:{port}: {error.strerror or error}\n")
        return 2
    return 0


async def _serve(sandbox: Sandbox, *, as_json: bool, with_parent: bool) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with sandbox:
        if as_json:
            line = json.dumps({"address": sandbox.address, "environment": sandbox_environment(sandbox.address)})
        else:
            line = f"Sandbox vendors are listening on {sandbox.address} (control: {sandbox.address}/_control/invoice)"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        parent = os.getppid()
        while not ended.is_set() and (not with_parent or os.getppid() == parent):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), PARENT_CHECK_S if with_parent else None)
