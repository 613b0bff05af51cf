"""What the schema of a payload can't say: its indices point at something, and marks and attempts are the same calls."""

from groundwire.schemas.payload import Payload


def is_consistent(payload: Payload) -> bool:
    if payload.kind == "answer" and len(payload.marks) != len(payload.attempts):
        return False
    if payload.chosen is None:
        return True
    if not 0 <= payload.chosen < len(payload.answers):
        return False
    return payload.kind == "shared" or payload.answers[payload.chosen].attempt < len(payload.attempts)
