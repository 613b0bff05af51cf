"""Vendors' texts made plain: markup gone, entities decoded exactly once, no invisible characters, whitespace folded.

A text is data. Nothing in it may act on the one who reads it: control characters, bidirectional overrides, invisible tag
characters (a known way to hide instructions from people) and half surrogate pairs are removed.
"""

import html
import re
import unicodedata

from selectolax.lexbor import LexborHTMLParser

MAX_TITLE_CHARS = 500
MAX_BODY_CHARS = 10_000
_MAX_RAW_CHARS = 40_000  # of what is looked at: markup is rarely three quarters of a text

# Tags that search vendors put around words, and those whole pages are made of. Any other `<word>` is text (`List<String>`).
_TAGS = (
    "a|abbr|article|aside|b|bdi|bdo|big|blockquote|body|br|button|center|cite|code|dd|del|details|div|dl|dt|em|figcaption|figure"
    "|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|noscript|ol|p|picture"
    "|pre|q|s|samp|script|section|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|tfoot|th|thead"
    "|time|title|tr|tt|u|ul|var|video|wbr"
)
_TAG = re.compile(rf"</?(?:{_TAGS})(?=[\s/>])[^<>]*>|<!--.{{0,2000}}?-->", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(r"p|div|br|li|tr|h[1-6]|section|article|blockquote|pre|ul|ol|table|hr|dd|dt|td|th")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_STRAY = re.compile(r"&(?!(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")

_REMOVED = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0d\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff]"
)
_JOINERS = re.compile("[\u200c\u200d]")
_JOINABLE = frozenset({"Lo", "Mn", "Mc", "So", "Sk", "Lm"})
_LINE_BREAK = re.compile(r"[\r\n\v\f\u0085\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]+")
_ALL_BLANKS = re.compile(r"\s+")
_MANY_LINES = re.compile(r"\n{3,}")

# The label of an unfolding link, glued to the end of a snippet, in the languages engines are asked in.
_READ_MORE = re.compile(
    r"(?:(?<=\S)|(?<=\.\.\.\s)|(?<=…\s))"
    r"(?:Read [Mm]ore|Mehr lesen|Weiterlesen|Leer más|Lire la suite|Leia mais|Leggi tutto|더보기|続きを読む|もっと見る)\s*$"
)


def clean_title(raw: str) -> str:
    """One line of plain text."""
    return _cut(_ALL_BLANKS.sub(" ", plain_text(raw)).strip(), MAX_TITLE_CHARS)


def clean_body(raw: str, *, keep_lines: bool = False) -> str:
    """Plain text; one line, unless `keep_lines` (Markdown and whole pages keep theirs, blank lines at most one at a time)."""
    text = plain_text(raw)
    if keep_lines:
        lines = (
            _BLANKS.sub(" ", line).strip() for line in _LINE_BREAK.sub("\n", text.replace("\r\n", "\n")).split("\n")
        )
        text = _MANY_LINES.sub("\n\n", "\n".join(lines)).strip()
    else:
        text = _ALL_BLANKS.sub(" ", text).strip()
    return _cut(_READ_MORE.sub("", text).rstrip(), MAX_BODY_CHARS)


def plain_text(raw: str) -> str:
    """Without markup, entities decoded once (`&amp;lt;` becomes `&lt;`), without characters that can't be seen."""
    raw = raw[:_MAX_RAW_CHARS]
    text = _without_markup(raw) if _TAG.search(raw) else _ENTITY.sub(lambda match: html.unescape(match.group(0)), raw)
    return visible(text)


def visible(text: str) -> str:
    """Without control, zero-width and bidirectional characters. Joiners stay between letters and signs that need them (emoji,
    Persian, Indic scripts)."""
    text = _REMOVED.sub("", text)
    return _JOINERS.sub(lambda match: _joiner(text, match), text)


def _joiner(text: str, match: re.Match[str]) -> str:
    if match.start() == 0 or match.end() == len(text):
        return ""
    before, after = text[match.start() - 1], text[match.end()]
    joins = before == "\ufe0f" or (unicodedata.category(before) in _JOINABLE and ord(before) > 0x2FF)
    return match.group(0) if joins and unicodedata.category(after) in _JOINABLE and ord(after) > 0x2FF else ""


def _without_markup(raw: str) -> str:
    escaped = _escape_what_is_text(raw)
    tree = LexborHTMLParser(f"<body>{escaped}</body>")
    for node in tree.css("script, style, noscript, template, svg, iframe, title, head"):
        node.decompose()
    body = tree.body
    if body is None:
        return ""
    parts: list[str] = []
    for node in body.traverse(include_text=True):
        if node.tag == "-text":
            parts.append(node.text_content or "")
        elif _BREAK.fullmatch(node.tag or ""):
            parts.append("\n")
    return "".join(parts)


def _escape_what_is_text(raw: str) -> str:
    """`<` and `&` that begin neither a known tag nor an entity are text, and must survive the parser."""
    pieces: list[str] = []
    end = 0
    for match in _TAG.finditer(raw):
        pieces.append(_escaped(raw[end : match.start()]))
        if not match.group(0).startswith("<!--"):
            pieces.append(match.group(0))
        end = match.end()
    pieces.append(_escaped(raw[end:]))
    return "".join(pieces)


def _escaped(text: str) -> str:
    return _STRAY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words where there is a gap near the end."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    gap = head.rfind(" ", limit - 80)
    return f"{head[:gap] if gap > 0 else head}…"
