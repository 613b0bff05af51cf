"""Which English words carry a question's meaning, and which only hold it together. One list a kind."""

from groundwire.lake.cache.verifier.lexicon import words as word_set

ARTICLES = word_set("a an the")
# Whoever asks, and anyone in general: `how do I`, `how do you`, `how does one`.
GENERIC_PERSONS = word_set("i you we one u me us someone-generic")
POSSESSIVES = word_set("my our your mine yours ours")
BE = word_set("be is are am was were been being get gets got getting become becomes became becoming")
AUXILIARIES = BE | word_set("do does did done doing have has had having")
MODALS = word_set("can could may might shall would will")
# Said for courtesy, emphasis or rhythm.
FILLERS = word_set(
    """
    please kindly really actually just simply basically exactly literally generally usually typically commonly
    truly realistically very quite so even also too ever there some any such certain actual etc e.g hey hi
    hello ok okay oh um well somehow possibly thanks thank that which who whom whose then thus it its go going
    want wanted super
    """
)
ARTICLES_AND_PERSONS = ARTICLES | GENERIC_PERSONS
SILENT = ARTICLES | GENERIC_PERSONS | POSSESSIVES | AUXILIARIES | MODALS | FILLERS
OWN = word_set("my our")

# Light words narrow a question so little that they may be missing on one side, at a price in probability. Which ones do
# depends on how the question asks; a light word against another light word is a difference all the same.
# Kind: now, in a question that asks about now anyway.
_PRESENT_DAY = word_set("current currently still nowadays presently")
# Kind: adjectives that only underline.
UNDERLINING = _PRESENT_DAY | word_set(
    "cool amazing awesome popular common main major various specific particular notable relative interesting"
)
# Kind: how well a thing is done, in a question that asks how to do it.
MANNER = word_set("easily efficiently effectively properly correctly successfully better well efficient effective good")
# Kind: the legal form behind a name.
_LEGAL_FORMS = word_set("inc ltd llc corp corporation incorporated")
# Kind: the category that a name or a thing belongs to anyway.
_CATEGORIES = word_set("exam skill inr usd rs language culture process individual level usage experience")
# Kind: what one does with the thing asked for.
ENJOYED = word_set(
    "buy available possible read watch visit see find know seen experienced received written should must need"
)
# Kind: the whole world or a whole life, where a question is about no smaller part of it.
EVERYWHERE = word_set("life world earth")
# Kind: the form an answer comes in, where any page about the thing is one.
DOCUMENTS = word_set(
    "guide tutorial step explanation intro introduction overview resource convert post thread discussion article"
)
_LIGHT_IN_OPEN_QUESTIONS = UNDERLINING | _LEGAL_FORMS | _CATEGORIES | ENJOYED | EVERYWHERE | DOCUMENTS
_LIGHT_IN_KEY_WORDS = _PRESENT_DAY | DOCUMENTS
_LIGHT_IN_FACTS = _PRESENT_DAY | _LEGAL_FORMS | word_set("should must")
LIGHT = {
    "": _LIGHT_IN_KEY_WORDS,
    "howto": _LIGHT_IN_OPEN_QUESTIONS | MANNER,
    **dict.fromkeys(("what", "how", "why"), _LIGHT_IN_OPEN_QUESTIONS),
    **dict.fromkeys(("who", "when", "where", "howmany", "yesno", "whose"), _LIGHT_IN_FACTS),
}

NEGATIONS = word_set("not no never without cannot nor neither none nobody nothing nowhere non except excluding")
# How many, how much of it, how often: a different one is a different question.
QUANTIFIERS = word_set(
    """
    all every each only both either many much more less most least fewer few several enough half double twice
    once always sometimes often rarely seldom another other others whole entire total average minimum maximum
    min max everyone everybody everything someone somebody something anyone anybody anything everywhere anywhere
    somewhere
    """
)

# Prepositions whose exact choice decides the answer.
STRICT_MARKERS = word_set(
    """
    from to by than into onto before after since until till under over above below against via through
    """
)
# Prepositions that can stand for each other, or be left out between key words.
LOOSE_MARKERS = word_set(
    """
    of in on at for about with as during within inside regarding concerning upon among around across
    """
)
MARKERS = STRICT_MARKERS | LOOSE_MARKERS

# Kind: heading nouns, the part of a key-word search that says what is wanted: they may stand before or after their subject.
HEADINGS = word_set(
    """
    pitfall gotcha strategy note intro introduction monitoring resource practice basics trick opinion pro con benchmark
    internship scholarship course class training degree diploma warranty driver wallpaper font ringtone clipart meme
    joke poem speech essay costume outfit hairstyle tattoo decoration craft
    map weather lyrics news job price cost picture photo image video recipe symptom treatment cause hour
    schedule score result review rating salary population history definition meaning synonym pronunciation
    origin summary biography bio age height weight size distance address phone number email login website site
    homepage download install installation setup tutorial example template guide tip idea fact statistic code
    api documentation error fix troubleshooting benefit advantage disadvantage risk side effect dosage
    ingredient nutrition calorie ticket hotel restaurant flight cruise rental sale cheap discount coupon wiki
    wikipedia pdf free online trailer cast episode season soundtrack theme forecast temperature rate tax law
    rule regulation requirement form application license permit record search lookup directory school college
    university hospital library museum park airport zip area time zone date chart graph table logo flag anthem
    capital governor mayor president ceo founder owner author director singer quote review comparison test quiz
    question answer worksheet lesson plan activity game puzzle manual part spec feature program software app
    """
)

# End in -ly and are no adverbs.
NO_ADVERBS = word_set(
    """
    ugly early only family july italy apply supply reply assembly monopoly fly butterfly jelly belly bully holy
    lovely elderly likely unlikely deadly costly silly friendly lonely ally rally anomaly lily rely multiply
    """
)

# Tense of a be, do or have.
PRESENT = word_set("is are am do does have has")
PAST = word_set("was were did had")

# Verbs whose answer stays the same whether one asks in the present or the past: `who sings` and `who sang` a song.
TIMELESS_VERBS = word_set(
    """
    sing write compose direct voice paint design invent discover create publish record release star
    """
)
# Verbs that say the same in both voices: `when did it start`, `when was it started`.
BOTH_VOICES = word_set(
    "launch release air premiere marry start begin end open close change move form develop originate"
)

LEADING_VERBS = word_set(
    """
    install configure convert delete remove create make build write read find get set use add change fix repair
    replace clean wash cook bake boil grow plant cut paint draw learn teach train buy sell book reserve cancel
    renew apply register download upload update upgrade run start stop restart reset disable enable turn connect
    disconnect share send block unblock hide show open close lock unlock import export migrate deploy compile
    debug test merge split join sort filter count calculate compute measure calibrate backup restore recover
    revoke mute unmute embed resize crop rotate print scan copy move rename format mount encrypt decrypt sign
    verify check monitor manage organize prepare plan lose gain save invest pay earn avoid prevent treat cure
    relieve improve increase reduce lower raise overcome deal cope handle become meet talk speak write pronounce
    spell translate play sing dance swim drive ride travel move pack tie fold tell ask say write start archive
    pin restrict secure center align embed log
    """
)

# Words that always narrow: whose, which sex or age, which model, what colour, when, at what level, at what price.
NARROWING = word_set(
    """
    self male female man woman boy girl men women kid child baby teenager teen adult senior junior young old
    elderly father mother husband wife brother sister son daughter gay lesbian transgender pregnant single
    married divorced indian black white red blue green yellow brown pink purple orange grey gray gold silver pro
    max plus mini ultra lite air premium deluxe standard edition version model generation today tomorrow
    yesterday tonight morning evening night week month year weekend summer winter spring autumn fall january
    february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday past future ancient modern early late before after next last first beginner
    advanced intermediate professional amateur expert student graduate undergraduate free cheap cheapest
    expensive luxury used new second-hand online offline local remote wireless electric north south east west
    northern southern eastern western upper lower left right medical legal digital mechanical electrical
    chemical civil military without instead only alone together kernel assistant deputy vice former acting
    honorary bad good worse worst better wrong right fake real safe dangerous fast slow quickly slowly easy hard
    big small large high low long short hot cold wet dry raw cooked dead alive rich poor fat thin
    """
)
# Quantities that an open question can do without.
SOFT_QUANTITIES = word_set(
    """
    few someone somebody anyone all always many much more most every often several usually enough other
    """
)
