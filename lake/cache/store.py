"""The LanceDB folder of a view: which tables it has, opening, reading and deleting, with errors that say what to do."""

import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa

from groundwire.lake.cache.errors import store_errors
from groundwire.lake.cache.layout import first_seq
from groundwire.lake.cache.memory import give_memory_back

# LanceDB would keep up to 7 GB of index and metadata in memory for each process.
_INDEX_CACHE_BYTES = 64 * 1024 * 1024
_METADATA_CACHE_BYTES = 16 * 1024 * 1024
_NO_LIMIT = 2**31 - 1


class Store:
    """One folder of tables. Handles are kept open; each is brought up to date with `latest`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: Any = None
        self._tables: dict[str, Any] = {}
        self._lock = threading.Lock()

    def table_names(self) -> list[str]:
        """Tables by their folders, in the order of their names."""
        try:
            return sorted(folder.name.removesuffix(".lance") for folder in self.path.glob("*.lance"))
        except FileNotFoundError:
            return []

    def segments(self) -> list[str]:
        """Segments, oldest first."""
        return [name for name in self.table_names() if first_seq(name) is not None]

    def folder(self, name: str) -> Path:
        return self.path / f"{name}.lance"

    def versions(self, name: str) -> int:
        """How many versions of a table there are; 0 when it is just being made."""
        return sum(1 for _ in (self.folder(name) / "_versions").glob("*.manifest"))

    def table(self, name: str) -> Any:
        """An open table. Raises ViewDamaged when it is not there or can't be read, OSError."""
        found = self._tables.get(name)
        if found is not None:  # without the lock: the event loop must not wait for a thread that opens another table
            return found
        with self._lock, store_errors(self.folder(name)):
            found = self._tables.get(name)
            if found is None:
                found = self._tables[name] = self._connect().open_table(name)
            return found

    def is_open(self, name: str) -> bool:
        return name in self._tables

    def asynchronous(self, name: str) -> Any:
        """The asynchronous side of an open table, at the version that the table is at.

        LanceDB's synchronous calls go through a thread of its own and back six times a query, which costs more than the
        query. The attribute is private to LanceDB, whose version is pinned; a test holds it.
        """
        return self.table(name)._table

    def create(self, name: str, schema: pa.Schema, rows: pa.Table | None = None) -> Any:
        """A new table. Raises OSError."""
        with self._lock, store_errors(self.folder(name)):
            created = self._tables[name] = self._connect().create_table(name, data=rows, schema=schema)
            return created

    def latest(self, name: str) -> Any:
        """An open table at its newest version."""
        table = self.table(name)
        with store_errors(self.folder(name)):
            table.checkout_latest()
        return table

    def forget(self, name: str) -> None:
        """Close a table's handle."""
        with self._lock:
            self._tables.pop(name, None)

    def read(self, name: str, columns: Sequence[str], where: str | None = None) -> pa.Table:
        """Rows of a table, in no promised order."""
        table = self.table(name)
        with store_errors(self.folder(name)):
            query = table.search().select(list(columns)).limit(_NO_LIMIT)
            if where is not None:
                query = query.where(where)
            return query.to_arrow()

    def tail(self, name: str, columns: Sequence[str], rows: int) -> pa.Table:
        """The last rows of a table in the order they were written. Touches the newest files only."""
        table = self.table(name)
        with store_errors(self.folder(name)):
            count = table.count_rows()
            offsets = list(range(max(0, count - rows), count))
            if not offsets:
                return self.read(name, columns, "false")
            return table.take_offsets(offsets).select(list(columns)).to_arrow()

    def count(self, name: str) -> int:
        table = self.table(name)
        with store_errors(self.folder(name)):
            return int(table.count_rows())

    def add(self, name: str, rows: pa.Table) -> None:
        table = self.table(name)
        with store_errors(self.folder(name)):
            table.add(rows)

    def delete(self, name: str, where: str) -> int:
        """Delete rows; returns how many."""
        table = self.table(name)
        with store_errors(self.folder(name)):
            return int(table.delete(where).num_deleted_rows)

    def drop(self, name: str) -> None:
        self.forget(name)
        with store_errors(self.folder(name)):
            self._connect().drop_table(name)

    def close(self) -> None:
        with self._lock:
            self._tables.clear()
            self._connection = None

    def _connect(self) -> Any:
        if self._connection is None:
            give_memory_back()
            # Arrow's own pool would keep whatever it has ever had.
            pa.set_memory_pool(pa.system_memory_pool())
            session = lancedb.Session(
                index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._connection = lancedb.connect(self.path, session=session)
        return self._connection
