"""Reading Korean questions: particles, endings, negation, numbers; what makes two of them different, and what does not."""

import pytest

from groundwire.lake.cache.verifier import verify
from groundwire.lake.cache.verifier.korean import read
from groundwire.lake.cache.verifier.korean_endings import copula, noun, predicate


def differ(check: str, *pairs: tuple[str, str]) -> None:
    for a, b in pairs:
        for one, other in ((a, b), (b, a)):
            verdict = verify(one, other)
            assert not verdict.passed, (one, other)
            assert check in [found.name for found in verdict.checks if not found.passed], (one, other, verdict.reason)


def same(*pairs: tuple[str, str]) -> None:
    for a, b in pairs:
        for one, other in ((a, b), (b, a)):
            assert verify(one, other).passed, (one, other, verify(one, other).reason)


def test_particles_give_the_direction() -> None:
    differ(
        "order",
        ("서울에서 부산까지 가는 기차", "부산에서 서울까지 가는 기차"),
        ("호랑이가 사자보다 강한가요?", "사자가 호랑이보다 강한가요?"),
        ("철수가 영희한테 보낸 편지", "영희가 철수한테 보낸 편지"),
        ("사자가 먹는 동물은?", "사자를 먹는 동물은?"),
        ("나무의 뿌리", "뿌리의 나무"),
        ("커피 우유", "우유 커피"),
        ("드라마 말고 영화 추천", "드라마 영화 추천"),
    )


def test_adjectives_that_lose_their_h_and_the_verb_that_looks_like_one() -> None:
    same(
        ("하늘이 파란 이유가 뭐야?", "하늘은 왜 파란가요?"),
        ("세탁기 청소하는 방법", "세탁기 청소는 어떻게 하나요?"),
        ("세탁기 청소하는 방법", "세탁기 청소는 어떻게 하나"),
    )
    differ("words", ("하늘이 파란 이유", "하늘이 빨간 이유"), ("사과 하나 칼로리", "사과 칼로리"))


def test_how_one_asks_to_be_told_is_no_part_of_the_question() -> None:
    same(
        ("도서관 휴관일 알려주지 않겠니", "도서관 휴관일 알려줘"),
        ("도서관이 어디인지 아니", "도서관이 어디야"),
        ("도서관 위치 알려주면 좋겠어", "도서관 위치 알려줘"),
        ("근처 약국 위치 부탁할게", "근처 약국 위치 알려줘"),
        ("책이 몇 권인지 책장 가서 확인해줘", "책장에 책이 몇 권이야"),
    )
    differ("negation", ("약을 먹지 않은 사람", "약을 먹은 사람"), ("물이 아니", "물"))


def test_a_noun_may_say_the_question_word() -> None:
    same(
        ("기말고사 일정이 어떻게 되나요?", "기말고사 일정이 언제인가요?"),
        ("어느 계절에 오로라를 볼 수 있어?", "오로라를 볼 수 있는 계절이 언제야?"),
        ("한라산의 높이가 얼마나 되나요?", "한라산의 높이가 어떻게 되나요?"),
        ("첨부할 수 있는 파일은 최대 몇 개인가요?", "파일을 몇 개까지 첨부할 수 있나요?"),
    )
    differ(
        "question",
        ("가방에 넣을 수 있는 것은?", "가방에 얼마나 넣을 수 있어?"),
        ("부산에서 뭐 먹지?", "부산에서 어디서 먹지?"),
        ("계정을 몇 개 만들었더라", "계정을 몇 개 만들 수 있지"),
    )
    differ("light words", ("비어 있는 시간은 언제야?", "비어 있는 요일은 언제야?"))
    differ(
        "words", ("지메일에서 큰 첨부파일을 몇 개 보낼 수 있나요?", "지메일에서 큰 첨부파일을 몇 기가 보낼 수 있나요?")
    )
    differ("words", ("파일을 몇 개 보낼 수 있나요?", "파일을 몇 기가 보낼 수 있나요?"))


def test_words_of_one_meaning_are_one_whatever_line_they_stand_on() -> None:
    same(
        ("가장 싸게 가는 방법", "가장 저렴하게 가는 방법"),
        ("낚시하기 적합한 곳", "낚시하기 좋은 곳"),
        ("가방 크기가 어떻게 되나요?", "가방 사이즈가 어떻게 되나요?"),
        ("금주 회의 안건", "이번주 회의 안건"),
        ("더 싼 곳이 어디야?", "어디가 더 저렴해?"),
        ("빵 나오는 시간이요 빵집에서요", "빵집에서 빵 나오는 시간"),
    )
    differ("words", ("눈이 가장 많이 내리는 도시는 어디인가", "눈이 가장 많이 내리는 지역은 어디인가"))
    differ("words", ("올해 강수량", "올해 예상 강수량"), ("형이 받은 편지", "형이 보낸 편지"))


def test_words_that_carry_their_particle_may_stand_anywhere() -> None:
    same(
        ("한글은 누가 만들었나요?", "누가 한글을 만들었나요?"),
        ("서울에서 벚꽃 축제가 언제 열리나요?", "벚꽃 축제가 서울에서 언제 열리나요?"),
        ("오늘 서울의 기온은?", "서울의 오늘 기온은?"),
    )


def test_negation_in_any_of_its_forms() -> None:
    differ(
        "negation",
        ("강아지가 먹을 수 있는 과일", "강아지가 먹을 수 없는 과일"),
        ("먹어도 되는 음식", "먹으면 안 되는 음식"),
        ("안읽은 메일", "읽은 메일"),
        ("물에 뜨는 금속", "물에 뜨지 않는 금속"),
        ("날 수 있는 새", "날지 못하는 새"),
        ("환불 가능한 상품", "환불 불가능한 상품"),
    )


def test_numbers_with_their_counters() -> None:
    differ(
        "numbers",
        ("조선 3대 왕은?", "조선 4대 왕은?"),
        ("2023년 최저임금", "2024년 최저임금"),
        ("3월 축제", "5월 축제"),
        ("두 명 식사", "세 명 식사"),
        ("십오일 일정", "십육일 일정"),
        ("디아블로 2 출시일", "디아블로 III 출시일"),
    )
    same(
        ("제 2차 세계대전", "제2차 세계 대전"),
        ("초대 대통령은 누구인가?", "1대 대통령은 누구인가?"),
        ("이십사 도 온도", "24도 온도"),
        ("첫 번째 올림픽", "첫번째 올림픽"),
        ("2 차 시험", "2차 시험"),
    )


def test_the_question_word_has_to_be_the_same() -> None:
    differ(
        "question",
        ("한글은 언제 만들어졌나요?", "한글은 왜 만들어졌나요?"),
        ("올림픽은 어디에서 열리나요?", "올림픽은 어떻게 열리나요?"),
        ("비가 왔나요?", "비가 올까요?"),
    )


def test_endings_politeness_and_fillers_change_nothing() -> None:
    same(
        ("프랑스의 수도는 어디인가요?", "프랑스의 수도는 어디야?"),
        ("프랑스의 수도는?", "프랑스의 수도는 어디인가?"),
        ("혹시 서울 인구 좀 알려주실 수 있나요?", "서울의 인구를 알려줘"),
        ("여권을 만드는 방법을 알려주세요", "여권은 어떻게 만드나요?"),
        ("섬이 몇 개인지 궁금해요", "섬은 몇개인가요?"),
        ("오로라를 볼 수 있는 곳을 알려줘", "오로라를 볼 수 있는 곳은 어디인가요?"),
        ("가게가 언젠지 알아?", "가게는 언제야?"),
        ("빨래 말리는 법 알려줘", "빨래를 말리는 방법"),
        ("점심시간말이야 언제야", "점심시간은 언제인가요"),
        ("무지개가 생기는 이유는?", "무지개는 왜 생기나요?"),
    )


def test_a_choice_is_the_same_whatever_stands_first() -> None:
    same(
        ("고양이와 강아지 중 더 빠른 동물은?", "강아지와 고양이 중 더 빠른 동물은 무엇인가요?"),
        ("사과가 더 비싼가요 배가 더 비싼가요", "배와 사과 중에 더 비싼 것은?"),
        ("무선인지 유선인지 알려줘", "유선이야 아니면 무선이야"),
    )


def test_synonyms_and_spacing() -> None:
    same(
        ("대한민국의 산", "한국의 산"),
        ("핸드폰 배터리 교체", "휴대폰 배터리 교체"),
        ("전쟁은 언제 발발했나요?", "전쟁은 언제 일어났나요?"),
        ("미국 독립 기념일은 언제인가요?", "미국 독립기념일은 언제인가요?"),
        ("이번 년도 축제", "올해 축제"),
        ("어벤져스 영화", "어벤저스 영화"),
    )


def test_one_ordinary_word_more_is_let_pass_softly_and_a_narrowing_one_is_not() -> None:
    verdict = verify(
        "고양이와 강아지 중 사료를 더 많이 먹는 쪽은 어디인가요?",
        "고양이와 강아지 중 평소에 사료를 더 많이 먹는 쪽은 어디인가요?",
    )
    assert verdict.passed and verdict.features["extra"] == 1
    differ("words", ("제주도에서 좋은 호텔 이름은 무엇인가요?", "제주도에서 좋은 가족 호텔 이름은 무엇인가요?"))


def test_another_language_is_another_question() -> None:
    differ("language", ("서울 날씨", "weather in seoul"))


@pytest.mark.parametrize(
    ("word", "stem", "part"),
    [
        ("서울에서", "서울", "from"), ("부산까지", "부산", "to"), ("고양이", "고양이", ""), ("고양이는", "고양이", "topic"),
        ("작가", "작가", ""), ("넓이는", "넓이", "topic"), ("왕은", "왕", "topic"), ("사자보다", "사자", "than"),
        ("학교", "학교", ""), ("차이", "차이", ""), ("결과", "결과", ""), ("메일들을", "메일", ""),
    ],
)  # fmt: skip
def test_a_noun_without_its_particle(word: str, stem: str, part: str) -> None:
    assert noun(word) == (stem, part)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("추운", "춥"), ("먹었나요", "먹"), ("켜졌는지", "켜"), ("골라줘", "고르"), ("시작했습니까", "시작하"),
        ("빨라요", "빠르"),
        ("보고싶은데", "보"), ("내야하는", "내"), ("걸어서", "걷"), ("일어났나요", "일어나"), ("커요", "크"),
    ],
)  # fmt: skip
def test_a_verb_has_its_stem(word: str, stem: str) -> None:
    found = predicate(word)
    assert found is not None and stem in found.stems


@pytest.mark.parametrize("word", ["나라", "가게", "돼지", "독일", "감자", "시대", "서울", "맥주들"])
def test_a_noun_is_not_taken_for_a_verb(word: str) -> None:
    assert predicate(word) is None


@pytest.mark.parametrize(
    ("word", "stem"),
    [("도시인가요", "도시"), ("캐릭턴지", "캐릭터"), ("언제예요", "언제"), ("온라인", None), ("가스레인지", None)],
)
def test_the_copula_comes_off(word: str, stem: str | None) -> None:
    assert copula(word) == stem


def test_a_reading_keeps_parts_and_what_is_asked() -> None:
    reading = read("일본에는 몇 개의 섬이 있나요?")
    assert [(item.surface, item.marker) for item in reading.items] == [("일본", "at"), ("섬", "subject")]
    assert reading.frame.asks == "howmany" and reading.language == "ko"
    assert read("몇 년도에 일어났나요").frame.asks == "when"
    assert read("몇 시에 문을 여나요").items[0].keys == ("counted-시",)
