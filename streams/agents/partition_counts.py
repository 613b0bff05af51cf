"""How many partitions the reply topics have: asked of the broker once, answered from memory after that."""

import time
from collections.abc import Awaitable, Callable

from groundwire.schemas.headers import REPLY_TOPIC
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import ReplySettings

_REPLY_TOPIC_HEADERS = frozenset(REPLY_TOPIC.values())

# A topic may be made, or made larger, while we run.
_ASK_AGAIN_S = 30.0
_MOST_TOPICS = 1000


class PartitionCounts:
    """Gives normalize a synchronous answer; `learn` is awaited before each record and hardly ever has to ask."""

    def __init__(self, ask: Callable[[str], Awaitable[int | None]], settings: ReplySettings) -> None:
        self._ask = ask
        self._default_topic = settings.default_topic
        # Only these are asked about: a caller must not make the broker look for any name at all.
        self._allowed = tuple(name.removesuffix("*") for name in settings.allowed_topics)
        self._known: dict[str, tuple[int, float]] = {}

    async def learn(self, record: InboundRecord) -> None:
        """Make sure the reply topic this record names, and the default one, are known."""
        await self._learn(self._default_topic)
        for name, value in record.headers:
            if name in _REPLY_TOPIC_HEADERS and value:
                topic = value.decode("utf-8", "replace")
                if topic.startswith(self._allowed):
                    await self._learn(topic)

    def __call__(self, topic: str) -> int | None:
        """Partitions of a topic; 0 when there is no such topic, None when that is not known."""
        known = self._known.get(topic)
        return None if known is None else known[0]

    async def _learn(self, topic: str) -> None:
        known = self._known.get(topic)
        now = time.monotonic()
        if known is not None and now - known[1] < _ASK_AGAIN_S:
            return
        if len(self._known) >= _MOST_TOPICS:
            self._known.clear()
        self._known[topic] = (await self._ask(topic) or 0, now)
