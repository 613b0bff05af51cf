"""Whether two Korean questions give the same parts to the same words. Word order is free where particles carry the part."""

from collections.abc import Sequence

from groundwire.lake.cache.verifier.korean_words import DEGREES, TIMES
from groundwire.lake.cache.verifier.order import Order
from groundwire.lake.cache.verifier.reading import Item

# Pairs of parts that cannot be the same thing seen twice. Topic and no particle go with anything that is not a direction.
_CLASH = frozenset(
    frozenset(pair)
    for pair in (("subject", "object"), ("from", "to"), ("subject", "to"), ("subject", "from"), ("object", "from"))
)
_MUST_STAND = frozenset(("than", "except"))
# Parts that only one of two nouns can play: whoever takes over another's has changed places with it.
_STRONG = frozenset(("subject", "object", "from", "to", "than", "of"))


def compare(asked: Sequence[Item], stored: Sequence[Item], pairs: Sequence[tuple[int, int]], *, choice: bool) -> Order:
    """Compare the parts of aligned items, then the order of those that have changed places."""
    for a, b in pairs:
        x, y = asked[a].marker, stored[b].marker
        if x != y and (x in _MUST_STAND or y in _MUST_STAND or (frozenset((x, y)) in _CLASH and not choice)):
            return Order(False, f"{asked[a].surface}: {x or 'no part'} against {y or 'no part'}")
    moved = 0
    for at, (a1, b1) in enumerate(pairs):
        for a2, b2 in pairs[at + 1 :]:
            if b1 < b2 or choice:
                continue
            if _exchanged(asked[a1], stored[b1], asked[a2], stored[b2]) or (
                _compound(asked, a1, a2) and _compound(stored, b2, b1)
            ):
                return Order(False, f"{asked[a1].surface} and {asked[a2].surface} changed places")
            moved += 1
    return Order(True, "same parts" if not moved else "same parts in another order", min(moved, 3))


def _exchanged(asked_first: Item, stored_first: Item, asked_second: Item, stored_second: Item) -> bool:
    """Whether one noun took over the part of the other: 사자가 먹는 동물, 동물이 먹는 사자."""
    took_first = asked_first.marker in _STRONG and stored_second.marker == asked_first.marker != asked_second.marker
    took_second = asked_second.marker in _STRONG and stored_first.marker == asked_second.marker != asked_first.marker
    return took_first or took_second


def _compound(items: Sequence[Item], first: int, second: int) -> bool:
    """Whether two items are nouns in a row without a particle between them: their order is all there is."""
    between = items[first:second]
    return all(item.marker == "" and not _moves_freely(item) for item in between) and items[second].marker != "verb"


def _moves_freely(item: Item) -> bool:
    """When, how much, and what is counted may stand anywhere."""
    counted = item.keys[0].startswith("counted-") or (
        item.kind == "number" and item.surface.endswith(("월", "일", "시", "분", "달", "주", "년"))
    )
    return item.surface in TIMES or item.surface in DEGREES or counted
