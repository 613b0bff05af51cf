"""Says at start which providers can serve and which are skipped, with the reason."""

import structlog

from groundwire.adapters.registry import Registry
from groundwire.schemas.settings import Settings

log = structlog.get_logger(__name__)


def announce_providers(registry: Registry, settings: Settings) -> None:
    """One line for the usable ones, one for the skipped, one for each file that was turned away."""
    for problem in registry.problems:
        log.warning("provider file turned away", problem=str(problem))
    reasons = {name: registry.get(name).unavailable() for name in registry.names()}
    usable = [name for name, reason in reasons.items() if reason is None]
    log.info("providers", usable=", ".join(usable) or "none")
    skipped = [f"{name} ({reason})" for name, reason in reasons.items() if reason is not None]
    if skipped:
        log.info("providers skipped", skipped="; ".join(skipped))
    for route, chain in settings.routes.items():
        if not any(name in usable for name in chain):
            log.warning("a route has no usable provider: its misses are answered ungrounded", route=route)
