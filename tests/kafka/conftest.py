"""A real Apache Kafka for every test here. Without Java or Kafka's jars they are skipped, unless CI says they must run."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness.cluster import Cluster, missing
from harness.pipeline import Pipeline
from harness.records import Asker, asking

# Of one test with its fixtures: the first one starts a broker and seven workers.
TIMEOUT_S = 300
# `make test-kafka` sets this: there, a broker that can't be had is a failure, never a skip.
REQUIRED = os.environ.get("TEST_KAFKA") == "required"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    reason = None if REQUIRED else missing()
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.kafka)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(TIMEOUT_S))
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One broker for all tests that break nothing of it, with TLS and SASL listeners beside the plain one."""
    with Cluster(tmp_path_factory.mktemp("kafka"), security=True) as cluster:
        yield cluster


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Cluster]:
    """One broker for a test that kills it."""
    with Cluster(tmp_path / "kafka") as cluster:
        yield cluster


@pytest.fixture
def kafka_of_three(tmp_path: Path) -> Iterator[Cluster]:
    """Three brokers, for a test that kills some of them."""
    with Cluster(tmp_path / "kafka", nodes=3) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def road(kafka: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The whole pipeline on the shared broker, for tests that break none of it. Three fetch workers share the misses."""
    with Pipeline(tmp_path_factory.mktemp("road"), kafka.brokers) as pipeline:
        pipeline.create_topics()
        pipeline.start("frontline", "fetch", "fetch", "fetch", "unify", "cache-writer", "lake-writer")
        yield pipeline
        pipeline.stop()


@pytest.fixture
async def asker(road: Pipeline) -> AsyncIterator[Asker]:
    async with asking(road.brokers) as one:
        yield one
