"""Reading a provider file: YAML with the line of every key, so that a problem can be pointed at.

Plain `no`, `off`, `on` and dates stay text (YAML 1.2's rule for booleans): `no` is Norway in a table of countries.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.adapters.spec import ProviderSpec
from groundwire.adapters.template import placeholders
from groundwire.schemas.record import field_path

MAX_FILE_BYTES = 256 * 1024

Lines = dict[tuple[str | int, ...], int]


class _Loader(yaml.SafeLoader):
    """Safe, with YAML 1.2's booleans and without its dates."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load_spec_file(path: Path) -> ProviderSpec:
    """Read and check one provider file. Raises BadProviderFile with every problem found."""
    document, lines = _read(path)
    try:
        spec = ProviderSpec.model_validate(document)
    except ValidationError as error:
        raise BadProviderFile([_problem(path, lines, found) for found in error.errors(include_url=False)]) from None
    problems = [
        FileProblem(path, _line(lines, where), field_path(where), message)
        for where, message in _cross_checks(spec, document)
    ]
    if spec.name != path.stem:
        problems.append(
            FileProblem(
                path, _line(lines, ("name",)), "name", f"must be the file's name, `{path.stem}`, not `{spec.name}`"
            )
        )
    if problems:
        raise BadProviderFile(problems)
    return spec


def _read(path: Path) -> tuple[Any, Lines]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BadProviderFile([FileProblem(path, None, "", f"can't be read: {error.strerror}")]) from None
    if len(raw) > MAX_FILE_BYTES:
        raise BadProviderFile(
            [FileProblem(path, None, "", f"{len(raw):,} bytes; a provider file has at most {MAX_FILE_BYTES:,}")]
        )
    lines: Lines = {}
    try:
        text = raw.decode("utf-8")
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise BadProviderFile([FileProblem(path, None, "", "the file is empty")])
            duplicates = list(_note_lines(node, (), lines))
            document = loader.construct_document(node)
        finally:
            loader.dispose()
    except UnicodeDecodeError as error:
        raise BadProviderFile([FileProblem(path, None, "", f"not UTF-8 (byte {error.start})")]) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise BadProviderFile([FileProblem(path, line, "", f"not YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadProviderFile([FileProblem(path, None, "", f"not YAML: {str(error).splitlines()[0]}")]) from None
    if duplicates:
        raise BadProviderFile(
            [FileProblem(path, line, field_path(where), "stands twice in one object") for where, line in duplicates]
        )
    if not isinstance(document, dict):
        raise BadProviderFile(
            [FileProblem(path, 1, "", "must be an object with `name`, `request`, `answer` and so on")]
        )
    return document, lines


def _note_lines(node: yaml.Node, where: tuple[str | int, ...], lines: Lines) -> Any:
    lines[where] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key_node, value_node in node.value:
            inner = (*where, str(key_node.value))
            if str(key_node.value) in seen:
                yield inner, key_node.start_mark.line + 1
            seen.add(str(key_node.value))
            yield from _note_lines(value_node, inner, lines)
            lines[inner] = key_node.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value_node in enumerate(node.value):
            yield from _note_lines(value_node, (*where, index), lines)


def _line(lines: Lines, where: tuple[str | int, ...]) -> int | None:
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where)


def _problem(path: Path, lines: Lines, found: Mapping[str, Any]) -> FileProblem:
    where: tuple[str | int, ...] = tuple(found["loc"])
    key = field_path(where)
    match found["type"]:
        case "extra_forbidden":
            message = f"no such key; {_known_keys(where[:-1])}"
        case "missing":
            message = "is required"
        case _:
            message = str(found["msg"]).removeprefix("Value error, ")
    return FileProblem(path, _line(lines, where), key, message)


def _known_keys(where: tuple[str | int, ...]) -> str:
    """The keys there are at a place, for a message about one that there isn't."""
    model: Any = ProviderSpec
    for part in where:
        if isinstance(part, int) or not hasattr(model, "model_fields"):
            continue
        field = model.model_fields.get(part)
        model = _model_in(field.annotation) if field is not None else None
    if not hasattr(model, "model_fields"):
        return "see provider.schema.json"
    return f"there are {', '.join(sorted(model.model_fields))}"


def _model_in(annotation: Any) -> Any:
    if hasattr(annotation, "model_fields"):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        model = _model_in(argument)
        if model is not None:
            return model
    return None


def _cross_checks(spec: ProviderSpec, document: Mapping[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    """What one field alone can't know."""
    found: list[tuple[tuple[str | int, ...], str]] = []
    request = document["request"]
    used = set(placeholders(request))
    for name in sorted(used):
        option = name.removeprefix("option.")
        if name.startswith("option.") and option not in spec.options:
            found.append((("request",), f"`{{{name}}}` is not among the options; declare it under `options`"))
    if spec.keys.env and "key" not in used:
        found.append((("request", "headers"), "keys are declared, and no header holds `{key}`"))
    if "key" in used and not spec.keys.env:
        found.append((("keys", "env"), "the request holds `{key}`, and no environment variable is named for it"))
    if not used & {"query", "raw_query"}:
        found.append((("request",), "no value holds `{query}`"))
    for capability, needed in _NEEDS.items():
        if getattr(spec.capabilities, capability) == "native" and not used & needed and spec.adapter is None:
            names = " or ".join(f"`{{{name}}}`" for name in sorted(needed))
            found.append((("capabilities", capability), f"says native, and the request holds no {names}"))
    if spec.capabilities.published == "local" and not spec.answer.published:
        found.append((("capabilities", "published"), "says local, and `answer.published` names no date"))
    conditions = [
        *((("request", "variants", index), variant.when) for index, variant in enumerate(spec.request.variants)),
        *((("price", "rates", index), rate.when) for index, rate in enumerate(spec.price.rates)),
        *((("price", "meters", index), meter.when) for index, meter in enumerate(spec.price.meters)),
        *((("price", "refused_when", index), rule.when) for index, rule in enumerate(spec.price.refused_when)),
    ]
    for place, when in conditions:
        known = {*spec.options, *(("topic", "freshness") if place[0] == "request" else ())}
        found.extend(
            ((*place, "when", name), f"`{name}` is not an option of this file") for name in when if name not in known
        )
    if spec.price.model_option is not None and spec.price.model_option not in spec.options:
        found.append((("price", "model_option"), f"`{spec.price.model_option}` is not an option of this file"))
    if any(meter.token for meter in spec.price.meters) and spec.price.model_option is None:
        found.append((("price", "model_option"), "meters count tokens: say which option names the model"))
    return found


_NEEDS: dict[str, set[str]] = {
    "include_domains": {"include_domains"},
    "exclude_domains": {"exclude_domains"},
    "published": {"after", "before"},
    "language": {"language", "locale_tag"},
    "country": {"country", "locale_tag"},
    "freshness": {"freshness"},
}
