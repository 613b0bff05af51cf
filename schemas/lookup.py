"""`search.lookups.v1` and `search.fetches.v1`: a planned request on its way to the cache, and from a miss to the vendors."""

import base64
import struct

from pydantic import BaseModel, Field

from groundwire.schemas.plan import PLAN_CONFIG, Plan
from groundwire.schemas.record import Record
from groundwire.schemas.reply import Result


class Embedding(BaseModel):
    """A query's vector, carried along so that no later stage computes it again.

    Half precision, little endian, base64: 1 KB for 384 dimensions; the cosine changes by less than 0.0001.
    """

    model_config = PLAN_CONFIG

    model: str
    dimensions: int = Field(ge=1)
    float16: str

    @classmethod
    def of(cls, model: str, vector: list[float]) -> "Embedding":
        packed = struct.pack(f"<{len(vector)}e", *vector)
        return cls(model=model, dimensions=len(vector), float16=base64.b64encode(packed).decode())

    def vector(self) -> list[float]:
        """The components as floats. Raises ValueError when length and `dimensions` disagree."""
        packed = base64.b64decode(self.float16, validate=True)
        if len(packed) != 2 * self.dimensions:
            raise ValueError(f"embedding of {len(packed)} bytes, {2 * self.dimensions} expected")
        return list(struct.unpack(f"<{self.dimensions}e", packed))


class StaleAnswer(BaseModel):
    """An answer past its end that may be served, flagged, when nobody answers. Only there when the operator allows it."""

    model_config = PLAN_CONFIG

    provider: str
    results: list[Result]
    cost_micro_usd: int | None
    stored_at_ms: int
    expires_at_ms: int


class Lookup(Record):
    """From normalize to lookup. Keyed by the cache key, so that equal queries meet on one partition."""

    plan: Plan


class Fetch(Record):
    """From lookup to fetch: no tier had it."""

    plan: Plan
    lookup_ms: float
    embedding: Embedding | None = None
    stale: StaleAnswer | None = None
