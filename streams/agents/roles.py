"""The roles by name."""

from collections.abc import Callable, Mapping

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.role import Role


def build_role(role: str, settings: Settings, environ: Mapping[str, str]) -> Role:
    """One of schemas/topics.py's ROLES. Raises KeyError for any other name.

    Each role imports only what it needs: a lake writer carries no Faust, a fetch worker no LanceDB.
    """
    return _BUILDERS[role](settings, environ)


def _frontline(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.frontline import Frontline

    return Frontline(settings, environ)


def _fetch(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.fetch import FetchRole

    return FetchRole(settings, environ)


def _unify(settings: Settings, environ: Mapping[str, str]) -> Role:
    from groundwire.streams.agents.unify import UnifyRole

    return UnifyRole(settings, environ)


def _cache_writer(settings: Settings, environ: Mapping[str, str]) -> Role:  # noqa: ARG001 - all builders are called alike
    from groundwire.streams.agents.cache_writer import CacheWriterRole

    return CacheWriterRole(settings)


def _lake_writer(settings: Settings, environ: Mapping[str, str]) -> Role:  # noqa: ARG001
    from groundwire.streams.agents.lake_writer import LakeWriter

    return LakeWriter(settings)


_BUILDERS: dict[str, Callable[[Settings, Mapping[str, str]], Role]] = {
    "frontline": _frontline,
    "fetch": _fetch,
    "unify": _unify,
    "cache-writer": _cache_writer,
    "lake-writer": _lake_writer,
}
