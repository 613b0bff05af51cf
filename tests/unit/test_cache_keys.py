"""The index of all keys: what a lookup that misses costs nothing for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.lake.cache import keys
from groundwire.lake.cache.keys import KeyIndex, Place, hash64


def test_a_key_is_found_with_its_newest_entry_whatever_the_order_of_rows() -> None:
    index = KeyIndex.build(np.array([7, -3, 7]), np.array([12, 11, 10]), np.array([200, 300, 100]))
    assert index.get(7) == Place(12, 200)
    assert index.get(-3) == Place(11, 300)
    assert index.get(8) is None
    assert len(index) == 2


def test_an_empty_index_finds_nothing() -> None:
    assert KeyIndex().get(1) is None
    assert len(KeyIndex()) == 0


def test_a_key_put_later_stands_before_and_after_the_fold() -> None:
    index = KeyIndex.build(np.array([1, 5]), np.array([1, 2]), np.array([10, 20]))
    index.put(5, 3, 30)
    index.put(4, 4, 40)
    assert index.get(5) == Place(3, 30)
    index.fold()
    assert (index.get(1), index.get(4), index.get(5)) == (Place(1, 10), Place(4, 40), Place(3, 30))
    assert len(index) == 3


def test_what_is_over_is_dropped_by_a_fold_and_not_before() -> None:
    index = KeyIndex()
    index.put(1, 1, 100)
    index.put(2, 2, 200)
    assert index.get(1) == Place(1, 100)
    index.fold(ended_before_ms=100)
    assert index.get(1) is None
    assert index.get(2) == Place(2, 200)


def test_many_puts_fold_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_FOLD_AT", 3)
    index = KeyIndex()
    for key in range(10):
        index.put(key, key, 1000)
    assert index.bytes < 10 * 200
    assert [index.get(key) for key in range(10)] == [Place(key, 1000) for key in range(10)]


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), max_size=40))
def test_the_index_is_a_dict(steps: list[tuple[int, bool]]) -> None:
    index, model = KeyIndex(), {}
    for seq, (key, fold) in enumerate(steps):
        index.put(key, seq, seq + 1)
        model[key] = Place(seq, seq + 1)
        if fold:
            index.fold()
    assert {key: index.get(key) for key in range(-5, 6)} == {key: model.get(key) for key in range(-5, 6)}
    hashes, seqs, ends = index.columns()
    assert dict(zip(hashes.tolist(), map(Place, seqs.tolist(), ends.tolist()), strict=True)) == model


def test_hashes_are_stable_for_ever() -> None:
    # Views on disk carry them: a change here would empty every cache.
    assert hash64("abc") == 6455300059550759896
    assert hash64("") == -5426141060434712860
