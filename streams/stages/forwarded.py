"""Which requests went on to fetch a while ago, and what is known of what came of them.

A request may be looked up again after a crash. Meanwhile the cache may have learned somebody else's answer, while fetch has told
this request's caller that nobody answered: the same reply can't be both. So a request that went to fetch goes there again,
where its outcome is on the log, unless the cache holds the very answer it got.
"""

from collections import OrderedDict
from collections.abc import Iterable

from groundwire.schemas.payload import Payload
from groundwire.schemas.record import InboundRecord, RecordError

# The longest a request may take. One that is sent again later than this is a new question in all but its id.
KEEP_MS = 120_000
MOST_REQUESTS = 50_000


class ForwardedBefore:
    """Reply ids with the id of the payload they were answered by; None while that is not known, or when nobody answered."""

    def __init__(self) -> None:
        self._outcomes: OrderedDict[str, tuple[int, str | None]] = OrderedDict()

    def note(self, reply_id: str, at_ms: int, payload_id: str | None = None) -> None:
        known = self._outcomes.get(reply_id)
        if known is not None and at_ms - known[0] <= KEEP_MS:
            # Looked up again, not asked anew: the time still runs from the first.
            self._outcomes[reply_id] = (known[0], payload_id or known[1])
            return
        self._outcomes.pop(reply_id, None)
        self._outcomes[reply_id] = (at_ms, payload_id)
        while len(self._outcomes) > MOST_REQUESTS:
            self._outcomes.popitem(last=False)

    def must_go_again(self, reply_id: str, hit_payload_id: str, now_ms: int) -> bool:
        """Whether a request with this hit was forwarded before, and may have been answered by something else."""
        known = self._outcomes.get(reply_id)
        if known is None or now_ms - known[0] > KEEP_MS:
            return False
        return known[1] != hit_payload_id

    def restore(self, records: Iterable[InboundRecord]) -> None:
        """Take in the tail of the payload log, oldest first. Unreadable records are passed over: unify reports them."""
        for record in records:
            try:
                payload = Payload.decode(record.value)
            except RecordError:
                continue
            answered = payload.kind != "begun" and payload.chosen is not None
            self.note(payload.plan.reply_id, record.timestamp_ms, payload.payload_id if answered else None)
