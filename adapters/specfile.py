"""Reading a provider file: every problem with its line, its key and what would be right."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from groundwire.adapters.errors import BadProviderFile, FileProblem
from groundwire.adapters.spec import ProviderSpec
from groundwire.adapters.template import placeholders
from groundwire.adapters.yamlfile import Lines, line_of, read_yaml
from groundwire.schemas.record import field_path


def load_spec_file(path: Path) -> ProviderSpec:
    """Read and check one provider file. Raises BadProviderFile with every problem found."""
    document, lines = read_yaml(path)
    try:
        spec = ProviderSpec.model_validate(document)
    except ValidationError as error:
        raise BadProviderFile([_problem(path, lines, found) for found in error.errors(include_url=False)]) from None
    problems = [
        FileProblem(path, line_of(lines, where), field_path(where), message)
        for where, message in _cross_checks(spec, document)
    ]
    if spec.name != path.stem:
        problems.append(
            FileProblem(
                path, line_of(lines, ("name",)), "name", f"must be the file's name, `{path.stem}`, not `{spec.name}`"
            )
        )
    if problems:
        raise BadProviderFile(problems)
    return spec


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
    return FileProblem(path, line_of(lines, where), key, message)


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
