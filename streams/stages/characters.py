"""Characters that look or read the same become one; characters that mean something else stay what they are.

NFKC as a whole would merge `10⁵` with `105` and `x²` with `x2`. So composition (NFC) is done for everything, and of the
compatibility forms only those that are the same text in another dress: full and half width, ligatures, no-break spaces,
squared units, positional Arabic. Superscripts, fractions and circled digits are left alone.
"""

import re
import unicodedata

# Ligatures, the ellipsis, ℃ and ℉: the `<compat>` class also holds signs that are not mere dress, so these are named.
_COMPAT = frozenset("ﬀﬁﬂﬃﬄﬅﬆ‥…℃℉")
_DRESS = frozenset({"<wide>", "<narrow>", "<noBreak>", "<square>", "<initial>", "<medial>", "<final>", "<isolated>"})

_QUOTES = {
    **dict.fromkeys("“”„‟", '"'),
    **dict.fromkeys("‘’‚‛", "'"),
}


def _undressed(character: str) -> str:
    """The text under one character's dress, or the character itself."""
    if character in _QUOTES:
        return _QUOTES[character]
    kind, _, codes = unicodedata.decomposition(character).partition(" ")
    if kind not in _DRESS and character not in _COMPAT:
        return character
    parts = [chr(int(code, 16)) for code in codes.split()]
    if len(parts) > 1 and parts[0] == " ":  # a spacing accent: the space would tear a word apart
        return character
    return "".join(_undressed(part) for part in parts)


# All such forms lie in the basic plane.
_TABLE = {code: plain for code in range(0xA0, 0x10000) if (plain := _undressed(character := chr(code))) != character}

_SPACED_OUT = dict.fromkeys([*range(0x00, 0x20), *range(0x7F, 0xA0)], " ")

# Zero-width space and joiners, soft hyphen, byte-order mark, bidi marks, embeddings and isolates, invisible operators,
# Mongolian vowel separator, interlinear and tag characters. The joiners and tags have their own rules below.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]"
)

# A joiner means something inside an emoji sequence and between letters of the scripts that are written joined.
_JOINED = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff\ufe70-\ufefe"
_EMOJI = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"
_JOINER = re.compile(
    f"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])|(?P<stray>[\u200c\u200d])"
)
# Tag characters spell the region of a flag after a black flag; anywhere else they hide text.
_TAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f|(?P<stray>[\U000e0000-\U000e0fff])")


def without_invisible(text: str) -> str:
    """Zero-width, bidi and other control characters out (C0 and C1 as spaces), white space as single spaces, trimmed."""
    if not text.isprintable():
        text = text.translate(_SPACED_OUT)
        if not text.isascii():
            text = _INVISIBLE.sub("", text)
            text = _JOINER.sub(_keep_unless_stray, text)
            text = _TAG.sub(_keep_unless_stray, text)
    return " ".join(text.split())


def _keep_unless_stray(match: re.Match[str]) -> str:
    return "" if match["stray"] else match[0]


def undressed(text: str) -> str:
    """One spelling for characters that are the same text: width, ligatures, curly quotes, composed accents and Hangul."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_TABLE))
