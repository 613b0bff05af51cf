"""What is kept: the cache view, the Parquet lake of events, and the reports made from it.

The only room of the house that touches LanceDB, Arrow, Polars and the embedding model.

`scan` and `left_out` are what an analyst needs; they are loaded at first use, so that a worker that needs only the cache
does not carry Polars.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundwire.lake.events.scan import left_out, scan

__all__ = ["left_out", "scan"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from groundwire.lake.events import scan as reading

        return getattr(reading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
