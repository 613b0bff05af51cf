"""Settings come from the file, the environment and flags; what is wrong is said in one line that can be acted on."""

from pathlib import Path

import pytest

from groundwire.streams.runtime.configuration import ConfigurationError, load_settings


def problem(file: Path | None = None, environ: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file, environ or {}, flags)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No groundwire.yaml of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)


def test_without_anything_the_defaults_hold() -> None:
    settings = load_settings(None, {}, {})
    assert settings.home == Path(".groundwire")
    assert settings.brokers is None


def test_the_file_beside_the_user_is_read(tmp_path: Path) -> None:
    (tmp_path / "groundwire.yaml").write_text("home: /from/file\nwindow: {fetch: 9}\n")
    settings = load_settings(None, {}, {})
    assert settings.home == Path("/from/file")
    assert settings.window.fetch == 9
    assert settings.window.unify == 32


def test_environment_wins_over_file_and_flags_over_both(tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("home: /file\nbrokers: file:1\nnode: file\n")
    settings = load_settings(file, {"GROUNDWIRE_HOME": "/env", "GROUNDWIRE_BROKERS": "env:1"}, {"home": "/flag"})
    assert (settings.home, settings.brokers, settings.node) == (Path("/flag"), "env:1", "file")


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    assert load_settings(None, {"GROUNDWIRE_BROKERS": "env:1"}, {"brokers": None}).brokers == "env:1"


def test_the_variable_groundwire_config_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "named.yaml"
    file.write_text("node: named\n")
    assert load_settings(None, {"GROUNDWIRE_CONFIG": str(file)}, {}).node == "named"


def test_an_empty_file_is_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("# nothing\n")
    assert load_settings(file, {}, {}).node is None


def test_nested_variables_reach_one_key_and_leave_its_neighbours(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("providers: {serper: {timeout_s: 3, base_url: http://file}}\ncache: {ttl_s: {live: 5}}\n")
    environ = {"GROUNDWIRE_PROVIDERS__SERPER__BASE_URL": "http://env/x", "GROUNDWIRE_CACHE__TTL_S__DAILY": "7"}
    settings = load_settings(file, environ, {})
    assert settings.providers["serper"].base_url == "http://env/x"
    assert settings.providers["serper"].timeout_s == 3
    assert settings.cache.ttl_s["daily"] == 7
    assert settings.cache.ttl_s["live"] == 5


def test_lists_of_folders_are_separated_as_path_is_and_other_lists_by_commas() -> None:
    environ = {
        "GROUNDWIRE_PROVIDER_PATH": "/a:/b b",
        "GROUNDWIRE_ROUTES__NEWS": "exa, tavily",
        "GROUNDWIRE_REPLY__ALLOWED_TOPICS": '["one", "two.*"]',
    }
    settings = load_settings(None, environ, {})
    assert settings.provider_path == [Path("/a"), Path("/b b")]
    assert settings.routes["news"] == ["exa", "tavily"]
    assert settings.reply.allowed_topics == ["one", "two.*"]


def test_own_routes_stand_beside_the_shipped_ones_and_may_replace_them(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("routes: {cheap: [wikipedia], news: [exa]}\nroutes_by_freshness: {live: news}\n")
    shipped, found = load_settings(environ={}), load_settings(file, {})
    assert shipped.routes["default"] and shipped.routes["news"] != ["exa"]
    assert found.routes == {**shipped.routes, "cheap": ["wikipedia"], "news": ["exa"]}
    assert load_settings(file, {"GROUNDWIRE_ROUTES__CHEAP": "jina"}).routes["cheap"] == ["jina"]


def test_a_class_of_questions_sent_to_a_route_there_is_not_is_said_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "groundwire.yaml"
    file.write_text("log: {}\nroutes_by_freshness: {live: nowhere}\n")
    with pytest.raises(
        ConfigurationError, match=r"groundwire\.yaml:2: routes_by_freshness: no route `nowhere`; there are"
    ):
        load_settings(file, {})
    with pytest.raises(ConfigurationError, match="no route `nowhere`"):
        load_settings(None, {"GROUNDWIRE_ROUTES_BY_FRESHNESS__LIVE": "nowhere"})


def test_a_whole_group_may_be_json_and_a_finer_variable_wins_over_it() -> None:
    environ = {"GROUNDWIRE_CACHE__SCOPE": "tenant", "GROUNDWIRE_CACHE": '{"scope": "shared", "batch_rows": 3}'}
    cache = load_settings(None, environ, {}).cache
    assert (cache.scope, cache.batch_rows) == ("tenant", 3)


def test_domain_patterns_fit_into_json() -> None:
    environ = {"GROUNDWIRE_CACHE__TTL_DOMAIN_S": '{"*.gov": 60}'}
    assert load_settings(None, environ, {}).cache.ttl_domain_s == {"*.gov": 60}


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert load_settings(None, {"GROUNDWIRE_BROKERS": ""}, {}).brokers is None


def test_variables_of_others_are_none_of_our_business() -> None:
    assert load_settings(None, {"GROUND": "x", "KAFKA_HOME": "y"}, {}).home == Path(".groundwire")


def test_a_wrong_value_names_variable_key_and_what_would_be_right() -> None:
    message = problem(environ={"GROUNDWIRE_WINDOW__FETCH": "0"})
    assert "GROUNDWIRE_WINDOW__FETCH" in message
    assert "window.fetch" in message
    assert "greater than or equal to 1" in message


def test_a_wrong_value_in_the_file_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("home: x\ncache:\n  scope: everybody\n")
    message = problem(file)
    assert f"{file}:3: cache.scope" in message
    assert "'shared' or 'tenant'" in message


def test_a_wrong_value_in_a_list_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("routes:\n  default:\n    - exa\n    - {no: text}\n")
    assert f"{file}:4" in problem(file)


def test_a_wrong_flag_is_named_as_an_option() -> None:
    assert problem(log={"level": "LOUD"}).startswith("option --level: log.level")


def test_several_wrong_values_are_all_named_in_one_line(tmp_path: Path) -> None:
    message = problem(environ={"GROUNDWIRE_WINDOW__FETCH": "0", "GROUNDWIRE_WINDOW__UNIFY": "x"})
    assert "window.fetch" in message
    assert "window.unify" in message


def test_an_unknown_variable_names_the_nearest_key() -> None:
    assert "GROUNDWIRE_BROKERS" in problem(environ={"GROUNDWIRE_BROKER": "a:1"})
    assert "GROUNDWIRE_CACHE__SCOPE" in problem(environ={"GROUNDWIRE_CASH__SCOPE": "shared"})
    assert "GROUNDWIRE_PROVIDERS__EXA__BASE_URL" in problem(environ={"GROUNDWIRE_PROVIDERS__EXA__BASE_UR": "http://x"})
    assert "Did you mean" not in problem(environ={"GROUNDWIRE_XYZZY": "1"})


def test_an_unknown_key_in_the_file_names_line_and_nearest_key(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("cache:\n  semantik: {}\n")
    message = problem(file)
    assert f"{file}:2: cache.semantik: no such setting" in message
    assert "`semantic`" in message


def test_an_unknown_key_like_no_other_lists_the_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("log: {xyzzy: 1}\n")
    assert "Known: level, format" in problem(file)


def test_a_variable_below_a_plain_value_is_unknown() -> None:
    assert "no such setting" in problem(environ={"GROUNDWIRE_HOME__SWEET": "1"})


def test_a_group_that_is_not_json_says_what_would_be() -> None:
    assert "must be JSON" in problem(environ={"GROUNDWIRE_ROUTES": "exa"})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such settings file" in problem(tmp_path / "nope.yaml")


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("home: x\nroutes: [\n")
    assert f"{file}:3: not valid YAML" in problem(file)


def test_control_characters_are_not_yaml(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("home: \x01\n")
    assert "not valid YAML" in problem(file)


def test_a_file_that_is_not_text_can_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_bytes(b"\xff\xfe\x00home")
    assert "can't be read" in problem(file)


def test_a_file_that_is_a_list_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text("- home\n")
    assert "must be a mapping" in problem(file)


@pytest.mark.parametrize("key", ["GROUNDWIRE_KAFKA__SASL_PASSWORD", "GROUNDWIRE_PROVIDERS__EXA__API_KEYS"])
def test_a_secret_is_never_printed(key: str) -> None:
    secret = "s3cr3t-value"
    environ = {key: secret, "GROUNDWIRE_WINDOW__FETCH": secret}
    assert secret not in problem(environ=environ)
    environ.pop("GROUNDWIRE_WINDOW__FETCH")
    assert secret not in repr(load_settings(None, environ, {}))
