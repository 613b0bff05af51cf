"""What a writer does about files it can't read: a crash in the middle of making a table, or a disk that lied.

The log holds everything, so nothing is repaired: what can't be read is set aside, and the log is read again from where the
last readable segment before it stood.
"""

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from groundwire.lake.cache.errors import ViewDamaged, os_error
from groundwire.lake.cache.layout import INDEX_COLUMNS
from groundwire.lake.cache.store import Store

log = structlog.get_logger(__name__)

ASIDE = "damaged"
_KEPT_ASIDE = 3


@dataclass(slots=True)
class Recovery:
    """Segments that can be read, oldest first; `trusted` are those before the first that could not."""

    segments: list[str] = field(default_factory=list)
    trusted: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def message(self) -> str | None:
        if not self.damaged:
            return None
        return (
            f"{', '.join(self.damaged)} of the cache view can't be read: set aside in `{ASIDE}`, "
            "and read again from the log as far as the log still has it"
        )


def recover(store: Store) -> Recovery:
    """Look through all segments and set aside what can't be read. Raises OSError."""
    recovery = Recovery()
    for name in store.segments():
        folder = store.folder(name)
        try:
            store.read(name, INDEX_COLUMNS)
        except ViewDamaged as error:
            store.forget(name)
            if store.versions(name) == 0:
                # A crash while a table was being made: nothing in it was ever acknowledged.
                _remove(folder)
            else:
                log.error("a segment of the cache view can't be read", segment=name, error=str(error))
                _set_aside(folder)
                recovery.damaged.append(name)
            continue
        recovery.segments.append(name)
        if not recovery.damaged:
            recovery.trusted.append(name)
    return recovery


def _set_aside(folder: Path) -> None:
    aside = folder.parent / ASIDE
    try:
        aside.mkdir(exist_ok=True)
        folder.rename(aside / f"{folder.stem}-{time.time_ns()}")
    except OSError as error:
        raise os_error(error.errno or 0, folder) from error
    for old in sorted(aside.iterdir(), key=lambda one: one.stat().st_mtime)[:-_KEPT_ASIDE]:
        shutil.rmtree(old, ignore_errors=True)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise os_error(error.errno or 0, folder) from error
