"""Whether two questions that speak of the same things also say the same about them.

Both are cut into blocks that stand in the same order inside; where two blocks have changed places, something has to say that
this changes nothing: a preposition that moved along with its words (`map of Peru`, `Peru map`), a joint of equals (`tea and
coffee`), a heading, a place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundwire.lake.cache.verifier.english_words import HEADINGS, LOOSE_MARKERS, NO_ADVERBS, STRICT_MARKERS
from groundwire.lake.cache.verifier.places import PLACES, TWO_WORD_PLACES
from groundwire.lake.cache.verifier.reading import Item

# A marker that is missing on one side takes its meaning with it, even where the words stand in the same order.
MUST_STAND = STRICT_MARKERS - {"to", "from", "by", "into", "onto", "through", "via"}
KEYWORDS_AT_MOST = 8  # items; more than that is a sentence without its question word
_MOST_BLOCKS = 8
_MOST_MOVES = 3
JOINTS = frozenset(("and", "or", "versus"))
_LONG = 12  # items; in a text this long, words that moved have as a rule changed their part


@dataclass(frozen=True, slots=True)
class Order:
    """`moved` counts pairs of blocks that changed places and may."""

    same: bool
    detail: str
    moved: int = 0


def compare(
    asked: Sequence[Item],
    stored: Sequence[Item],
    pairs: Sequence[tuple[int, int]],
    *,
    symmetric: bool,
    keywords: bool,
    nominal: bool,
    answers_yes: bool,
) -> Order:
    """Compare the order of aligned items. `symmetric`: joined things are treated alike; `keywords`: neither is a sentence;
    `nominal`: neither has a subject that acts, so that a phrase may become a word in front (`pain in the knee`, `knee pain`);
    `answers_yes`: yes or no is the answer, so that every preposition counts (`is earth a black hole`, `… in a black hole`)."""
    for a, b in pairs:
        joint = "and" in (asked[a].marker, stored[b].marker)  # `a and b`, `b and a`: left to the order
        if answers_yes and not joint and bool(asked[a].marker) != bool(stored[b].marker):
            return Order(False, f"{asked[a].marker or stored[b].marker} on one side only: {asked[a].surface}")
        if clash := _clash(asked[a].marker, stored[b].marker):
            return Order(False, f"{clash}: {asked[a].surface}")
    if max(len(asked), len(stored)) > _LONG and any(b > after for (_, b), (_, after) in pairwise(pairs)):
        return Order(False, "the words of a long text stand in another order")
    blocks = _blocks([b for _, b in pairs], [(asked[a], stored[b]) for a, b in pairs])
    moved = 0
    if len(blocks) > _MOST_BLOCKS:
        return Order(False, "the words stand in another order")
    for first in range(len(blocks)):
        for second in range(first + 1, len(blocks)):
            before, after = blocks[first], blocks[second]
            if before.at < after.at:
                continue
            if not _may_change_places(before, after, symmetric=symmetric, keywords=keywords, nominal=nominal):
                return Order(False, f"{before.text} and {after.text} changed places")
            moved += 1
            if moved > _MOST_MOVES:
                return Order(False, "the words stand in another order")
    return Order(True, "same order" if not moved else "same parts in another order", moved)


@dataclass(frozen=True, slots=True)
class _Block:
    at: int
    items: tuple[tuple[Item, Item], ...]

    @property
    def text(self) -> str:
        return " ".join(asked.surface for asked, _ in self.items)

    @property
    def markers(self) -> tuple[str, str]:
        asked, stored = self.items[0]
        return asked.marker, stored.marker

    @property
    def is_place(self) -> bool:
        surfaces = tuple(asked.surface for asked, _ in self.items)
        return (len(surfaces) == 1 and surfaces[0] in PLACES) or surfaces in TWO_WORD_PLACES

    @property
    def is_heading(self) -> bool:
        """Words that say what is wanted of a subject: `price`, `lyrics`; or what is done to it: `monitoring`."""
        doing = len(self.items) == 1 and self.items[0][0].surface.endswith("ing")
        words = [asked for asked, _ in self.items if "best" not in asked.keys]
        return doing or (bool(words) and all(any(key in HEADINGS for key in asked.keys) for asked in words))

    @property
    def is_ranking(self) -> bool:
        """`five best`, `top 5`: both words count the same list."""
        return len(self.items) == 1 and (self.items[0][0].kind == "number" or "best" in self.items[0][0].keys)

    @property
    def is_adverb(self) -> bool:
        item = self.items[0][0]
        manner = item.surface.endswith("ly") and item.surface not in NO_ADVERBS
        return len(self.items) == 1 and (manner or item.kind == "light")


def _clash(asked: str, stored: str) -> str:
    if asked == stored:
        return ""
    if {asked, stored} == {"and", "or"} or (asked in STRICT_MARKERS and stored in STRICT_MARKERS):
        return f"{asked} against {stored}"
    for marker in (asked, stored):
        if marker in MUST_STAND:
            return f"{marker} on one side only"
    return ""


def _blocks(targets: list[int], items: list[tuple[Item, Item]]) -> list[_Block]:
    """Cut where the order of the other side jumps, and where either side starts a new phrase."""
    ranks = {target: rank for rank, target in enumerate(sorted(targets))}
    blocks: list[list[int]] = []
    for position, target in enumerate(targets):
        asked, stored = items[position]
        joined = asked.marker in JOINTS and stored.marker in JOINTS
        apart = (asked.marker or stored.marker) and not joined
        if position and ranks[target] == ranks[targets[position - 1]] + 1 and not apart:
            blocks[-1].append(position)
        else:
            blocks.append([position])
    merged = [_Block(ranks[targets[block[0]]], tuple(items[at] for at in block)) for block in blocks]
    return _without_still_ones(merged)


def _without_still_ones(blocks: list[_Block]) -> list[_Block]:
    """Join neighbours that stay neighbours unless something around them moved."""
    if all(before.at < after.at for before, after in pairwise(blocks)):
        return blocks[:1] if blocks else []
    return blocks


def _moved_with_its_marker(before: _Block, after: _Block) -> bool:
    return any(asked and asked == stored for asked, stored in (before.markers, after.markers))


def _may_change_places(before: _Block, after: _Block, *, symmetric: bool, keywords: bool, nominal: bool) -> bool:
    """Whether something says that these two blocks may stand in either order."""
    (asked_first, stored_first), (asked_second, stored_second) = before.markers, after.markers
    signs = {asked_first, stored_first, asked_second, stored_second}
    if any(item.kind == "negation" for block in (before, after) for item, _ in block.items):
        return False
    # Joined equals: `x and y`, `y and x`. What stands second carries the joint on either side.
    if asked_second == stored_first and asked_second in JOINTS:
        return symmetric or asked_second == "and"
    if signs & JOINTS:
        return keywords and (before.is_heading or after.is_heading)
    for asked, stored in (before.markers, after.markers):
        if (asked in STRICT_MARKERS or stored in STRICT_MARKERS) and asked != stored:
            return False
    if (asked_first, asked_second) == (stored_second, stored_first) and asked_first != asked_second:
        return False  # they have changed parts, markers and all
    if (asked_first and asked_first == asked_second) or (stored_first and stored_first == stored_second):
        return False
    if asked_second and stored_first and not asked_first and not stored_second:
        return False  # each is the other's dependant: `history of art`, `art of history`
    if before.is_ranking and after.is_ranking:
        return True
    if before.is_adverb != after.is_adverb:
        return True
    if signs & (LOOSE_MARKERS | STRICT_MARKERS) and (nominal or "of" in signs or _moved_with_its_marker(before, after)):
        return True
    return (nominal and before.is_place != after.is_place) or (keywords and before.is_heading != after.is_heading)
