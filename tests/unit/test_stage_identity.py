"""The dedup window keeps within its bounds."""

from groundwire.streams.stages.identity import DedupWindow, bytes_hash, is_own_payload, payload_id

A, B = "aa" * 32, "bb" * 32


def test_the_window_forgets_the_oldest_ids_beyond_its_number() -> None:
    window = DedupWindow(600, most=3)
    for number in range(10):
        assert not window.conflicts("t", f"r{number}", A, number)
    assert len(window) == 3
    assert not window.conflicts("t", "r0", B, 11)
    assert window.conflicts("t", "r9", B, 12)


def test_the_window_forgets_ids_when_their_time_is_over() -> None:
    window = DedupWindow(10)
    window.conflicts("t", "r", A, 0)
    assert window.conflicts("t", "r", B, 10_000)
    assert not window.conflicts("t", "s", A, 20_001)
    assert len(window) == 1


def test_a_payload_knows_the_request_that_paid_for_it() -> None:
    assert is_own_payload(payload_id("abc", 5), "abc")
    assert not is_own_payload(payload_id("abcd", 5), "abc")


def test_a_tombstone_has_a_hash_of_its_own() -> None:
    assert bytes_hash(None) != bytes_hash(b"")
