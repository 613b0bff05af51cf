"""Dates as search pages write them."""

from datetime import date, datetime

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS_LONG = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
               "December")  # fmt: skip
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def short(day: date) -> str:
    """`Mar 4, 2026`."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def long(day: date) -> str:
    """`March 4, 2026`."""
    return f"{MONTHS_LONG[day.month - 1]} {day.day}, {day.year}"


def relative(day: date, today: date, korean: bool = False) -> str | None:
    """`3 days ago`, or `3일 전`; None beyond a month, where search pages write the date."""
    age = (today - day).days
    if not 0 <= age <= 30:
        return None
    if korean:
        return f"{age}일 전" if age else "5시간 전"
    if age == 0:
        return "5 hours ago"
    if age < 7:
        return f"{age} day{'s' if age > 1 else ''} ago"
    return f"{age // 7} week{'s' if age >= 14 else ''} ago"


def shown(day: date, today: date, korean: bool = False) -> str:
    """Relative when it is recent, else the date."""
    return relative(day, today, korean) or short(day)


def mail(day: date) -> str:
    """`Mon, 30 Nov 2026 06:12:00 GMT`."""
    return f"{DAYS[day.weekday()]}, {day.day:02} {MONTHS[day.month - 1]} {day.year} 06:12:00 GMT"


def parse_iso(text: str) -> date:
    """The day of an ISO date or time. Raises ValueError."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).date()
