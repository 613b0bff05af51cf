"""Set ways of asking in English, brought to one. Each group names its kind; a replacement takes the place of what is matched.

The patterns see a question's words joined by single blanks, lower case, without punctuation, numbers as `#value`. They are
tried in this order, each only where the word it needs is there.
"""

import re
from dataclasses import dataclass

_WHO = r"(?:i|you|we|one|u|someone-generic|somebody|someone|anyone|a person|people)"
_CAN = r"(?:can|could|do|does|would|should|will|shall|might|may|must)"
_BE = r"(?:is|are|was|were)"
_ASKED = r"(?=(?:what|which|who|where|when|why|how|if|whether|about|the)\b)"
_ABOUT = r"(?:about |if |whether )?"
_ANYONE = r"(?:you|u|anyone|someone|anybody|somebody|any one)"
_SOME = (
    r"(?:(?:some|any|a few|several|the|of|all|different|various|other|a|best|good|better|great|effective|efficient|proper|"
    r"right|correct|possible|ideal|recommended|suitable) )*"
)
_SEEN = (
    r"(?:seen|saw|experienced|had|have|read|heard|watch|watched|encountered|made|done|did|met|came across|come across|know|"
    r"know of|eaten|ate|tried|visited|played|received|used|faced|told|ever)"
)

# Verbs of what one wants to get done, and their -ing forms; nouns in -ing are none.
_DONE = (
    "apply|become|build|buy|choose|create|do|earn|find|fix|gain|get|grow|improve|increase|know|learn|lose|make|open|overcome|"
    "prepare|reduce|remove|sell|start|stop|study|use|write"
)
_DOING = r"(?!(?:king|ring|spring|string|thing|evening|morning|wedding|building|clothing|painting)\b)\w{2,}ing\b"

_COURTESIES = (
    (r"^(?:(?:please|kindly|hi|hello|hey|ok|okay|so|well|really|just) )+", ""),
    (
        rf"^(?:can|could|would|will) {_ANYONE} (?:please |kindly )?(?:tell|explain|show|describe|help)(?: to)?(?: me| us)?"
        rf"(?: understand| know| find out)? {_ASKED}{_ABOUT}",
        "",
    ),
    (
        r"^(?:can|could|would|will) (?:you|u) (?:please |kindly )?(?:tell|give|show|find|list|recommend|suggest)(?: me| us)? ",
        "",
    ),
    (rf"^(?:do|does|did) {_ANYONE} (?:know|have any idea|happen to know|remember) {_ASKED}{_ABOUT}", ""),
    (
        rf"^i (?:want|need|would like|wish|would love) to (?:know|find out|understand|ask|learn about|see) {_ABOUT}",
        "",
    ),
    (rf"^(?:please )?(?:tell|show|teach)(?: to)?(?: me| us) {_ABOUT}(?:all )?", ""),
    (rf"^(?:i am |i m )?(?:wondering|curious|asking) {_ABOUT}", ""),
    (r"^give (?:me|us) (?:some )?", ""),
    (r"^(?:search|google|look)(?: up| for)(?: the)? ", ""),
    (
        r"^(?:find|show|list|get|see|view|lookup) (?!my |out |peace )(?:me )?(?:all )?(?:some )?(?:the )?(?=\S+ \S+)",
        "",
    ),
    (r"^(?:i am|i m) looking for ", ""),
    # Kind: an enumeration, before or after what is enumerated (`list of open source databases`).
    (r"^list of (?:all )?(?:the )?(\S+ .*)$", r"\1"),
    (r"^(\S+ .*\w[^s\W]s) list$", r"\1"),
    # Kind: a guide by another name.
    (r"(?<=\w) how to$", " guide"),
    # Kind: the means, after a thing and not after what one does or lets be (`stop using`).
    (
        r"\b(?!(?:stop|start|quit|avoid|keep|begin|of|for|by|is|are|am|be|from|without|not|after|before|when|while|people)\b)"
        r"(\w+) using (?=\S)",
        r"\1 with ",
    ),
    (r"^give (?=#\d)", ""),
    (r"^(?:in your opinion|according to you|any idea|quick question) ", ""),
    (
        r" (?:in your opinion|according to you|if possible|please|thanks|thank you|or not|explained|in detail|and how|"
        r"in simple (?:words|terms))$",
        "",
    ),
    (rf"^what do you (?:think|believe|consider) (?={_BE}\b)", "what "),
    (r"^(what|who|where|why|when|how|which) do you (?:think|believe|feel|say) ", r"\1 "),
    # Kind: what has to be done, asked with `need to` or `should`; whether it has to be is another question.
    (
        r"^((?:what|which|where|when|how)\b.*?) do (i|we|you|one) (?:need|have) to "
        r"(?=(?:read|take|know|learn|study|use|eat|drink|watch|visit|follow|avoid)\b)",
        r"\1 should \2 ",
    ),
    (r"^do you (?:think|believe)(?: that)? (.+?) (would|will|should|can|could|is|are) ", r"\2 \1 "),
    (r"^(?:please )?(?:recommend|suggest)(?: me)?(?: some| any| a| the)? ", "what is "),
    (r"^do you (?:think|believe)(?: that)? (?=(?:is|are|it|there|the|we|i)\b)", "is "),
)
_HOW_TO = (
    (r"^explain how to ", "how to "),
    # Kind: the helping verb or the person left out (`how i get into`, `how do become`).
    (rf"^how (?:i|we|u|do|can|should) ({_DONE}) ", r"howto \1 "),
    # Kind: advice by another name (`what are some tips to sleep`, `… tips for sleeping`).
    (
        rf"^what (?:is|are) {_SOME}(?:tips?|tricks?)(?: (?:and|or) (?:tips?|tricks?))? "
        rf"(?:to (?=\w)|(?:for|on) (?={_DOING}))",
        "howto ",
    ),
    (rf"^how {_CAN} {_WHO} (?:best )?(?:go about )?", "howto "),
    (r"^how (?:to|2) (?:best )?(?:go about )?", "howto "),
    (rf"^how {_WHO} (?:can|could|should|will|would) ", "howto "),
    (
        rf"^(?:what|which) (?:is|are|would be|will be) {_SOME}(?:way|ways|method|methods) "
        rf"(?:to|of|for|by which {_WHO} can|{_WHO} can) ",
        "howto ",
    ),
    (rf"^{_SOME}(?:ways|way) (?:to|of) ", "howto "),
    (rf"^(?:is|are) there (?:any|a) (?:way|ways|method) (?:to|{_WHO} can|that {_WHO} can) ", "howto "),
    (
        rf"^what (?:should|can|could|must|do|does|would|shall) {_WHO} (?:have to |need to )?do (?:to|in order to|for) ",
        "howto ",
    ),
    (rf"^what {_WHO} (?:should|can|could|must) do to ", "howto "),
    (rf"^what (?:steps?|measures?) (?:should|can|do|must) {_WHO} (?:have to |need to )?take to ", "howto "),
    (r"^(?:the )?steps (?:to|for) ", "howto "),
    (r"\b(?:in order|so as) to\b", "to"),
    (r"^howto (?:start|begin|get started) (?:to |with |in |on )?(\w+ing)\b", r"howto \1"),
    (r"^howto (?:start|begin) to ", "howto "),
    (r"\b(learn|teach|know) how to\b", r"\1 to"),
    (r"^howto (?:tell|know) (?=if\b|when\b|whether\b|that\b)", "howto know "),
)
_WHY = (
    (r"^how come ", "why "),
    (rf"^what {_BE} the reasons? (?:why|that) ", "why "),
    (r"^why is it that ", "why "),
    # Kind: a question's words in the order of a statement (`why we should`, `what i can do`).
    (r"^(why|what|where|when) (i|we|you|one) (should|can|could|must) ", r"\1 \3 \2 "),
)
# How much, how old, how tall: the thing asked for, by its name.
_MEASURES = (
    (r"^how much (?:does|do|did|would|will) (?:it cost|it costs) (?:for|to) ", "what is price to "),
    (r"^how much time ", "how long "),
    (r"^how much (?:does|do|would|will|should) (.+?) costs?\b", r"what is price of \1"),
    (r"^how much (?:is|are) (?!.*\b(?:of|in|than|more|less)\b)", "what is price of "),
    (r"^how old (?:is|are) ", "what is age of "),
    (r"^how (?:tall|high) (?:is|are) ", "what is height of "),
    (r"^how (?:big|large) (?:is|are) ", "what is size of "),
    (r"^how heavy (?:is|are) ", "what is weight of "),
    (r"^how deep (?:is|are) ", "what is depth of "),
    (r"^how wide (?:is|are) ", "what is width of "),
    (r"^how far (?:is it|away is) ", "what is distance "),
    (rf"^(?:what {_BE} )?(?:the )?(?:total )?number of ", "howmany "),
    (r"^how many people (?:live|are living|are there|are) in ", "what is population of "),
    (r"^how many ", "howmany "),
    (rf"^howmany (.+?) {_BE} there\b", r"howmany \1"),
)
_MEANING = (
    (r"^what (?:does|do|is) (?:the )?(?:word |term |phrase |acronym |name )?(.+?) means?\b", r"what is meaning of \1"),
    (r"^(?:what is (?:the )?)?(?:definition|meaning) of (?:the )?(?:word|term|phrase) ", "what is meaning of "),
    (r"^define (?:the )?(?:word |term |phrase )?", "what is meaning of "),
    (r"^(.+) (?:definition|defined|meaning)$", r"what is meaning of \1"),
    (r"\bwhat do you mean by\b", "what is meaning of"),
    (r"^explain (how|why|where|when|who) ", r"\1 "),
    (r"^(?:explain )?what (?!is |are |does )(\S+(?: \S+){0,3}) (?:is|are)$", r"what is \1"),
    (r"^explain (?:what is |what |the concept of |the meaning of )?", "what is "),
    (r"^what (?:is|are) (.+?) called$", r"what is name of \1"),
)
# Who made it: the agent noun and its verb.
_MAKERS = (
    (rf"^(?:who {_BE} |name )?(?:the )?(?:original )?(?:author|writer)s? of ", "who wrote "),
    (rf"^who {_BE} (?:the )?inventors? of ", "who invented "),
    (rf"^who {_BE} (?:the )?founders? of ", "who founded "),
    (rf"^who {_BE} (?:the )?directors? of ", "who directed "),
    (rf"^who {_BE} (?:the )?composers? of ", "who composed "),
    (rf"^who {_BE} (?:the )?creators? of ", "who created "),
    (rf"^who {_BE} (?:the )?discoverers? of ", "who discovered "),
    (r"^who (?:is|are) (?:the )?owners? of ", "who owns "),
    (rf"^who {_BE} (?:the )?winners? of ", "who won "),
    (
        r"^(.+) (?:was|were|is) (written|invented|founded|directed|composed|created|discovered|owned) by (?:who|whom)$",
        r"who \2 \1",
    ),
    (
        r"^(?:what |which )?(?:actor|actress|name of (?:the )?(?:actor|actress))(?: who| that)? (plays|played|play) ",
        r"who \1 ",
    ),
    (r"^who (?:is|was) (?:the )?(?:actor|actress)(?: who| that)? (plays|played|play) ", r"who \1 "),
    (r"^who (plays|played|play) (?:the )?(?:role|part|character)(?: of)? ", r"who \1 "),
    (r"^who (?:is|was) the (?:person|one|man|woman|guy) (?:who|that) ", "who "),
)
_WHEN_AND_WHERE = (
    (r"^by when ", "when "),
    # Kind: where the money comes from (`earn money by youtube`, `… through youtube`).
    (r"\b(make|making|earn|earning) money (?:by|from|through|with|on|via|off) (?!\w+ing\b)", r"\1 money from "),
    # Kind: where for which place (`where are the best places to`).
    (
        r"^where (is|are) (?=(?:the |some )?(?:of the )?(?:best|good|cheapest|safest) (?:places?|spots?|areas?|locations?)\b)",
        r"what \1 ",
    ),
    (rf"^where {_CAN} {_WHO} (?:find|locate) ", "where is "),
    (r"^(?:in |on )?(?:what|which) (?:year|date) ", "when "),
    (r"^what (?:is|was) the (?:year|date)(?: when| that| in which) ", "when "),
    (r"^(?:at |in )?(?:what|which) (?:place|location) ", "where "),
    (r"^what (?:is|are) the (?:location|whereabouts) of ", "where is "),
    (rf"^(where {_BE} .+?) (?:located|situated)\b", r"\1"),
    (r"^where (?:exactly |on earth )", "where "),
    (r"^(what|where|when|who|which|why) exactly ", r"\1 "),
    (r"\b(in|of|from) the (?:city|state|town|country|region|province) of\b", r"\1"),
)
# What one has seen and lived through: the best there is, for whoever is asked.
_EXPERIENCE = (
    # Kind: to be recommended is to be the best (`what books would you suggest for`).
    (
        r"^(?:what|which) (\S+(?: \S+){0,3}) (?:would|do|should|can) (?:you|u) (?:suggest|recommend)(?: me)?(?= for\b|$)",
        r"what is best \1",
    ),
    # Kind: the superlative said twice.
    (r"\bmost (?=\w{3,}est\b)", ""),
    # Kind: one or some of many, before whatever name they have.
    (r"^(what|which) (is|are) (?:one|some|any|a few) of (?!the\b|your\b)", r"\1 \2 "),
    (r"^which (?:someone-generic|ones|of (?:these|those|them)) ", "which "),
    (
        r"^(?:what|which) (?!is |are |was |were )((?:\S+ ){1,6}?)(?:is|are|would be) (?:the |considered )?(?:best|good|better)"
        r"(?= |$)(?: one)?",
        r"what is best \1",
    ),
    (r"^(?:can|could|would) (?:you|someone|anyone) (?:please )?suggest(?: me)?(?: some| any| a| the)? ", "what is "),
    (r"^(?:is|are) there any (?=good|best|great)", "what is "),
    (rf" (?:that |which )?you (?:have |had )?ever {_SEEN}(?: in (?:your |the )?life(?:time)?)?$", ""),
    (rf" (?:that |which )?you have (?!have$|do$|know$|ever$){_SEEN}(?: in (?:your |the )?life(?:time)?)?$", ""),
    (r" ever(?: (?:seen|made|written|recorded|created|experienced|known|produced|invented))?$", ""),
    (r" (?:in|of) (?:your |my )(?:whole |entire )?life(?:time)?$", ""),
    (r" if (?:so|yes)(?: then)?(?: why| how)?$", ""),
    (r" (?:and |& )?why(?: or why not| not| is that(?: so)?| so)?$", ""),
    (r"\bof all times?\b", ""),
    (r"\b(best|most|greatest|favorite) all time\b", r"\1"),
    (r"\ball time (?=best|most|greatest|favorite)", ""),
    (r"\byou have (?:ever )?(?=\w+(?:ed|en)\b)", ""),
    (r"\b(?:one|some|any|a few|few) of (?:the|your) ", ""),
    (r"^what (?:should|would|will|can) be ", "what is "),
    (r"^what (?:are|is) all ", "what are "),
)
_TIME_WORDS = (
    (r"^when (?:is|are) (?:it )?(?:the )?(?:best|right|ideal|good) time ", "what is best time "),
    (r"^what time of (?:the )?year is (?:it )?(?:the )?best (?:time )?to ", "what is best time of year to "),
    (r"\b(?:less|lower|fewer|cheaper) than (?=#|usd|inr)", "under "),
    (r"\b(?:more|greater|higher) than (?=#|usd|inr)", "over "),
    (r"\bbelow (?=#|usd|inr)", "under "),
    (r"\babove (?=#|usd|inr)", "over "),
    (r"\b(?:is|are) (?:going|about) to\b", "will"),
    (r"\b(?:is|are) (.+?) going to be\b", r"will \1 be"),
    (r"\b(?:at|in) (?:the )?(?:present|current) (?:time|day|moment)\b", "currently"),
    (r"\b(?:in )?this year (?:in |of )?(#\d{4})\b", r"in \1"),
    (r"\b(?:right|ideal|perfect) (?=time\b)", "best "),
    (r"\b(?:the )?(?:current )?time (?:right )?now\b", "current time"),
    (r"\bweather forecast\b", "weather"),
    (r"\bno longer\b", "not anymore"),
    (r"\b(?:any more|any longer)\b", "anymore"),
    (r"(?<!\S)(?:wwii|ww ii|ww #2|second world war|#2 world war|world war #2)\b", "world-war #2"),
    (r"(?<!\S)(?:wwi|ww i|ww #1|first world war|#1 world war|world war #1)\b", "world-war #1"),
)
_CAN_ONE = (
    # Kind: a question in the order of a statement (`it is possible to`).
    (r"^it is (possible|safe|ok|okay|necessary|legal|illegal|normal|true) (to|for|that) ", r"is it \1 \2 "),
    # Kind: how far it is so, for whether it is so (`how safe is it to`).
    (
        r"^how (safe|dangerous|important|useful|necessary|healthy|common|easy|difficult|hard) is it (to|for) ",
        r"is it \1 \2 ",
    ),
    # Kind: an order to name them (`name the countries which`).
    (r"^name (?:all )?(?:the )?(\w+s) (?:which|that|who) ", r"which \1 "),
    # Kind: is it worth doing (`is it worth to buy one`, `is one worth buying`).
    (r"^is it worth (?:it )?(?:to )?(?!it\b|the\b|a\b)(\w+) (.+)$", r"is \2 worth \1"),
    # Kind: both answers named (`is it good or bad`).
    (
        r"^((?:is|are|was|were|do|does|did) .+ (?:good|right|true|safe|real|possible|legal|worth it)) or "
        r"(?:not|bad|wrong|false|dangerous|unsafe|fake|impossible|illegal)$",
        r"\1",
    ),
    (r"\b(?:whether or not|if or not)\b", "if"),
    (r"^is it possible for (.+?) to ", r"can \1 "),
    (r"^is it possible to ", "can "),
    (r"^(?:are|is) (\S+) able to ", r"can \1 "),
    (r"^is it true that (.+)$", r"is \1"),
    (r"^(.+?) is (?:this|it|that) true$", r"is \1"),
)
_DIFFERENCES = (
    (r"^(.+?) (?:vs|versus) (.+?) differences?$", r"what is difference between \1 and \2"),
    (r"^(?:is|are) there (?:any |a |some )?(?:real |actual )?differences? between ", "what is difference between "),
    (r"^what do you think (?:about|of) ", "what is opinion on "),
    (r"^what (?:are|is) your (?:thoughts?|opinions?|views?|take) (?:on|about|of) ", "what is opinion on "),
    (r"\bdifferences? (?:in )?between\b", "difference between"),
    (r"^how (?:is|are|does|do) (.+?) (?:different|differ) from ", r"what is difference between \1 and "),
    (
        r"^how (?:do|are|is|does) (.+?) (?:differ|different)(?: from (?:each other|one another))?$",
        r"what is difference between \1",
    ),
    (r"^(?:compare|comparison (?:of|between)) (.+?) (?:to|with|versus|vs|against) ", r"compare \1 and "),
    (r"\bwhat is (?:the )?different between\b", "what is difference between"),
    (r"^how does it feel (?:like )?", "what is it like "),
    (r"^(?:what|how) (?:does|do|is|would) (?:it|that) (?:feel )?(?:like )?(?=to |being |when )", "what is it like "),
    (r"\bwhat does it feel like\b", "what is it like"),
)


@dataclass(frozen=True, slots=True)
class _Rewrite:
    needs: str
    pattern: re.Pattern[str]
    replacement: str


_LITERAL = re.compile(r"(?<![\\\w|?(\[])[a-z]{3,}(?![\w*?|])")


def _needed(pattern: str) -> str:
    """The longest word that every match holds, so that most patterns need not be tried; empty when none is sure."""
    flat = pattern
    while True:  # drop groups, innermost first: what they hold is a choice
        shorter = re.sub(r"\((?:\?[:=!<][=!]?)?[^()]*\)[?*+]?", "~", flat)
        if shorter == flat:
            break
        flat = shorter
    if "|" in flat:
        return ""
    return max(_LITERAL.findall(re.sub(r"\\[bSwd1]", "~", flat)), key=len, default="")


_REWRITES = tuple(
    _Rewrite(_needed(pattern), re.compile(pattern), replacement)
    for group in (
        _COURTESIES, _HOW_TO, _WHY, _MEASURES, _MEANING, _MAKERS, _WHEN_AND_WHERE, _EXPERIENCE, _TIME_WORDS, _CAN_ONE,
        _DIFFERENCES,
    )
    for pattern, replacement in group
)  # fmt: skip


def rewritten(found: list[str]) -> list[str]:
    """The words of a question with its set ways of asking brought to one."""
    text = " ".join(found)
    for rewrite in _REWRITES:
        if rewrite.needs in text:
            text = rewrite.pattern.sub(rewrite.replacement, text)
    return text.split()
