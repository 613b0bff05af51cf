"""One role as a process: `groundwire worker ROLE`, and what the supervisor starts for each role.

    python -m groundwire.streams.runtime.worker ROLE [--supervised]

Supervised, it reads its settings as one JSON line from stdin, takes commands from there (one JSON object a line), answers on
stdout in the same way, and ends when stdin closes: then its supervisor is gone.
"""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import structlog
from pydantic import SecretStr
from structlog.typing import EventDict

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import ROLES
from groundwire.streams.runtime.configuration import ConfigurationError, load_settings
from groundwire.streams.runtime.logs import configure_logging
from groundwire.streams.runtime.role import Role
from groundwire.streams.runtime.topics_admin import BrokerUnreachable, check_topics

log = structlog.get_logger(__name__)

# SIGTERM to the end of the process; what is not finished by then was not committed and is read again.
STOP_WITHIN_S = 9.5
# A worker whose supervisor is gone has less time: its embedded broker went with it.
ORPHAN_STOP_WITHIN_S = 4.0

# What frontline and fetch both say when they start: on two machines each has its own keys and files, beside one supervisor
# they have the same, and once is enough.
SAID_BY_FETCH_TOO = frozenset(
    {
        "provider file turned away",
        "providers",
        "providers skipped",
        "a route has no usable provider: its misses are answered ungrounded",
    }
)

EXIT_DONE = 0
EXIT_CRASHED = 1
EXIT_MISUSE = 2


def run_role(role: str, settings: Settings, environ: Mapping[str, str]) -> int:
    """Run one role until SIGTERM or SIGINT; gives back the exit code. Says what stands in the way in one line."""
    runner = asyncio.Runner()
    try:
        return runner.run(_run(role, settings, environ))
    except (ConfigurationError, BrokerUnreachable) as error:
        log.error(str(error), role=role)
        return EXIT_MISUSE
    except Exception:
        log.exception("the role ended by itself", role=role)
        return EXIT_CRASHED


def run_and_exit(role: str, settings: Settings, environ: Mapping[str, str]) -> NoReturn:
    """`run_role`, then the end of the process: a library's thread that is still busy does not hold it up."""
    code = run_role(role, settings, environ)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(code)


async def _run(name: str, settings: Settings, environ: Mapping[str, str]) -> int:
    from groundwire.streams.agents.roles import build_role

    problems = await check_topics(settings)
    missing = [problem.topic for problem in problems if problem.missing]
    if missing:
        raise ConfigurationError(f"topics are missing: {', '.join(missing)}. Make them with `groundwire topics create`")
    unusable = [problem for problem in problems if problem.unusable]
    if unusable:
        said = ", ".join(f"{problem.topic} {problem.message}" for problem in unusable)
        raise ConfigurationError(f"topic {said}. {unusable[0].advice}")
    for problem in problems:
        log.warning(f"topic {problem.topic} {problem.message}", advice=problem.advice)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _begin_to_stop, name, stop)
    role: Role = build_role(name, settings, environ)
    await role.run(stop)
    return EXIT_DONE


def _begin_to_stop(role: str, stop: asyncio.Event) -> None:
    if stop.is_set():
        return
    log.info("stopping", role=role)
    stop.set()
    _end_within(STOP_WITHIN_S)


def _end_within(seconds: float) -> None:
    """Whatever hangs, the process is gone by then. Nothing is lost: what was not committed is read again."""

    def end() -> None:
        log.warning("not everything was finished in time; it will be read again")
        sys.stderr.flush()
        os._exit(EXIT_DONE)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


# ── settings as one JSON line


def encode_settings(settings: Settings) -> str:
    """The settings with their secrets, for a child process's stdin: no file, no argument list, no environment."""
    return json.dumps(settings.model_dump(), default=_reveal)


def decode_settings(line: str) -> Settings:
    return Settings.model_validate(json.loads(line))


def _reveal(value: Any) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


# ── the process


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m groundwire.streams.runtime.worker")
    parser.add_argument("role", choices=ROLES)
    parser.add_argument("--supervised", action="store_true", help="settings and commands come on stdin")
    given = parser.parse_args(arguments)
    if not given.supervised:
        try:
            settings = load_settings()
        except ConfigurationError as error:
            print(f"groundwire: {error}", file=sys.stderr)  # noqa: T201 - there is no logging before the settings
            return EXIT_MISUSE
        configure_logging(settings.log)
        run_and_exit(given.role, settings, os.environ)
    settings = decode_settings(sys.stdin.readline())
    configure_logging(settings.log, on_event=partial(_report, given.role))
    threading.Thread(target=_end_with_supervisor, daemon=True).start()
    run_and_exit(given.role, settings, os.environ)


def _report(role: str, event: EventDict) -> None:
    """Tell the supervisor what it waits for. Raises DropEvent for what another role says beside this one."""
    if role == "frontline" and event.get("event") in SAID_BY_FETCH_TOO:
        raise structlog.DropEvent
    if event.get("event") == "ready":
        print(json.dumps({"event": "ready"}), flush=True)  # noqa: T201 - stdout is the line to the supervisor


def _end_with_supervisor() -> None:
    while sys.stdin.readline():
        pass
    _end_within(ORPHAN_STOP_WITHIN_S)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
