"""The broker that the other promises are proved on is a real one, and breaks and heals the way a real one does."""

import asyncio
import ssl
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError
from harness.cluster import Cluster
from harness.security import USERS

PATIENCE_S = 60


async def _make_topic(cluster: Cluster, name: str, *, partitions: int = 1, replicas: int = 1) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=cluster.brokers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, partitions, replicas)])
    finally:
        await admin.close()


async def _send(brokers: str, topic: str, values: list[bytes], **settings: Any) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all", **settings)
    await producer.start()
    try:
        for value in values:
            await producer.send_and_wait(topic, value)
    finally:
        await producer.stop()


async def _read(brokers: str, topic: str, count: int, **settings: Any) -> list[bytes]:
    consumer = AIOKafkaConsumer(bootstrap_servers=brokers, **settings)
    await consumer.start()
    try:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await asyncio.wait_for(consumer.getone(), 30)).value for _ in range(count)]
    finally:
        await consumer.stop()


def _client_settings(cluster: Cluster, protocol: str, mechanism: str, password: str | None = None) -> dict[str, Any]:
    settings: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        assert cluster.certificate is not None
        settings["ssl_context"] = ssl.create_default_context(cafile=str(cluster.certificate.cafile))
    if protocol.startswith("SASL"):
        name, right = next(iter(USERS.items()))
        settings |= {
            "sasl_mechanism": mechanism,
            "sasl_plain_username": name,
            "sasl_plain_password": right if password is None else password,
        }
    return settings


@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("PLAINTEXT", ""),
        ("SSL", ""),
        ("SASL_PLAINTEXT", "PLAIN"),
        ("SASL_SSL", "PLAIN"),
        ("SASL_SSL", "SCRAM-SHA-512"),
    ],
)
async def test_a_client_gets_through_each_kind_of_listener(kafka: Cluster, protocol: str, mechanism: str) -> None:
    topic = f"listener-{protocol}-{mechanism or 'none'}".lower().replace("_", "-")
    await _make_topic(kafka, topic)
    settings = _client_settings(kafka, protocol, mechanism)
    await _send(kafka.brokers_of(protocol), topic, [b"through"], **settings)
    assert await _read(kafka.brokers, topic, 1) == [b"through"]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
async def test_a_client_with_a_wrong_password_is_turned_away(kafka: Cluster, mechanism: str) -> None:
    settings = _client_settings(kafka, "SASL_SSL", mechanism, password="wrong")
    with pytest.raises(KafkaError):
        await _send(kafka.brokers_of("SASL_SSL"), "anything", [b"never"], **settings)


async def test_confirmed_records_survive_kill_9_of_the_broker(own_kafka: Cluster) -> None:
    await _make_topic(own_kafka, "kept")
    values = [str(n).encode() for n in range(200)]
    await _send(own_kafka.brokers, "kept", values)
    node = own_kafka.nodes[0]
    node.process.kill()
    node.start()
    node.wait_ready()
    assert await _read(own_kafka.brokers, "kept", len(values)) == values


async def test_a_topic_of_three_replicas_goes_on_when_its_leader_dies(kafka_of_three: Cluster) -> None:
    await _make_topic(kafka_of_three, "replicated", replicas=3)
    await _send(kafka_of_three.brokers, "replicated", [b"before"])
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka_of_three.brokers)
    await admin.start()
    try:
        leader = (await admin.describe_topics(["replicated"]))[0]["partitions"][0]["leader"]
    finally:
        await admin.close()
    kafka_of_three.nodes[leader - 1].process.kill()
    living = ",".join(f"127.0.0.1:{node.port}" for node in kafka_of_three.nodes if node.id != leader)
    await asyncio.wait_for(_send(living, "replicated", [b"after"], request_timeout_ms=60_000), PATIENCE_S)
    assert await _read(living, "replicated", 2) == [b"before", b"after"]


async def test_a_topic_nobody_made_is_not_made_by_asking_for_it(kafka: Cluster) -> None:
    with pytest.raises((KafkaError, TimeoutError)):
        await asyncio.wait_for(_send(kafka.brokers, "nobody-made-me", [b"x"], request_timeout_ms=1500), 10)
