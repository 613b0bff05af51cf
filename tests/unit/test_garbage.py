"""What a worker loaded is not walked over again by the garbage collector."""

import gc

from groundwire.streams.runtime.garbage import spare_what_stays


def test_what_was_loaded_is_spared_and_new_cycles_are_still_found() -> None:
    before = gc.get_threshold()
    try:
        spare_what_stays()
        assert gc.get_freeze_count() > 10_000
        assert gc.get_threshold()[0] > before[0]
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() >= 1
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
