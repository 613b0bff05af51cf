"""The rendered context: numbered excerpts inside a token budget, that no result can break out of.

    [1] Title
    https://example.org/page
    > first line of the body
    > second line

    [2] …

Every line of a body starts with `> `, a title and a URL are one line each. So a line that starts with `[` is always a real
excerpt's head, and what a page says stays inside its quotation: it can't pose as another result, nor as a word of ours.
Chat-template marks (`<|…|>`, `[INST]`) are broken up, since some models read them wherever they stand.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.schemas.reply import Result
from groundwire.streams.stages.characters import without_invisible
from groundwire.streams.stages.tokens import BYTES_PER_TOKEN

_LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_MARK = re.compile(r"<\||\|>|<(?=/?s>)|\[(?=/?INST\])|<<(?=/?SYS>>)")

_GAP = "\n\n"
_QUOTE = "> "
_ELLIPSIS = "…"
# With less room than this for its body a result is left out, so that the others say something.
_LEAST_BODY_BYTES = 90
_MOST_TITLE_CHARACTERS = 200


def render_context(results: Sequence[Result], budget_tokens: int) -> str:
    """The excerpts, as many and as long as `estimate_tokens` of the whole allows; empty when not even one head fits.

    The budget is shared evenly; what a short excerpt leaves over goes to those after it. Numbers are the results' indices.
    """
    room = budget_tokens * BYTES_PER_TOKEN + len(_GAP)  # every excerpt is counted with a gap, the last has none
    chosen = _as_many_as_fit(results, room)
    reserved = sum(excerpt.least for excerpt in chosen)
    parts: list[str] = []
    for place, excerpt in enumerate(chosen):
        reserved -= excerpt.least
        share = max(room // (len(chosen) - place), excerpt.least)
        text = _text(excerpt, min(share, room - reserved) - len(_GAP))
        parts.append(text)
        room -= _size(text) + len(_GAP)
    return _GAP.join(parts)


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """`least` is the room, in bytes, without which the excerpt is not worth showing."""

    head: str
    lines: list[str]
    least: int


def _head(result: Result) -> str:
    title = _one_line(result.title)
    if len(title) > _MOST_TITLE_CHARACTERS:
        title = _cut(title, 3 * _MOST_TITLE_CHARACTERS)
    head = f"[{result.index}] {title}".rstrip()
    return f"{head}\n{_one_line(result.url).replace(' ', '%20')}"


def _lines(body: str) -> list[str]:
    if body.isprintable():  # most bodies: no line break, nothing unseen
        line = _one_line(body)
        return [line] if line else []
    lines = (_one_line(line) for line in _LINE_BREAK.split(body))
    return [line for line in lines if line]


def _one_line(text: str) -> str:
    text = without_invisible(text)
    if "<" in text or "[" in text or "|>" in text:
        text = _MARK.sub(lambda mark: " ".join(mark[0]) + " ", text)
    return text


def _as_many_as_fit(results: Sequence[Result], room: int) -> list[_Excerpt]:
    """The leading excerpts whose heads fit with a little of each body; one whose head alone is too long is passed over."""
    chosen: list[_Excerpt] = []
    for result in results:
        # A page of 50,000 characters need not be cleaned for a context that shows 6,000 bytes of it.
        head, lines = _head(result), _lines(result.body[: 2 * room])
        body = min(_LEAST_BODY_BYTES, sum(_size(line) + len(_QUOTE) + 1 for line in lines))
        # The first may come with its head alone: a source without words is better than nothing.
        least = _size(head) + len(_GAP) + (body if chosen else 0)
        if least <= room:
            chosen.append(_Excerpt(head, lines, least))
            room -= least
    return chosen


def _text(excerpt: _Excerpt, room: int) -> str:
    text = [excerpt.head]
    room -= _size(excerpt.head)
    for line in excerpt.lines:
        room -= len("\n" + _QUOTE)
        if room <= _size(_ELLIPSIS):
            break
        size = _size(line)
        if size > room:
            text.append(_QUOTE + _cut(line, room))
            break
        text.append(_QUOTE + line)
        room -= size
    return "\n".join(text)


def _cut(line: str, room: int) -> str:
    """The beginning of a line in at most `room` bytes, at a word's end where one is near, never inside a character."""
    kept = line.encode()[: room - _size(_ELLIPSIS)].decode(errors="ignore")
    # Without the marks that belong to the character after the cut, a letter would change.
    while (
        kept and len(kept) < len(line) and (unicodedata.combining(line[len(kept)]) or line[len(kept)] in "\u200d\ufe0f")
    ):
        kept = kept[:-1]
    space = kept.rfind(" ")
    if space > len(kept) * 0.7:
        kept = kept[:space]
    return kept.rstrip() + _ELLIPSIS


def _size(text: str) -> int:
    return len(text.encode())
