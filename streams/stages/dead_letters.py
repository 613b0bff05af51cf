"""Refused records on their way to the dead letters."""

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.topics import DEAD_LETTERS


def dead_letter(record: InboundRecord, error: RecordError, *, stage: str, now_ms: int) -> OutboundRecord:
    letter = DeadLetter.of(
        record, stage=stage, reason=error.kind, message=error.message, field=error.field, now_ms=now_ms
    )
    return OutboundRecord(DEAD_LETTERS.name, letter.dead_letter_id.encode(), letter.encode())
