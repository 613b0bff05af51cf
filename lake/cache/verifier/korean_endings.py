"""Korean words back to their stems: particles off nouns, endings off verbs and adjectives.

Rules instead of a dictionary: a morphological analyser with a model would cost half a gigabyte of memory for
what two short
questions need. A stem may stay ambiguous; two words are the same when one of their stems is.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from groundwire.lake.cache.verifier.korean_words import NOUNS_LIKE_VERBS, ONE_SYLLABLE_NOUNS, PARTICLE_LIKE, STEMS
from groundwire.lake.cache.verifier.lexicon import words as word_set

# Compatibility letters in the lists below stand for a final consonant.
_FINALS = {"ㄴ": "ᆫ", "ㄹ": "ᆯ", "ㅁ": "ᆷ", "ㅂ": "ᆸ", "ㅆ": "ᆻ"}

# Particle → the part its noun plays. Longest first when they are tried.
_PARTICLES = {
    "topic": "은 는 께서는 이란 란 이라는 라는 말이야",
    "subject": "이 가 께서",
    "object": "을 를",
    "of": "의",
    "from": """
        에서부터 에선 에서 부터 로부터 으로부터 에게서 한테서 에게서는 한테서는 에서는 에서의 에서도 부터는
        에서만 로부터는 으로부터는 에서요
    """,
    "to": """
        까지 까지는 에게 한테 께 에게는 한테는 더러 보고 로 으로 로는 으로는 로서 으로서 로써 으로써 까지의 로의
        으로의 으로도 로도 까지요 으로요 로요
    """,
    "at": "에 에는 에도 엔 에만 에의",
    "except": "말고 말고는 빼고 제외하고 외에 외에는",
    "than": "보다 보다는 보단 보다도",
    "and": "와 과 랑 이랑 하고 와의 과의 랑은",
    "or": "이나 나 이든 든 이든지 든지",
    "": """
        도 만 만은 만이 마다 조차 마저 밖에 뿐 들 들이 들은 들을 들의 들에게 들에서 들도 들이요 들요 요 이요 처럼 같이
        씩 쯤 님 님은 님이 님의 에요 이에요
    """,
}
_PART_OF = {particle: part for part, particles in _PARTICLES.items() for particle in particles.split()}
_PARTICLES_BY_LENGTH = sorted(_PART_OF, key=len, reverse=True)
_OFTEN_PART_OF_THE_NOUN = word_set("이 가 에 로 도 와 과 나 의 만 든 란 랑 요 들 님 께 말고 하고")

_ASKING_ENDINGS = """
    습니까 ㅂ니까 나요 는가요 ㄴ가요 은가요 는가 ㄴ가 은가 을까요 ㄹ까요 을까 ㄹ까 ㄹ까나 을까나 는지요 ㄴ지요 은지요
    는지 ㄴ지 은지 을지 ㄹ지
    을지요 ㄹ지요 지요 죠 지 니 냐 느냐 으냐 나 던가 던가요 더라 던지 는지를 ㄴ지를 은지를 을지를 ㄹ지를 는지도
    ㄴ지도 는거죠 려나 으려나 ㄹ려나 을려나
    시나요 신가요 는건가요 ㄴ건가요 는건지 ㄴ건지 ㄹ런지 을런지 ㄴ거야 는거야 은거야 ㄹ거야 ㄴ거니 는거니 ㄴ거냐
    는거냐 ㄴ거지 는거지 ㄴ건가 는건가
"""
_OTHER_ENDINGS = """
    습니다 ㅂ니다 네 네요 군요 는구나 구나 어요 아요 여요 요 어 아 여 다 는다 ㄴ다 ㄹ래 을래 ㄹ래요 을래요 ㄹ게
    을게 ㄹ게요 을게요 ㅂ시다 읍시다
    자 세요 으세요 셔요 십시오 으십시오 대 대요 래 래요 ㄴ대 는대 ㄴ대요 거든 거든요 는데 ㄴ데 은데 는데요
    ㄴ데요 은데요 는걸 라 어라 아라
    는 ㄴ 은 ㄹ 을 던 고 며 면서 으며 으면서 면 으면 니까 으니까 어서 아서 서 러 으러 려고 으려고 려면 으려면
    려는 으려는 도록 게 지만 다가 거나 든지
    지 기 음 ㅁ 기에 기가 기는 기를 기로 는지 어야 아야 야 어도 아도 도 어지는 아지는 ㄴ다면 는다면 다면 ㄹ수록
    을수록 자마자 고서 고는 기도 는것 는게 ㄴ게 는건
    ㄴ건 은건 ㄴ것 는거 ㄴ거 ㄹ것 ㄹ게 기위해 기위한
ㄴ단다 는단다 단다 란다 ㄹ란다 ㄴ다는데 는다는데 ㄴ다던데 는다던데 ㄴ다는 는다는 ㄴ다고 는다고
"""
_COPULA_ENDINGS = """
    인가 인가요 인지 인지요 인지를 입니까 입니다 이야 이에요 예요 에요 이지 이죠 죠 일까 일까요 일지 이냐 이니
    니 냐 야 지 였나 였나요 이었나 이었나요
    였지 이었지 였죠 이었죠 인데 인데요 인거야 인거니 인거냐 인건가 인건가요 인건지 신가요 시죠 시지 이신가요
    였더라 이었더라 이더라 더라 였는지 이었는지 였던 이었던
    인거죠 인거지 인가를 인걸까 인지도 인데요 인줄 인걸까요 이라고 라고 이고 이며 이면 였습니까 이었습니까
    였을까 였을까요 이었을까 이었을까요 인줄
인거 인것 인게 인걸 인건 이던가 이던가요 였던가 였던가요 이었던가 이었던가요
"""


_THING_BEFORE = "는 ㄴ 은 ㄹ 을 던"
_THING_AFTER = """
    것 거 게 걸 건 거랑 것과 것이 것은 것을 것도 거는 거를 거야 거니 거냐 거지 건지 건가 건가요 걸까 걸까요
    거예요 거에요 겁니까 거죠 것인가 것인가요 것입니까
    줄 걸로 거로 것으로 것인지 건데 거고 것들 것들을 것들이 거요 것에 거에
"""


def _jamo(text: str) -> str:
    return "".join(_FINALS.get(letter, letter) for letter in unicodedata.normalize("NFD", text))


def _endings(text: str) -> tuple[str, ...]:
    return tuple(sorted({_jamo(ending) for ending in text.split()}, key=len, reverse=True))


_THINGS = " ".join(before + after for before in _THING_BEFORE.split() for after in _THING_AFTER.split())
_PREDICATE_ENDINGS = frozenset(_endings(_ASKING_ENDINGS + _OTHER_ENDINGS + _THINGS))
_LONGEST = max(len(ending) for ending in _PREDICATE_ENDINGS)
_ASKING = frozenset(_endings(_ASKING_ENDINGS))
_CONTRACTED = ("지요", "가요", "데요", "건지", "거야", "거죠", "거니", "거냐", "건가", "지", "가", "데")
_COPULAS = tuple(sorted(_COPULA_ENDINGS.split(), key=len, reverse=True))
_BEFORE_ENDINGS = _endings("겠 으시 시 으셨 셨 었 았 였 ㅆ 었었 았었 더")
_PAST = frozenset(_endings("으셨 셨 었 았 였 ㅆ 었었 았었"))
# A vowel that holds the ending -어/아: 해 is 하, 와 is 오, 켜 is 켜 or 키.
_VOWELS = {
    "ᅢ": ("ᅡ",),
    "ᅫ": ("ᅬ",),
    "ᅪ": ("ᅩ",),
    "ᅯ": ("ᅮ",),
    "ᅧ": ("ᅧ", "ᅵ"),
    "ᅥ": ("ᅥ", "ᅳ"),
    "ᅡ": ("ᅡ", "ᅳ"),
    "ᅦ": ("ᅦ", "ᅳ"),
    "ᅤ": ("ᅣ",),
}
_AFTER_VOWEL = frozenset(_endings("요 서 야 도 라 다가")) | {""}
_ADNOMINAL = frozenset(_endings("는 ㄴ 은 ㄹ 을 던"))
_THING_ENDINGS = frozenset(_endings(_THINGS))
_FUTURE = frozenset(_endings("ㄹ 을 ㄹ지 을지 ㄹ까 을까 ㄹ까요 을까요 ㄹ거야"))


@dataclass(frozen=True, slots=True)
class Predicate:
    """A verb or adjective form: the stems it may have, and what its ending says."""

    stems: tuple[str, ...]
    past: bool
    asking: bool
    adnominal: bool
    future: bool
    request: bool = False


# Helping verbs written together with the verb they help, as they stand before an ending.
_HELPING = tuple(
    unicodedata.normalize("NFD", verb)
    for verb in sorted(
        word_set("주 줘 줬 드리 드려 보 봐 놓 놔 두 둬 있 버리 버려 계시 줄 드릴 볼 둘 지 져 졌"), key=len, reverse=True
    )
)
_GIVING = frozenset(unicodedata.normalize("NFD", verb) for verb in ("주", "줘", "드리", "드려", "줄", "드릴"))
# A verb with its helper written on: 내야하는, 보고싶은데, 할수있는, 보러가기로.
_CHAINED = re.compile(
    r"(.+야)([하되할한해돼된될합됩].*)$|(.+고)([싶있계].*)$|(.+[갈-힣])수([있없].*)$|(.+러)([가갈간갔].*)$"
)
_LINKS = _endings("어 아 여")
_ONE_SYLLABLE_FORMS = word_set(
    """
    싼 센 짠 갈 올 볼 살 쓸 온 간 본 쓴 큰 긴 된 될 알 산 준 줄 먹 못 안 없 할 한 해 돼 봐 줘 됨 함 있
    """
)
_U = tuple(unicodedata.normalize("NFD", syllable) for syllable in ("우", "오"))
_REU = unicodedata.normalize("NFD", "르")
_L_DOUBLED = tuple("ᆯ" + unicodedata.normalize("NFD", syllable) for syllable in ("라", "러", "르"))
_VERBAL_TAILS = ("하", "되", "시키", "당하", "해지", "어지", "아지", "스럽", "롭", "답")


def part_of(particle: str) -> str:
    """The part a bare particle gives, as it stands after digits or Latin letters; empty when it is none."""
    return _PART_OF.get(particle, "")


def is_particle(text: str) -> bool:
    """Whether a text is a particle and nothing else."""
    return text in _PART_OF


@lru_cache(maxsize=32768)
def noun(word: str) -> tuple[str, str]:
    """A word without its particle, and the part the particle gives it; the whole word where there is none."""
    if word in PARTICLE_LIKE:
        return word, ""
    split = [(particle, word.removesuffix(particle)) for particle in _PARTICLES_BY_LENGTH if word.endswith(particle)]
    for particle, stem in split:
        if stem in PARTICLE_LIKE and _fits(stem, particle):
            return stem, _PART_OF[particle]
    for particle, stem in split:
        if not stem:
            continue
        if not _fits(stem, particle) or (
            len(stem) == 1 and stem not in ONE_SYLLABLE_NOUNS and particle in _OFTEN_PART_OF_THE_NOUN
        ):
            continue
        return stem, _PART_OF[particle]
    return word, ""


# Particles that follow only a consonant, or only a vowel.
_AFTER_CONSONANT = word_set("은 이 을 과 이랑 이나 이든 이란 이라는 으로 으로는 으로도 으로부터 이에요")
_AFTER_OPEN = word_set("는 가 를 와 랑 나 든 란 라는 로 로는 로도 로부터 예요")


def _fits(stem: str, particle: str) -> bool:
    if particle in _AFTER_CONSONANT:
        return _closed(stem)
    if particle in _AFTER_OPEN:
        after_l = particle.startswith("로") and unicodedata.normalize("NFD", stem[-1]).endswith("ᆯ")
        return after_l or not _closed(stem)
    return True


@lru_cache(maxsize=32768)
def copula(word: str) -> str | None:
    """The noun of `noun is`: 도시인가요 → 도시, 뭐야 → 뭐; None when the word does not end so."""
    if word in PARTICLE_LIKE or word.endswith("레인지"):
        return None
    for ending in _COPULAS:
        stem = word.removesuffix(ending)
        if stem == word or not stem:
            continue
        if len(ending) == 1 and (len(stem) < 2 or _closed(stem)):
            continue
        if ending[0] in "였예" and _closed(stem):
            continue
        return stem
    return _contracted_copula(word)


def _contracted_copula(word: str) -> str | None:
    """An open syllable takes the copula in: 캐릭턴지 is 캐릭터인지, 언젠가요 is 언제인가요."""
    for ending in _CONTRACTED:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2:
            continue
        letters = unicodedata.normalize("NFD", stem)
        if letters.endswith("\u11ab"):
            return unicodedata.normalize("NFC", letters[:-1])
    return None


def _closed(stem: str) -> bool:
    """Whether the last syllable ends in a consonant."""
    last = unicodedata.normalize("NFD", stem[-1])
    return len(last) == 3


def _is_noun_like_verb(word: str) -> bool:
    """`크기가`, `보기를`: with a particle that no verb takes."""
    return word[-1:] in ("가", "이", "를", "을", "의") and len(word) > 2 and word[:-1] in NOUNS_LIKE_VERBS


@lru_cache(maxsize=32768)
def predicate(word: str) -> Predicate | None:
    """The stems a verb or adjective form may have and how it ends; None when it is no known one."""
    if (
        word in NOUNS_LIKE_VERBS
        or word in PARTICLE_LIKE
        or word.endswith("들")
        or (len(word) == 1 and word not in _ONE_SYLLABLE_FORMS)
        or word.endswith("님하고")
        or _is_noun_like_verb(word)
    ):
        return None
    if (match := _CHAINED.match(word)) and (match.group(7) is None):
        verb, helper = (group for group in match.groups() if group)
        front = _of_letters(_jamo(verb))
        if front is not None and not (match.group(6) or "").startswith("없"):
            last = _of_letters(_jamo(helper))
            return replace(
                front,
                asking=last is not None and last.asking,
                past=last is not None and last.past,
                adnominal=last is not None and last.adnominal,
            )
    return _of_letters(_jamo(word))


def _suffixes(letters: str, known: frozenset[str], longest: int) -> Iterator[str]:
    """The known endings of a string of letters, the longest first."""
    for length in range(min(longest, len(letters) - 1), 0, -1):
        if letters[-length:] in known:
            yield letters[-length:]


def _of_letters(letters: str) -> Predicate | None:
    for ending in (*_suffixes(letters, _PREDICATE_ENDINGS, _LONGEST), ""):
        rest = letters[: len(letters) - len(ending)] if ending else letters
        if not rest:
            continue
        past = future = False
        while True:
            found = _stems(rest, contracted=ending in _AFTER_VOWEL or past)
            if found:
                return Predicate(found, past, ending in _ASKING, _modifies(ending), future or ending in _FUTURE)
            helped = next((h for h in _HELPING if rest.endswith(h) and len(rest) > len(h) + 1), None)
            if helped and (inner := _helped(rest[: len(rest) - len(helped)])):
                return Predicate(
                    inner, past, ending in _ASKING, _modifies(ending), ending in _FUTURE, helped in _GIVING
                )
            before = next((b for b in _BEFORE_ENDINGS if rest.endswith(b) and len(rest) > len(b)), None)
            if before is None:
                break
            past = past or before in _PAST
            future = future or before == "겠"
            rest = rest[: len(rest) - len(before)]
    return None


def _modifies(ending: str) -> bool:
    """Whether a verb with this ending stands before a noun, or is one: 높은, 높은 것."""
    return ending in _ADNOMINAL or ending in _THING_ENDINGS


def _helped(letters: str) -> tuple[str, ...]:
    """The stem before a helping verb: 골라(주) → 고르, 물어(보) → 묻."""
    for ending in ("", *_LINKS):
        if letters.endswith(ending) and len(letters) > len(ending):
            rest = letters[: len(letters) - len(ending)] if ending else letters
            if found := _stems(rest, contracted=not ending):
                return found
            helped = next((h for h in _HELPING if rest.endswith(h) and len(rest) > len(h) + 1), None)
            if helped and (inner := _helped(rest[: len(rest) - len(helped)])):
                return inner
    return ()


def _stems(letters: str, *, contracted: bool) -> tuple[str, ...]:
    """Known stems that a string of letters without its ending may stand for."""
    forms = [letters]
    if contracted:
        forms.extend(letters[:-1] + vowel for vowel in _VOWELS.get(letters[-1], ()))
    # ㅂ, ㄷ, ㅅ, ㄹ, ㅎ and 르 that the ending changed: 추우 → 춥, 들 → 듣, 나 → 낫, 사 → 살, 파라 → 파랗, 빨라 → 빠르.
    more: list[str] = []
    for form in forms:
        if form.endswith(_U):
            more.append(form[:-2] + "ᆸ")
        if form.endswith("ᆯ"):
            more.append(form[:-1] + "ᆮ")
        if form[-1] in "ᅡᅣ" and len(form) > 3:
            more.append(form + "ᇂ")
        if form.endswith(_L_DOUBLED):
            more.append(form[:-3] + _REU)
        if form[-1] in "ᅡᅢᅥᅦᅩᅮᅳᅵᅧᅬ":
            more.extend((form + "ᆯ", form + "ᆺ"))
    known = []
    for form in (*forms, *more):
        stem = unicodedata.normalize("NFC", form)
        if stem in STEMS or (len(stem) > 2 and stem.endswith(_VERBAL_TAILS)) or (len(stem) == 2 and stem[1] in "하되"):
            known.append(stem)
    return tuple(dict.fromkeys(known))
