"""What the sandbox finds: the corpus's own answers, near misses told apart, and marked documents for all else."""

from datetime import date
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.adapters.sandbox.corpus import Document, load_corpus
from groundwire.adapters.sandbox.library import NOTHING_FOR, Library, Search

TODAY = date(2026, 12, 1)
LIBRARY = Library()


def find(query: str, count: int = 5, **more: object) -> tuple[Document, ...]:
    return LIBRARY.find(Search(query=query, count=count, today=TODAY, **more))  # type: ignore[arg-type]


def best(query: str) -> str:
    return find(query, 1)[0].id


def test_the_corpus_is_whole() -> None:
    documents = load_corpus()
    assert len(documents) >= 80
    assert (
        len({document.id for document in documents}) == len({document.url for document in documents}) == len(documents)
    )
    assert {document.language for document in documents} == {"en", "ko"}
    for document in documents:
        assert urlsplit(document.url).hostname == document.domain
        assert document.domain.endswith(".example")
        assert document.title
        assert len(document.body) > 40
        assert document.keywords


@pytest.mark.parametrize("document", load_corpus(), ids=lambda document: document.id)
def test_every_phrase_of_a_document_finds_it_first_or_its_twin_in_another_language(document: Document) -> None:
    missed = [phrase for phrase in document.keywords if document.id not in [found.id for found in find(phrase, 2)]]
    assert missed == []


@pytest.mark.parametrize(
    ("asked", "document"),
    [
        ("How does photosynthesis work?", "photosynthesis"),
        ("how do plants turn sunlight into food", "photosynthesis"),
        ("광합성은 어떻게 일어나나요?", "ko-photosynthesis"),
        ("what's the tallest mountain in the world", "everest"),
        ("at what temperature does water boil on a mountain", "boiling-altitude"),
        ("how do I make kimchi at home", "kimchi"),
        ("김치 만드는 방법 알려줘", "ko-kimchi"),
        ("what are consumer groups in Kafka?", "kafka-consumer-groups"),
        ("vector databases explained", "vector-database"),
        ("국민연금은 몇 살부터 받을 수 있나요?", "ko-pension-age"),
        ("종합소득세 신고는 언제까지", "ko-income-tax"),
        ("추석 언제야", "ko-chuseok"),
        ("train to Busan from Seoul", "train-seoul-busan"),
        ("서울에서 부산까지 기차로 얼마나 걸리나요", "ko-train-seoul-busan"),
    ],
)
def test_a_paraphrase_finds_the_same_document(asked: str, document: str) -> None:
    assert best(asked) == document


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("train from Seoul to Busan", "train from Busan to Seoul"),
        ("서울에서 부산 가는 기차", "부산에서 서울 가는 기차"),
        ("flights from new york to london", "flights from london to new york"),
        ("world cup 2018 winner", "world cup 2022 winner"),
        ("2018 월드컵 우승국", "2022 월드컵 우승국"),
        ("is python faster than java", "is java faster than python"),
        ("convert usd to eur", "convert eur to usd"),
        ("how to turn on dark mode in lumen editor", "how to turn off dark mode in lumen editor"),
        ("things to do in paris texas", "things to do in paris france"),
        ("국민연금 수령 나이", "국민연금 보험료율"),
        ("tallest mountain in the world", "second tallest mountain in the world"),
    ],
)
def test_a_near_miss_has_another_answer(one: str, other: str) -> None:
    first, second = find(one, 1)[0], find(other, 1)[0]
    assert not first.generated
    assert not second.generated
    assert first.id != second.id


@pytest.mark.parametrize(
    "asked",
    ["world cup 2014 winner", "best restaurants in lisbon", "Who received the IEEE Frank Rosenblatt Award in 2010?"],
)
def test_what_the_corpus_does_not_know_is_marked_as_generated(asked: str) -> None:
    for rank, document in enumerate(find(asked), 1):
        assert document.generated
        assert document.title == f"Sandbox document {rank} for “{asked}”"
        assert document.body.startswith("Generated for testing")


def test_a_generated_document_speaks_the_language_of_the_question() -> None:
    document = find("리스본 맛집 추천해줘")[0]
    assert (document.language, document.generated) == ("ko", True)
    assert document.title.startswith("샌드박스 문서 1")


def test_generated_documents_fill_up_to_the_count() -> None:
    found = find("how does photosynthesis work", 20)
    assert len(found) == 20
    assert not found[0].generated
    assert found[-1].generated
    assert len({document.url for document in found}) == 20


@pytest.mark.parametrize("marker", NOTHING_FOR)
def test_a_scripted_query_finds_nothing(marker: str) -> None:
    assert find(f"where is {marker} sold") == ()


@given(st.text(min_size=1, max_size=80), st.integers(1, 20))
def test_any_query_finds_the_same_each_time_and_as_many_as_asked_for(query: str, count: int) -> None:
    found = find(query, count)
    fresh = Library().find if len(query) % 40 == 0 else LIBRARY.find.__wrapped__
    assert found == fresh(Search(query=query, count=count, today=TODAY))
    if not any(marker in query for marker in NOTHING_FOR) and "site:" not in query.casefold():
        assert len(found) == count


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_two_questions_never_share_a_generated_document(one: str, other: str) -> None:
    urls = [{found.url for found in find(query) if found.generated} for query in (one, other)]
    assert one == other or not urls[0] & urls[1]


def test_site_operators_choose_the_hosts() -> None:
    assert best("kafka consumer groups site:streamnotes.example") == "kafka-consumer-groups"
    hosts = {found.domain for found in find("anything at all (site:one.example OR site:two.example)", 4)}
    assert hosts == {"one.example", "two.example"}
    assert all(
        found.domain != "streamnotes.example" for found in find("kafka consumer groups -site:streamnotes.example")
    )


def test_domain_filters_choose_the_hosts() -> None:
    assert {found.domain for found in find("kafka", include_domains=("*.docs.example", "www.one.example/path"))} == {
        "docs.example",
        "one.example",
    }
    only = find("kafka consumer groups", include_domains=("streamnotes.example",))
    assert {found.domain for found in only} == {"streamnotes.example"}


def test_a_window_of_dates_is_kept() -> None:
    after, before = date(2026, 11, 1), date(2026, 11, 20)
    found = find("is python faster than java", 8, after=after, before=before)
    assert len(found) == 8
    assert all(after <= document.published <= before for document in found)
    assert find("is python faster than java", after=date(2026, 12, 24)) == ()


def test_offset_goes_on_where_the_page_before_ended() -> None:
    assert find("kafka consumer groups", 10)[5:] == find("kafka consumer groups", 5, offset=5)
