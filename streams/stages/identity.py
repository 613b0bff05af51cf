"""Which requests are the same one, sent or delivered again.

A request is its tenant, its id and its content; one without an id is its place in the log, with the moment it was written, since
a broker that was replaced counts its places anew. The reply's id is a hash of these, so two contents under one id never
share a reply_id: a lake row and a consumer can't mix them up, wherever the two requests were handled.

That the second content is an error is known where the two meet:

- in one worker's memory, whatever partitions they came from, within the dedup window (`dedup_window_s`, at most 100,000 ids);
- after a restart or a rebalance from the tail of the worker's own request partitions (`restore`), so that a producer who
  keys its requests by request id gets the error whatever happens to workers.

Two workers that got the two contents on two partitions don't meet: each is then answered as a request of its own, with its
own reply_id. A hop that brings equal ids together would cost every request some milliseconds to catch a producer's slip.
"""

import hashlib
import json
from collections import OrderedDict

from groundwire.schemas.record import InboundRecord
from groundwire.schemas.request import SearchRequest

MAX_REMEMBERED = 100_000


def place_of(record: InboundRecord) -> str:
    """`topic-partition-offset`: the id of a request that has none, and of a dead letter."""
    return f"{record.topic}-{record.partition}-{record.offset}"


def content_hash(request: SearchRequest) -> str:
    """Of what is asked, not of how it is spelled: key order and left-out defaults make no difference."""
    content = request.model_dump(exclude={"request_id", "tenant"})
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def named_by_place(content: str, record: InboundRecord) -> str:
    """The content of a request that has no id of its own."""
    return f"{content} {record.timestamp_ms}"


def bytes_hash(value: bytes | None) -> str:
    """Of a record that is no readable request."""
    return hashlib.sha256(b"none" if value is None else value).hexdigest()


def reply_id(tenant: str, request_id: str, content: str) -> str:
    """The same for every delivery of one request. 32 hexadecimal digits."""
    text = json.dumps([tenant, request_id, content])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def payload_id(reply_id_: str, began_at_ms: int) -> str:
    """Names the outcome of one request's fetch. A fetch that had to be begun again after a crash gets another name."""
    return f"{reply_id_}.{began_at_ms}"


def is_own_payload(payload_id_: str, reply_id_: str) -> bool:
    """True when this very request, delivered before, paid for the answer."""
    return payload_id_.startswith(f"{reply_id_}.")


class DedupWindow:
    """Remembers which content an id came with, for a while. Bounded in time and number; times are Unix milliseconds."""

    def __init__(self, window_s: float, most: int = MAX_REMEMBERED) -> None:
        self._window_ms = int(window_s * 1000)
        self._most = most
        self._seen: OrderedDict[bytes, tuple[bytes, int]] = OrderedDict()

    def conflicts(self, tenant: str, request_id: str, content: str, at_ms: int) -> bool:
        """True when the id came with other content within the window. The first content stays the one that counts."""
        self._forget(at_ms)
        key = hashlib.sha256(json.dumps([tenant, request_id]).encode()).digest()[:16]
        mark = bytes.fromhex(content[:32])
        seen = self._seen.get(key)
        if seen is not None and at_ms - seen[1] <= self._window_ms and seen[0] != mark:
            return True
        self._seen[key] = (mark, at_ms)
        self._seen.move_to_end(key)
        return False

    def __len__(self) -> int:
        return len(self._seen)

    def _forget(self, now_ms: int) -> None:
        while self._seen:
            key = next(iter(self._seen))
            if len(self._seen) < self._most and now_ms - self._seen[key][1] <= self._window_ms:
                return
            del self._seen[key]
