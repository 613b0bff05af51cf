"""Google's URL parameters for time, which half of the vendors pass through."""

import re
from datetime import date, timedelta

_SPAN_DAYS = {"h": 1, "d": 1, "w": 7, "m": 31, "y": 366}
_QDR = re.compile(r"qdr:([hdwmy])(\d*)")
_CUSTOM = re.compile(r"cd_(min|max):(\d{1,2})/(\d{1,2})/(\d{4})")


def window(tbs: str, today: date) -> dict[str, date]:
    """`qdr:w` or `cdr:1,cd_min:MM/DD/YYYY,cd_max:…` as the `after` and `before` of a Search; junk is ignored, as Google does."""
    recent = _QDR.search(tbs)
    if recent:
        return {"after": today - timedelta(days=_SPAN_DAYS[recent[1]] * int(recent[2] or 1))}
    bounds: dict[str, date] = {}
    for side, month, day, year in _CUSTOM.findall(tbs):
        try:
            bounds["after" if side == "min" else "before"] = date(int(year), int(month), int(day))
        except ValueError:
            continue
    return bounds
