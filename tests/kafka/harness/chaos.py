"""Breaks a running pipeline on purpose: roles killed, brokers restarted or frozen, groups made to rebalance."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from .cluster import Cluster
from .pipeline import ENDS_WITHIN_S, READY_WITHIN_S, ROLES, Pipeline

FROZEN_S = 20.0
BROKER_AWAY_S = 3.0


@dataclass(frozen=True)
class Plan:
    """How often each thing is done, and the pause after each, seconds. Order is shuffled, the same way for a seed."""

    kills_per_role: int
    broker_restarts: int = 0
    broker_freezes: int = 0
    rebalances: int = 0
    pause_s: float = 2.0
    seed: int = 11


@dataclass
class Done:
    """What was done, and how long a killed worker's successor took until it was ready, seconds."""

    counts: Counter[str] = field(default_factory=Counter)
    ready_after_s: list[float] = field(default_factory=list)
    peak_rss_mib: dict[str, float] = field(default_factory=dict)

    def table(self) -> str:
        rows = [f"{name:<24} {count}" for name, count in sorted(self.counts.items())]
        if self.ready_after_s:
            rows.append(f"{'ready again after':<24} {max(self.ready_after_s):.1f} s at most")
        rows += [f"{'peak MiB ' + role:<24} {mib:.0f}" for role, mib in sorted(self.peak_rss_mib.items())]
        return "\n".join(rows)


async def break_things(pipeline: Pipeline, cluster: Cluster, plan: Plan) -> Done:
    """Carry the plan out, one thing at a time; returns when everything runs again."""
    chance = random.Random(plan.seed)
    actions = [("kill", role) for role in ROLES for _ in range(plan.kills_per_role)]
    actions += [("restart broker", "")] * plan.broker_restarts
    actions += [("freeze broker", "")] * plan.broker_freezes
    actions += [("rebalance", role) for role in chance.choices(("frontline", "fetch", "unify"), k=plan.rebalances)]
    chance.shuffle(actions)
    done = Done()
    for action, role in actions:
        if action == "kill":
            await _kill(pipeline, role, done)
        elif action == "restart broker":
            await _restart_broker(cluster, chance)
        elif action == "freeze broker":
            await _freeze_broker(cluster, chance)
        else:
            await _rebalance(pipeline, role)
        done.counts[f"{action} {role}".strip()] += 1
        note_memory(pipeline, done)
        await asyncio.sleep(plan.pause_s * chance.uniform(0.5, 1.5))
    return done


def note_memory(pipeline: Pipeline, done: Done) -> None:
    for role, workers in pipeline.workers.items():
        for worker in workers:
            done.peak_rss_mib[role] = max(done.peak_rss_mib.get(role, 0.0), worker.rss_mib())


async def _kill(pipeline: Pipeline, role: str, done: Done) -> None:
    successor = pipeline.replace(role)
    done.ready_after_s.append(await asyncio.to_thread(successor.wait_for, "ready", READY_WITHIN_S))


async def _restart_broker(cluster: Cluster, chance: random.Random) -> None:
    node = chance.choice(cluster.nodes)
    node.process.kill()
    await asyncio.sleep(BROKER_AWAY_S)
    node.start()
    await asyncio.to_thread(node.wait_ready)


async def _freeze_broker(cluster: Cluster, chance: random.Random) -> None:
    node = chance.choice(cluster.nodes)
    node.process.pause()
    try:
        await asyncio.sleep(FROZEN_S)
    finally:
        node.process.resume()


async def _rebalance(pipeline: Pipeline, role: str) -> None:
    """One more worker joins, and leaves again: two rebalances, with partitions going there and back."""
    begun = time.monotonic()
    extra = pipeline.begin(role)
    await asyncio.to_thread(extra.wait_for, "ready", READY_WITHIN_S)
    await asyncio.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
    await asyncio.to_thread(extra.terminate, ENDS_WITHIN_S)
    pipeline.workers[role].remove(extra)
