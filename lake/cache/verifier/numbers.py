"""Numbers, however they are written, as one canonical form: `3`, `three`, `third`, `III`, `1,000`, `60k`, `31.01.2026`."""

import re

_UNITS = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "one": 1,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SCALES |= {"lakh": 10**5, "lac": 10**5, "lakhs": 10**5, "lacs": 10**5, "crore": 10**7, "crores": 10**7}
_SCALES |= {f"{name}s": value for name, value in list(_SCALES.items()) if not name.endswith("s")}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "fortieth": 40,
    "fiftieth": 50, "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
# Roman numerals that are no English word and no common abbreviation of one letter.
_ROMAN = re.compile(r"(?=[ivxl]{2,7}$)x{0,3}(?:l?x{0,3})(?:ix|iv|v?i{0,3})$")
_NOT_ROMAN = frozenset(("xi", "xx", "xl", "ill", "mix", "mil", "li", "il", "xxx"))
_ROMAN_VALUE = {"i": 1, "v": 5, "x": 10, "l": 50}
_BEFORE_ONE = frozenset(
    ("war", "part", "volume", "chapter", "act", "phase", "stage", "type", "book", "level", "diablo")
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_DIGITS = re.compile(r"v?(-?\d[\d,]*(?:\.\d+)*)$")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$")
_ORDINAL_END = frozenset(("st", "nd", "rd", "th"))
_SUFFIX_SCALE = {"k": 1000, "bn": 10**9, "mn": 10**6, "tn": 10**12}


def is_number(key: str) -> bool:
    """Whether a canonical form made here is a number or a date."""
    return key.startswith("#")


def roman(word: str) -> int | None:
    """The value of a Roman numeral of two letters or more, `viii` → 8; None for anything else."""
    if word in _NOT_ROMAN or not _ROMAN.match(word):
        return None
    values = [_ROMAN_VALUE[letter] for letter in word]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def canonical(tokens: list[str]) -> list[str]:
    """Replace every number in a list of words by `#value`, dates by `#m-d` or `#y-m-d`; other words stay."""
    out: list[str] = []
    position = 0
    while position < len(tokens):
        used, form = _at(tokens, position)
        out.append(form if used else tokens[position])
        position += used or 1
    return _with_months(out)


def _at(tokens: list[str], position: int) -> tuple[int, str]:
    word = tokens[position]
    after = tokens[position + 1] if position + 1 < len(tokens) else ""
    if date := _DATE.match(word):
        return 1, "#{}-{}-{}".format(*(int(part) for part in date.groups()))
    if _DIGITS.match(word) or word[:1].isdigit():
        return _digits(word, after, tokens[position + 2] if position + 2 < len(tokens) else "")
    if word in _UNITS or word in _TENS:
        return _spelled(tokens, position)
    if word in _ORDINALS:
        return 1, f"#{_ORDINALS[word]}"
    if word == "i" and position and tokens[position - 1] in _BEFORE_ONE and after not in ("am", "have", "was"):
        return 1, "#1"
    if (value := roman(word)) is not None and (word != "vi" or position):
        return 1, f"#{value}"
    return 0, ""


def _digits(word: str, after: str, then: str) -> tuple[int, str]:
    match = _DIGITS.match(word)
    if match is None:
        return 1, f"#{word}"
    digits = match.group(1).rstrip(",")
    if digits.count(".") <= 1 and "," in digits:
        digits = digits.replace(",", "")
    if after in _ORDINAL_END and digits.isdecimal():
        return 2, f"#{int(digits)}"
    scale = _SCALES.get(after) or _SUFFIX_SCALE.get(after)
    if scale and digits.count(".") <= 1:
        value = float(digits) * scale
        used = 2
        if then in _SCALES:
            value, used = value * _SCALES[then], 3
        return used, f"#{int(value) if value == int(value) else value}"
    # 1.2 and 1.20 are two versions; only leading zeros of whole numbers go.
    return 1, f"#{int(digits)}" if digits.isdecimal() and len(digits) < 4 else f"#{digits}"


def _spelled(tokens: list[str], position: int) -> tuple[int, str]:
    """`one hundred and twenty five` from `position` on."""
    total = current = 0
    end = position
    while end < len(tokens):
        word = tokens[end]
        if word in _UNITS and (end == position or (current % 10 == 0 and (current % 100 != 10))):
            current += _UNITS[word]
        elif word in _TENS and (end == position or current % 100 == 0):
            current += _TENS[word]
        elif word in _ORDINALS and end > position and current % 10 == 0:
            current += _ORDINALS[word]
            end += 1
            break
        elif word in _SCALES and end > position:
            if _SCALES[word] == 100:
                current = max(current, 1) * 100
            else:
                total, current = total + max(current, 1) * _SCALES[word], 0
        elif word == "and" and end > position and tokens[end - 1] in _SCALES and _continues(tokens, end):
            pass
        else:
            break
        end += 1
    return end - position, f"#{total + current}"


def _continues(tokens: list[str], end: int) -> bool:
    return end + 1 < len(tokens) and (tokens[end + 1] in _UNITS or tokens[end + 1] in _TENS)


def _with_months(tokens: list[str]) -> list[str]:
    """Join a month with its day: `january 30`, `30th of jan` → `#1-30`. `may` and `march` only beside a day."""
    out: list[str] = []
    position = 0
    while position < len(tokens):
        word = tokens[position]
        after = tokens[position + 1] if position + 1 < len(tokens) else ""
        then = tokens[position + 2] if position + 2 < len(tokens) else ""
        if word in _MONTHS and _is_day(after):
            out.append(f"#{_MONTHS[word]}-{after[1:]}")
            position += 2
        elif _is_day(word) and after in _MONTHS:
            out.append(f"#{_MONTHS[after]}-{word[1:]}")
            position += 2
        elif _is_day(word) and after == "of" and then in _MONTHS:
            out.append(f"#{_MONTHS[then]}-{word[1:]}")
            position += 3
        else:
            out.append(word)
            position += 1
    return out


def _is_day(word: str) -> bool:
    return word.startswith("#") and word[1:].isdigit() and 1 <= int(word[1:]) <= 31
