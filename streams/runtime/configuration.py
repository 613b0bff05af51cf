"""Where settings come from: the shipped `defaults.yaml`, `groundwire.yaml` beside the user, the environment, then flags.

What may be set: schemas/settings.py.

    groundwire.yaml                     cache: {ttl_s: {daily: 3600}}
    GROUNDWIRE_CACHE__TTL_S__DAILY      3600            `__` goes one level down, names are lower-cased
    GROUNDWIRE_ROUTES                   {"news": ["acme"]}  a whole group as JSON
    GROUNDWIRE_PROVIDER_PATH            folder:folder   lists of folders are separated as PATH is; other lists by commas

A wrong value is one `ConfigurationError` that says which key, where it was set, and what would be right. Values are never
printed: some of them are secrets.
"""

import difflib
import json
import os
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from groundwire.schemas.settings import Settings

FILE_NAME = "groundwire.yaml"
PREFIX = "GROUNDWIRE_"
NESTING = "__"

# Beside this file: what is configured when nothing is.
_SHIPPED = Path(__file__).with_name("defaults.yaml")

# Variables of ours that are not settings.
NOT_SETTINGS = frozenset({"GROUNDWIRE_CONFIG", "GROUNDWIRE_FAILPOINTS"})

# Left out of "did you mean": too far away to be a slip of the finger.
NEAREST_CUTOFF = 0.5

Location = tuple[str, ...]


class ConfigurationError(Exception):
    """The settings can't be used. The message is one line an operator can act on."""


def load_settings(
    file: Path | None = None, environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> Settings:
    """Settings from what is shipped, the file, the environment and flags, the later ones winning key by key.

    `file` None: the file that GROUNDWIRE_CONFIG names, else `groundwire.yaml` in the working folder if there is one.
    `overrides` is nested as the file is; a value of None means that the flag was not given.

    Raises ConfigurationError.
    """
    environ = os.environ if environ is None else environ
    merged: dict[str, Any] = {}
    origins: dict[Location, str] = {}
    for path in (_SHIPPED, _settings_file(file, environ)):
        if path is None:
            continue
        for key, value in _read_file(path, origins).items():
            _put(merged, (str(key),), value)
    for name, location, value in _environment(environ):
        _put(merged, location, value)
        origins[location] = f"environment variable {name}"
    for location, value in _leaves(overrides or {}):
        if value is not None:
            _put(merged, location, value)
            origins[location] = f"option --{location[-1].replace('_', '-')}"
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, origins)) from None


# ── the file


def _settings_file(file: Path | None, environ: Mapping[str, str]) -> Path | None:
    if file is None and environ.get("GROUNDWIRE_CONFIG"):
        file = Path(environ["GROUNDWIRE_CONFIG"])
    if file is not None:
        if not file.is_file():
            raise ConfigurationError(f"{file}: there is no such settings file")
        return file
    beside = Path(FILE_NAME)
    return beside if beside.is_file() else None


def _read_file(path: Path, origins: dict[Location, str]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: can't be read: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{path}{line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path}: must be a mapping of keys to values, as in `home: .groundwire`")
    _note_lines(node, (), path, origins)
    return typing.cast("dict[str, Any]", document)


def _note_lines(node: yaml.Node | None, location: Location, path: Path, origins: dict[Location, str]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            below = (*location, str(key.value))
            origins[below] = f"{path}:{key.start_mark.line + 1}"
            _note_lines(value, below, path, origins)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            below = (*location, str(index))
            origins[below] = f"{path}:{value.start_mark.line + 1}"
            _note_lines(value, below, path, origins)


# ── the environment


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Location, Any]]:
    """Our variables that are not empty, coarse ones first: GROUNDWIRE_CACHE__SCOPE wins over a GROUNDWIRE_CACHE."""
    names = sorted(name for name in environ if name.startswith(PREFIX) and name not in NOT_SETTINGS and environ[name])
    for name in sorted(names, key=lambda name: name.count(NESTING)):
        location = tuple(part.lower() for part in name.removeprefix(PREFIX).split(NESTING))
        kind = _kind_of(location)
        if kind is None:
            raise ConfigurationError(f"environment variable {name}: no such setting.{_nearest_variable(location)}")
        yield name, location, _parse(name, environ[name], kind)


def _kind_of(location: Location) -> Any:
    """The annotation of the setting at this place, or None when there is none."""
    kind: Any = Settings
    for part in location:
        kind = _bare(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(part)
            if field is None:
                return None
            kind = field.annotation
        elif typing.get_origin(kind) is dict and part:
            kind = typing.get_args(kind)[1]
        else:
            return None
    return _bare(kind)


def _bare(kind: Any) -> Any:
    """`X | None` and `Annotated[X, …]` as X."""
    while True:
        origin = typing.get_origin(kind)
        if origin is typing.Annotated:
            kind = typing.get_args(kind)[0]
            continue
        arguments = typing.get_args(kind)
        if type(None) in arguments and len(arguments) == 2:
            kind = next(argument for argument in arguments if argument is not type(None))
            continue
        return kind


def _parse(name: str, text: str, kind: Any) -> Any:
    origin = typing.get_origin(kind)
    is_group = origin is dict or (isinstance(kind, type) and issubclass(kind, BaseModel))
    if is_group or (origin is list and text.lstrip().startswith("[")):
        try:
            return json.loads(text)
        except ValueError:
            example = '{"key": "value"}' if is_group else '["one", "two"]'
            raise ConfigurationError(f"environment variable {name}: must be JSON, such as {example}") from None
    if origin is list:
        separator = os.pathsep if typing.get_args(kind)[0] is Path else ","
        return [part.strip() for part in text.split(separator) if part.strip()]
    return text


def _nearest_variable(location: Location) -> str:
    """ " Did you mean GROUNDWIRE_BROKERS?" for the first part of the name that leads nowhere, or nothing."""
    depth = next(length for length in range(1, len(location) + 1) if _kind_of(location[:length]) is None)
    known = _known_keys(location[: depth - 1])
    nearest = difflib.get_close_matches(location[depth - 1], known, n=1, cutoff=NEAREST_CUTOFF)
    if not nearest:
        return ""
    name = NESTING.join((*location[: depth - 1], *nearest, *location[depth:]))
    return f" Did you mean {PREFIX}{name.upper()}?"


def _known_keys(location: Location) -> list[str]:
    kind = _kind_of(location) if location else Settings
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []


# ── putting together


def _put(into: dict[str, Any], location: Location, value: Any) -> None:
    """Set one value; a mapping is laid over what is there, anything else replaces it."""
    *parents, last = location
    for part in parents:
        below = into.get(part)
        if not isinstance(below, dict):
            below = into[part] = {}
        into = below
    there = into.get(last)
    if isinstance(value, dict) and isinstance(there, dict):
        for key, below in value.items():
            _put(there, (str(key),), below)
    else:
        into[last] = value


def _leaves(values: Mapping[str, Any], location: Location = ()) -> Iterator[tuple[Location, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*location, key))
        else:
            yield (*location, key), value


# ── saying what is wrong


def _explain(error: ValidationError, origins: Mapping[Location, str]) -> str:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    lines = []
    for problem in problems:
        location = tuple(str(part) for part in problem["loc"] if part != "[key]")
        where = _origin(location, origins)
        lines.append(f"{where}{'.'.join(location)}: {_what(problem['type'], problem['msg'], location)}")
    return "; ".join(lines)


def _origin(location: Location, origins: Mapping[Location, str]) -> str:
    for length in range(len(location), 0, -1):
        if location[:length] in origins:
            return f"{origins[location[:length]]}: "
    return ""


def _what(kind: str, message: str, location: Location) -> str:
    if kind != "extra_forbidden":
        return message.removeprefix("Value error, ")
    known = _known_keys(location[:-1])
    nearest = difflib.get_close_matches(location[-1], known, n=1, cutoff=NEAREST_CUTOFF)
    return (
        f"no such setting. Did you mean `{nearest[0]}`?" if nearest else f"no such setting. Known: {', '.join(known)}"
    )
