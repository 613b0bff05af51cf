"""The table of providers and what they can do, made from their files. docs/guide/providers.md holds it between two marks.

`python -m groundwire.adapters.capability_table docs/guide/providers.md` brings the document up to date.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from groundwire.adapters.pricing import DEFAULT_DEPTH, PriceList
from groundwire.adapters.registry import load_specs
from groundwire.adapters.spec import ProviderSpec
from groundwire.schemas.money import MICRO_PER_USD

BEGIN = "<!-- providers: generated from adapters/providers/*.yaml -->"
END = "<!-- providers: end -->"

COLUMNS = (
    "include domains",
    "exclude domains",
    "dates",
    "news",
    "safe search",
    "language",
    "country",
    "freshness",
    "text",
)
_WORDS = {"native": "vendor", "operator": "operator", "local": "here", "no": "–", "none": "–"}


def capabilities(spec: ProviderSpec) -> dict[str, str]:
    """Column → how this provider does it: `vendor`, `operator` (in the query), `here` (on the results), or `–`."""
    can = spec.capabilities
    words = (
        can.include_domains,
        can.exclude_domains,
        can.published,
        can.news,
        "native" if can.safe_search else "no",
        can.language,
        can.country,
        can.freshness,
        can.text,
    )
    return {column: _WORDS.get(word, word) for column, word in zip(COLUMNS, words, strict=True)}


def capability_table(specs: Iterable[ProviderSpec]) -> str:
    """Markdown: provider × capability, then provider × price, limits and terms."""
    ordered = sorted(specs, key=lambda spec: spec.name)
    lines = [f"| provider | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    lines += [f"| `{spec.name}` | {' | '.join(capabilities(spec).values())} |" for spec in ordered]
    lines += [
        "",
        "| provider | key | options | USD / 1,000 | most results | longest query | may be kept | shared |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_facts(spec) for spec in ordered]
    return "\n".join(lines)


def _facts(spec: ProviderSpec) -> str:
    options = {name: option.default for name, option in spec.options.items() if option.default is not None}
    price = PriceList(spec.price, options).list_price(DEFAULT_DEPTH)
    cost = "?" if price is None else f"{price * 1000 / MICRO_PER_USD:.2f}" + (" + tokens" if spec.price.meters else "")
    limits = spec.limits
    query = [
        *([f"{limits.max_query_chars:,} characters"] if limits.max_query_chars else []),
        *([f"{limits.max_query_words} words"] if limits.max_query_words else []),
    ]
    key = (
        ("" if spec.keys.required else "optional ") + " or ".join(f"`{name}`" for name in spec.keys.env)
        if spec.keys.env
        else "none"
    )
    kept = f"{spec.storage.max_ttl_s // 86_400} d" if spec.storage.allowed else "no"
    cells = (
        f"`{spec.name}`",
        key,
        ", ".join(f"`{name}`" for name in spec.options) or "–",
        cost,
        str(limits.max_depth),
        ", ".join(query) or "–",
        kept,
        "yes" if spec.storage.allowed and spec.storage.shareable else "no",
    )
    return f"| {' | '.join(cells)} |"


def with_table(document: str, specs: Iterable[ProviderSpec]) -> str:
    """A document with its generated part renewed. Raises ValueError when it has no marks."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document needs the lines `{BEGIN}` and `{END}`")
    return f"{before}{BEGIN}\n\n{capability_table(specs)}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Renew the table in each file named."""
    specs, problems = load_specs([])
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    for name in arguments:
        path = Path(name)
        path.write_text(with_table(path.read_text(encoding="utf-8"), specs.values()), encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
