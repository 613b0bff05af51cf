"""Which language a question is in, as far as the verifier needs to know: English, Korean, or one it has no rules for."""

import re
from functools import lru_cache

from groundwire.lake.cache.verifier.lexicon import words as word_set
from groundwire.lake.cache.verifier.reading import Language
from groundwire.lake.cache.verifier.tokens import fold

_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_LATIN = re.compile(r"[a-z]")
_OTHER_LETTER = re.compile(r"[^\W\d_a-z\u00c0-\u024f\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_WORD = re.compile(r"[^\W\d_]+")
# Little words of languages in Latin letters that are no English words.
_FOREIGN = word_set("""
    wird sind hat kann haben werden wurde sein mein dein kein beim zwischen gegen über unter ohne nach aus bei als wenn oder
    fait sont avoir être mon ton votre notre sans sous entre chez plus moins très puis donc depuis
    tiene está hay hacer puede sin sobre entre desde hasta muy mejor peor
    fare essere ha sono senza tra fra molto meglio più
    fazer são ter sem sobre entre muito melhor mais
    le les des une est dans pour avec sur qui que quel quelle quels comment pourquoi quand où ou et au aux du ce
    cette sont der die das und ist ein eine einen nicht wie wann wo warum wer welche welcher für mit auf im dem
    den von zu zum zur el los las del una es en por para con como qué cómo cuándo dónde cuál quién y lo su más
    il lo gli della dei di che è come quando dove perché chi qual per con sono nel nella o os as um uma do da
    dos das é não em no na por qual quem onde quanto het een van de is wat hoe waar wanneer wie en op voor niet
    ve bir bu ne nasıl nerede için nedir och är hur vad när det och på
    """) - word_set("""
    die is no do in on as a an or so me he we van den wo com per con en es os o y e de la du an bu ne im um das
    des den
    """)


@lru_cache(maxsize=16384)
def language_of(text: str, hint: str | None = None) -> Language:
    """The language of a question. `hint` (BCP-47) decides only between English and languages in the same letters."""
    folded = fold(text)
    if _HANGUL.search(folded):
        return "ko"
    if _OTHER_LETTER.search(folded) and not _LATIN.search(folded):
        return "other"
    if hint and hint.split("-")[0].lower() not in ("en", "ko") and not folded.isascii():
        return "other"
    found = _WORD.findall(folded)
    foreign = sum(word in _FOREIGN for word in found)
    return "other" if foreign >= 2 or (foreign and not folded.isascii()) else "en"
