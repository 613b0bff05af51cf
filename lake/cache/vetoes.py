"""Pairs that a person has called wrong: never served for each other again, whatever the verifier makes of them."""

import json
import time
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 1.0


class Vetoes:
    """Reads `feedback.jsonl` and follows it while it grows. A later verdict on a pair undoes an earlier one.

    A line is `a` (stored), `b` (asked), both normalized, and `same`, 0 or 1: the same form that `cache calibrate` reads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pairs: frozenset[tuple[str, str]] = frozenset()
        self._stamp: tuple[int, int] | None = None
        self._looked_at = 0.0

    def forbids(self, asked: str, stored: str) -> bool:
        """Whether the answer stored for one normalized question must not be served for the other."""
        now = time.monotonic()
        if now - self._looked_at >= _LOOK_EVERY_S:
            self._looked_at = now
            self._look()
        return (stored, asked) in self._pairs

    def _look(self) -> None:
        try:
            found = self._path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp == self._stamp:
                return
            self._pairs = _read(self._path)
            self._stamp = stamp
        except FileNotFoundError:
            self._pairs, self._stamp = frozenset(), None
        except (OSError, ValueError, KeyError, TypeError) as error:
            # What is known already still holds.
            log.warning("verdicts on semantic hits can't be read", file=str(self._path), error=str(error))


def _read(path: Path) -> frozenset[tuple[str, str]]:
    verdicts: dict[tuple[str, str], bool] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        row = json.loads(line)
        verdicts[str(row["a"]), str(row["b"])] = not row["same"]
    return frozenset(pair for pair, wrong in verdicts.items() if wrong)
