"""Request templates: `{name}`, `{name:format}`, `{name?}`.

A value that is one placeholder keeps its type. A value whose placeholder is missing (None, "" or empty list) is left out of the
request, and so is an object or list of which nothing is left; `{name?}` is "" instead. `{{` and `}}` are braces.

Objects with a `$` key are instructions:
    {$first: [a, b]}             the first alternative that isn't left out
    {$if: name, …}               the rest of the object, only when the name is there; `$unless`: only when it is not
    {$if: name, $value: x}       `x` instead of an object
    {$url: "https://…", k: v}    a URL with the other keys as its query string, percent-encoded
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import quote, urlencode

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_.]*)(\?)?(?::([a-z_]+))?\}|[{}]")

# What a call offers. `raw_query` is the query without the operators that stand for filters.
CALL_NAMES: Final = frozenset(
    {
        "query", "raw_query", "depth", "language", "country", "locale_tag", "freshness", "topic", "safe_search",
        "include_domains", "exclude_domains", "after", "before", "today", "key",
    }
)  # fmt: skip


class TemplateError(ValueError):
    """A template that can't be read."""


class _Left:
    """The value that means: leave this out."""

    def __repr__(self) -> str:
        return "LEFT_OUT"


LEFT_OUT: Final = _Left()


def _american(value: Any) -> str:
    return date.fromisoformat(str(value)).strftime("%m/%d/%Y")


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


FORMATS: Final[dict[str, Callable[[Any], Any]]] = {
    "us": _american,
    "day_start": lambda value: f"{value}T00:00:00.000Z",
    "day_end": lambda value: f"{value}T23:59:59.999Z",
    "minus": lambda value: [f"-{item}" for item in _listed(value)],
    "comma": lambda value: ",".join(_listed(value)),
    "first": lambda value: _listed(value)[0],
    "url": lambda value: quote(str(value), safe=""),
    "upper": lambda value: str(value).upper(),
    "int": int,
}
_INSTRUCTIONS = ("$first", "$if", "$unless", "$value", "$url")


def placeholders(template: Any) -> Iterator[str]:
    """Every name a template uses. Raises TemplateError."""
    if isinstance(template, str):
        for match in _PLACEHOLDER.finditer(template):
            if match.group(0) in ("{{", "}}"):
                continue
            if match.group(1) is None:
                raise TemplateError(f"a single `{match.group(0)}` in `{template}`; write it twice if it is meant")
            yield match.group(1)
    elif isinstance(template, Mapping):
        for key, value in template.items():
            if key in ("$if", "$unless"):
                yield str(value)
            else:
                yield from placeholders(value)
    elif isinstance(template, list):
        for item in template:
            yield from placeholders(item)


def check_template(template: Any) -> None:
    """Raises TemplateError on anything that `render` would stumble over, unknown options aside."""
    for name in placeholders(template):
        if name not in CALL_NAMES and not name.startswith("option."):
            raise TemplateError(
                f"no placeholder `{{{name}}}`; there are {', '.join(sorted(CALL_NAMES))} and option.NAME"
            )
    _check_formats(template)


def _check_formats(template: Any) -> None:
    if isinstance(template, str):
        for match in _PLACEHOLDER.finditer(template):
            if match.group(3) is not None and match.group(3) not in FORMATS:
                raise TemplateError(f"no format `{match.group(3)}`; there are {', '.join(sorted(FORMATS))}")
    elif isinstance(template, Mapping):
        for key, value in template.items():
            if not isinstance(key, str):
                raise TemplateError(f"key `{key}` must be text")
            if key.startswith("$") and key not in _INSTRUCTIONS:
                raise TemplateError(f"no instruction `{key}`; there are {', '.join(_INSTRUCTIONS)}")
            if key == "$first" and not isinstance(value, list):
                raise TemplateError("$first takes a list of alternatives")
            _check_formats(value)
    elif isinstance(template, list):
        for item in template:
            _check_formats(item)


def render(template: Any, variables: Mapping[str, Any]) -> Any:
    """Fill a template. Returns LEFT_OUT when nothing of it is left. Raises ValueError when a format can't take its value."""
    if isinstance(template, str):
        return _render_text(template, variables)
    if isinstance(template, Mapping):
        return _render_object(template, variables)
    if isinstance(template, list):
        items = [item for item in (render(item, variables) for item in template) if item is not LEFT_OUT]
        return LEFT_OUT if template and not items else items
    return template


def _render_object(template: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    if "$first" in template:
        for alternative in template["$first"]:
            value = render(alternative, variables)
            if value is not LEFT_OUT:
                return value
        return LEFT_OUT
    if "$if" in template and _missing(variables.get(template["$if"])):
        return LEFT_OUT
    if "$unless" in template and not _missing(variables.get(template["$unless"])):
        return LEFT_OUT
    if "$value" in template:
        return render(template["$value"], variables)
    fields = {
        key: value
        for key, value in (
            (key, render(child, variables)) for key, child in template.items() if not key.startswith("$")
        )
        if value is not LEFT_OUT
    }
    if "$url" in template:
        address = _render_text(template["$url"], variables)
        if address is LEFT_OUT:
            return LEFT_OUT
        return f"{address}?{urlencode([(key, as_text(value)) for key, value in fields.items()], quote_via=quote)}"
    return LEFT_OUT if template and not fields else fields


def _render_text(template: str, variables: Mapping[str, Any]) -> Any:
    whole = _PLACEHOLDER.fullmatch(template)
    if whole is not None and whole.group(1) is not None:
        value = _value(whole, variables)
        return LEFT_OUT if _missing(value) and not whole.group(2) else ("" if _missing(value) else value)
    parts: list[str] = []
    end = 0
    for match in _PLACEHOLDER.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        if match.group(1) is None:
            parts.append(match.group(0)[0])
            continue
        value = _value(match, variables)
        if _missing(value):
            if not match.group(2):
                return LEFT_OUT
            continue
        parts.append(as_text(value))
    parts.append(template[end:])
    return "".join(parts)


def _value(match: re.Match[str], variables: Mapping[str, Any]) -> Any:
    value = variables.get(match.group(1))
    return FORMATS[match.group(3)](value) if match.group(3) and not _missing(value) else value


def _missing(value: Any) -> bool:
    return value is None or value == "" or value == []


def as_text(value: Any) -> str:
    """A value where only text goes: a header or a query string."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(as_text(item) for item in value)
    return str(value)
