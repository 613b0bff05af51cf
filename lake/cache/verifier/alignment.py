"""Which item of one question is which item of the other."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.lake.cache.verifier.reading import Item


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs` are positions (asked, stored) of the same thing; `joined` counts words written apart on one side
    (`web site`, `website`); the rest is what only one side speaks of."""

    pairs: tuple[tuple[int, int], ...]
    only_asked: tuple[Item, ...]
    only_stored: tuple[Item, ...]
    joined: int = 0
    renamed: int = 0


def align(asked: Sequence[Item], stored: Sequence[Item]) -> Alignment:
    """Pair equal items, in order where one occurs twice; then words that one side writes apart."""
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(stored):
        for key in item.keys:
            by_key[key].append(position)
    taken: set[int] = set()
    pairs: list[tuple[int, int]] = []
    left: list[int] = []
    for position, item in enumerate(asked):
        candidates = {at for key in item.keys for at in by_key.get(key, ()) if at not in taken}
        if candidates:
            # The very word before one of the same meaning; of two of those, the one in the same part.
            at = min(
                candidates,
                key=lambda at: (stored[at].surface != item.surface, stored[at].marker != item.marker, at),
            )
            taken.add(at)
            pairs.append((position, at))
        else:
            left.append(position)
    right = [at for at in range(len(stored)) if at not in taken]
    joined = _join(asked, stored, left, right, pairs) + _join(stored, asked, right, left, pairs, swapped=True)
    renamed = sum(asked[a].keys[0] == stored[b].keys[0] and asked[a].surface != stored[b].surface for a, b in pairs)
    pairs.sort()
    return Alignment(tuple(pairs), tuple(asked[at] for at in left), tuple(stored[at] for at in right), joined, renamed)


def _join(
    apart: Sequence[Item],
    whole: Sequence[Item],
    apart_left: list[int],
    whole_left: list[int],
    pairs: list[tuple[int, int]],
    *,
    swapped: bool = False,
) -> int:
    """Find two or three neighbours of `apart` that are one word in `whole`."""
    found = 0
    for at in list(whole_left):
        names = {re.sub(r"[ _.-]", "", key) for key in (*whole[at].keys, whole[at].surface)}
        for start in list(apart_left):
            for length in (2, 3):
                run = range(start, start + length)
                if not all(position in apart_left for position in run):
                    break
                if _joined(apart[start : start + length]) & names:
                    for position in run:
                        apart_left.remove(position)
                    whole_left.remove(at)
                    pairs.append((at, start) if swapped else (start, at))
                    found += 1
                    break
            if at not in whole_left:
                break
    return found


def _joined(items: Sequence[Item]) -> set[str]:
    """`life guard s` → lifeguard(s), by surface and by the last word's base forms."""
    front = "".join(item.surface for item in items[:-1])
    return {front + key for key in (items[-1].surface, *items[-1].keys)}
