"""normalize: a request's bytes become a planned lookup, or an error reply. `search.requests.v1` → `search.lookups.v1`."""

import time
from collections.abc import Iterable

from groundwire.schemas.headers import RequestHeaders, read_headers
from groundwire.schemas.lookup import Lookup
from groundwire.schemas.plan import Origin, Plan
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.request import SearchRequest, parse_request
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import LOOKUPS
from groundwire.streams.stages.address import AddressBook, Destination
from groundwire.streams.stages.freshness import FreshnessRules
from groundwire.streams.stages.identity import DedupWindow, content_hash, named_by_place, place_of, reply_id
from groundwire.streams.stages.ports import Directory, PartitionCount, Timer
from groundwire.streams.stages.query import normalize_query
from groundwire.streams.stages.refusal import refuse
from groundwire.streams.stages.route import Router


def _not_known(topic: str) -> int | None:  # noqa: ARG001  # the port's shape
    return None


class Normalize:
    """The first stage. Never raises: every record leaves a lookup, an error reply or a dead letter."""

    def __init__(
        self,
        settings: Settings,
        directory: Directory,
        *,
        partition_count: PartitionCount = _not_known,
        timer: Timer = time.perf_counter,
    ) -> None:
        self._router = Router(settings, directory)
        self._freshness = FreshnessRules(settings.freshness)
        self._addresses = AddressBook(settings.reply, partition_count)
        self._window = DedupWindow(settings.dedup_window_s)
        self._timer = timer

    def __call__(self, record: InboundRecord, now_ms: int) -> list[OutboundRecord]:
        started = self._timer()
        # A producer whose clock runs ahead, or who sets none, gets no more time than the others.
        requested_at_ms = min(record.timestamp_ms, now_ms) if record.timestamp_ms > 0 else now_ms
        headers = read_headers(record.headers)
        destination = self._addresses.destination(headers)
        try:
            request = self._read(record, destination)
            request_id = request.request_id or place_of(record)
            content = content_hash(request)
            plan = self._plan(
                record, request, request_id, content, headers, destination, requested_at_ms, now_ms, started
            )
            # Last, so that a caller may send a corrected request under the id of one that was refused.
            if request.request_id is not None:
                self._refuse_other_content(request.tenant, request_id, content, now_ms)
        except RecordError as error:
            return refuse(record, error, headers, destination, requested_at_ms=requested_at_ms, now_ms=now_ms)
        return [OutboundRecord(LOOKUPS.name, plan.chain[0].cache_key.encode(), Lookup(plan=plan).encode())]

    def restore(self, records: Iterable[InboundRecord]) -> None:
        """Remember the requests of a partition that was taken over: those of the last `dedup_window_s` seconds up to the
        committed offset, oldest first, so that other content under a known id is found out also after a restart."""
        for record in records:
            if record.value is None:
                continue
            try:
                request = parse_request(record.value)
            except RecordError:
                continue
            if request.request_id is not None:
                self._window.conflicts(request.tenant, request.request_id, content_hash(request), record.timestamp_ms)

    def _read(self, record: InboundRecord, destination: Destination) -> SearchRequest:
        if destination.problem is not None:
            raise RecordError("not_allowed", destination.problem, destination.problem_field)
        if record.value is None:
            raise RecordError(
                "invalid_request", "the record has no value (a tombstone): there is nothing to search for"
            )
        return parse_request(record.value)

    def _refuse_other_content(self, tenant: str, request_id: str, content: str, now_ms: int) -> None:
        if self._window.conflicts(tenant, request_id, content, now_ms):
            raise RecordError(
                "conflict",
                "this request_id came before with other content; give a new question a new id",
                "request_id",
            )

    def _plan(
        self,
        record: InboundRecord,
        request: SearchRequest,
        request_id: str,
        content: str,
        headers: RequestHeaders,
        destination: Destination,
        requested_at_ms: int,
        now_ms: int,
        started: float,
    ) -> Plan:
        normalized = normalize_query(request.query)
        freshness = self._freshness.classify(normalized, request.freshness, request.filters, requested_at_ms)
        chain = self._router.chain(request, normalized, freshness)
        deadline_ms = requested_at_ms + int(request.timeout_s * 1000)
        if headers.deadline_ms is not None:
            deadline_ms = min(deadline_ms, headers.deadline_ms)
        return Plan(
            request_id=request_id,
            reply_id=reply_id(
                request.tenant, request_id, content if request.request_id else named_by_place(content, record)
            ),
            tenant=request.tenant,
            route=self._router.route_of(request, freshness),
            query=request.query,
            normalized_query=normalized,
            freshness=freshness.kind,
            depth=request.depth,
            chain=chain,
            cache=request.cache,
            max_age_s=request.max_age_s,
            min_similarity=request.min_similarity,
            language=request.language,
            country=request.country,
            filters=request.filters,
            context_tokens=request.context_tokens,
            metadata=request.metadata,
            address=destination.address,
            origin=Origin(topic=record.topic, partition=record.partition, offset=record.offset),
            content_hash=content,
            requested_at_ms=requested_at_ms,
            deadline_ms=deadline_ms,
            queue_ms=float(now_ms - requested_at_ms),
            normalize_ms=(self._timer() - started) * 1000,
            warnings=[*headers.warnings, *destination.warnings],
        )
