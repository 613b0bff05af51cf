"""What an English question shows of how soon its answer goes stale: a small set of named signs, and how they are read.

A sign says nothing by itself: what each weighs stands in `freshness_weights.json`. The words are ours, chosen by kind
(offices, records, schedules, casts …), one list a kind; a new kind is a new line here and a new fit (docs/guide/freshness.md).
"""

import re
from collections.abc import Iterable

# Written together with the question word, with or without the apostrophe.
_CONTRACTIONS = {
    "who's": "who is",
    "whos": "who is",
    "what's": "what is",
    "whats": "what is",
    "when's": "when is",
    "whens": "when is",
    "where's": "where is",
    "wheres": "where is",
    "how's": "how is",
    "which's": "which is",
    "who've": "who have",
    "isn't": "is not",
    "aren't": "are not",
    "don't": "do not",
    "doesn't": "does not",
    "haven't": "have not",
    "hasn't": "has not",
    "didn't": "did not",
    "wasn't": "was not",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BE = _words("is are am")
_WAS = _words("was were")
_DO = _words("do does")
_HAVE = _words("has have had")
_CAN = _words("can could should would may might must")
_WILL = _words("will shall")

# Words that no other language writes this way at the place where they count here.
_ENGLISH = _words("""
    who whos what whats when where why how which whose the does did are is of that there this many much their with you
    """)

_SIGNS = """
office:        president, vice president, prime minister, governor, mayor, senator, senators, congressman, minister
office:        chancellor, king, queen, pope, monarch, emperor, ambassador, secretary, speaker, chairman, chairperson, chair
office:        chief, ceo, cfo, director, commissioner, attorney general, head of, leader, dean, principal, bishop
office:        archbishop, general, commander, admiral, judge, judges, justice, justices, representative, mp, deputy
office:        presidents, governors, ministers, leaders, lord, sheriff, treasurer, superintendent, spokesperson
politics:      parliament, congress, senate, house of representatives, supreme court, cabinet, party, government, majority
politics:      election, elections, elected, vote, votes, campaign, democrats, republicans, republican, democrat, union
politics:      assembly, council, lok sabha, rajya sabha, house majority, minority, running for, candidate, candidates
job_in_a_team: coach, manager, captain, quarterback, goalkeeper, goalie, striker, pitcher, owner, owns, own, sponsor
job_in_a_team: drummer, lead singer, guitarist, host, hosts, anchor, presenter, judges on, roster, squad, starting
last_time:     last time, last won, last win, last year, last season, last month, last week, ever been, last came
last:          last, latest, newest, recent, recently, most recent, previous, previously, newly, lately
new:           new, brand new, just, remake, reboot, sequel
next:          next, upcoming, coming out, come out next, coming back, coming, going to be, will be, future, going
now:           current, currently, now, today, present, presently, still, these days, this year, this season, right now
now:           at the moment, so far, active, nowadays, to date, living, alive, up to date, as of
superlative:   most, least, best, worst, top, greatest, biggest, highest, lowest, fewest, number one, number 1, no. 1
superlative:   no 1, second most, leading, major, richest, poorest, favorite, favourite, popular
record:        record, records, all time, of all time, in history, ever, career, in a season, in a game, in one game
record:        in a row, undefeated, best selling, highest grossing, highest paid, most paid, consecutive, streak
how_often_won: how many times, number of times, times has, times have, titles, rings, trophies, medals, championships
count:         how many, number of, total, count, amount, percentage, percent, share of, statistics, per year, per day
in_existence:  are there, is there, there are, does it have, do we have, have there been, has there been, are in, exist
people:        population, people, inhabitants, live, lives, residents, speakers, speak, students, employees, members
people:        citizens, immigrants, religion, households, homeless, enrollment, attendance, followers, subscribers
money:         price, prices, cost, costs, salary, salaries, worth, wage, wages, pay, pays, paid, fee, fees, rate, rates
money:         tax, taxes, income, revenue, budget, gdp, debt, dollars, money, expensive, cheap, cheapest, earn, earns
money:         make, economy, economic, exports, export, imports, import, profit, loan, mortgage, insurance, rent, stock
average:       average, median, mean household, typical, expectancy, minimum, maximum, normal, standard
life:          how old, age, alive, dead, die, died, married, wife, husband, girlfriend, boyfriend, dating, spouse, kids
life:          children, mother, father, brother, sister, daughter, son, parents, born, birthday, net worth, divorced
size:          how tall, how big, how large, how long, how far, how high, how deep, height, weight, area, length, distance
contest:       world cup, super bowl, superbowl, olympics, olympic, championship, championships, playoffs, playoff
contest:       semi final, semi finals, finals, final, world series, cup, league, title, tournament, grand prix, open
contest:       mvp, heisman, ballon d'or, stanley cup, champions league, premier league, ncaa, national championship
contest:       bowl, bowl game, draft, all star, all star game, hall of fame, grand slam, masters, wimbledon, derby
contest:       tour de france, rookie of the year, player of the year, golden boot, pageant, miss universe, idol
contest:       state of origin, grey cup, bachelor, survivor, voice, got talent, ashes, marathon, series
award:         award, awards, oscar, oscars, grammy, grammys, emmy, emmys, golden globe, nobel, prize, booker, pulitzer
win:           won, win, wins, winner, winners, champion, champions, winning, beat, beaten, defeat, defeated, victory
win:           qualified, qualify, made it, scored, score, got to, been in, been to, went to, reach, reached, finish
sport:         nba, nfl, mlb, nhl, odi, ipl, fifa, uefa, ufc, wwe, pga, nascar, afl, nrl, mls, football, soccer
sport:         basketball, baseball, hockey, cricket, tennis, golf, rugby, boxing, team, teams, player, players, club
sport:         coach, season, stadium, athlete, wrestler, golfer, cricketer, footballer, batsman, college football, sport
points:        goals, points, runs, wickets, touchdowns, yards, home runs, medals, medal, assists, rebounds, hits, saves
points:        strikeouts, century, centuries, sixes, games, matches, wins, caps, trophies, interceptions, steals, batting
on_screen:     episode, episodes, movie, movies, film, films, show, tv, series, anime, season, trailer, dvd, netflix
on_screen:     cartoon, sitcom, premiere, finale, scene, filmed, filming, shot
cast:          play, plays, played, playing, voice, voices, voiced, cast, actor, actress, character, role, starring, star
cast:          stars, portrays, portrayed, portray, sister of, father of, kills, killed, end up, characters, narrator
song:          song, songs, lyrics, sing, sings, sang, sung, singer, album, albums, band, music, tune, theme, soundtrack
song:          recorded, guitar, released by, music video, original version, single, singing, rap, rapper, hymn
written:       wrote, written, write, book, books, novel, author, poem, chapter, verse, bible, story, tale, poet, play by
written:       said, quote, coined, published, comic, magazine, fairy, god, goddess, myth, mythology, greek, prophet
made_once:     invented, invent, inventor, discovered, founded, founder, created, built, established, designed, painted
made_once:     composed, began, begin, started, originated, originate, origin, introduced, formed, constructed, abolished
made_once:     signed, adopted, developed, completed, ended, opened, crowned, declared, launched, became, become, joined
made_once:     ratified, assassinated, settled, killed, fought, directed, produced, named, passed, banned, closed
first:         first, original, originally, oldest, earliest, second, third, founding, former, ancient
came_from:     come from, came from, get its name, name come, comes from, named after, derived, came to, go to, went
meaning:       mean, means, meaning, definition, define, stand for, stands for, term, word, called, symbol, synonym
meaning:       difference between, difference, example, examples, type of, types of, kind of, purpose, function, concept
meaning:       theory, principle, description, represent, represents, refers, known as, abbreviation, acronym
way:           how to, how do, how do you, how can, how does, why do, why does, why is, what happens, what causes, cause
way:           causes, works, work, happen, happens, used for, used to, use of, made of, made from, made up, responsible
nature:        cell, cells, body, blood, bone, bones, heart, brain, chemical, element, elements, planet, planets, gas
nature:        energy, protein, acid, atom, atoms, dna, muscle, nerve, gene, enzyme, water, plant, plants, animal, animals
nature:        species, virus, disease, bacteria, temperature, sun, moon, earth, star system, light, oxygen, carbon
nature:        molecule, reaction, metal, heat, pressure, skin, liver, kidney, lungs, hormone, vitamin, symptoms, pain
nature:        drug, medicine, treatment, pregnancy, dog, dogs, cat, cats, bird, fish, food, cook, eat, diet, digestion
place:         located, location, capital, river, mountain, mountains, lake, border, borders, ocean, continent, island
place:         flows, flow, region, county, city, state, country, valley, desert, coast, time zone, timezone, zip code
place:         area code, map, near, between, which side, side of, bridge, street, building, airport, park, hotel
where_in:      take place, took place, takes place, set in, filmed in, happen in, held in, based on, based in
history:       war, battle, empire, treaty, revolution, ancient, century, dynasty, colony, colonies, independence, civil
history:       wwi, wwii, ww2, ww1, roman, british empire, slavery, slaves, act of, army, troops, soldiers, invaded
history:       amendment, constitution, bill of rights, declaration, reform, movement, church, catholic, rebellion
law:           law, laws, legal, illegal, rights, court, case, act, policy, license, age limit, allowed, required, visa
software:      version, update, ios, android, windows, software, app, iphone, ipad, samsung, galaxy, google, facebook
software:      instagram, youtube, twitter, microsoft, apple, os, browser, programming, code, internet, laptop, console
schedule:      release, releases, released, release date, air, airs, airing, aired, start, starts, open, opens, close
schedule:      begins, deadline, schedule, date, hours, expire, expires, return, returns, due, coming on, come on
schedule:      come out, comes out, came out, held, be held, holiday, kick off, hosting
weather:       weather, forecast, snow, rain, hurricane, sunrise, sunset, tide, tsunami, earthquake
company:       company, companies, brand, brands, manufacturer, producer, producers, store, stores, bank, banks, airline
company:       airlines, newspaper, car, cars, vehicle, product, industry, market, factory, restaurant, restaurants, shop
visit:         stay, visit, things to do, places to, see, find, buy, sell, watch, get, rent, eat in, nightlife, hotels
in_the_world:  in the world, in the us, in the usa, in india, in europe, in africa, in america, in the united states, world
in_the_world:  in canada, in australia, in china, in england, in the uk, per capita, worldwide, country, countries, state
has:           has, have, haven't, hasn't, been
past:          was, were, did, had
present:       is, are, does, do, has, have, am
"""

# Words in -est that compare nothing.
_NO_SUPERLATIVES = _words("""
    west midwest southwest northwest test guest forest rest quest interest request arrest nest pest protest contest
    honest harvest chest invest suggest latest newest digest priest everest budapest est best vest crest conquest
    manifest modest wrest zest jest fest bequest behest rainforest deforest attest detest inquest
    """)
_NO_PAST = _words(
    "united red need speed feed seed bed led wed fed ted ned bleed breed indeed used based called named shed"
)

_TOKEN = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*", re.UNICODE)
_YEAR = re.compile(r"(?:1[0-9]{3}|20[0-9]{2})s?$")
_SEASON = re.compile(r"(?:season|series|episode|chapter|part|volume|book|game|week|level|s)\s?[0-9]+\b")
_LONGEST_PHRASE = 4
_LAST_LATIN = 0x24F

NO_QUESTION = "no question word"


def _lexicon(text: str) -> dict[str, tuple[str, ...]]:
    """Phrase → the signs it belongs to."""
    found: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        sign, phrases = line.strip().split(":", 1)
        for phrase in phrases.split(","):
            signs = found.setdefault(phrase.strip(), [])
            if sign not in signs:
                signs.append(sign)
    return {phrase: tuple(signs) for phrase, signs in found.items()}


_LEXICON = _lexicon(_SIGNS)


def asks_in_english(text: str) -> bool:
    """Whether its signs can be read: it has English function words, and no Hangul, Kana, Cyrillic …"""
    if not text.isascii() and any(ord(character) > _LAST_LATIN and character.isalpha() for character in text):
        return False
    return not _ENGLISH.isdisjoint(text.replace("'", " ").split())


def signs_of(text: str) -> frozenset[str]:
    """The signs of a normalized query, and each of them together with the question's opening (`who is + office`)."""
    words: list[str] = []
    for word in _TOKEN.findall(text):
        words += _CONTRACTIONS.get(word, word).split(" ")
    opening = _opening(words)
    signs = {*_of_words(words), *_of_forms(words, text)}
    return frozenset([opening, *signs, *(f"{opening} + {sign}" for sign in signs), *_together(signs)])


def _of_words(words: list[str]) -> Iterable[str]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1):
            yield from _LEXICON.get(" ".join(words[start:end]), ())


def _of_forms(words: list[str], text: str) -> Iterable[str]:
    """What is not a matter of single words."""
    if any(len(word) > 4 and word.endswith("est") and word not in _NO_SUPERLATIVES for word in words):
        yield "superlative"
    if any(len(word) > 4 and word.endswith("ed") and word not in _NO_PAST for word in words):
        yield "past_form"
    if any(word.endswith("ing") and len(word) > 5 for word in words):
        yield "ing_form"
    if any(_YEAR.match(word) for word in words):
        yield "year"
    elif any(word.isdigit() for word in words):
        yield "number"
    if _SEASON.search(text):
        yield "numbered_part"
    if len(words) <= 5:
        yield "short"
    elif len(words) >= 11:
        yield "long"


def _together(signs: set[str]) -> Iterable[str]:
    """Pairs that mean more than their parts."""
    for one, other in _PAIRS:
        if one in signs and other in signs:
            yield f"{one} & {other}"


_PAIRS = (
    ("win", "contest"),
    ("win", "year"),
    ("win", "first"),
    ("contest", "year"),
    ("contest", "last"),
    ("contest", "first"),
    ("superlative", "record"),
    ("superlative", "points"),
    ("superlative", "in_the_world"),
    ("superlative", "past"),
    ("superlative", "year"),
    ("superlative", "place"),
    ("superlative", "nature"),
    ("superlative", "company"),
    ("superlative", "money"),
    ("last", "win"),
    ("last", "on_screen"),
    ("last", "song"),
    ("last", "written"),
    ("last", "history"),
    ("last", "past"),
    ("new", "on_screen"),
    ("new", "schedule"),
    ("next", "on_screen"),
    ("on_screen", "schedule"),
    ("on_screen", "numbered_part"),
    ("on_screen", "cast"),
    ("on_screen", "count"),
    ("count", "people"),
    ("count", "in_existence"),
    ("count", "past"),
    ("count", "on_screen"),
    ("count", "nature"),
    ("count", "has"),
    ("office", "first"),
    ("office", "past"),
    ("office", "year"),
    ("office", "history"),
    ("office", "last"),
    ("office", "cast"),
    ("office", "now"),
    ("politics", "now"),
    ("now", "year"),
    ("schedule", "past"),
    ("schedule", "year"),
    ("schedule", "number"),
    ("money", "past"),
    ("money", "nature"),
    ("sport", "win"),
    ("sport", "superlative"),
    ("sport", "first"),
    ("sport", "cast"),
)


def _opening(words: list[str]) -> str:
    """How the question begins: its question word and what follows it. `what year did` is asked as `when did`."""
    at = next((place for place, word in enumerate(words) if word in _ASKING), None)
    if at is None:
        first = words[0] if words else ""
        return "yes or no" if first in _BE | _WAS | _DO | _HAVE | _CAN | _WILL | {"did"} else NO_QUESTION
    word, rest = words[at], words[at + 1 :]
    if word in ("what", "which") and rest and rest[0] in ("year", "date", "day", "month", "time"):
        word, rest = "when", rest[1:]
    if word == "how" and rest and rest[0] not in _BE | _WAS | _DO | _HAVE | _CAN | {"did", "to"}:
        return f"how {rest[0]}" if rest[0] in _HOW else "how"
    following = rest[0] if rest else ""
    for group, name in _FOLLOWING:
        if following in group:
            return f"{word} {name}"
    if word == "who" and following:
        past = following.endswith("ed") or following in _PAST_VERBS
        return "who + past" if past else "who + present"
    return word


_ASKING = _words("who what when where why how which whose whom")
_HOW = _words("many much long old tall big far high large often fast deep")
_FOLLOWING = (
    (_BE, "is"),
    (_WAS, "was"),
    (_DO, "does"),
    ({"did"}, "did"),
    (_HAVE, "has"),
    (_CAN, "can"),
    (_WILL, "will"),
    ({"to"}, "to"),
)
_PAST_VERBS = _words("""
    won wrote sang made played said led took came went became gave built got shot held ran won began found founded
    drew beat lost bought sold told taught thought fought brought caught saw knew flew threw grew fell spoke broke
    chose wore sent spent stood swam hit put set let
    """)
