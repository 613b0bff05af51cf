"""Roles and brokers are killed under load, and a checker that knows nothing of the code counts what became of it."""

import asyncio
import signal
from pathlib import Path

import pytest
from checker import Findings, check
from harness.chaos import Done, Plan, break_things
from harness.cluster import Cluster
from harness.load import SteadyLoad
from harness.pipeline import READY_WITHIN_S, ROLES, Pipeline

# There is one worker of each role here: while it is dead, nobody takes over.
SEVERAL_KILLS_S = 180.0


async def _under_load(pipeline: Pipeline, cluster: Cluster, plan: Plan, rate: float) -> tuple[Findings, Done]:
    load = SteadyLoad(cluster.brokers, rate)
    stop = asyncio.Event()
    running = asyncio.create_task(load.run(stop))
    try:
        await asyncio.sleep(3.0)
        done = await break_things(pipeline, cluster, plan)
        await asyncio.sleep(3.0)
    finally:
        stop.set()
        await running
    findings = await check(
        cluster.brokers, pipeline.vendors.address, pipeline.lake, load, patience_s=150, grace_s=SEVERAL_KILLS_S
    )
    return findings, done


def _report(findings: Findings, done: Done) -> None:
    print(f"\n{done.table()}\n\n{findings.table()}")
    assert findings.accepted > 100
    assert findings.broken() == [], "\n".join(findings.evidence)


@pytest.mark.timeout(600)
async def test_nothing_is_lost_doubled_or_unpaid_for_when_anything_is_killed(
    own_kafka: Cluster, tmp_path: Path
) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.start_all()
        plan = Plan(kills_per_role=1, broker_restarts=1, rebalances=1)
        _report(*await _under_load(pipeline, own_kafka, plan, rate=30))


# Role, and the moment at which it ends itself without a word. The number lets some work go by first.
WORST_MOMENTS = [
    ("fetch", "before-publish:search.payloads.v1@9"),  # vendors have answered, or are being asked, and nobody knows
    ("fetch", "after-publish:search.payloads.v1@9"),  # the answer is in the journal, its request not done
    ("fetch", "before-commit@2"),
    ("unify", "before-publish:search.replies.v1@5"),
    ("unify", "after-publish:search.replies.v1@5"),  # the caller has the reply, the payload is read again
    ("frontline", "after-publish:search.fetches.v1@5"),
    ("frontline", "after-publish:search.replies.v1@3"),
    ("cache-writer", "after-batch:cache-writer@2"),  # in LanceDB, not committed
    ("lake-writer", "after-batch:lake-writer@1"),  # the file is there, its offsets are not
    ("fetch", "in-rebalance@2"),  # the first time is its own joining
]


@pytest.mark.timeout(600)
async def test_the_worst_moments_lose_double_and_overcharge_nothing(own_kafka: Cluster, tmp_path: Path) -> None:
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.start_all()
        load = SteadyLoad(own_kafka.brokers, 20)
        stop = asyncio.Event()
        running = asyncio.create_task(load.run(stop))
        await asyncio.sleep(3.0)
        try:
            for role, moment in WORST_MOMENTS:
                doomed = pipeline.replace(role, environ={"GROUNDWIRE_FAILPOINTS": moment})
                if moment.startswith("in-rebalance"):
                    await asyncio.to_thread(doomed.wait_for, "ready", READY_WITHIN_S)
                    pipeline.begin(role)
                await asyncio.to_thread(doomed.wait_until_ended, READY_WITHIN_S)
                assert doomed.returncode == -signal.SIGKILL, f"{moment}: {doomed.tail()}"
                pipeline.workers[role].remove(doomed)
                if not pipeline.workers[role]:
                    pipeline.begin(role)
            await asyncio.sleep(3.0)
        finally:
            stop.set()
            await running
        findings = await check(
            own_kafka.brokers, pipeline.vendors.address, pipeline.lake, load, patience_s=120, grace_s=SEVERAL_KILLS_S
        )
        print(f"\n{findings.table()}")
        assert findings.broken() == [], "\n".join(findings.evidence)


@pytest.mark.long
@pytest.mark.timeout(3_600)
async def test_the_long_kill_matrix(own_kafka: Cluster, tmp_path: Path) -> None:
    """20 kills of each role, 5 broker restarts, 10 forced rebalances, at 100 requests a second."""
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.start_all()
        plan = Plan(kills_per_role=20, broker_restarts=5, rebalances=10)
        _report(*await _under_load(pipeline, own_kafka, plan, rate=100))


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_cluster_of_three_loses_brokers_and_its_network(kafka_of_three: Cluster, tmp_path: Path) -> None:
    with Pipeline(tmp_path / "road", kafka_of_three.brokers) as pipeline:
        pipeline.start_all()
        plan = Plan(kills_per_role=0, broker_restarts=4, broker_freezes=2, pause_s=8.0)
        _report(*await _under_load(pipeline, kafka_of_three, plan, rate=50))


@pytest.mark.timeout(400)
async def test_a_rolling_restart_loses_and_doubles_nothing(own_kafka: Cluster, tmp_path: Path) -> None:
    """SIGTERM drains and commits in the time that is promised, and what was drained is not done again."""
    with Pipeline(tmp_path / "road", own_kafka.brokers) as pipeline:
        pipeline.start_all()
        load = SteadyLoad(own_kafka.brokers, 30, redelivered=0.0)
        stop = asyncio.Event()
        running = asyncio.create_task(load.run(stop))
        await asyncio.sleep(3.0)
        for role in ROLES:
            leaving = pipeline.workers[role][0]
            await asyncio.to_thread(pipeline.stop, [leaving])
            assert leaving.returncode == 0, leaving.tail()
            await pipeline.start_beside(role)
        stop.set()
        await running
        findings = await check(own_kafka.brokers, pipeline.vendors.address, pipeline.lake, load, patience_s=90)
        print(f"\n{findings.table()}")
        assert findings.broken() == []
        assert findings.repeated == 0
        assert findings.paid_twice == 0
