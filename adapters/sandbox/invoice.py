"""What each vendor would bill, counted where the vendor counts: as soon as an answer is computed.

With a file, each call is appended before its answer leaves, so that the bill outlives a killed sandbox; a line that a kill
cut short is a call whose answer never left, and is not counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass(slots=True)
class Line:
    """One vendor's line of the invoice."""

    calls: int = 0
    billed_calls: int = 0
    micro_usd: int = 0

    def add(self, micro_usd: int | None) -> None:
        self.calls += 1
        if micro_usd is not None:
            self.billed_calls += 1
            self.micro_usd += micro_usd


class Invoice:
    """Calls, billed calls and money by vendor. One sandbox writes one file."""

    def __init__(self, vendors: Iterable[str], file: Path | None = None) -> None:
        self._lines = {name: Line() for name in vendors}
        self._path = file
        self._file: BinaryIO | None = None
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists():
                self._read(file)
            self._file = file.open("ab", buffering=0)

    def _read(self, file: Path) -> None:
        whole = file.read_bytes()
        kept, newline, torn = whole.rpartition(b"\n")
        for row in kept.decode().splitlines():
            vendor, _, amount = row.partition(" ")
            if vendor in self._lines:
                self._lines[vendor].add(int(amount) if amount != "-" else None)
        if torn:
            file.write_bytes(kept + newline)

    def book(self, vendor: str, micro_usd: int | None) -> None:
        """One call; None: a call that is not billed."""
        if self._file is not None:
            self._file.write(f"{vendor} {'-' if micro_usd is None else micro_usd}\n".encode())
        self._lines[vendor].add(micro_usd)

    def reset(self) -> None:
        """A clean sheet, in the file too."""
        for name in self._lines:
            self._lines[name] = Line()
        if self._file is not None:
            self._file.truncate(0)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def total_micro_usd(self) -> int:
        return sum(line.micro_usd for line in self._lines.values())

    def line(self, vendor: str) -> Line:
        return self._lines[vendor]

    def as_dict(self) -> dict[str, object]:
        """The shape of GET /_control/invoice; vendors that were never called are left out."""
        return {
            "total_micro_usd": self.total_micro_usd,
            "providers": {
                name: {"calls": line.calls, "billed_calls": line.billed_calls, "micro_usd": line.micro_usd}
                for name, line in self._lines.items()
                if line.calls
            },
        }
