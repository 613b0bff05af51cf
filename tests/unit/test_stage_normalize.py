"""normalize: contract §1 and the points settled about requests, sentence by sentence."""

import json
from typing import Any

import pytest

from groundwire.schemas.headers import ReturnAddress
from groundwire.schemas.record import Headers, OutboundRecord
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import DEAD_LETTERS, EVENTS, LOOKUPS
from groundwire.streams.stages.normalize import Normalize
from tests.unit.stage_fakes import (
    KEEP_NOTHING,
    NOON_MS,
    FakeDirectory,
    FakeProvider,
    dead_letters_of,
    plan_of,
    reply_of,
    request_event_of,
    request_record,
)

OURS: Headers = (("correlation-id", b"\x00\xff id"),)


def stage(*providers: FakeProvider, **settings: Any) -> Normalize:
    providers = providers or (FakeProvider("alpha"), FakeProvider("beta", max_depth=3))
    routes = {"default": [provider.name for provider in providers]}
    return Normalize(
        Settings.model_validate({"routes": routes, **settings}),
        FakeDirectory(*providers),
        partition_count=lambda topic: {"search.replies.v1": 8, "search.replies.team": 2, "search.replies.gone": 0}.get(
            topic
        ),
    )


def send(
    request: dict[str, Any] | bytes | None, headers: Headers = (), *, now_ms: int = NOON_MS, **more: Any
) -> list[OutboundRecord]:
    return stage()(request_record(request, headers=headers, **more), now_ms)


def error_of(outputs: list[OutboundRecord]) -> SearchReply:
    reply = reply_of(outputs)
    assert reply.status == "error"
    assert reply.error is not None
    assert request_event_of(outputs).error_kind == reply.error.kind
    return reply


# ---- a request that is served --------------------------------------------------------------------------------------------


def test_a_request_becomes_a_lookup_under_the_first_cache_key_of_its_chain() -> None:
    outputs = send({"query": "Tide tables?"})
    plan = plan_of(outputs)
    assert outputs[0].topic == LOOKUPS.name
    assert outputs[0].key == plan.chain[0].cache_key.encode()
    assert (plan.query, plan.normalized_query) == ("Tide tables?", "tide tables")
    assert [step.provider for step in plan.chain] == ["alpha", "beta"]


def test_a_request_without_an_id_is_named_after_its_place() -> None:
    assert plan_of(send({"query": "a"}, partition=3, offset=17)).request_id == "search.requests.v1-3-17"


def test_the_same_request_has_the_same_reply_id_wherever_it_is_read() -> None:
    one = plan_of(send({"query": "a", "request_id": "r", "depth": 5}, partition=1, offset=5))
    other = plan_of(send({"request_id": "r", "query": "a"}, partition=2, offset=9, now_ms=NOON_MS + 9_000))
    assert one.reply_id == other.reply_id


def test_a_request_without_an_id_is_the_same_when_it_is_read_again_and_another_when_the_log_began_anew() -> None:
    first = plan_of(send({"query": "a"}, offset=5))
    again = plan_of(send({"query": "a"}, offset=5, now_ms=NOON_MS + 9_000))
    next_log = plan_of(send({"query": "a"}, offset=5, timestamp_ms=NOON_MS - 60_000))
    assert again.reply_id == first.reply_id
    assert next_log.request_id == first.request_id
    assert next_log.reply_id != first.reply_id
    one, other = (error_of(send({"query": ""}, timestamp_ms=at_ms)) for at_ms in (NOON_MS, NOON_MS - 60_000))
    assert one.reply_id != other.reply_id


@pytest.mark.parametrize("changes", [{"query": "b"}, {"tenant": "other"}, {"request_id": "s"}, {"depth": 6}])
def test_another_request_has_another_reply_id(changes: dict[str, Any]) -> None:
    base = {"query": "a", "request_id": "r"}
    assert plan_of(send({**base, **changes})).reply_id != plan_of(send(base)).reply_id


def test_a_depth_beyond_the_vendors_is_clamped_with_a_warning_for_when_it_serves() -> None:
    alpha, beta = plan_of(send({"query": "a", "depth": 8})).chain
    assert (alpha.depth, alpha.warnings) == (8, [])
    assert (beta.depth, beta.warnings) == (3, ["beta gives at most 3 results; 8 were asked for"])


def test_a_provider_without_its_key_stays_in_the_chain_with_the_reason() -> None:
    normalize = stage(FakeProvider("alpha", missing="no key: set ALPHA_API_KEY"), FakeProvider("beta"))
    steps = plan_of(normalize(request_record({"query": "a"}), NOON_MS)).chain
    assert [step.skip for step in steps] == ["no key: set ALPHA_API_KEY", None]


def test_an_explicit_chain_replaces_the_routes_and_names_each_provider_once() -> None:
    steps = plan_of(send({"query": "a", "providers": ["beta", "alpha", "beta"]})).chain
    assert [step.provider for step in steps] == ["beta", "alpha"]


LIVE_ELSEWHERE = {
    "routes": {"default": ["alpha"], "fast": ["beta", "alpha"], "own": ["gamma"]},
    "routes_by_freshness": {"live": "fast"},
}


@pytest.mark.parametrize(
    ("request_", "route", "chain"),
    [
        ({"query": "score of the match right now"}, "fast", ["beta", "alpha"]),
        ({"query": "a", "freshness": "live"}, "fast", ["beta", "alpha"]),
        ({"query": "a", "freshness": "live", "route": "default"}, "fast", ["beta", "alpha"]),
        ({"query": "a", "freshness": "slow"}, "default", ["alpha"]),
        ({"query": "a", "freshness": "live", "route": "own"}, "own", ["gamma"]),
        ({"query": "a", "freshness": "live", "providers": ["gamma"]}, "default", ["gamma"]),
    ],
)
def test_live_questions_take_the_route_of_their_class_unless_the_caller_says_where(
    request_: dict[str, Any], route: str, chain: list[str]
) -> None:
    normalize = stage(FakeProvider("alpha"), FakeProvider("beta"), FakeProvider("gamma"), **LIVE_ELSEWHERE)
    plan = plan_of(normalize(request_record(request_), NOON_MS))
    assert (plan.route, [step.provider for step in plan.chain]) == (route, chain)


def test_a_provider_of_a_route_whose_file_was_turned_away_is_passed_over() -> None:
    normalize = stage(FakeProvider("alpha"), routes={"default": ["broken", "alpha"]})
    steps = plan_of(normalize(request_record({"query": "a"}), NOON_MS)).chain
    assert [(step.provider, step.skip is not None) for step in steps] == [("broken", True), ("alpha", False)]


@pytest.mark.parametrize(("cache", "storable"), [("use", True), ("refresh", True), ("only", True), ("bypass", False)])
def test_storable_says_what_the_terms_and_the_caller_allow(cache: str, storable: bool) -> None:
    normalize = stage(FakeProvider("alpha"), FakeProvider("strict", storage=KEEP_NOTHING))
    steps = plan_of(normalize(request_record({"query": "a", "cache": cache}), NOON_MS)).chain
    assert [step.storable for step in steps] == [storable, False]


@pytest.mark.parametrize(
    ("timeout_s", "header", "expected_ms"),
    [(15, None, 15_000), (0.05, None, 50), (15, b"+9000", 9_000), (2, b"+9000", 2_000), (15, b"-1", -1)],
)
def test_the_earlier_deadline_wins(timeout_s: float, header: bytes | None, expected_ms: int) -> None:
    headers = (("deadline", str(NOON_MS + int(header)).encode()),) if header else ()
    plan = plan_of(send({"query": "a", "timeout_s": timeout_s}, headers))
    assert plan.deadline_ms == NOON_MS + expected_ms


def test_the_deadline_counts_from_the_records_timestamp() -> None:
    plan = plan_of(send({"query": "a", "timeout_s": 10}, timestamp_ms=NOON_MS - 4_000))
    assert (plan.deadline_ms, plan.queue_ms) == (NOON_MS + 6_000, 4_000.0)


@pytest.mark.parametrize("timestamp_ms", [NOON_MS + 60_000, -1, 0])
def test_a_producer_whose_clock_is_wrong_gets_no_more_time_than_others(timestamp_ms: int) -> None:
    plan = plan_of(send({"query": "a", "timeout_s": 10}, timestamp_ms=timestamp_ms))
    assert (plan.requested_at_ms, plan.deadline_ms) == (NOON_MS, NOON_MS + 10_000)


def test_unknown_fields_that_start_with_x_pass() -> None:
    assert plan_of(send({"query": "a", "x-caller": {"any": [1]}})).query == "a"


# ---- where the reply goes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ((), ReturnAddress(topic="search.replies.v1")),
        (
            (("correlation-id", b"\x01"), ("reply-topic", b"search.replies.team"), ("reply-partition", b"1")),
            ReturnAddress(
                topic="search.replies.team", partition=1, correlation_name="correlation-id", correlation_hex="01"
            ),
        ),
        (
            (
                ("kafka_correlationId", b"\xff"),
                ("kafka_replyTopic", b"search.replies.v1"),
                ("kafka_replyPartition", b"\0\0\0\3"),
            ),
            ReturnAddress(
                topic="search.replies.v1", partition=3, correlation_name="kafka_correlationId", correlation_hex="ff"
            ),
        ),
        (
            (("correlation_id", b"7"), ("reply_to", b"search.replies.team"), ("traceparent", b"00-ab-cd-01")),
            ReturnAddress(
                topic="search.replies.team",
                correlation_name="correlation_id",
                correlation_hex="37",
                traceparent="00-ab-cd-01",
            ),
        ),
    ],
)
def test_three_dialects_say_where_the_reply_goes(headers: Headers, expected: ReturnAddress) -> None:
    assert plan_of(send({"query": "a"}, headers)).address == expected


@pytest.mark.parametrize("partition", [b"2", b"99", b"one"])
def test_a_reply_partition_that_does_not_exist_is_placed_by_key_with_a_warning(partition: bytes) -> None:
    headers = (("reply-topic", b"search.replies.team"), ("reply-partition", partition))
    plan = plan_of(send({"query": "a"}, headers))
    assert plan.address.partition is None
    assert "partition" in " ".join(plan.warnings)


def test_a_reply_partition_without_a_topic_is_one_of_the_default_topics() -> None:
    assert plan_of(send({"query": "a"}, (("reply-partition", b"7"),))).address.partition == 7
    assert plan_of(send({"query": "a"}, (("reply-partition", b"8"),))).address.partition is None


def test_a_negative_spring_partition_is_placed_by_key() -> None:
    headers = (("kafka_replyTopic", b"search.replies.v1"), ("kafka_replyPartition", b"\xff\xff\xff\xff"))
    assert plan_of(send({"query": "a"}, headers)).address.partition is None


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("reply-topic", b"search.requests.v1"),
        ("kafka_replyTopic", b"orders"),
        ("reply_to", b"search.replies"),
        ("reply-topic", b"search.replies.gone"),
    ],
)
def test_a_reply_topic_that_is_not_allowed_gets_an_error_on_the_default_topic_and_a_dead_letter(
    name: str, topic: bytes
) -> None:
    outputs = send({"query": "a", "request_id": "r", "metadata": {"k": "v"}}, (*OURS, (name, topic)))
    reply = error_of(outputs)
    assert (outputs[0].topic, outputs[0].key) == ("search.replies.v1", b"r")
    assert outputs[0].headers == OURS
    assert reply.error is not None
    assert (reply.error.kind, reply.error.field) == ("not_allowed", f"headers.{name}")
    assert (reply.request_id, reply.query, reply.metadata) == ("r", "a", {"k": "v"})
    (letter,) = dead_letters_of(outputs)
    assert (letter.reason, letter.stage) == ("not_allowed", "normalize")


def test_inner_topics_are_never_reply_topics_however_wide_the_operators_pattern() -> None:
    normalize = stage(reply={"allowed_topics": ["search.*"]})
    outputs = normalize(request_record({"query": "a"}, headers=(("reply-topic", b"search.lookups.v1"),)), NOON_MS)
    assert error_of(outputs).error is not None
    assert outputs[0].topic == "search.replies.v1"


# ---- what can't be read --------------------------------------------------------------------------------------------------

UNREADABLE = [
    (b"{", "invalid_json"),
    (b"\xff\xfe{\x00}\x00", "invalid_json"),
    (b'{"query": NaN}', "invalid_json"),
    (b'{"query": "a", "query": "b"}', "invalid_json"),
    (b"[" * 5_000, "invalid_json"),
    (b'["query"]', "invalid_request"),
    (b"null", "invalid_request"),
    (None, "invalid_request"),
    (json.dumps({"query": "a", "x-pad": "p" * 66_000}).encode(), "too_large"),
]


@pytest.mark.parametrize(("value", "kind"), UNREADABLE)
def test_an_unreadable_record_is_a_dead_letter_and_answered_when_its_headers_tell_where(
    value: bytes | None, kind: str
) -> None:
    outputs = send(value, OURS, partition=2, offset=8)
    reply = error_of(outputs)
    assert reply.error is not None
    assert reply.error.kind == kind
    assert reply.request_id == "search.requests.v1-2-8"
    assert outputs[0].topic == "search.replies.v1"
    assert outputs[0].headers == OURS
    (letter,) = dead_letters_of(outputs)
    assert (letter.reason, letter.dead_letter_id, letter.offset) == (kind, "search.requests.v1-2-8", 8)


@pytest.mark.parametrize(("value", "kind"), UNREADABLE)
def test_an_unreadable_record_nobody_waits_for_is_a_dead_letter_only(value: bytes | None, kind: str) -> None:
    outputs = send(value)
    assert [record.topic for record in outputs] == [DEAD_LETTERS.name]
    assert dead_letters_of(outputs)[0].reason == kind


def test_a_reply_topic_alone_tells_where() -> None:
    outputs = send(b"{", (("reply-topic", b"search.replies.team"),))
    assert [record.topic for record in outputs] == ["search.replies.team", EVENTS.name, DEAD_LETTERS.name]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 2_001}, "query"),
        ({"query": 5}, "query"),
        ({"query": "a", "depth": "5"}, "depth"),
        ({"query": "a", "depth": 21}, "depth"),
        ({"query": "a", "depth": 0}, "depth"),
        ({"query": "a", "deepth": 5}, "deepth"),
        ({"query": "a", "filters": {"safe_search": "on"}}, "filters.safe_search"),
        ({"query": "a", "filters": {"site": "x"}}, "filters.site"),
        ({"query": "a", "filters": {"published_after": "2026-02-30"}}, "filters.published_after"),
        ({"query": "a", "timeout_s": 0.01}, "timeout_s"),
        ({"query": "a", "context_tokens": 49}, "context_tokens"),
        ({"query": "a", "language": "english!"}, "language"),
        ({"query": "a", "country": "KOR"}, "country"),
        ({"query": "a", "metadata": {"a": 1}}, "metadata.a"),
        ({"query": "a", "cache": "yes"}, "cache"),
        ({"query": "a", "providers": []}, "providers"),
        ({"query": "a", "providers": ["alpha", "gamma"]}, "providers"),
        ({"query": "a", "route": "scenic"}, "route"),
        ({"query": "a", "min_similarity": 1.5}, "min_similarity"),
    ],
)
def test_a_callers_mistake_is_answered_and_names_the_field(request_: dict[str, Any], field: str) -> None:
    outputs = send({**request_, "request_id": "r", "tenant": "t"})
    reply = error_of(outputs)
    assert reply.error is not None
    assert (reply.error.kind, reply.error.field) == ("invalid_request", field)
    assert reply.request_id == "r"
    assert request_event_of(outputs).tenant == "t"
    assert dead_letters_of(outputs) == []
    assert (reply.results, reply.context, reply.cache, reply.cost_micro_usd) == ([], "", None, 0)


def test_an_unknown_provider_or_route_is_told_which_there_are() -> None:
    error = error_of(send({"query": "a", "providers": ["gamma"]})).error
    assert error is not None
    assert "gamma" in error.message
    assert "alpha, beta" in error.message


def test_a_refusal_delivered_again_is_the_same_reply() -> None:
    one = error_of(send({"query": "", "request_id": "r"}, now_ms=NOON_MS))
    other = error_of(send({"query": "", "request_id": "r"}, now_ms=NOON_MS + 5_000))
    assert one.reply_id == other.reply_id


@pytest.mark.parametrize("request_id", [5, "", "x" * 129, None, {"a": 1}])
def test_an_id_that_is_none_is_replaced_by_the_records_place(request_id: Any) -> None:
    reply = error_of(send({"query": "", "request_id": request_id}, partition=1, offset=2))
    assert reply.request_id == "search.requests.v1-1-2"


def test_half_a_surrogate_in_a_refused_request_does_not_stop_the_reply() -> None:
    value = b'{"query": "\\ud800", "request_id": "\\ud800", "metadata": {"a": "\\ud800"}}'
    reply = error_of(send(value, OURS))
    assert (reply.query, reply.metadata) == (None, {})


# ---- one id, two contents ------------------------------------------------------------------------------------------------


def test_other_content_under_a_known_id_is_a_conflict() -> None:
    normalize = stage()
    normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS)
    outputs = normalize(request_record({"query": "b", "request_id": "r"}, partition=5), NOON_MS + 1_000)
    error = error_of(outputs).error
    assert error is not None
    assert (error.kind, error.field) == ("conflict", "request_id")


def test_the_same_content_again_is_served_and_the_first_content_stays_the_one_that_counts() -> None:
    normalize = stage()
    first = plan_of(normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS))
    normalize(request_record({"query": "b", "request_id": "r"}), NOON_MS)
    again = plan_of(normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS))
    assert again.reply_id == first.reply_id


def test_other_tenants_have_their_own_ids() -> None:
    normalize = stage()
    normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS)
    plan_of(normalize(request_record({"query": "b", "request_id": "r", "tenant": "t"}), NOON_MS))


def test_an_id_is_free_again_after_the_dedup_window() -> None:
    normalize = stage(dedup_window_s=60)
    normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS)
    plan_of(normalize(request_record({"query": "b", "request_id": "r"}), NOON_MS + 61_000))


def test_a_corrected_request_may_keep_the_id_of_one_that_was_refused() -> None:
    normalize = stage()
    error_of(normalize(request_record({"query": "a", "request_id": "r", "route": "scenic"}), NOON_MS))
    plan_of(normalize(request_record({"query": "a", "request_id": "r"}), NOON_MS))


def test_a_conflict_is_found_out_after_a_restart_from_the_logs_tail() -> None:
    normalize = stage()
    normalize.restore(
        [
            request_record(None),
            request_record(b"{"),
            request_record({"query": "made by place"}),
            request_record({"query": "a", "request_id": "r"}, timestamp_ms=NOON_MS - 5_000),
        ]
    )
    error = error_of(normalize(request_record({"query": "b", "request_id": "r"}), NOON_MS)).error
    assert error is not None
    assert error.kind == "conflict"
