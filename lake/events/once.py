"""Each event once: which of several copies of an event is kept.

Delivery is at least once, so a crash may leave an event in two files. Copies of one delivery are equal and it does not
matter which is kept. Two rows of one request differ when a crash lay between: the vendor was paid for the first and the
second came from the cache. Then the row that paid is kept. Of one attempt, `lost` gives way to the outcome that came later.
"""

import polars as pl

from groundwire.lake.events.tables import Table

_PAID = (pl.col("cost_micro_usd").fill_null(0) > 0) | (
    pl.col("cost_micro_usd").is_null() & (pl.col("attempts").fill_null(0) > 0)
)
_PLACE = ("topic", "partition", "offset")

# Best first. The place in the log comes last, so that every reader keeps the same row.
_RANKS: dict[str, list[pl.Expr]] = {
    "requests": [
        ~_PAID,
        -pl.col("cost_micro_usd").fill_null(-1),
        -pl.col("attempts").fill_null(0),
        pl.col("completed_at"),
    ],
    "attempts": [
        pl.col("outcome") == "lost",
        -pl.col("cost_micro_usd").fill_null(-1),
        pl.col("started_at"),
    ],
}
_RANK_COLUMNS: dict[str, tuple[str, ...]] = {
    "requests": ("event_id", "cost_micro_usd", "attempts", "completed_at", *_PLACE),
    "attempts": ("event_id", "outcome", "cost_micro_usd", "started_at", *_PLACE),
}


def rank_columns(table: Table) -> tuple[str, ...]:
    """The columns `best_of` needs."""
    return _RANK_COLUMNS[table.name]


def best_first(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of preference; of the rows of one event the first is the one to keep."""
    return rows.sort([*_RANKS[table.name], *_PLACE])


def keep_mask(table: Table, rows: pl.DataFrame) -> pl.Series | None:
    """Which rows to keep so that each event is there once; None when all of them. Rows without an id are all kept."""
    # Counting hashes is twenty times faster than comparing texts, and nearly always settles it.
    hashes = rows["event_id"].drop_nulls().hash()
    if hashes.n_unique() == hashes.len():
        return None
    doubled = rows["event_id"].is_duplicated() & rows["event_id"].is_not_null()
    copies = rows.select(rank_columns(table)).with_row_index("_row").filter(doubled)
    kept = best_first(table, copies).unique("event_id", keep="first", maintain_order=True)["_row"]
    mask = (~doubled).to_numpy().copy()
    mask[kept.to_numpy()] = True
    return pl.Series(mask)
