"""Judging files of pairs: what can be read, what is said about what cannot, and the totals."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from groundwire.lake.cache.judge import Judge, Pair, PairsUnusable, read_pairs


class Embedder:
    """A vector of which letters a text holds: close for texts that share most of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_now(self, text: str) -> Sequence[float]:
        self.asked.append(text)
        counts = [float(text.count(chr(ord("a") + at))) + 0.01 for at in range(26)]
        length = sum(count * count for count in counts) ** 0.5
        return [count / length for count in counts]


@pytest.fixture
def judge() -> Judge:
    return Judge(Embedder(), lambda text: text.strip().lower())


PAIRS = [
    Pair("Weather in Oslo", "weather in oslo", True),
    Pair("weather in oslo", "oslo weather", True),
    Pair("flights from oslo to rome", "flights from rome to oslo", False),
    Pair("who painted guernica", "painter of guernica", True),
    Pair("capital of peru", "peru capital"),
]


def test_each_pair_is_judged_by_the_tier_that_would_serve_it(judge: Judge) -> None:
    found = judge.judge_all(PAIRS).to_json()
    assert [(row["hit"], row["tier"]) for row in found["rows"]] == [
        (True, "exact"), (True, "semantic"), (False, None), (False, None), (True, "semantic"),
    ]  # fmt: skip
    assert found["rows"][2]["reason"].startswith("order:")
    assert [row["same"] for row in found["rows"]] == [1, 1, 0, 1, None]


def test_totals_are_over_the_labelled_pairs(judge: Judge) -> None:
    found = judge.judge_all(PAIRS).to_json()
    assert {name: found[name] for name in ("pairs", "labelled", "hits", "exact_hits", "semantic_hits")} == {
        "pairs": 5, "labelled": 4, "hits": 3, "exact_hits": 1, "semantic_hits": 2,
    }  # fmt: skip
    assert (found["true_hits"], found["false_hits"], found["missed"]) == (2, 0, 1)
    assert found["precision"] == 1.0 and found["recall"] == pytest.approx(0.6667)


def test_nothing_served_has_no_precision(judge: Judge) -> None:
    found = judge.judge_all([Pair("a cat", "a dog", False)]).to_json()
    assert found["precision"] is None and found["recall"] is None


def test_an_asked_similarity_and_probability_tighten() -> None:
    pair = Pair("weather in oslo", "oslo weather")
    assert Judge(Embedder(), str.lower).judge(pair).hit
    assert not Judge(Embedder(), str.lower, min_similarity=0.9999).judge(pair).hit
    assert not Judge(Embedder(), str.lower, min_probability=0.99999).judge(pair).hit


def test_explain_lays_the_decision_open(judge: Judge) -> None:
    found = judge.explain("Flights from Oslo to Rome", "flights from rome to oslo")
    assert not found["hit"] and found["tier"] is None and found["language"] == "en"
    assert found["normalized"] == {"a": "flights from oslo to rome", "b": "flights from rome to oslo"}
    failed = [check["name"] for check in found["checks"] if not check["passed"]]
    assert failed == ["order"] and 0 < found["threshold"] < 1 and found["min_similarity"] >= 0.5
    json.dumps(found)


def test_labelled_pairs_leave_out_what_the_exact_tier_serves(judge: Judge) -> None:
    found = judge.labelled(PAIRS)
    assert (found[0].stored, found[0].asked, found[0].same) == ("weather in oslo", "oslo weather", True)
    assert len(found) == 3 and all(0 < pair.similarity <= 1.0001 for pair in found)


def test_each_text_is_embedded_once() -> None:
    embedder = Embedder()
    Judge(embedder, str.lower).judge_all([Pair("a b", "b c"), Pair("b c", "a b")])
    assert sorted(embedder.asked) == ["a b", "b c"]


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.jsonl", "pairs.tsv.gz", "pairs.jsonl.gz"])
def test_every_kind_of_file_is_read(tmp_path: Path, name: str) -> None:
    rows = [("a, b", "c", "1"), ("서울", "부산", "0")]
    if ".jsonl" in name:
        text = (
            "\n".join(json.dumps({"a": a, "b": b, "same": int(same), "language": "ko"}) for a, b, same in rows) + "\n\n"
        )
    else:
        mark = "\t" if ".tsv" in name else ","
        quote = '"{}"'.format if mark == "," else str
        text = "\n".join(
            [mark.join(("a", "b", "same", "language")), *(mark.join((quote(a), b, same, "ko")) for a, b, same in rows)]
        )
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_pairs(tmp_path / name) == [Pair("a, b", "c", True, "ko"), Pair("서울", "부산", False, "ko")]


def test_labels_may_be_words_or_missing(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("\ufeffa\tb\tsame\nx\ty\tTrue\nx\tz\tno\nx\tw\t\n", encoding="utf-8")
    assert [pair.same for pair in read_pairs(file)] == [True, False, None]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("pairs.txt", b"a\tb", r"\.tsv, \.csv or \.jsonl"),
        ("pairs", b"a\tb", r"\.tsv, \.csv or \.jsonl"),
        ("pairs.tsv", b"x\ty\n1\t2", "columns"),
        ("pairs.tsv", b"a\tb\tsame\n", "no pairs"),
        ("pairs.tsv", b"a\tb\tsame\nx\ty\tperhaps", "line 2: same must be 1 or 0, got 'perhaps'"),
        ("pairs.tsv", b"a\tb\nx\t", "line 2: a and b"),
        ("pairs.jsonl", b'{"a": 1, "b": "x"}', "line 1: a and b"),
        ("pairs.jsonl", b'{"a": "x"', "line 1: not JSON"),
        ("pairs.jsonl", b"[1]", "line 1: wanted an object"),
        ("pairs.csv", b"\xff\xfe\x00", "UTF-8"),
        ("pairs.tsv.gz", b"not gzip", "UTF-8"),
    ],
)
def test_a_file_that_is_not_pairs_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PairsUnusable, match=said) as raised:
        read_pairs(tmp_path / name)
    assert name in str(raised.value)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_pairs(tmp_path / "gone.tsv")
