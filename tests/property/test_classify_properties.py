"""For any status, any headers and any body there is exactly one class, and a wait that can be obeyed."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.adapters.classify import GenuinelyEmpty, outcome_of_status, raise_for_failure
from groundwire.adapters.errors import VendorFailure
from groundwire.adapters.fixtures import fixture_provider
from groundwire.adapters.http import HttpAnswer
from groundwire.adapters.registry import load_specs
from groundwire.adapters.retry_after import retry_after_s

SPECS, _ = load_specs([])
ADAPTERS = {name: fixture_provider(spec, HttpAnswer(200, {}, b""), []).adapter for name, spec in SPECS.items()}
FAILURES = {"timeout", "transport", "rate_limited", "quota", "auth", "rejected", "server_error", "bad_answer"}
WORDS = st.sampled_from(
    ["not enough credits", "quota", "per day", "zone", "Unauthorized.", "<html>", "{}", '{"error": 1}', ""]
)


@given(st.integers(min_value=0, max_value=999))
def test_every_status_but_a_success_is_one_failure(status: int) -> None:
    outcome = outcome_of_status(status)
    assert (outcome is None) == (status in (200, 203))
    assert outcome is None or outcome in FAILURES


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(sorted(SPECS)),
    st.integers(min_value=100, max_value=599),
    st.dictionaries(st.sampled_from(["retry-after", "x-brd-err-code", "content-type"]), st.text(max_size=20)),
    st.text(max_size=60) | st.lists(WORDS, max_size=3).map(" ".join),
)
def test_any_status_and_body_is_one_class(name: str, status: int, headers: dict[str, str], text: str) -> None:
    try:
        raise_for_failure(SPECS[name], ADAPTERS[name].hear(status, headers, text))
    except VendorFailure as failure:
        assert failure.outcome in FAILURES
        assert failure.reason
        assert len(failure.reason) < 400
    except GenuinelyEmpty:
        assert name in ("linkup", "jina", "exa")
    else:
        assert status in (200, 203)


@given(
    st.text(alphabet=string.digits + ":, GMTons.-+e", max_size=40) | st.floats().map(str) | st.integers().map(str),
    st.floats(min_value=0.1, max_value=1000),
)
def test_any_retry_after_is_no_wait_or_one_within_the_cap(header: str, cap_s: float) -> None:
    spec = SPECS["serper"].retry_after
    wait = retry_after_s(spec, {"retry-after": header}, None, "", now_s=1_796_115_600, cap_s=cap_s)
    assert wait is None or 0 <= wait <= cap_s
