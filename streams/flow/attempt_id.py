"""The id of one vendor call. It is fixed in the mark before the call, so every later copy of its event carries it."""

import hashlib
import json


def attempt_id(reply_id: str, provider: str, attempt: int, started_at_ms: int) -> str:
    """32 hexadecimal digits. The moment keeps a call apart from the one it repeats after a crash."""
    text = json.dumps([reply_id, provider, attempt, started_at_ms])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
