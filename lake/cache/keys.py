"""Which cache keys have a live entry, small enough to hold for a million of them.

A lookup that misses must not cost a query of the store, so every reader keeps this index of all keys: three sorted NumPy
columns (24 bytes a key) and a small dict of what came since. Keys are 64-bit hashes; two keys of one hash (one chance in
40 million at a million entries) share a place, and the entry itself, which carries its full key, decides.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

# Above this the dict is folded into the sorted columns. A fold copies the columns: 10 ms at a million keys.
_FOLD_AT = 8192


def hash64(text: str) -> int:
    """A stable signed 64-bit hash of a text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key's newest entry is, and until when it lives (Unix ms)."""

    seq: int
    expires_at_ms: int


class KeyIndex:
    """Key hash → the newest entry's sequence number and end. Not thread-safe: one owner."""

    def __init__(self) -> None:
        self._hashes: Ints = np.empty(0, np.int64)
        self._seqs: Ints = np.empty(0, np.int64)
        self._expires: Ints = np.empty(0, np.int64)
        self._recent: dict[int, Place] = {}

    @classmethod
    def build(cls, hashes: Ints, seqs: Ints, expires: Ints) -> "KeyIndex":
        """From rows in any order: of several rows with one key the highest sequence number stands."""
        index = cls()
        order = np.lexsort((seqs, hashes))
        hashes, seqs, expires = hashes[order], seqs[order], expires[order]
        newest = np.ones(len(hashes), bool)
        if len(hashes):
            newest[:-1] = hashes[1:] != hashes[:-1]
        index._hashes, index._seqs, index._expires = hashes[newest], seqs[newest], expires[newest]
        return index

    def __len__(self) -> int:
        """Number of keys. A key that is in both halves counts twice until the next fold."""
        return len(self._hashes) + len(self._recent)

    def get(self, key_hash: int) -> Place | None:
        """The key's newest entry, live or not: the caller looks at the end."""
        place = self._recent.get(key_hash)
        if place is not None:
            return place
        at = int(np.searchsorted(self._hashes, key_hash))
        if at < len(self._hashes) and int(self._hashes[at]) == key_hash:
            return Place(int(self._seqs[at]), int(self._expires[at]))
        return None

    def put(self, key_hash: int, seq: int, expires_at_ms: int) -> None:
        """A newer entry of the key."""
        self._recent[key_hash] = Place(seq, expires_at_ms)
        if len(self._recent) >= _FOLD_AT:
            self.fold()

    def fold(self, *, ended_before_ms: int | None = None) -> None:
        """Move what came since into the columns; with `ended_before_ms`, drop entries that ended before it."""
        if self._recent:
            hashes = np.fromiter(self._recent.keys(), np.int64, len(self._recent))
            seqs = np.fromiter((place.seq for place in self._recent.values()), np.int64, len(hashes))
            expires = np.fromiter((place.expires_at_ms for place in self._recent.values()), np.int64, len(hashes))
            order = np.argsort(hashes)
            hashes, seqs, expires = hashes[order], seqs[order], expires[order]
            at = np.searchsorted(self._hashes, hashes)
            known = np.zeros(len(hashes), bool)
            inside = at < len(self._hashes)
            known[inside] = self._hashes[at[inside]] == hashes[inside]
            self._seqs[at[known]] = seqs[known]
            self._expires[at[known]] = expires[known]
            new = ~known
            self._hashes = np.insert(self._hashes, at[new], hashes[new])
            self._seqs = np.insert(self._seqs, at[new], seqs[new])
            self._expires = np.insert(self._expires, at[new], expires[new])
            self._recent = {}
        if ended_before_ms is not None:
            keep = self._expires > ended_before_ms
            if not keep.all():
                self._hashes, self._seqs, self._expires = self._hashes[keep], self._seqs[keep], self._expires[keep]

    def columns(self) -> tuple[Ints, Ints, Ints]:
        """Hashes (sorted), sequence numbers and ends of all keys. Not to be changed by the caller."""
        self.fold()
        return self._hashes, self._seqs, self._expires

    @property
    def bytes(self) -> int:
        """Memory held, about."""
        return 24 * len(self._hashes) + 200 * len(self._recent)
