"""The vendors' local stand-ins as a process, and the bill they would send."""

import json
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from .processes import Process

GROUNDWIRE = str(Path(sys.executable).parent / "groundwire")


class Vendors:
    """`groundwire sandbox`, started by the constructor. `environ` points workers at it."""

    def __init__(self, folder: Path, environ: dict[str, str], *, median_ms: float = 50.0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.process = Process(
            "vendors",
            [
                *[GROUNDWIRE, "sandbox", "--json", "--port", "0", "--median-ms", str(median_ms)],
                *["--invoice", str(folder / "invoice")],
            ],
            log=folder / "vendors.log",
            environ=environ,
        )
        self.process.wait_for('"address"', 30)
        said = next(line for line in self.process.output().splitlines() if line.startswith("{"))
        self.address: str = json.loads(said)["address"]
        self.environ: dict[str, str] = json.loads(said)["environment"]

    def invoice(self) -> dict[str, Any]:
        """`total_micro_usd`, and by provider `calls`, `billed_calls`, `micro_usd`."""
        return self._ask("GET", "invoice")

    def calls(self, query: str | None = None, *, limit: int = 1_000_000) -> dict[str, Any]:
        """`count`, `by_vendor`, and `repeated`: questions that reached one vendor more than once, with how often."""
        asked = {"limit": str(limit)} | ({"query": query} if query is not None else {})
        return self._ask("GET", "calls?" + urllib.parse.urlencode(asked))

    def fault(self, **fault: Any) -> None:
        self._ask("POST", "faults", fault)

    def heal(self) -> None:
        self._ask("DELETE", "faults")

    def pace(self, median_ms: float) -> None:
        self._ask("POST", "latency", {"median_ms": median_ms})

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.address}/_control/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            document: dict[str, Any] = json.load(answer)
            return document
