"""An answer's rows in our words. Nothing is ever indexed blindly: a path may be absent, null, empty or of the wrong type.

A row is left out only when it has no usable address. Rows without a single usable address are a bad answer: the vendor found
something, and we can't read it; that must not pass for "nothing found".
"""

import math
from dataclasses import dataclass
from typing import Any

from groundwire.adapters.addresses import same_page_key, usable_url
from groundwire.adapters.call import MappedResult
from groundwire.adapters.classify import search
from groundwire.adapters.cleaning import clean_body, clean_title
from groundwire.adapters.dates import published_at, split_date_prefix
from groundwire.adapters.errors import BadAnswer, VendorFailure
from groundwire.adapters.spec import AnswerSpec

MAX_ROWS = 400  # far more than any depth: an answer of a million rows costs no more time than one of these


@dataclass(frozen=True, slots=True)
class Row:
    """One row as the vendor wrote it, each field of any type at all."""

    url: Any
    title: Any = None
    body: Any = None
    published: Any = None
    score: Any = None


def rows_of(spec: AnswerSpec, document: Any) -> list[Row]:
    """The rows of an answer, in the vendor's order.

    Raises BadAnswer when the answer is not one of this vendor's, VendorFailure when it has no row and says why.
    """
    check_recognised(spec, document)
    found: list[Any] = []
    lists = 0
    for expression in spec.results:
        value = search(expression, document)
        if value is None:
            continue
        lists += 1
        if not isinstance(value, list):
            raise BadAnswer(f"`{expression}` is {type_name(value)} instead of a list")
        for item in value:  # one answer to several queries may be a list of lists
            found.extend(item if isinstance(item, list) else [item])
    if not lists:
        _check_way_there(spec.results, document)
    found = found[:MAX_ROWS]
    rows = [row for row in found if isinstance(row, dict)]
    if found and not rows:
        raise BadAnswer(f"{len(found)} rows, none of them an object")
    if not rows and spec.nothing_when is not None and (why := search(spec.nothing_when, document)):
        raise VendorFailure("server_error", f"nothing came back: {_names(why)}")
    if spec.keep is not None:
        keep = spec.keep
        rows = [row for row in rows if search(keep, row)]
    if spec.order is not None:
        rows = _sorted(rows, spec.order)
    return [
        Row(
            url=_first(spec.url, row, _is_text),
            title=_first(spec.title, row, _has_text),
            body=_first(spec.body, row, _has_text),
            published=[search(expression, row) for expression in spec.published],
            score=search(spec.score, row) if spec.score is not None else None,
        )
        for row in rows
    ]


def _check_way_there(expressions: list[str], document: dict[str, Any]) -> None:
    """No list was found; that is an empty answer only when what should hold it is an object or absent. Raises BadAnswer."""
    for expression in expressions:
        here: Any = document
        for step in expression.split(".")[:-1]:
            here = here.get(step)
            if here is None:
                break
            if not isinstance(here, dict):
                raise BadAnswer(f"`{step}` is {type_name(here)} instead of an object")


def check_recognised(spec: AnswerSpec, document: Any) -> None:
    """Raises BadAnswer unless the document is an object with one of the keys that a genuine answer has."""
    if not isinstance(document, dict):
        raise BadAnswer(f"{type_name(document)} instead of an object")
    if not any(key in document for key in spec.recognise):
        raise BadAnswer(f"none of {', '.join(spec.recognise)} in the answer")


def map_rows(spec: AnswerSpec, rows: list[Row], answered_at_ms: int) -> list[MappedResult]:
    """Rows made clean, each page once (the first row that has it). Raises BadAnswer when there are rows and none is usable."""
    results: list[MappedResult] = []
    seen: set[str] = set()
    usable = 0
    for row in rows:
        url = usable_url(row.url, spec.redirectors)
        if url is None:
            continue
        usable += 1
        key = same_page_key(url)
        if key in seen:
            continue
        seen.add(key)
        results.append(_result(spec, row, url, answered_at_ms))
    if rows and not usable:
        raise BadAnswer(f"{len(rows)} rows, none with a usable address")
    return results


def _result(spec: AnswerSpec, row: Row, url: str, answered_at_ms: int) -> MappedResult:
    body = clean_body(text_of(row.body), keep_lines=spec.text == "document")
    dates = row.published if isinstance(row.published, list) else [row.published]
    published = next(
        (day for day in (published_at(raw, answered_at_ms, day_first=spec.day_first) for raw in dates) if day), None
    )
    if spec.date_prefix:
        from_prefix, body = split_date_prefix(body, answered_at_ms)
        published = published or from_prefix
    return MappedResult(
        title=clean_title(text_of(row.title, first=True)),
        url=url,
        body=body,
        published_at=published,
        score=number_of(row.score),
    )


def text_of(value: Any, *, first: bool = False) -> str:
    """A text, or the texts of a list joined by an ellipsis (`first`: only the first of them); "" for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [item.strip() for item in value if isinstance(item, str) and item.strip()]
        return (texts[0] if first else " … ".join(dict.fromkeys(texts))) if texts else ""
    return ""


def number_of(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def type_name(value: Any) -> str:
    """A JSON type in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
    return "an object"


def _first(expressions: list[str], row: dict[str, Any], fits: Any) -> Any:
    for expression in expressions:
        value = search(expression, row)
        if fits(value):
            return value
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _has_text(value: Any) -> bool:
    return bool(text_of(value).strip())


def _sorted(rows: list[dict[str, Any]], order: str) -> list[dict[str, Any]]:
    def place(row: dict[str, Any]) -> float:
        number = number_of(search(order, row))
        return math.inf if number is None else number

    return sorted(rows, key=place)


def _names(value: Any) -> str:
    """What did not answer, in few words: `[["engine", "CAPTCHA"]]` is `engine (CAPTCHA)`."""
    if not isinstance(value, list):
        return clean_title(str(value))[:150]
    parts: list[str] = []
    for item in value[:5]:
        texts = [text for text in (item if isinstance(item, list) else [item]) if isinstance(text, str)]
        if texts:
            parts.append(f"{texts[0]} ({', '.join(texts[1:])})" if len(texts) > 1 else texts[0])
    return clean_title(", ".join(parts))[:150]
