"""Reading a question in a language there are no rules for: every word counts, in its order."""

from functools import lru_cache

from groundwire.lake.cache.verifier import tokens
from groundwire.lake.cache.verifier.reading import Frame, Item, Reading


@lru_cache(maxsize=4096)
def read(text: str) -> Reading:
    """The words as they stand, as one item: they match as a whole or not at all."""
    plain, exact = tokens.operators(tokens.fold(text))
    whole = " ".join(tokens.words(plain))
    return Reading(text, "other", (Item(whole, (whole,)),) if whole else (), Frame(), exact)
