"""What an operator is promised on a real Kafka: nodes that fill themselves, brokers with passwords, messages that help."""

import asyncio
import re
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from harness.cluster import Cluster
from harness.pipeline import Pipeline
from harness.records import asking
from harness.security import USERS


def _secured(kafka: Cluster, mechanism: str, password: str | None = None) -> dict[str, str]:
    name, right = next(iter(USERS.items()))
    assert kafka.certificate is not None
    return {
        "GROUNDWIRE_BROKERS": kafka.brokers_of("SASL_SSL"),
        "GROUNDWIRE_KAFKA__SECURITY_PROTOCOL": "SASL_SSL",
        "GROUNDWIRE_KAFKA__SASL_MECHANISM": mechanism,
        "GROUNDWIRE_KAFKA__SASL_USERNAME": name,
        "GROUNDWIRE_KAFKA__SASL_PASSWORD": right if password is None else password,
        "GROUNDWIRE_KAFKA__SSL_CAFILE": str(kafka.certificate.cafile),
    }


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_tls_and_sasl_let_the_right_password_in(road: Pipeline, kafka: Cluster, mechanism: str) -> None:
    done = road.command("topics", "check", environ=_secured(kafka, mechanism))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password_is_one_clear_message(road: Pipeline, kafka: Cluster, mechanism: str) -> None:
    done = road.command("topics", "check", environ=_secured(kafka, mechanism, password="wrong-password"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "wrong-password" not in done.stdout + done.stderr
    assert len([line for line in done.stderr.splitlines() if line.strip()]) <= 3, done.stderr


def test_a_certificate_nobody_knows_is_one_clear_message(road: Pipeline, kafka: Cluster) -> None:
    environ = _secured(kafka, "PLAIN")
    environ["GROUNDWIRE_KAFKA__SSL_CAFILE"] = ""
    done = road.command("topics", "check", environ=environ)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.strip()]) <= 3, done.stderr


def test_a_broker_that_is_not_there_is_one_clear_message(road: Pipeline) -> None:
    done = road.command("topics", "check", environ={"GROUNDWIRE_BROKERS": "127.0.0.1:1"})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "127.0.0.1:1" in done.stderr


def test_topics_that_are_missing_are_named_and_made_by_the_command_that_is_offered(
    own_kafka: Cluster, tmp_path: Path
) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        _is_turned_away(pipeline, "topics are missing: search.requests.v1, search.lookups.v1")
        pipeline.create_topics()
        assert "all there" in pipeline.command("doctor").stdout
        pipeline.start("frontline")


async def test_a_topic_with_a_number_of_partitions_that_loses_sight_of_paid_answers_is_named_and_made_anew(
    own_kafka: Cluster, tmp_path: Path
) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.create_topics()
        await _make_anew(own_kafka, "search.fetches.v1", partitions=3)
        _is_turned_away(pipeline, "search.fetches.v1 has 3 partitions, and 8 are expected")
        await _delete(own_kafka, "search.fetches.v1")
        pipeline.create_topics()
        assert "all there" in pipeline.command("doctor").stdout
        pipeline.start("frontline")


async def test_another_number_of_partitions_where_it_does_not_matter_is_said_and_worked_with(
    own_kafka: Cluster, tmp_path: Path
) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.create_topics()
        await _make_anew(own_kafka, "search.requests.v1", partitions=3)
        (worker,) = pipeline.start("frontline")
        said = "search.requests.v1 has 3 partitions, and 8 are expected"
        assert said in worker.output()
        done = pipeline.command("doctor")
        assert done.returncode == 1
        assert said in done.stdout


def _is_turned_away(pipeline: Pipeline, said: str) -> None:
    """A worker does not start, doctor says the same, and both offer the command."""
    done = pipeline.command("worker", "frontline")
    assert done.returncode == 2, done.stderr
    (line,) = (done.stdout + done.stderr).strip().splitlines()
    assert said in line
    assert "groundwire topics create" in line
    done = pipeline.command("doctor")
    assert done.returncode == 1
    for topic in re.findall(r"search\.[a-z.-]+v1", said):
        assert re.search(rf"wrong topic: {topic} .*\n.*groundwire topics create", done.stdout), done.stdout


async def _make_anew(kafka: Cluster, topic: str, *, partitions: int) -> None:
    await _delete(kafka, topic)
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.brokers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, partitions, 1)])
    finally:
        await admin.close()


async def _delete(kafka: Cluster, topic: str) -> None:
    """Returns when it is gone from what the broker tells."""
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.brokers)
    await admin.start()
    try:
        await admin.delete_topics([topic])
        while topic in await admin.list_topics():
            await asyncio.sleep(0.05)
    finally:
        await admin.close()


@pytest.mark.timeout(180)
async def test_the_whole_road_runs_over_tls_with_passwords(kafka: Cluster, tmp_path: Path) -> None:
    """Beside the shared pipeline: the same topics and groups, so either may answer; this one's workers must be able to."""
    with Pipeline(tmp_path / "secured", kafka.brokers, settings=_secured(kafka, "SCRAM-SHA-512")) as pipeline:
        pipeline.start_all()
        async with asking(kafka.brokers) as asker:
            reply = await asker.ask("who crossed the secured bridge 4711")
        assert reply["status"] == "grounded"
        await asyncio.to_thread(pipeline.stop)


@pytest.mark.timeout(240)
async def test_a_second_node_fills_itself_from_the_log_and_losing_its_folder_costs_a_refill(
    own_kafka: Cluster, tmp_path: Path
) -> None:
    with Pipeline(tmp_path / "first", own_kafka.brokers, settings={"GROUNDWIRE_NODE": "first"}) as first:
        first.start_all()
        async with asking(own_kafka.brokers) as asker:
            questions = [f"which orchards are described in volume {number}" for number in range(30)]
            for question in questions:
                assert (await asker.ask(question))["cache"]["outcome"] == "miss"
            bill = first.vendors.invoice()["total_micro_usd"]
            await asyncio.to_thread(first.stop, [*first.workers["frontline"], *first.workers["cache-writer"]])
            with Pipeline(tmp_path / "second", own_kafka.brokers, settings={"GROUNDWIRE_NODE": "second"}) as second:
                for folder in ("new", "lost and new again"):
                    await second.start_beside("cache-writer", "frontline")
                    await asyncio.sleep(2.0)
                    for question in questions:
                        assert (await asker.ask(question))["cache"]["outcome"] == "exact", folder
                    await asyncio.to_thread(second.stop)
                    second.lose_home()
            assert first.vendors.invoice()["total_micro_usd"] == bill


@pytest.mark.timeout(180)
async def test_hits_go_on_after_the_broker_was_frozen(own_kafka: Cluster, tmp_path: Path) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.start_all()
        async with asking(own_kafka.brokers) as asker:
            await asker.ask("which railway was frozen in volume 12")
            node = own_kafka.nodes[0]
            node.process.pause()
            await asyncio.sleep(20.0)
            node.process.resume()
            reply = await asker.ask("which railway was frozen in volume 12", timeout_s=60)
        assert reply["status"] == "grounded"
        for workers in pipeline.workers.values():
            for worker in workers:
                lines = worker.output().count("\n")
                assert lines < 200, f"{worker.name} wrote {lines} lines in an outage of 20 s:\n{worker.tail()}"
