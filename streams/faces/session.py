"""What a command works with: the settings, and the running Groundwire it talks to."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.configuration import ConfigurationError, load_settings
from groundwire.streams.runtime.runfile import RunFile

if TYPE_CHECKING:
    from groundwire.adapters.registry import Registry


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


def connected(settings: Settings) -> Settings:
    """The settings with the brokers to talk to: named ones, else those of the `up` that runs on this home.

    Raises CommandError when there is neither.
    """
    if settings.brokers:
        return settings
    running = RunFile.read(settings.home)
    if running is None:
        raise CommandError(
            f"nothing is running with state folder {settings.home}.\n"
            "Start it in another terminal:  groundwire up --sandbox   (local stand-ins for the vendors, no keys)\n"
            "                          or:  groundwire up             (the vendors whose keys are in the environment)\n"
            "If it runs with another state folder, set GROUNDWIRE_HOME; if on a Kafka of your own, GROUNDWIRE_BROKERS=host:port."
        )
    return settings.model_copy(update={"brokers": running.brokers})
