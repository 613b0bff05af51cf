"""YAML with the line of every key, so that a problem can be pointed at.

Plain `no`, `off`, `on` and dates stay text (YAML 1.2's rule for booleans): `no` is Norway in a table of countries.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.schemas.record import field_path

MAX_FILE_BYTES = 256 * 1024

if TYPE_CHECKING:
    from yaml import SafeLoader as _SafeLoader
else:  # five times faster where libyaml is there
    _SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Lines = dict[tuple[str | int, ...], int]


class _Loader(_SafeLoader):
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


def read_yaml(path: Path) -> tuple[Any, Lines]:
    """(object, line of every key) of a file. Raises BadProviderFile."""
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
        raise BadProviderFile([FileProblem(path, 1, "", "must be an object")])
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


def line_of(lines: Lines, where: tuple[str | int, ...]) -> int | None:
    while where and where not in lines:
        where = where[:-1]
    return lines.get(where)
