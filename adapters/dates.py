"""When a result was published, as ISO 8601, only when that is certain.

Relative dates (`3 days ago`, `hace 3 días`, `3 日前`) count back from the time of the answer. Months and years ago are rounded
too far to name a day; `03/04/2026` may be two days of which only the vendor knows one. A day in the future can't be one on which
something was published. All of these yield None.
"""

import re
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from groundwire.adapters.cleaning import visible

_MAX_CHARS = 80
_SKEW = timedelta(days=1)  # the vendor's clock, and days that have begun further east
_EARLIEST = date(1900, 1, 1)

_MONTH_NAMES = (
    "january jan enero ene januar jänner jän janvier janv janeiro gennaio gen januari января янв",
    "february feb febrero februar février févr fév fevrier fevereiro fev febbraio februari февраля фев",
    "march mar marzo märz mär mars março maart mrt марта мар",
    "april apr abril abr avril avr aprile апреля апр",
    "may mayo mai maio mag maggio mei мая",
    "june jun junio juni juin junho giugno giu июня июн",
    "july jul julio juli juillet juil julho luglio lug июля июл",
    "august aug agosto ago août aout augustus августа авг",
    "september sep sept septiembre septembre setembro set settembre сентября сен сент",
    "october oct octubre oktober okt octobre outubro out ottobre ott октября окт",
    "november nov noviembre novembre novembro ноября ноя нояб",
    "december dec diciembre dic dezember dez décembre déc decembre dezembro dicembre декабря дек",
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

_MINUTES = "minutes? mins? min minutos? minuten minuti minuto minut 분 分钟 分鐘 分 минут минуты минуту"
_HOURS = "hours? hrs? hr h horas? stunden? std heures? ore ora uur 시간 時間 小时 小時 часов часа час"
_DAYS = "days? d días? dias? tagen? tage tag jours? j giorni giorno dagen dag 일 日 天 дней дня день"
_WEEKS = "weeks? wks? w semanas? wochen? woche semaines? sem settimane settimana weken week 주 週間 週 周 недель недели неделю"
_ONE = dict.fromkeys(
    ["a", "an", "one", "un", "una", "une", "uno", "um", "uma", "ein", "eine", "einer", "einem", "einen", "een"], 1
)


def _unit(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


_AMOUNT = rf"(\d{{1,3}}|{'|'.join(sorted(_ONE, key=len, reverse=True))})"
_UNIT = rf"(?:(?P<m>{_unit(_MINUTES)})|(?P<h>{_unit(_HOURS)})|(?P<d>{_unit(_DAYS)})|(?P<w>{_unit(_WEEKS)}))"
_RELATIVE = (
    re.compile(rf"{_AMOUNT}\s*{_UNIT}\.?\s*(?:ago|atrás|fa|geleden|назад|전|前|之前)"),
    re.compile(rf"(?:hace|vor|il y a|há)\s+{_AMOUNT}\s*{_UNIT}\.?"),
)
_DAY_WORDS = {
    0: "today hoy heute aujourd'hui aujourd’hui hoje oggi vandaag 오늘 今日 今天 сегодня",
    1: "yesterday ayer gestern hier ontem ieri gisteren 어제 昨日 昨天 вчера",
}
_DAYS_BACK = {word: days for days, words in _DAY_WORDS.items() for word in words.split()}
_JUST_NOW = frozenset({"just now", "now", "방금", "방금 전", "たった今", "刚刚", "剛剛"})

_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(
    r"(\d{4})\s*(?:[./-]|年|년)\s*(\d{1,2})\s*(?:[./-]|月|월)\s*(\d{1,2})\s*(?:日|일|\.)?(?:\s*\(?[월화수목금토일月火水木金土]\)?)?"
)
_DAY_MONTH = re.compile(
    r"(?:[^\W\d_]{2,12}\.?,?\s+)?(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s+(?:de\s+)?([^\W\d_]{3,12})\.?,?\s+(?:de\s+)?(\d{4})"
)
_MONTH_DAY = re.compile(r"(?:[^\W\d_]{2,12}\.?,\s+)?([^\W\d_]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
_PREFIX = re.compile(
    r"^\s*(?P<date>[^—–·|]{3,40}?)\s*(?:\s[—–·|-]\s|\s*(?:\.\.\.|…)\s+(?=\S))\s*(?P<rest>\S.*)$", re.DOTALL
)


def published_at(raw: object, answered_at_ms: int, *, day_first: bool | None = None) -> str | None:
    """A vendor's date as ISO 8601: a day (`2026-11-28`) or a moment, with a zone only where the vendor gave one."""
    if not isinstance(raw, str):
        return None
    text = " ".join(visible(raw).split()).strip(" ,.")
    if not 1 < len(text) <= _MAX_CHARS:
        return None
    now = datetime.fromtimestamp(answered_at_ms / 1000, UTC)
    found = (
        _iso(text)
        or _written_day(text.casefold(), day_first)
        or _relative(text.casefold(), answered_at_ms)
        or _mail_date(text)
    )
    if found is None:
        return None
    day = date.fromisoformat(found[:10])
    return found if _EARLIEST <= day <= (now + _SKEW).date() else None


def split_date_prefix(text: str, answered_at_ms: int) -> tuple[str | None, str]:
    """(date, rest) of a text like `Nov 28, 2026 — The line …`; (None, text) when it does not begin with a certain date."""
    match = _PREFIX.match(text)
    if match is None:
        return None, text
    found = published_at(match["date"], answered_at_ms)
    if found is None and not _looks_like_a_date(match["date"]):
        return None, text
    return found, match["rest"]


def _looks_like_a_date(text: str) -> bool:
    """A relative date that is too rough to become a day is still no part of the sentence."""
    return (
        re.fullmatch(
            r"\d{1,2}\s+(?:months?|years?|mes(?:es)?|años?|monat(?:en)?|jahren?|mois|ans?)(?:\s+ago)?",
            text.strip().casefold(),
        )
        is not None
    )


def _iso(text: str) -> str | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        found = date(int(year), int(month), int(day)).isoformat()
        if hour is None:
            return found
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0))  # noqa: DTZ001 - zone is kept as text
    except ValueError:
        return None
    text_zone = "" if zone is None else ("Z" if zone.upper() in ("Z", "UTC", "GMT") else f"{zone[:3]}:{zone[-2:]}")
    if text_zone not in ("", "Z") and not (int(zone[1:3]) < 15 and int(zone[-2:]) < 60):
        return None
    millis = f".{fraction[:3].ljust(3, '0')}" if fraction and int(fraction) else ""
    return f"{moment.isoformat()}{millis}{text_zone}"


def _written_day(text: str, day_first: bool | None) -> str | None:
    if match := _YEAR_FIRST.fullmatch(text):
        return _day(match[1], int(match[2]), match[3])
    if match := _DAY_MONTH.fullmatch(text):
        return _day(match[3], _MONTHS.get(match[2]), match[1])
    if match := _MONTH_DAY.fullmatch(text):
        return _day(match[3], _MONTHS.get(match[1]), match[2])
    if match := _NUMERIC.fullmatch(text):
        first, second = int(match[1]), int(match[3])
        if first > 12 or (match[2] == "." and day_first is None) or first == second:
            day_first = True  # the other reading does not exist, or is not in use
        elif second > 12:
            day_first = False
        if day_first is None:
            return None
        return _day(match[4], second if day_first else first, str(first if day_first else second))
    return None


def _day(year: str, month: int | None, day: str) -> str | None:
    try:
        return None if month is None else date(int(year), month, int(day)).isoformat()
    except ValueError:
        return None


def _relative(text: str, answered_at_ms: int) -> str | None:
    now = datetime.fromtimestamp(answered_at_ms / 1000, UTC)
    if text in _JUST_NOW:
        return f"{now:%Y-%m-%dT%H:%M}Z"
    if text in _DAYS_BACK:
        return (now - timedelta(days=_DAYS_BACK[text])).date().isoformat()
    for pattern in _RELATIVE:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        amount = _ONE.get(match[1]) or int(match[1])
        if match["m"]:
            return f"{now - timedelta(minutes=amount):%Y-%m-%dT%H:%M}Z"
        if match["h"]:
            return f"{now - timedelta(hours=amount):%Y-%m-%dT%H}:00Z"
        return (now - timedelta(days=amount * (7 if match["w"] else 1))).date().isoformat()
    return None


def _mail_date(text: str) -> str | None:
    """RFC 822, as feeds write it: `Mon, 30 Nov 2026 06:12:00 GMT`."""
    if not re.search(r"\d{4} \d{2}:\d{2}", text):
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
