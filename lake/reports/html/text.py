"""Everything a page shows as text. Query texts come from strangers: they are escaped here and nowhere else."""

import html
import unicodedata

MAX_SHOWN = 300


def escaped(value: object) -> str:
    """Text for element content and for quoted attributes. Control characters are shown, not sent."""
    return html.escape("".join(_visible(character) for character in str(value)), quote=True)


def foreign(text: str | None) -> str:
    """Somebody else's text: cut to a readable length and isolated, so that its writing direction stays its own."""
    if text is None:
        return '<span class="none">–</span>'
    shown = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return f"<bdi>{escaped(shown)}</bdi>"


def milliseconds(value: float | None) -> str:
    """`3.1 ms`, `312 ms`, `2.4 s`."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms"


def _visible(character: str) -> str:
    if character in "\n\t":
        return " "
    # Cc: control; Cf: marks that reorder or hide what follows; Cs: half a character.
    if unicodedata.category(character) in ("Cc", "Cs") or character in _REORDERING:
        return "\N{REPLACEMENT CHARACTER}"
    return character


_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
