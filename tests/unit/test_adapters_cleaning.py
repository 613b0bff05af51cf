"""Vendors' texts made plain."""

import time

import pytest

from groundwire.adapters.cleaning import MAX_BODY_CHARS, clean_body, clean_title, plain_text


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("The <strong>best</strong> drill isn&#x27;t …", "The best drill isn't …"),
        ("&amp;lt; stays once decoded", "&lt; stays once decoded"),
        ("<b>&amp;lt;</b>", "&lt;"),
        ("AT&T and R&D &notes=1 ?a=1&copy=2", "AT&T and R&D &notes=1 ?a=1&copy=2"),
        ("<b>AT&T &copy=2</b>", "AT&T &copy=2"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("<em>if a < b</em> and <T> stays", "if a < b and <T> stays"),
        ("Map<String, Object>", "Map<String, Object>"),
        ("one<br>two<br/>three", "one two three"),
        ("<p>one</p><p>two</p>", "one two"),
        ("glu<b>ed</b>", "glued"),
        ("a<script>steal()</script>b<style>p{}</style>c<!-- no -->d", "abcd"),
        ('<a href="https://x.example">link</a>', "link"),
        ("<img src=x onerror=alert(1)>text", "text"),
        ("&nbsp;a&nbsp;b&#160;", "a b"),
        ("&#0;&#8;&#x202E;a&#xD800;", "\ufffda\ufffd"),
        ("&unknown; &#99999999;", "&unknown; &#99999999;"),
        ("<b unclosed", "<b unclosed"),
        ("", ""),
    ],
)
def test_markup_goes_and_entities_are_decoded_exactly_once(raw: str, clean: str) -> None:
    assert clean_title(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\u202eevil\u202c", "evil"),
        ("a\u200bb\u200ec\u2066d\u2069\ufeff", "abcd"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\U000e0041\U000e0042hidden", "hidden"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("a\u200db\u200cc", "abc"),
        ("\u200d", ""),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u2028b\u2029c", "a b c"),
        ("half \ud83d pair", "half pair"),
        ("Zu\u0308rich", "Zu\u0308rich"),
        ("日本語　テキスト", "日本語 テキスト"),
    ],
)
def test_what_can_not_be_seen_goes_and_what_joins_letters_stays(raw: str, clean: str) -> None:
    assert clean_title(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("…Madrid 53° ...Read more", "…Madrid 53° ..."),
        ("strong breezeSunny ...Read more", "strong breezeSunny ..."),
        ("the end.Read more", "the end."),
        ("weiter …Mehr lesen", "weiter …"),
        ("요약 내용...더보기", "요약 내용..."),
        ("続く…続きを読む", "続く…"),
        ("If you like it, Read more", "If you like it, Read more"),
        ("People should read more", "People should read more"),
        ("Read more", "Read more"),
    ],
)
def test_a_label_that_stuck_to_the_end_goes(raw: str, clean: str) -> None:
    assert clean_body(raw) == clean


def test_pages_keep_their_lines_and_snippets_do_not() -> None:
    raw = "# Title \r\n\r\n\r\n\r\n  one\u00a0 two\n- three\n"
    assert clean_body(raw, keep_lines=True) == "# Title\n\none two\n- three"
    assert clean_body(raw) == "# Title one two - three"


def test_a_long_text_is_cut_between_words() -> None:
    text = clean_body("word " * 10_000)
    assert len(text) <= MAX_BODY_CHARS
    assert text.endswith("word…")
    assert len(clean_body("x" * 50_000)) == MAX_BODY_CHARS
    assert len(clean_title("t" * 900)) == 500


@pytest.mark.parametrize(
    "raw",
    ["<!--" * 1_000_000, "<" * 4_000_000, "<b " * 1_000_000, "&" * 4_000_000, "&#" * 1_000_000, "<a><b>" * 500_000],
)
def test_a_text_made_to_take_long_does_not(raw: str) -> None:
    started = time.process_time()
    plain_text(raw)
    assert time.process_time() - started < 10  # seconds; the bad case would take minutes
