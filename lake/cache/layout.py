"""How the view lies in LanceDB.

    entries_<seq>                   segments: every change in order, each row with its sequence number. The name carries the
                                    first one, so the names sort by age and tell which segment holds a sequence number.
                                    Only the newest takes rows; a full one is sealed and from then on only shrinks.
    vectors__<model>__<dimensions>  the vectors of sealed segments, under an index

One table would have to be rewritten as a whole at every compaction (200 MB a minute at 100,000 entries); a segment's
compaction is bounded by a segment.

A row is an entry put, or the positions in the log up to which the view has followed (written in the same commit as the
rows before it, so that they can neither lead nor lag), or the mark that something was deleted. An entry with the same key
and a higher sequence number supersedes an older one.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from groundwire.lake.cache.keys import hash64
from groundwire.lake.cache.purge import domain_labels
from groundwire.schemas.cache_write import CacheEntry

PUT, POSITIONS, DELETED = 0, 1, 2
SEGMENT = re.compile(r"entries_(\d{16})")

SEGMENT_SCHEMA = pa.schema(
    [
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("key_hash", pa.int64(), nullable=False),
        pa.field("facet_hash", pa.int64(), nullable=False),
        pa.field("provider", pa.string()),
        pa.field("tenant", pa.string()),
        pa.field("freshness", pa.string()),
        pa.field("normalized_query", pa.string()),
        pa.field("domains", pa.string()),
        pa.field("stored_at_ms", pa.int64(), nullable=False),
        pa.field("expires_at_ms", pa.int64(), nullable=False),
        pa.field("body", pa.string()),
        pa.field("model", pa.string()),
        pa.field("vector", pa.binary()),
    ]
)
# Name of the index on the vectors; behind it stands how many rows it was laid out for.
INDEX_PREFIX = "vector_at_"
# What a reader's key index is made of.
INDEX_COLUMNS = ["seq", "kind", "key_hash", "expires_at_ms"]
VECTOR_COLUMNS = ["seq", "kind", "key_hash", "facet_hash", "normalized_query", "model", "vector"]


def segment_name(first_seq: int) -> str:
    return f"entries_{first_seq:016d}"


def first_seq(name: str) -> int | None:
    """The first sequence number of a segment, or None when the name is not a segment's."""
    found = SEGMENT.fullmatch(name)
    return int(found.group(1)) if found else None


def vectors_name(model: str, dimensions: int) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")
    return f"vectors__{slug}__{dimensions}"


def vectors_schema(dimensions: int) -> pa.Schema:
    """`found` is all a search has to fetch of a row (see `Found`): one column read instead of four halves its time."""
    return pa.schema(
        [
            pa.field("seq", pa.int64(), nullable=False),
            pa.field("facet_hash", pa.int64(), nullable=False),
            pa.field("vector", pa.list_(pa.float16(), dimensions)),
            pa.field("found", pa.binary()),
        ]
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What a search by vector reads of a row: number, key hash, the vector itself, and the stored question."""

    seq: int
    key_hash: int
    packed: bytes
    query: str

    _HEAD: ClassVar[struct.Struct] = struct.Struct("<qq")

    def encode(self) -> bytes:
        return self._HEAD.pack(self.seq, self.key_hash) + self.packed + self.query.encode()

    @classmethod
    def decode(cls, value: bytes, dimensions: int) -> "Found":
        seq, key_hash = cls._HEAD.unpack_from(value)
        end = cls._HEAD.size + 2 * dimensions
        return cls(seq, key_hash, value[cls._HEAD.size : end], value[end:].decode())


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector as it is stored: little-endian half precision, and the model that made it."""

    model: str
    packed: bytes


def vector_of(entry: CacheEntry) -> Vector | None:
    """The vector that came with the entry, or None when there is none or its length is not what it says."""
    embedding = entry.embedding
    if embedding is None:
        return None
    try:
        packed = base64.b64decode(embedding.float16, validate=True)
    except binascii.Error:
        return None
    return Vector(embedding.model, packed) if len(packed) == 2 * embedding.dimensions else None


def with_vectors(rows: pa.Table, model: str, dimensions: int) -> pa.Table:
    """The rows that have a vector of this model and length, in rising order of their numbers."""
    vectors = rows["vector"]
    fits = pc.and_(pc.equal(rows["model"], model), pc.equal(pc.binary_length(vectors), 2 * dimensions))
    rows = rows.filter(fits)
    seqs = rows["seq"].to_numpy()
    return rows if (seqs[1:] > seqs[:-1]).all() else rows.sort_by("seq")


def packed_rows(vectors: pa.ChunkedArray, dimensions: int) -> npt.NDArray[np.float16]:
    """Stored vectors, all of one length, as rows. Copies once, without an object for each."""
    rows = np.empty((len(vectors), dimensions), "<f2")
    at = 0
    for chunk in vectors.chunks:
        fixed = chunk.cast(pa.binary(2 * dimensions))
        values = np.frombuffer(fixed.buffers()[1], "<f2", len(fixed) * dimensions, 2 * dimensions * fixed.offset)
        rows[at : at + len(fixed)] = values.reshape(len(fixed), dimensions)
        at += len(fixed)
    return rows


def unpacked(vectors: pa.ChunkedArray, dimensions: int) -> npt.NDArray[np.float32]:
    """Stored vectors as rows of length 1."""
    return unit_rows(packed_rows(vectors, dimensions))


def unit_rows(packed: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Half-precision rows as rows of length 1, from which half precision has moved them a little."""
    rows = packed.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows


def put_row(seq: int, entry: CacheEntry, vector: Vector | None) -> dict[str, Any]:
    body = entry if entry.embedding is None else entry.model_copy(update={"embedding": None})
    return {
        "seq": seq,
        "kind": PUT,
        "key_hash": hash64(entry.cache_key),
        "facet_hash": hash64(entry.facet),
        "provider": entry.provider,
        "tenant": entry.tenant,
        "freshness": entry.freshness,
        "normalized_query": entry.normalized_query,
        "domains": domain_labels(entry),
        "stored_at_ms": entry.stored_at_ms,
        "expires_at_ms": entry.expires_at_ms,
        "body": body.model_dump_json(),
        "model": None if vector is None else vector.model,
        "vector": None if vector is None else vector.packed,
    }


def positions_row(seq: int, log: str, positions: Mapping[int, int]) -> dict[str, Any]:
    """Where the view stands in the log: next offset by partition. `log` tells one log from another."""
    body = json.dumps({"log": log, "positions": {str(partition): offset for partition, offset in positions.items()}})
    return _bare_row(seq, POSITIONS) | {"body": body}


def read_positions(body: str) -> tuple[str, dict[int, int]]:
    """Log and positions out of a positions row. Raises ValueError."""
    document = json.loads(body)
    return document["log"], {int(partition): int(offset) for partition, offset in document["positions"].items()}


def deleted_row(seq: int) -> dict[str, Any]:
    """The mark that tells readers to read all keys anew."""
    return _bare_row(seq, DELETED)


def _bare_row(seq: int, kind: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "kind": kind,
        "key_hash": 0,
        "facet_hash": 0,
        "stored_at_ms": 0,
        "expires_at_ms": 0,
    }
