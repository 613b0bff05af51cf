"""The exact tier in memory: the answers used last, bounded by bytes, as the JSON text they are stored as."""

from collections import OrderedDict

# A str of ASCII plus its place in the dict.
_OVERHEAD_BYTES = 200


class RecentAnswers:
    """Sequence number → an entry's JSON. The one not used longest goes first. Not thread-safe: one owner."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bodies: OrderedDict[int, str] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._bodies)

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, seq: int) -> str | None:
        body = self._bodies.get(seq)
        if body is not None:
            self._bodies.move_to_end(seq)
        return body

    def put(self, seq: int, body: str) -> None:
        size = _size(body)
        if size > self._max_bytes:
            return
        self.drop(seq)
        self._bodies[seq] = body
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, oldest = self._bodies.popitem(last=False)
            self._bytes -= _size(oldest)

    def put_last(self, seq: int, body: str) -> bool:
        """Put behind all others, as the first to go; False when there is no room for it."""
        size = _size(body)
        if seq not in self._bodies:
            if self._bytes + size > self._max_bytes:
                return False
            self._bodies[seq] = body
            self._bodies.move_to_end(seq, last=False)
            self._bytes += size
        return True

    def drop(self, seq: int) -> None:
        body = self._bodies.pop(seq, None)
        if body is not None:
            self._bytes -= _size(body)


def _size(body: str) -> int:
    # CPython keeps a string at the width of its widest character.
    return _OVERHEAD_BYTES + (len(body) if body.isascii() else 2 * len(body))
