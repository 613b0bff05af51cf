"""Request templates: types are kept, what is missing is left out, nothing unknown passes the check."""

from typing import Any

import pytest

from groundwire.adapters.template import LEFT_OUT, TemplateError, check_template, render

VARIABLES: dict[str, Any] = {
    "query": 'a "b" & 서울',
    "depth": 5,
    "country": None,
    "language": "",
    "include_domains": ["a.example", "b.example"],
    "exclude_domains": [],
    "after": "2026-11-01",
    "before": None,
    "safe_search": False,
    "option.mode": "rich",
    "option.n": "7",
    "key": "k",
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{query}", 'a "b" & 서울'),
        ("{depth}", 5),
        ("n={depth}!", "n=5!"),
        ("{safe_search}", False),
        ("{safe_search} it is", "false it is"),
        ("{include_domains}", ["a.example", "b.example"]),
        ("{include_domains:comma}", "a.example,b.example"),
        ("{include_domains:minus}", ["-a.example", "-b.example"]),
        ("{include_domains:first}", "a.example"),
        ("{after:us}", "11/01/2026"),
        ("{after:day_start}..{after:day_end}", "2026-11-01T00:00:00.000Z..2026-11-01T23:59:59.999Z"),
        ("{query:url}", "a%20%22b%22%20%26%20%EC%84%9C%EC%9A%B8"),
        ("{option.n:int}", 7),
        ("{option.mode:upper}", "RICH"),
        ("{{literal}} {depth}", "{literal} 5"),
        ("{country}", LEFT_OUT),
        ("from {country}", LEFT_OUT),
        ("from {country?}!", "from !"),
        ("{country?}", ""),
        ("{exclude_domains}", LEFT_OUT),
        ("plain", "plain"),
        (5, 5),
        (None, None),
        (True, True),
        ([], []),
        ({}, {}),
        (["{country}", "{depth}", "x"], [5, "x"]),
        (["{country}"], LEFT_OUT),
        ({"a": "{country}", "b": {"c": "{language}"}, "d": 1}, {"d": 1}),
        ({"a": {"b": "{country}"}}, LEFT_OUT),
        ({"$first": ["{country}", "{language}", "{after}"]}, "2026-11-01"),
        ({"$first": ["{country}"]}, LEFT_OUT),
        ({"$if": "country", "type": "x"}, LEFT_OUT),
        ({"$if": "after", "type": "x"}, {"type": "x"}),
        ({"$unless": "after", "$value": "{depth}"}, LEFT_OUT),
        ({"$unless": "country", "$value": "{depth}"}, 5),
        (
            {"$url": "https://a.example/s", "q": "{query}", "gl": "{country}", "n": "{depth}"},
            "https://a.example/s?q=a%20%22b%22%20%26%20%EC%84%9C%EC%9A%B8&n=5",
        ),
        ({"$url": "https://{country}.example/s", "q": "x"}, LEFT_OUT),
    ],
)
def test_a_template_is_filled(template: Any, expected: Any) -> None:
    check_template(template)
    found = render(template, VARIABLES)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{nothing}", "no placeholder `{nothing}`"),
        ("{Query}", "a single `{`"),
        ("{query", "a single `{`"),
        ("query}", "a single `}`"),
        ("{query:loud}", "no format `loud`"),
        ({"$when": "x"}, "no instruction `$when`"),
        ({"$first": "x"}, "$first takes a list"),
        ({5: "x"}, "key `5` must be text"),
        ({"$if": "nothing"}, "no placeholder `{nothing}`"),
        ([{"a": ["{nothing}"]}], "no placeholder `{nothing}`"),
    ],
)
def test_a_template_that_can_not_be_filled_is_refused_beforehand(template: Any, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        check_template(template)
    assert message in str(caught.value)


def test_a_value_that_does_not_fit_its_format_is_a_plain_value_error() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        render("{option.mode:int}", VARIABLES)


def test_what_is_left_out_says_its_name() -> None:
    assert repr(LEFT_OUT) == "LEFT_OUT"
