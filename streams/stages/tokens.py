"""How many tokens a text has, estimated so that the estimate is not below what tokenizers make of ordinary text."""

# English prose runs at 4 to 5 bytes a token, URLs and numbers at about 3, Hangul and Han at about one token for each
# character of three bytes: a third of the UTF-8 bytes is at or above the count in all of them.
BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """A third of the UTF-8 bytes, rounded up."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
