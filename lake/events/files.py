"""Which files a table of the lake has, by day."""

import os
from datetime import date
from pathlib import Path

from groundwire.lake.events.tables import Table

_DAY_PREFIX = "date="


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
    """The Parquet files of one day, stray temporary and hidden files aside."""
    return sorted(
        file
        for file in day_folder(lake, table, day).glob("**/*.parquet")
        if not file.name.startswith((".", "_")) and file.is_file()
    )
