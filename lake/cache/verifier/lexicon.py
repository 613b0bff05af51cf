"""Word lists, written as one reads them."""


def words(text: str) -> frozenset[str]:
    """The words of a text, in no order."""
    return frozenset(text.split())
