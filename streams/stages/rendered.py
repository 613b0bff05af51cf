"""Contexts rendered a moment ago: a hot entry is asked for often, with the same budget."""

from collections import OrderedDict

from groundwire.schemas.reply import Result
from groundwire.streams.stages.context import render_context

MOST_CONTEXTS = 256


class RenderedContexts:
    """The newest contexts by cache key and budget. One is given again only for the very same results."""

    def __init__(self, most: int = MOST_CONTEXTS) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, int], tuple[list[Result], str]] = OrderedDict()

    def of(self, cache_key: str, results: list[Result], budget_tokens: int) -> str:
        name = (cache_key, budget_tokens)
        kept = self._kept.get(name)
        if kept is not None and kept[0] == results:
            self._kept.move_to_end(name)
            return kept[1]
        context = render_context(results, budget_tokens)
        self._kept[name] = (results, context)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return context
