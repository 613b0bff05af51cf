"""Paid answers, read back from the log and sent through unify again: a wrong mapping costs a replay, not a call."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from groundwire.schemas.payload import Payload
from groundwire.schemas.record import InboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import PAYLOADS
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.log_reader import read_topic
from groundwire.streams.faces.producing import producing
from groundwire.streams.runtime.publisher import MAX_REQUEST_BYTES
from groundwire.streams.stages.reread import ReadingDirectory, Reread, Rereading

# What one replay may hold in memory.
MOST_BYTES = 512 * 1024**2


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers: those that match everything given. `query` is a normalized query; times are those of the records."""

    provider: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    request_ids: frozenset[str] = frozenset()
    query: str | None = None

    def has(self, record: InboundRecord, reread: Reread) -> bool:
        plan = reread.payload.plan
        return (
            (self.provider is None or reread.provider == self.provider)
            and (self.since is None or record.timestamp_ms >= self.since.timestamp() * 1000)
            and (self.until is None or record.timestamp_ms < self.until.timestamp() * 1000)
            and (not self.request_ids or plan.request_id in self.request_ids)
            and (self.query is None or plan.normalized_query == self.query)
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer on the log. `added`: not asked for, but newer than one that was, so that the cache ends with the newest."""

    record: InboundRecord
    reread: Reread
    added: bool = False


class Selection:
    """The wanted answers of a log. It takes the log twice, so that of the rest nothing has to be held.

    First `look` at every record, then `take` every record; `kept` is the outcome. Raises CommandError when more is wanted than
    fits into memory.
    """

    def __init__(
        self, providers: ReadingDirectory, settings: Settings, wanted: Wanted, most_bytes: int = MOST_BYTES
    ) -> None:
        self._read = Rereading(providers, settings)
        self._wanted = wanted
        self._most_bytes = most_bytes
        self._bytes = 0
        self._since_ms: dict[str, int] = {}  # cache key → when its oldest wanted answer came
        self._kept: dict[tuple[str, str], Kept] = {}

    def look(self, record: InboundRecord) -> None:
        reread = self._reread(record)
        if reread is not None and self._wanted.has(record, reread):
            key, at_ms = _cache_key(reread), _received_at_ms(reread)
            self._since_ms[key] = min(at_ms, self._since_ms.get(key, at_ms))

    def take(self, record: InboundRecord) -> None:
        reread = self._reread(record)
        if reread is None:
            return
        wanted = self._wanted.has(record, reread)
        newer = reread.payload.kind == "answer" and _received_at_ms(reread) > self._since_ms.get(
            _cache_key(reread), _received_at_ms(reread)
        )
        if not wanted and not newer:
            return
        # The last delivery of a request says where its reply goes; a replay before this one left copies.
        outcome = (reread.payload.payload_id, reread.payload.plan.reply_id)
        before = self._kept.pop(outcome, None)
        self._kept[outcome] = Kept(record, reread, added=not wanted and (before is None or before.added))
        self._bytes += len(record.value or b"") - (0 if before is None else len(before.record.value or b""))
        if self._bytes > self._most_bytes:
            raise CommandError(
                f"more than {self._most_bytes // 1024**2:,} MiB of answers match: narrow the choice with --since and --until"
            )

    @property
    def kept(self) -> list[Kept]:
        """Oldest answer first, whatever its partition: the newest of a cache key is written last."""
        return sorted(self._kept.values(), key=lambda one: _received_at_ms(one.reread))

    def _reread(self, record: InboundRecord) -> Reread | None:
        try:
            return self._read(Payload.decode(record.value))
        except RecordError:
            return None  # unify has reported it


async def read_payloads(settings: Settings, providers: ReadingDirectory, wanted: Wanted) -> list[Kept]:
    """The wanted answers the log still has, each outcome of a request once. Raises BrokerUnreachable, CommandError."""
    selection = Selection(providers, settings, wanted)
    for see in (selection.look, selection.take):
        async for record in read_topic(settings, PAYLOADS.name):
            see(record)
    return selection.kept


async def send_again(settings: Settings, kept: Iterable[Kept]) -> int:
    """Publish those that hold results; returns how many. Raises BrokerUnreachable.

    Each goes to the partition it came from; where its key is another by now, to that of the key, where the fetch worker of
    this question looks for what is paid.
    """
    sent = 0
    async with producing(settings, max_request_size=MAX_REQUEST_BYTES) as producer:
        partitions = await producer.partitions_for(PAYLOADS.name)
        for one in kept:
            if not one.reread.results:
                continue  # it would take away what there is
            key = one.reread.payload.plan.chain[0].cache_key.encode()
            stays = key == one.record.key and one.record.partition in partitions
            await producer.send_and_wait(
                PAYLOADS.name,
                partition=one.record.partition if stays else None,
                key=key,
                value=one.reread.payload.encode(),
                headers=list(one.record.headers),
            )
            sent += 1
    return sent


def _received_at_ms(reread: Reread) -> int:
    return reread.payload.answers[reread.payload.chosen or 0].received_at_ms


def _cache_key(reread: Reread) -> str:
    return next(step.cache_key for step in reread.payload.plan.chain if step.provider == reread.provider)
