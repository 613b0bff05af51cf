"""What the verifier sees in one question: a list of items, the question's frame, and what must match to the letter."""

from dataclasses import dataclass, field
from typing import Literal

Language = Literal["en", "ko", "other"]
Kind = Literal["word", "number", "negation", "quantity", "code", "light"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a question speaks of.

    `keys` are the base forms it may stand for; two items are the same thing when they share one. `marker` is the word (or
    Korean particle) that says which part it plays: `from`, `to`, `than`, `by`. `light` items may be missing on one side.
    """

    surface: str
    keys: tuple[str, ...]
    kind: Kind = "word"
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """How a question asks: its question word, who acts, when, and how certain; `be`: its first helping verb is one.

    `asks` is empty for plain key words. `modal` and `tense` are empty where they change nothing.
    """

    asks: str = ""
    modal: str = ""
    tense: str = ""
    generic: bool = False
    copular: bool = False
    be: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One question, read. `exact` holds search operators and flags, which have to be the same on both sides."""

    text: str
    language: Language
    items: tuple[Item, ...]
    frame: Frame = field(default_factory=Frame)
    exact: frozenset[str] = frozenset()
    voice: frozenset[str] = frozenset()
    """Base forms of verbs that stand in the passive."""
    possessed: bool = False
    """The asker's own thing is meant: `my`, `our`."""
    owner: bool = False
    """It is somebody's own thing that is asked for: `what is your …`."""
    which: bool = False
    """It is asked which one of a kind that is named: `어느 나라에`."""
    symmetric: bool = False
    """The question treats the things it joins alike: a difference, a comparison, a choice."""
