"""Which files a table of the lake has, by day, and what their names say.

A name ends in a digest of the file's bytes, `<stem>.<digest>.parquet`. The same rows make the same bytes and so the same
name: written again they replace their file and double nothing. Other rows never do. And a file whose bytes still fit its
name is as it was written, to the last bit.
"""

import hashlib
import os
import re
from datetime import date
from pathlib import Path

from groundwire.lake.events.tables import Table

_DAY_PREFIX = "date="
_STATED = re.compile(r"\.([0-9a-f]{16})\.parquet$")


def default_lake_path() -> Path:
    """Where the lake is when nobody says: GROUNDWIRE_LAKE__PATH, else `lake` in GROUNDWIRE_HOME, else `.groundwire/lake`."""
    path = os.environ.get("GROUNDWIRE_LAKE__PATH")
    return Path(path) if path else Path(os.environ.get("GROUNDWIRE_HOME") or ".groundwire") / "lake"


def days(lake: Path, table: Table) -> list[date]:
    """The days a table has a folder for, in order; none when there is no lake yet."""
    try:
        names = [entry.name for entry in (lake / table.name).iterdir() if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in names:
        if name.startswith(_DAY_PREFIX):
            try:
                found.append(date.fromisoformat(name.removeprefix(_DAY_PREFIX)))
            except ValueError:
                continue  # a stray folder
    return sorted(found)


def day_folder(lake: Path, table: Table, day: date) -> Path:
    return lake / table.name / f"{_DAY_PREFIX}{day.isoformat()}"


def day_files(lake: Path, table: Table, day: date) -> list[Path]:
    """The Parquet files of one day, stray temporary and hidden files aside.

    Listing a folder is not one moment: while compaction puts the merged file there and removes its sources, a listing may
    miss the one and the others. Two equal listings, one after the other, can't both have: the merged file stands before
    the first source goes, so the second would see it.
    """
    folder = day_folder(lake, table, day)
    found = _listing(folder)
    while (again := _listing(folder)) != found:
        found = again
    return found


def _listing(folder: Path) -> list[Path]:
    return sorted(
        Path(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(".parquet") and not name.startswith((".", "_"))
    )


def file_name(stem: str, digest: str) -> str:
    return f"{stem}.{digest}.parquet"


def stated_digest(file: Path) -> str | None:
    """The digest in a file's name; None when it is not a name of ours."""
    found = _STATED.search(file.name)
    return found[1] if found else None


def digest_of(file: Path) -> str:
    """The digest of a file's bytes, as names state it. Raises OSError."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
