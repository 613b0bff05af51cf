"""Dead letters, read back and sent again."""

import base64

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import DEAD_LETTERS
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.log_reader import read_topic
from groundwire.streams.faces.producing import producing


async def read_dead_letters(settings: Settings) -> list[DeadLetter]:
    """All dead letters the log still has, each once, oldest first."""
    letters: dict[str, DeadLetter] = {}
    async for record in read_topic(settings, DEAD_LETTERS.name):
        try:
            letter = DeadLetter.decode(record.value)
        except RecordError:
            continue  # somebody else's record on our topic: not a dead letter of ours
        letters[letter.dead_letter_id] = letter
    return list(letters.values())


async def replay_letters(settings: Settings, letters: list[DeadLetter], *, replacement: bytes | None = None) -> int:
    """Publish the letters' records again to the topics they came from; returns how many.

    `replacement` is sent instead of the kept value: the mended record. Raises CommandError for a letter whose value was kept
    only in part, since half a record must not be sent as if it were whole; BrokerUnreachable.
    """
    for letter in letters:
        if letter.truncated and replacement is None:
            raise CommandError(
                f"{letter.dead_letter_id}: only the first part of {letter.value_bytes:,} bytes was kept; "
                "give the mended record with --value FILE"
            )
    async with producing(settings, max_request_size=16 * 1024 * 1024) as producer:
        for letter in letters:
            value = replacement if replacement is not None else _bytes(letter.value_base64)
            key = _bytes(letter.key_base64)
            # Where it was, so that records of one key stay in order; placed by key where there is no such partition now.
            there = letter.partition in await producer.partitions_for(letter.topic)
            await producer.send_and_wait(
                letter.topic,
                partition=letter.partition if there else None,
                value=value,
                key=b"" if key is None and value is None else key,  # the client sends no record without both
                headers=[(name, base64.b64decode(content)) for name, content in letter.headers],
            )
    return len(letters)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
