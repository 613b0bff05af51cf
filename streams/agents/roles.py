"""The roles by name."""

from collections.abc import Callable, Mapping

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.configuration import ConfigurationError
from groundwire.streams.runtime.role import Role


def build_role(role: str, settings: Settings, environ: Mapping[str, str]) -> Role:
    """One of schemas/topics.py's ROLES. Raises KeyError for any other name, ConfigurationError.

    Each role imports only what it needs: a lake writer carries no Faust, a fetch worker no LanceDB.
    """
    return _BUILDERS[role](settings, environ)


def _check_weights(settings: Settings) -> None:
    """Said before the role begins: a file of the operator's that can't be used is no crash."""
    from groundwire.streams.stages.freshness_weights import load_weights

    if settings.freshness.weighing:
        try:
            load_weights(settings.freshness.weights)
        except ValueError as error:
            raise ConfigurationError(str(error)) from None


def _frontline(settings: Settings, environ: Mapping[str, str]) -> Role:
    _check_weights(settings)
    from groundwire.streams.agents.frontline import Frontline

    return Frontline(settings, environ)


def _fetch(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.fetch import FetchRole

    return FetchRole(settings, environ)


def _unify(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.unify import UnifyRole

    return UnifyRole(settings, environ)


def _cache_writer(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.cache_writer import CacheWriterRole

    return CacheWriterRole(settings, environ)


def _lake_writer(settings: Settings, environ: Mapping[str, str]) -> Role:  # noqa: ARG001 - all builders are called alike
    from groundwire.streams.agents.lake_writer import LakeWriter

    return LakeWriter(settings)


_BUILDERS: dict[str, Callable[[Settings, Mapping[str, str]], Role]] = {
    "frontline": _frontline,
    "fetch": _fetch,
    "unify": _unify,
    "cache-writer": _cache_writer,
    "lake-writer": _lake_writer,
}
