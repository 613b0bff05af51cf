"""What lookup answered a while ago, so that a request sent again gets the very same reply, receipt included."""

from collections import OrderedDict

from groundwire.schemas.plan import Plan
from groundwire.schemas.record import OutboundRecord

MOST_BYTES = 16 * 1024 * 1024
# What an entry costs beside its two values.
_OVERHEAD_BYTES = 1024


class AnsweredBefore:
    """Reply records by reply id, the newest within a bound of bytes and time."""

    def __init__(self, keep_s: float, most_bytes: int = MOST_BYTES) -> None:
        self._keep_ms = int(keep_s * 1000)
        self._most_bytes = most_bytes
        self._bytes = 0
        self._records: OrderedDict[str, tuple[int, OutboundRecord, OutboundRecord]] = OrderedDict()

    def remember(self, plan: Plan, reply: OutboundRecord, event: OutboundRecord, now_ms: int) -> None:
        if plan.reply_id in self._records:
            return
        self._records[plan.reply_id] = (now_ms, reply, event)
        self._bytes += _size(reply, event)
        while self._bytes > self._most_bytes and self._records:
            _, (_, old_reply, old_event) = self._records.popitem(last=False)
            self._bytes -= _size(old_reply, old_event)

    def again(self, plan: Plan, now_ms: int) -> list[OutboundRecord] | None:
        """The same reply and event, to where this delivery asks for them; None when the request is new here."""
        remembered = self._records.get(plan.reply_id)
        if remembered is None:
            return None
        at_ms, reply, event = remembered
        if now_ms - at_ms > self._keep_ms:
            del self._records[plan.reply_id]
            self._bytes -= _size(reply, event)
            return None
        address = plan.address
        return [
            OutboundRecord(address.topic, reply.key, reply.value, address.headers(), address.partition),
            event,
        ]


def _size(reply: OutboundRecord, event: OutboundRecord) -> int:
    return len(reply.value) + len(event.value) + _OVERHEAD_BYTES
