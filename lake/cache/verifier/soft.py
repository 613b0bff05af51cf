"""One word more in an open question.

A question for advice or an explanation (`how to`, `why`, `what is`) is seldom changed by one ordinary word more on one side,
where a question for a fact (`who`, `when`, `is it`) is. Such a word passes here, and then needs a very high similarity.
"""

from groundwire.lake.cache.verifier.alignment import Alignment
from groundwire.lake.cache.verifier.english_synonyms import COUNTRY_OF
from groundwire.lake.cache.verifier.english_words import NARROWING, SOFT_QUANTITIES
from groundwire.lake.cache.verifier.order import JOINTS, MUST_STAND
from groundwire.lake.cache.verifier.places import PLACES
from groundwire.lake.cache.verifier.reading import Item, Reading

_OPEN = frozenset(("what", "how", "why", "howto"))
_FEWEST_IN_COMMON = 2
_MOST_EXTRA = 2


def extra_words(asked: Reading, stored: Reading, aligned: Alignment) -> frozenset[str]:
    """The surfaces of the words that only one of two open questions has and may have; empty when it may not."""
    if asked.language != "en" or asked.frame.asks not in _OPEN or stored.frame.asks not in _OPEN:
        return frozenset()
    left = [item for item in aligned.only_asked if item.kind != "light"]
    right = [item for item in aligned.only_stored if item.kind != "light"]
    extra = left or right
    if (left and right) or not 0 < len(extra) <= _MOST_EXTRA or len(aligned.pairs) < _FEWEST_IN_COMMON:
        return frozenset()
    whole = asked if left else stored
    if all(_ordinary(item, whole) for item in extra):
        return frozenset(item.surface for item in extra)
    return frozenset()


def _ordinary(item: Item, reading: Reading) -> bool:
    if item.kind == "quantity":
        return item.surface in SOFT_QUANTITIES
    if item.kind != "word" or item.marker in JOINTS or item.marker in MUST_STAND or not item.surface.isascii():
        return False
    at = reading.items.index(item)
    after = reading.items[at + 1] if at + 1 < len(reading.items) else None
    if after is not None and (after.marker in JOINTS or after.kind == "number"):
        return False
    if at and reading.items[at - 1].kind in ("number", "negation"):
        return False
    if any(key in PLACES or key in COUNTRY_OF or key in NARROWING for key in item.keys):
        return False
    return not item.surface.endswith(("er", "est", "less", "free")) and not any(
        letter.isdigit() for letter in item.surface
    )
