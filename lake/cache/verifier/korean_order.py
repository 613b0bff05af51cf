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
_MUST_STAND = frozenset(("than",))
_FREE = frozenset(("at", "to", "than", "object", "subject", "topic", "and", "or"))
_PLACE = {"from": "at"}


def compare(asked: Sequence[Item], stored: Sequence[Item], pairs: Sequence[tuple[int, int]], *, choice: bool) -> Order:
    """Compare the parts of aligned items, then the order of those that have changed places."""
    for a, b in pairs:
        x, y = asked[a].marker, stored[b].marker
        if x != y and (x in _MUST_STAND or y in _MUST_STAND or (frozenset((x, y)) in _CLASH and not choice)):
            return Order(False, f"{asked[a].surface}: {x or 'no part'} against {y or 'no part'}")
    phrases = _phrase_parts(asked), _phrase_parts(stored)
    moved = 0
    for first in range(len(pairs)):
        for second in range(first + 1, len(pairs)):
            (a1, b1), (a2, b2) = pairs[first], pairs[second]
            if b1 < b2 or choice:
                continue
            free = (
                _may_move(a1, b1, phrases)
                or _may_move(a2, b2, phrases)
                or _is_time(asked[a1])
                or _is_time(asked[a2])
                or _degree_of_the_same(asked, stored, pairs[first], pairs)
                or _degree_of_the_same(asked, stored, pairs[second], pairs)
                or (abs(a1 - a2) == 1 and abs(b1 - b2) == 1 and "verb" in (asked[a1].marker, asked[a2].marker))
            )
            if not free or (phrases[0][a1][0] == phrases[0][a2][0] and not _is_time(asked[a1])):
                return Order(False, f"{asked[a1].surface} and {asked[a2].surface} changed places")
            moved += 1
    return Order(True, "same parts" if not moved else "same parts in another order", min(moved, 3))


def _phrase_parts(items: Sequence[Item]) -> list[tuple[int, str]]:
    """For each item the number of its phrase and the part of that phrase: nouns up to one with a particle are one phrase."""
    numbers: list[int] = []
    number = 0
    for item in items:
        numbers.append(number)
        if item.marker not in ("", "of"):
            number += 1
    part = {n: item.marker for n, item in zip(numbers, items, strict=True)}
    return [(n, part[n]) for n in numbers]


def _may_move(a: int, b: int, phrases: tuple[list[tuple[int, str]], list[tuple[int, str]]]) -> bool:
    left, right = (_PLACE.get(part, part) for part in (phrases[0][a][1], phrases[1][b][1]))
    return (left == right and left in _FREE) or "among" in (left, right)


def _is_time(item: Item) -> bool:
    return item.surface in TIMES or (item.kind == "number" and item.surface.endswith(("월", "일", "시", "분")))


def _degree_of_the_same(
    asked: Sequence[Item], stored: Sequence[Item], pair: tuple[int, int], pairs: Sequence[tuple[int, int]]
) -> bool:
    """가장, 더: free to move as long as it belongs to the same predicate."""
    if asked[pair[0]].surface not in DEGREES and stored[pair[1]].surface not in DEGREES:
        return False
    after = next((at for at in range(pair[0] + 1, len(asked)) if asked[at].marker == "verb"), None)
    other = next((at for at in range(pair[1] + 1, len(stored)) if stored[at].marker == "verb"), None)
    return after is not None and (after, other) in pairs
