"""Topics are made before anything reads or writes them: schemas/topics.py is the table, this carries it out."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaConnectionError, KafkaError, TopicAlreadyExistsError, for_code

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import FETCHES, LOOKUPS, PAYLOADS, TOPICS, TopicSpec
from groundwire.streams.runtime.configuration import ConfigurationError
from groundwire.streams.runtime.connection import EMBEDDED_CLUSTER_ID, connection_kwargs
from groundwire.streams.runtime.reachability import BrokerUnreachable as BrokerUnreachable
from groundwire.streams.runtime.reachability import reasons_kept, unreachable

MAX_REPLICATION = 3
REQUEST_TIMEOUT_MS = 10_000
VISIBLE_TIMEOUT_S = 15.0
POLL_S = 0.05

# What is known of a key is looked for, after a partition was taken over, on the partition of the same number.
SAME_COUNT = (LOOKUPS, FETCHES, PAYLOADS)
MUST_BE_SAME = (
    f"{', '.join(spec.name for spec in SAME_COUNT)} need the same number: equal keys have to lie on equal partitions"
)
MAY_DIFFER = "more partitions than expected work; fewer spread the work less"
CHANGE = (
    "Changing the number moves keys to other partitions: drain the pipeline first, then delete the topic and run "
    "`groundwire topics create`"
)


@dataclass(frozen=True, slots=True)
class TopicProblem:
    """One topic that is not as the table says, and what to do about it."""

    topic: str
    message: str
    advice: str
    missing: bool = False
    unusable: bool = False
    """Workers would lose sight of what is paid for: none starts."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What the brokers say of themselves."""

    brokers: int
    cluster_id: str
    embedded: bool
    partitions: dict[str, int]


async def ensure_topics(
    settings: Settings, topics: Sequence[TopicSpec] = TOPICS, *, fresh_broker: bool = False
) -> list[str]:
    """Make the topics that are missing and wait until they can be seen; gives back the names of the new ones.

    Replication is min(3, brokers) unless `kafka.replication` says otherwise. Existing topics are left as they are: what
    differs is `check_topics`' business. `fresh_broker`: the embedded broker was started a moment ago, and a client that
    was faster than we are has made it invent topics, with four partitions each; those are made anew.

    Raises BrokerUnreachable, ConfigurationError.
    """
    admin = await _connect(settings)
    try:
        facts = await _facts(admin)
        known = facts.partitions
        if fresh_broker:
            invented = [spec.name for spec in topics if known.get(spec.name, spec.partitions) != spec.partitions]
            if invented:
                await admin.delete_topics(invented)
                known = {name: count for name, count in known.items() if name not in invented}
        missing = [spec for spec in topics if spec.name not in known]
        if missing:
            replication = settings.kafka.replication or min(MAX_REPLICATION, facts.brokers)
            response = await admin.create_topics([_new_topic(spec, replication, facts.embedded) for spec in missing])
            _raise_unless_made(response.topic_errors)
            await _wait_until_visible(admin, missing)
        return [spec.name for spec in missing]
    finally:
        await admin.close()


async def check_topics(settings: Settings, topics: Sequence[TopicSpec] = TOPICS) -> list[TopicProblem]:
    """What is not as the table says. Raises BrokerUnreachable, ConfigurationError."""
    admin = await _connect(settings)
    try:
        facts = await _facts(admin)
    finally:
        await admin.close()
    counts = {facts.partitions[spec.name] for spec in SAME_COUNT if spec.name in facts.partitions}
    problems = []
    for spec in topics:
        count = facts.partitions.get(spec.name)
        if count is None:
            problems.append(TopicProblem(spec.name, "is missing", "groundwire topics create", missing=True))
        elif count != spec.partitions:
            unusable = spec in SAME_COUNT and len(counts) > 1
            problems.append(
                TopicProblem(
                    spec.name,
                    f"has {count} partitions, and {spec.partitions} are expected",
                    f"{MUST_BE_SAME if unusable else MAY_DIFFER}. {CHANGE}",
                    unusable=unusable,
                )
            )
    return problems


async def cluster_facts(settings: Settings) -> ClusterFacts:
    """How many brokers there are, whether it is the embedded one, and the topics. Raises BrokerUnreachable."""
    admin = await _connect(settings)
    try:
        return await _facts(admin)
    finally:
        await admin.close()


async def _connect(settings: Settings) -> AIOKafkaAdminClient:
    admin = AIOKafkaAdminClient(**connection_kwargs(settings), request_timeout_ms=REQUEST_TIMEOUT_MS)
    with reasons_kept() as reasons:
        try:
            await admin.start()
        except KafkaError as error:
            await admin.close()
            if not isinstance(error, KafkaConnectionError):
                reasons.append(str(error))
            raise unreachable(settings, reasons) from None
    return admin


async def _facts(admin: AIOKafkaAdminClient) -> ClusterFacts:
    cluster = await admin.describe_cluster()
    names = [name for name in await admin.list_topics() if not name.startswith("__")]
    # Asked for by name, a topic that is gone could be made by the broker: these are known to be there.
    described = await admin.describe_topics(names) if names else []
    return ClusterFacts(
        brokers=len(cluster["brokers"]),
        cluster_id=cluster.get("cluster_id") or "",
        embedded=cluster.get("cluster_id") == EMBEDDED_CLUSTER_ID,
        partitions={topic["topic"]: len(topic["partitions"]) for topic in described if topic["error_code"] == 0},
    )


def _new_topic(spec: TopicSpec, replication: int, embedded: bool) -> NewTopic:
    # The embedded broker ignores retention and sizes: nothing is promised that it does not do.
    configs = {} if embedded else _configs(spec, replication)
    return NewTopic(spec.name, spec.partitions, replication, topic_configs=configs)


def _configs(spec: TopicSpec, replication: int) -> dict[str, str]:
    configs = {
        "retention.ms": str(spec.retention_ms),
        "max.message.bytes": str(spec.max_bytes),
        "cleanup.policy": "delete",
    }
    if replication >= MAX_REPLICATION:
        configs["min.insync.replicas"] = "2"  # acks=all then survives the loss of a leader
    return configs


def _raise_unless_made(errors: Iterable[tuple[str, int, str | None]]) -> None:
    for name, code, message in errors:
        error = for_code(code)
        if code and error is not TopicAlreadyExistsError:  # another worker was faster
            raise ConfigurationError(f"topic {name} can't be made: {message or error.description}")


async def _wait_until_visible(admin: AIOKafkaAdminClient, topics: Sequence[TopicSpec]) -> None:
    deadline = time.monotonic() + VISIBLE_TIMEOUT_S
    while True:
        described = await admin.describe_topics([spec.name for spec in topics])
        if all(_has_leaders(topic) for topic in described):
            return
        if time.monotonic() > deadline:
            raise BrokerUnreachable(f"the new topics have no leader after {VISIBLE_TIMEOUT_S:g} s: is a broker down?")
        await asyncio.sleep(POLL_S)


def _has_leaders(topic: dict[str, Any]) -> bool:
    return topic["error_code"] == 0 and all(p["error_code"] == 0 and p["leader"] >= 0 for p in topic["partitions"])
