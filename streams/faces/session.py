"""What a command works with: the settings, and the running Groundwire it talks to."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.program import program
from groundwire.streams.runtime.configuration import ConfigurationError, load_settings
from groundwire.streams.runtime.runfile import RunFile, is_starting

if TYPE_CHECKING:
    from groundwire.adapters.registry import Registry

# An `up` that is not ready after this is not waited for: its own limit for the roles, and some.
STARTING_PATIENCE_S = 200.0
LOOK_EVERY_S = 0.2


@dataclass(frozen=True)
class Session:
    """Settings and environment of one command. `flags` are the global options, above file and environment."""

    config: Path | None = None
    flags: dict[str, Any] = field(default_factory=dict)

    def settings(self, **flags: Any) -> Settings:
        """Raises CommandError naming the key, where it stands and what would be right."""
        given = {name: value for name, value in {**self.flags, **flags}.items() if value is not None}
        try:
            return load_settings(self.config, self.environment(given), given)
        except ConfigurationError as error:
            raise CommandError(str(error)) from None

    def environment(self, flags: dict[str, Any] | None = None) -> dict[str, str]:
        """The process's environment; beside a running sandbox, that sandbox's vendors and keys as well."""
        environ = dict(os.environ)
        home = Path((flags or self.flags).get("home") or environ.get("GROUNDWIRE_HOME") or ".groundwire")
        running = RunFile.read(home)
        if running is not None and running.sandbox is not None:
            from groundwire.adapters.sandbox import sandbox_environment  # a second's work, and most need none of it

            return {**sandbox_environment(running.sandbox), **environ}
        return environ

    def registry(self, settings: Settings) -> "Registry":
        from groundwire.adapters.registry import Registry

        return Registry.load(settings, self.environment({"home": str(settings.home)}))


def connected(
    settings: Settings, *, patience_s: float = STARTING_PATIENCE_S, on_wait: Callable[[str], None] = lambda _: None
) -> Settings:
    """The settings with the brokers to talk to: named ones, else those of the `up` that runs on this home.

    One that is just starting is waited for, at most `patience_s` seconds; `on_wait` is told so once. Raises CommandError when
    there is neither.
    """
    if settings.brokers:
        return settings
    running = RunFile.read(settings.home)
    deadline, told = time.monotonic() + patience_s, False
    while running is None and is_starting(settings.home) and time.monotonic() < deadline:
        if not told:
            on_wait(f"`groundwire up` is starting with state folder {settings.home}: waiting until it is ready …")
            told = True
        time.sleep(LOOK_EVERY_S)
        running = RunFile.read(settings.home)
    if running is None:
        raise CommandError(_not_there(settings))
    return settings.model_copy(update={"brokers": running.brokers})


def _not_there(settings: Settings) -> str:
    if is_starting(settings.home):
        return (
            f"`groundwire up` is starting with state folder {settings.home}, and not ready yet: try again in a moment"
        )
    up = f"{program()} up"
    return (
        f"nothing is running with state folder {settings.home}.\n"
        f"Start it in another terminal:  {up} --sandbox   (local stand-ins for the vendors, no keys)\n"
        f"                          or:  {up}             (the vendors whose keys are in the environment)\n"
        "If it runs with another state folder, set GROUNDWIRE_HOME; if on a Kafka of your own, GROUNDWIRE_BROKERS=host:port."
    )
