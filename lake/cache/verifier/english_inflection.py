"""English words back to their base forms: plural, tense, British spelling. Inflection only, never derivation.

A stemmer would make `university` and `universe`, `news` and `new`, `organ` and `organization` one word, which is how a wrong
answer gets served; so a word here keeps every base form it can honestly have, and nothing more.
"""

from functools import lru_cache

from groundwire.lake.cache.verifier.lexicon import words as word_set

# Kind: plurals and -ing nouns with a meaning of their own.
_OWN_MEANING = word_set("""
    news americas goods arms securities stocks terms customs means glasses shorts jeans spirits manners
    minutes savings species series physics mathematics economics politics athletics aerobics basics graphics
    ethics statistics mechanics lens gas bus plus is as was has his this us its yes less thus across always
    perhaps besides towards afterwards sometimes christmas texas kansas arkansas paris mars venus athens
    brussels naples moses jesus james charles hercules waters woods browns giants pants tights contents premises
    barracks headquarters olympics morning evening building housing clothing engineering marketing parking
    ceiling string spring king ring thing sing bring wing sling cling fling ping ding swing sting wring being
    during nothing something anything everything sterling viking boeing beijing meeting wedding bedding heading
    setting lighting stuffing feeling pricing pudding herring shilling darling sibling outing bed red need seed
    speed feed weed breed freed bleed deed greed reed shed sled wed ted hundred sacred naked wicked beloved
    indeed exceed proceed succeed embed reddit infrared kindred hatred biased advanced limited
    """)

_IRREGULAR_VERBS = """
    arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began begun;
    bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought;
    build built; burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept; deal dealt;
    dig dug; do did done does; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten;
    fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden;
    forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given;
    go went gone goes; grow grew grown; hang hung; have had has; hear heard; hide hid hidden; hold held; keep kept;
    know knew known; lay laid; lead led; learn learnt; leave left; lend lent; lie lay lain lying; light lit; lose lost;
    make made; mean meant; meet met; pay paid; prove proven; ride rode ridden; ring rang rung; rise rose risen;
    run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shoot shot; show shown;
    shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken;
    spend spent; spin spun; stand stood; steal stole stolen; stick stuck; sting stung; strike struck stricken;
    swear swore sworn; swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
    think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn; weave wove woven;
    use used using; win won; wind wound;
    withdraw withdrew withdrawn; write wrote written;
    die dying died; tie tying tied; lie lied; live lives lived; analyze analysed analysing
"""
_IRREGULAR_NOUNS = """
    man men; woman women; child children; foot feet; tooth teeth; goose geese; mouse mice; person persons; ox oxen;
    leaf leaves; life lives; wife wives; knife knives; wolf wolves; half halves; shelf shelves; calf calves; loaf loaves;
    thief thieves; elf elves; scarf scarves; criterion criteria; phenomenon phenomena; analysis analyses; basis bases;
    crisis crises; thesis theses; hypothesis hypotheses; diagnosis diagnoses; cactus cacti; fungus fungi; nucleus nuclei;
    stimulus stimuli; radius radii; appendix appendices; index indices; matrix matrices; vertex vertices;
    bacterium bacteria; medium media; curriculum curricula; alumnus alumni; datum data; movie movies; cookie cookies;
    zombie zombies; calorie calories; eyebrow eyebrows; tie ties; pie pies; lie lies; die dies; shoe shoes; toe toes
"""
# Irregular forms that are words of their own too; other ones stand for their base alone (`found` is find, `founded` is found).
_ALSO_THEMSELVES = word_set("""
    lay bound wound felt saw left fell rose ground stuck broke lead data media men women
    """)

# Kind: British and American spelling.
_SPELLING = dict(
    pair.split(":")
    for pair in word_set("""
    colour:color flavour:flavor honour:honor labour:labor neighbour:neighbor neighbourhood:neighborhood
    favour:favor favourite:favorite behaviour:behavior humour:humor harbour:harbor rumour:rumor tumour:tumor
    vapour:vapor armour:armor vigour:vigor odour:odor parlour:parlor saviour:savior savour:savor
    endeavour:endeavor splendour:splendor centre:center theatre:theater metre:meter litre:liter fibre:fiber
    calibre:caliber sabre:saber lustre:luster kilometre:kilometer centimetre:centimeter millimetre:millimeter
    millilitre:milliliter grey:gray cheque:check tyre:tire programme:program aluminium:aluminum licence:license
    defence:defense offence:offense pretence:pretense practise:practice catalogue:catalog dialogue:dialog
    analogue:analog judgement:judgment jewellery:jewelry mould:mold plough:plow sceptic:skeptic
    sceptical:skeptical moustache:mustache pyjamas:pajamas anaemia:anemia oestrogen:estrogen
    paediatric:pediatric paediatrician:pediatrician haemoglobin:hemoglobin diarrhoea:diarrhea
    oesophagus:esophagus foetus:fetus orthopaedic:orthopedic gynaecologist:gynecologist
    encyclopaedia:encyclopedia manoeuvre:maneuver travelling:traveling traveller:traveler travelled:traveled
    cancelled:canceled cancelling:canceling modelling:modeling labelled:labeled labelling:labeling
    fuelled:fueled counsellor:counselor jewelled:jeweled marvellous:marvelous enrol:enroll enrolment:enrollment
    fulfil:fulfill instalment:installment skilful:skillful whilst:while amongst:among learnt:learned
    burnt:burned dreamt:dreamed cosy:cozy storey:story kerb:curb draught:draft analyse:analyze paralyse:paralyze
    catalyse:catalyze aeroplane:airplane mum:mom mummy:mommy doughnut:donut yoghurt:yogurt omelette:omelet
    whisky:whiskey tsar:czar disc:disk
    """)
)
_ISE_KEPT = word_set("""
    rise wise exercise advise surprise promise noise raise praise otherwise precise franchise disguise excise
    expertise paradise devise revise supervise televise improvise compromise merchandise premise demise cruise
    bruise arise likewise concise treatise enterprise mayonnaise malaise porpoise tortoise turquoise poise
    despise comprise louise
    """)
_VOWELS = frozenset("aeiouy")


def _table(lines: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for line in lines.split(";"):
        base, *forms = line.split()
        for form in forms:
            table.setdefault(form, base)
    return table


_VERB_BASE = _table(_IRREGULAR_VERBS)
_NOUN_BASE = _table(_IRREGULAR_NOUNS)


@lru_cache(maxsize=32768)
def bases(word: str) -> tuple[str, ...]:
    """Every base form a word may be an inflection of, the likeliest first; a word is always its own last resort."""
    word = spelling(word)
    if word in _OWN_MEANING or len(word) < 3 or not word.isascii():
        return (word,)
    found = [table[word] for table in (_VERB_BASE, _NOUN_BASE) if word in table]
    if not found:
        found = _regular(word)
    elif word not in _ALSO_THEMSELVES:
        return tuple(dict.fromkeys(spelling(base) for base in found))
    found = [spelling(base) for base in found]
    return tuple(dict.fromkeys((*found, word)))


@lru_cache(maxsize=32768)
def is_past(word: str) -> bool:
    """Whether a word can be a past form (`won`, `sang`, `invented`)."""
    if word in _VERB_BASE:
        return not word.endswith(("es", "ing")) and word not in ("has", "learnt")
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed") and word not in _OWN_MEANING


def spelling(word: str) -> str:
    """American spelling of a British one."""
    if word in _SPELLING:
        return _SPELLING[word]
    if word.endswith("s") and word[:-1] in _SPELLING:
        return _SPELLING[word[:-1]] + "s"
    for british, american in (
        ("isation", "ization"),
        ("ising", "izing"),
        ("ised", "ized"),
        ("ises", "izes"),
        ("ise", "ize"),
    ):
        if word.endswith(british) and len(word) > len(british) + 3:
            stem = word[: -len(british)]
            return word if stem + "ise" in _ISE_KEPT else stem + american
    return word


def _regular(word: str) -> list[str]:
    if word.endswith("s"):
        return _without_s(word)
    if word.endswith("ing") and len(word) > 4:
        return _without_ending(word[:-3])
    if word.endswith("ied") and len(word) > 4:
        return [word[:-3] + "y"]
    if word.endswith("ed") and len(word) > 4 and not word.endswith("eed"):
        return _without_ending(word[:-2])
    return []


def _without_s(word: str) -> list[str]:
    if word.endswith("is") and len(word) > 4:
        return [word[:-1]]
    if word.endswith(("ss", "us", "is")):
        return []
    if word.endswith("ies") and len(word) > 4:
        return [word[:-3] + "y", word[:-1]]
    if word.endswith(("xes", "zes", "ches", "shes", "sses", "oes")):
        return [word[:-2]] if not word.endswith("zes") else [word[:-2], word[:-1]]
    if word.endswith("ses"):
        return [word[:-1], word[:-2]]
    if word.endswith("ves"):
        return [word[:-1]]
    return [word[:-1]]


def _without_ending(stem: str) -> list[str]:
    """Base forms for the stem of an -ing or -ed form: `runn` → run, `mak` → make, `visit` → visit."""
    if not any(letter in _VOWELS for letter in stem):
        return []
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiou":
        return [stem, stem[:-1]] if stem[-1] in "lsfz" else [stem[:-1]]
    if (
        stem[-1] in "vuzc"
        or (stem[-1] == "s" and stem[-2] in "aeiounr")
        or stem.endswith(("bl", "tl", "dl", "gl", "pl", "kl", "dg", "rg", "ng"))
    ):
        return [stem + "e", stem]
    # One short syllable that does not double its last letter has lost an e: `hop(p)ing` is hop, `hoping` is hope.
    vowels = sum(letter in _VOWELS for letter in stem)
    short = vowels == 1 and stem[-1] not in "aeiouywx" and len(stem) > 1 and stem[-2] in _VOWELS
    if short:
        return [stem + "e"]
    return [stem] if stem[-1] in "ywx" or (len(stem) > 2 and stem[-2] not in _VOWELS) else [stem, stem + "e"]
