"""Where text goes: results to stdout, everything said beside them to stderr, JSON alone when asked for."""

import json
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from groundwire.schemas.money import as_usd

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def waiting(message: str) -> None:
    """What is waited for, on stderr."""
    err.print(f"[dim]{plain(message)}[/]", soft_wrap=True)


def print_json(document: BaseModel | dict[str, Any] | list[Any]) -> None:
    """One JSON document on stdout."""
    if isinstance(document, BaseModel):
        print(document.model_dump_json(indent=2, by_alias=True))  # noqa: T201 - stdout is this command's product
    else:
        print(json.dumps(document, ensure_ascii=False, indent=2, default=str))  # noqa: T201


def money(amount_micro_usd: int | None) -> str:
    return "unknown" if amount_micro_usd is None else as_usd(amount_micro_usd)


def plain(text: str) -> str:
    """Text from outside, made safe for rich: brackets are not markup."""
    return escape(text)


def shortened(text: str, most: int = 240) -> str:
    """The beginning of a text, with an ellipsis where something is left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def age(seconds: float | None) -> str:
    """`3 s`, `5 min`, `2 h`, `4 d`."""
    if seconds is None:
        return "unknown age"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
