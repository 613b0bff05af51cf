"""The words that say how soon an answer goes stale, as data. Lower case; one phrase a line or separated by commas.


English phrases match whole words (a plural `s` is allowed). Korean comes in two kinds: `korean` phrases match where a word
begins, since particles follow them; `korean_parts` match anywhere
since nouns are often written together (`아이폰가격`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """One list of a rule."""

    english: str
    korean: str = ""
    korean_parts: str = ""


# Where a word of the rules means something else: these phrases are not looked at.
MUTED = """
alternating current, direct current, electric current, electrical current, eddy current, ocean current
current density
fisher price, fisher-price, vincent price, price's law, price elasticity, price discrimination, half price books
film score, apgar score, z score, z-score, f1 score, f1-score, t score, musical score, sat score, act score
credit score
apocalypse now, now and then, usa today, today show, the today show, daily show, breaking bad, breaking benjamin
weather underground, weather vane, under the weather, weathering, latest and greatest, traffic light, traffic cone
the office schedule, periodic table, stock photo, chicken stock, news anchor, huey lewis and the news, fake news
last name, last supper, last airbender, the last of us, the last samurai, last of the mohicans, last jedi
last emperor
현재 진행형, 현재완료, 현재 완료, 현재형, 현재분사, 최신가요 역사
"""

LIVE = Words(
    english="""
    right now, at the moment, as we speak, live score, live stream, live update, live result, live blog, live coverage
    breaking, breaking news, real time, real-time, realtime, just now, this minute, this hour, past hour, last hour
    stock price, share price, stock quote, premarket, after hours trading, exchange rate, conversion rate, spot price
    bitcoin price, btc price, ethereum price, eth price, crypto price, price of bitcoin, price of ethereum, gold price
    price of gold, oil price, price of oil, btc usd, eth usd, usd to krw, usd to eur, eur to usd, usd to jpy
    gbp to usd
    who is winning, whos winning, who's winning, current score, score now, game score, is it raining, is it snowing
    weather now, current weather, current temperature, temperature now, what time is it, current time, time now
    flight status, traffic now, traffic report, road conditions, server status, is it down, outage, power outage
    open now, wait time, election results live
    """,
    korean="지금, 방금, 라이브 스코어",
    korean_parts="""
    실시간, 속보, 주가, 시세, 환율, 스코어, 생중계, 현재가, 현재 온도, 현재 기온, 현재 날씨, 현재 시간
    몇 시야, 교통상황, 교통 상황
    비트코인 가격, 금값, 유가, 접속 장애
    """,
)

DAILY = Words(
    english="""
    today, tonight, tomorrow, yesterday, this morning, this afternoon, this evening, last night, nowadays, these days
    now, currently, current, latest, newest, most recent, recent, recently, lately, so far, as of, up to date
    up-to-date
    this week, last week, next week, past week, this weekend, last weekend, next weekend, coming week
    news, headline, update, weather, forecast, temperature today, price, pricing, how much is, how much does
    how much are
    cost today, deal, discount, coupon, promo code, on sale, in stock, availability, stock market, dow jones
    nasdaq, nikkei
    score, standings, leaderboard, box score, fixture, lineup, line-up, line up, injury report, transfer news, odds
    trending, trend, viral, rumor, rumour, upcoming, showtimes, what's on, whats on, tv guide, lottery, powerball
    air quality, pollen count, gas price, mortgage rate, interest rate, earnings, layoffs, poll, polls
    """,
    korean="""
    오늘, 내일, 어제, 그제, 모레, 오늘밤, 오늘 밤, 어젯밤, 요즘, 요새, 최근, 최신, 현재, 이번 주, 이번주
    지난 주, 지난주, 다음 주, 다음주
    금주, 내주, 주말, 이번 주말, 올 시즌, 순위
    """,
    korean_parts="""
    날씨, 기온, 미세먼지, 뉴스, 가격, 얼마, 할인, 세일, 쿠폰, 특가, 재고, 경기 결과, 경기결과, 중계, 라인업
    순위표, 인기 순위, 상영, 편성표
    로또, 당첨번호, 금리, 코스피, 코스닥, 나스닥, 지지율, 여론조사, 출시 소식, 루머, 근황, 최저가
    """,
)

SLOW = Words(
    english="""
    this month, last month, next month, this quarter, last quarter, next quarter, this season, last season
    next season
    this year, last year, next year, last time, last, next, president, prime minister, governor, mayor, ceo
    minister, senator
    head coach, coach of, captain of, owner of, owns, champion, record, population, salary, net worth
    richest, tallest
    biggest, largest, highest, most, best, top, fastest, longest, version, release date, released, how old
    age of, still
    how many, how long has, new season, season, episode, ranking, ranked, rate, law, legal, tax, minimum wage
    schedule
    when is, when will, when does, who is the, who plays, where is the next, new, changelog, deprecated, roadmap
    """,
    korean="이번 달, 이번달, 지난 달, 지난달, 다음 달, 올해, 작년, 내년, 금년, 이달, 새로운, 신규, 언제까지",
    korean_parts="""
    대통령, 총리, 장관, 시장은, 회장, 대표이사, 인구, 연봉, 재산, 기록, 최고, 가장, 버전, 출시일, 개봉일
    나이, 시즌, 회차, 법안, 세율
    최저임금, 일정, 개정
    """,
)

STATIC = Words(
    english="""
    who wrote, who invented, who discovered, who painted, who composed, who founded, who sang, who sings
    who was, who were
    who directed, who played, who said, who created, who won, when was, when did, when were, where was
    where did, where does
    what was, how did, why did, why do, why does, why is, capital of, history of, origin of, meaning of, mean
    stands for
    stand for, definition, define, etymology, synonym, antonym, translate, translation, formula, equation
    theorem, proof
    chemical symbol, atomic number, born, died, founded in, invented, discovered, difference between, how to
    example of
    types of, what is the name, located, lyrics, quote, plot, summary of, author of, wife of, father of, mother of
    """,
    korean="누가",
    korean_parts="""
    뜻, 의미, 정의, 어원, 유래, 역사, 수도, 발명, 발견, 공식, 정리 증명, 원소 기호, 태어, 사망, 설립, 차이점
    차이, 방법, 하는 법, 줄거리, 가사
    지은이, 작가, 저자, 작곡, 위치, 번역, 예시, 종류
    """,
)

# The span a relative word names: its date goes into the cache key, so that another day's answer can't be served. Weekdays are
# by day: `last friday` means another day on Thursday than on Saturday of the same week.
BY_DAY = Words(
    english="""
    today, tonight, tomorrow, yesterday, this morning, this afternoon, this evening, this night, last night, tomorrow night
    right now, now, currently, current, latest, newest, most recent, recent, recently, lately, so far, up to date, up-to-date
    at the moment, at present, these days, nowadays, as we speak, just now, just announced, breaking, breaking news, upcoming
    day ago, days ago, hour ago, hours ago, minute ago, minutes ago, a while ago, the other day
    in an hour, in a few hours, in a few days, in two days, in three days, in 2 days, in 3 days, within the hour
    past hour, last hour, next hour, this hour, this minute, past 24 hours, last 24 hours, next 24 hours, past 48 hours
    last 48 hours, past few days, last few days, next few days, coming days, past 7 days, last 7 days, next 7 days
    past 30 days, last 30 days, next 30 days, past two days, last two days, year to date, ytd
    live score, live update, in stock, on sale, trending, open now
    this monday, this tuesday, this wednesday, this thursday, this friday, this saturday, this sunday
    next monday, next tuesday, next wednesday, next thursday, next friday, next saturday, next sunday
    last monday, last tuesday, last wednesday, last thursday, last friday, last saturday, last sunday
    on monday, on tuesday, on wednesday, on thursday, on friday, on saturday, on sunday
    coming monday, coming tuesday, coming wednesday, coming thursday, coming friday, coming saturday, coming sunday
    """,
    korean="""
    오늘, 내일, 어제, 그제, 그저께, 엊그제, 엊그저께, 모레, 내일모레, 글피, 오늘밤, 오늘 밤, 어젯밤, 지난밤, 간밤, 지금, 방금
    좀 전, 조금 전, 얼마 전, 며칠 전, 금일, 명일, 작일, 익일, 당일, 현재, 최근, 최신, 요즘, 요새, 이틀 뒤, 사흘 뒤
    이번 월요일, 이번 화요일, 이번 수요일, 이번 목요일, 이번 금요일, 이번 토요일, 이번 일요일, 다가오는
    지난 월요일, 지난 화요일, 지난 수요일, 지난 목요일, 지난 금요일, 지난 토요일, 지난 일요일
    """,
    korean_parts="실시간, 속보, 일 전, 시간 전, 분 전, 하루 전, 이틀 전, 사흘 전, 근황",
)
BY_WEEK = Words(
    english="""
    this week, last week, next week, past week, coming week, this weekend, last weekend, next weekend, coming weekend
    the weekend, weekend weather, week ago, weeks ago, in a week, in two weeks, past two weeks, last two weeks, midweek
    """,
    korean="""
    이번 주, 이번주, 지난 주, 지난주, 저번 주, 저번주, 다음 주, 다음주, 담주, 금주, 내주, 주말, 이번 주말, 이번주말
    지난 주말, 다음 주말, 일주일 전
    """,
    korean_parts="주 전, 주일 전, 주 뒤, 주 후",
)
BY_MONTH = Words(
    english="""
    this month, last month, next month, past month, coming month, month ago, months ago, this quarter, last quarter, next quarter
    this january, this february, this march, this april, this may, this june, this july, this august, this september
    this october, this november, this december
    last january, last february, last march, last april, last may, last june, last july, last august, last september
    last october, last november, last december
    next january, next february, next march, next april, next may, next june, next july, next august, next september
    next october, next november, next december
    """,
    korean="""
    이번 달, 이번달, 지난 달, 지난달, 저번 달, 저번달, 다음 달, 다음달, 담달, 이달, 금월, 이번 분기, 지난 분기, 다음 분기
    """,
    korean_parts="개월 전, 달 전, 개월 뒤, 개월 후",
)
BY_YEAR = Words(
    english="""
    this year, last year, next year, past year, coming year, year ago, years ago, this season, last season, next season
    this decade, this spring, this summer, this fall, this autumn, this winter, last spring, last summer, last fall, last autumn
    last winter, next spring, next summer, next fall, next autumn, next winter, this semester, next semester, this christmas
    last christmas, next christmas, this easter, next easter, last easter
    """,
    korean="""
    올해, 작년, 내년, 금년, 재작년, 내후년, 명년, 올 시즌, 이번 시즌, 지난 시즌, 다음 시즌, 지난해, 올봄, 올여름, 올가을, 올겨울
    올 봄, 올 여름, 올 가을, 올 겨울, 이번 여름, 이번 겨울, 지난 여름, 지난 겨울, 이번 학기, 다음 학기, 올 하반기, 올 상반기
    """,
    korean_parts="년 전, 년 뒤, 년 후",
)

# Sites named by `site:` or a domain filter. `*.x` means x and everything below it.
DOMAINS_LIVE = (
    "*.flightradar24.com, *.flightaware.com, *.xe.com, *.coinmarketcap.com, *.livescore.com, *.downdetector.com"
)
DOMAINS_DAILY = """
*.reuters.com, *.apnews.com, *.bbc.com, *.bbc.co.uk, *.cnn.com, *.nytimes.com, *.wsj.com, *.bloomberg.com, *.espn.com
*.theguardian.com, *.weather.com, *.accuweather.com, news.google.com, news.yahoo.com, finance.yahoo.com
*.marketwatch.com
news.naver.com, *.yna.co.kr, *.chosun.com, *.joongang.co.kr, *.hani.co.kr, *.weather.go.kr, finance.naver.com
"""
DOMAINS_SLOW = "*.github.com, *.stackoverflow.com, *.readthedocs.io"
DOMAINS_STATIC = "*.gutenberg.org, *.arxiv.org, *.doi.org, *.merriam-webster.com, *.etymonline.com"
