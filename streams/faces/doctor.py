"""`groundwire doctor`: looks at each part Groundwire stands on and says what to do about what is wrong."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from groundwire.lake import left_out
from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable
from groundwire.lake.cache.stats import view_health
from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.session import Session, connected
from groundwire.streams.runtime.broker import BrokerUnavailable, find_binary
from groundwire.streams.runtime.runfile import is_starting
from groundwire.streams.runtime.topics_admin import BrokerUnreachable, check_topics

LOW_DISK_BYTES = 1024**3


class Check(BaseModel):
    """One thing looked at. `advice` is what to do; empty when all is well."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    ok: bool
    message: str
    advice: str = ""


class Diagnosis(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    ok: bool
    checks: list[Check]


async def diagnose(session: Session, settings: Settings) -> Diagnosis:
    """Run every check; one that breaks is itself a finding, never a traceback."""
    looks: list[tuple[str, Callable[[], Awaitable[list[Check]]]]] = [
        ("python", _python),
        ("broker", lambda: _broker_and_topics(settings)),
        ("model", lambda: _model(settings)),
        ("providers", lambda: _providers(session, settings)),
        ("disk", lambda: _disk(settings)),
        ("cache", lambda: _cache(settings)),
        ("lake", lambda: _lake(settings)),
    ]
    checks: list[Check] = []
    for name, look in looks:
        try:
            checks.extend(await look())
        except Exception as error:
            checks.append(
                Check(
                    name=name, ok=False, message=f"{type(error).__name__}: {error}", advice="this check itself failed"
                )
            )
    return Diagnosis(ok=all(check.ok for check in checks), checks=checks)


async def _python() -> list[Check]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    ok = sys.version_info >= (3, 11)
    return [Check(name="python", ok=ok, message=version, advice="" if ok else "install Python 3.11 or newer")]


async def _broker_and_topics(settings: Settings) -> list[Check]:
    try:
        there = connected(settings, patience_s=0)
    except CommandError as nothing:
        if is_starting(settings.home):
            return [Check(name="broker", ok=False, message=str(nothing), advice="look again when it says it is ready")]
        try:
            binary = find_binary()
        except BrokerUnavailable as error:
            return [
                Check(name="broker", ok=False, message="nothing runs, and no embedded broker can", advice=str(error))
            ]
        return [
            Check(
                name="broker",
                ok=False,
                message=f"nothing is running with state folder {settings.home} (an embedded broker could: {binary})",
                advice="start `groundwire up --sandbox`, or set GROUNDWIRE_BROKERS=host:port",
            )
        ]
    try:
        problems = await check_topics(there)
    except BrokerUnreachable as error:
        return [
            Check(
                name="broker",
                ok=False,
                message=str(error),
                advice="is it running, is the address right, do the `kafka` settings (TLS, SASL) fit?",
            )
        ]
    return [
        Check(name="broker", ok=True, message=f"{there.brokers} answers"),
        *(
            Check(name="topic", ok=False, message=f"{problem.topic} {problem.message}", advice=problem.advice)
            for problem in problems
        ),
        *([] if problems else [Check(name="topics", ok=True, message="all there")]),
    ]


async def _model(settings: Settings) -> list[Check]:
    try:
        embedder = await asyncio.to_thread(Embedder.load, settings.cache.embedding)
        await embedder.embed("is the model there?")
    except EmbedderUnavailable as error:
        return [
            Check(
                name="model",
                ok=False,
                message=str(error),
                advice="without a model there are exact hits only; see cache.embedding in groundwire.example.yaml",
            )
        ]
    return [Check(name="model", ok=True, message=f"{embedder.model}, {embedder.dimensions} dimensions")]


async def _providers(session: Session, settings: Settings) -> list[Check]:
    registry = session.registry(settings)
    try:
        usable = [name for name in registry.names() if registry.get(name).unavailable() is None]
        checks = [
            Check(name="provider file", ok=False, message=str(problem), advice="`groundwire providers check` says more")
            for problem in registry.problems
        ]
        known = set(registry.names())
        for route, chain in settings.routes.items():
            unknown = [name for name in chain if name not in known]
            if unknown:
                checks.append(
                    Check(
                        name="route",
                        ok=False,
                        message=f"`{route}` names unknown providers: {', '.join(unknown)}",
                        advice=f"known ones: {', '.join(sorted(known))}",
                    )
                )
        default = [name for name in settings.routes.get("default", []) if name in usable]
        missing = [f"{name} ({registry.get(name).unavailable()})" for name in registry.names() if name not in usable]
        checks.append(
            Check(
                name="keys",
                ok=bool(default),
                message=f"usable: {', '.join(usable) or 'none'}; skipped: {', '.join(missing) or 'none'}",
                advice=""
                if default
                else "set the key of at least one provider of the default route, or use `up --sandbox`",
            )
        )
        return checks
    finally:
        await registry.aclose()


async def _disk(settings: Settings) -> list[Check]:
    checks: list[Check] = []
    for name, folder in (
        ("state folder", settings.home),
        ("cache folder", settings.cache_path),
        ("lake", settings.lake_path),
    ):
        existing = _nearest_existing(folder)
        free = shutil.disk_usage(existing).free
        if not _writable(existing):
            checks.append(
                Check(
                    name=name,
                    ok=False,
                    message=f"{folder} can't be written",
                    advice="give it back, or set GROUNDWIRE_HOME",
                )
            )
        elif free < LOW_DISK_BYTES:
            checks.append(
                Check(
                    name=name,
                    ok=False,
                    message=f"{folder}: only {free / 1024**2:,.0f} MiB free",
                    advice="free space: below this the cache and the lake stop taking writes soon",
                )
            )
        else:
            checks.append(Check(name=name, ok=True, message=f"{folder}: {free / 1024**3:,.1f} GiB free"))
    return checks


async def _cache(settings: Settings) -> list[Check]:
    healthy, message = await asyncio.to_thread(view_health, settings)
    advice = "" if healthy else "move the folder away: the view is rebuilt from its log; until then requests are misses"
    return [Check(name="cache", ok=healthy, message=message, advice=advice)]


async def _lake(settings: Settings) -> list[Check]:
    bad = await asyncio.to_thread(left_out, settings.lake_path)
    message = "readable" if not bad else "left out: " + "; ".join(f"{file}: {reason}" for file, reason in bad[:5])
    return [
        Check(name="lake files", ok=not bad, message=message, advice="" if not bad else "remove or repair these files")
    ]


def _nearest_existing(folder: Path) -> Path:
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return folder


def _writable(folder: Path) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
