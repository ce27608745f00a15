"""Settings from a file and the environment: what is accepted, and what is refused in which words."""

import dataclasses
from ipaddress import ip_network
from pathlib import Path

import pytest

from jird_settings import Settings, SettingsError, config_path, load, refuse_open_admin

TOKEN = "t" * 32


def write(folder: Path, text: str) -> Path:
    path = folder / "jird.toml"
    path.write_text(text)
    return path


def refusal(path: Path | None, environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as caught:
        load(path, environ)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_defaults_are_those_of_the_requirements(tmp_path: Path) -> None:
    """J42, J50, J51, J54-J57, J59-J61, J63-J69, S52, U108, U109, J128: the defaults."""
    settings = load(write(tmp_path, ""), {})
    web, crawl, index = settings.web, settings.crawl, settings.index
    assert (web.bind, web.port, web.admin) == ("127.0.0.1", 8890, "token")
    assert (web.max_connections, web.max_connections_per_ip, web.accepts_per_second_per_ip) == (128, 16, 32)
    assert (web.idle_timeout_ms, web.header_timeout_ms, web.body_timeout_ms) == (5_000, 15_000, 30_000)
    assert (crawl.workers, crawl.max_depth, crawl.max_pages, crawl.delay_ms) == (4, 3, 1_000, 500)
    assert (crawl.max_attempts, crawl.retry_base_ms, crawl.retry_max_ms) == (3, 1_000, 60_000)
    assert crawl.same_origin_only
    assert crawl.schemes == ("https",)
    assert (crawl.connections, crawl.address_connections, crawl.frontier_cap) == (64, 4, 1_000_000)
    assert (index.checkpoint_every, index.max_overlay_documents) == (1_000, 1_000)
    assert (index.merge_segments, index.k1, index.b) == (8, 1.2, 0.75)
    assert settings.storage.state_dir == Path("/var/lib/jird")
    assert settings == Settings()


def test_file_sets_values_of_every_kind(tmp_path: Path) -> None:
    """J49, J57, J59, U110, U111: values from the file, in the types that the program uses."""
    settings = load(
        write(
            tmp_path,
            """
            [storage]
            state_dir = "/srv/jird"
            [network]
            allow_private = ["127.0.0.0/8", "fd00::/8"]
            resolve = { "docs.test" = "127.0.1.1" }
            ports = [443, 8443]
            [crawl]
            schemes = ["https", "http"]
            user_agent = "example-crawler (for https://example.org)"
            same_origin_only = "off"
            [index]
            k1 = 2
            [[hosts]]
            match = "*.docs.test"
            delay_ms = 0
            adaptive = false
            connections = 4
            """,
        ),
        {},
    )
    assert settings.storage.state_dir == Path("/srv/jird")
    assert settings.network.allow_private == (ip_network("127.0.0.0/8"), ip_network("fd00::/8"))
    assert settings.network.resolve == {"docs.test": "127.0.1.1"}
    assert settings.network.ports == (443, 8443)
    assert settings.crawl.schemes == ("https", "http")
    assert not settings.crawl.same_origin_only
    assert settings.index.k1 == 2.0
    assert [(rule.match, rule.delay_ms, rule.adaptive, rule.connections) for rule in settings.hosts] == [
        ("*.docs.test", 0, False, 4)
    ]


def test_environment_wins_over_the_file(tmp_path: Path) -> None:
    """S62, J50: a variable that is not empty wins; an empty one counts as not set."""
    path = write(tmp_path, "[web]\nport = 9000\n[crawl]\nmax_pages = 5\n")
    environ = {
        "JIRD_PORT": "9001",
        "JIRD_MAX_PAGES": "",
        "JIRD_ALLOW_PRIVATE": "127.0.0.0/8, 10.0.0.0/8",
        "JIRD_RESOLVE": "a.test=127.0.0.1,b.test=127.0.0.2",
        "JIRD_SAME_ORIGIN_ONLY": "No",
    }
    settings = load(path, environ)
    assert settings.web.port == 9001
    assert settings.crawl.max_pages == 5
    assert [str(network) for network in settings.network.allow_private] == ["127.0.0.0/8", "10.0.0.0/8"]
    assert settings.network.resolve == {"a.test": "127.0.0.1", "b.test": "127.0.0.2"}
    assert not settings.crawl.same_origin_only


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[crawl]\n\ndelay_ms = 700000", 3, "crawl.delay_ms is 700000; it must be 0 to 600000"),  # J57
        ("[crawl]\nmax_depth = 33", 2, "crawl.max_depth is 33; it must be 0 to 32"),  # J55
        ("[crawl]\nmax_pages = 10000001", 2, "it must be 0 to 10000000"),  # J56
        ("[crawl]\nmax_attempts = 17", 2, "it must be 1 to 16"),  # J63
        ("[crawl]\nmax_attempts = 0", 2, "it must be 1 to 16"),
        ("[crawl]\nretry_base_ms = 600001", 2, "it must be 0 to 600000"),  # J64
        ("[crawl]\nretry_max_ms = 3600001", 2, "it must be 0 to 3600000"),  # J65
        ("[index]\ncheckpoint_every = 1000001", 2, "it must be 1 to 1000000"),  # J60
        ("[index]\nmax_overlay_documents = 1000001", 2, "it must be 1 to 1000000"),  # J61
        ("[web]\nmax_connections = 4097", 2, "it must be 1 to 4096"),  # J66
        ("[web]\naccepts_per_second_per_ip = 10001", 2, "it must be 1 to 10000"),  # J68
        ("[web]\nidle_timeout_ms = 300001", 2, "it must be 1 to 300000"),  # J69
        ("[web]\nheader_timeout_ms = 300001", 2, "it must be 1 to 300000"),
        ("[web]\nbody_timeout_ms = 300001", 2, "it must be 1 to 300000"),
        ("[web]\nport = 65536", 2, "it must be 0 to 65535"),
        ("[web]\nport = true", 2, "web.port is true"),
        ('[web]\nport = "8890"', 2, "web.port is '8890'"),
        ("[web]\nport = 8890.0", 2, "web.port is 8890.0"),
        ('[web]\nbind = "example.org"', 2, 'it must be an IP address or "localhost"'),  # J51
        ('[web]\nadmin = "open"', 2, 'it must be "token", "local" or "off"'),
        ('[web]\npath_prefix = "/a/"', 2, "without a slash at its end"),
        ('[web]\npath_prefix = "/.."', 2, "without a slash at its end"),
        ('[crawl]\nsame_origin_only = "maybe"', 2, "it must be true or false"),  # J59
        ("[crawl]\nsame_origin_only = 2", 2, "it must be true or false"),
        ("[crawl]\nschemes = []", 2, "a list of 1 to 2"),
        ('[crawl]\nschemes = ["ftp"]', 2, 'each "https" or "http"'),
        ('[crawl]\nuser_agent = "a\\nb"', 2, "printable ASCII"),
        ('[network]\nallow_private = ["10.0.0.1/8"]', 2, "an address range"),
        ('[network]\nallow_private = "10.0.0.0/8"', 2, "a list of"),
        ('[network]\nresolve = { "a.test" = "b.test" }', 2, "each value an IP address"),
        ('[network]\nresolve = { "A.test" = "127.0.0.1" }', 2, "a host name in lower case"),
        ('[network.resolve]\n"a.test" = "127.0.0.1"\n"b.test" = 7', 1, "network.resolve is"),
        ("[index]\nb = 1.5", 2, "index.b is 1.5; it must be 0 to 1"),
        ("[index]\nk1 = nan", 2, "index.k1 is nan"),
        ('[storage]\nstate_dir = "a\\u0000b"', 2, "without a NUL"),
        ("[crawl]\nspeed = 9", 2, "crawl.speed is an unknown key"),
        ("[web]\n[indx]\nk1 = 1", 2, "indx is an unknown table or key"),
        ("port = 1", 1, "port is an unknown table or key"),
        ("web = 1", 1, "web is 1; it must be a table"),
        ('[[hosts]]\nmatch = "a.test"\n[[hosts]]\n# x\ndelay_ms = 1', 3, "hosts.match is not set"),
        ('[[hosts]]\nmatch = "a.test"\n[[hosts]]\nmatch = "b.test"\ndelay_ms = -1', 5, "hosts.delay_ms is -1"),
        ('[[hosts]]\nmatch = "a.test"\nmatsch = 1', 3, "hosts.matsch is an unknown key"),
        ('[hosts]\nmatch = "a.test"', 1, "hosts must be at most"),
        ('[[hosts]]\nmatch = "a.test"\nheaders = { Host = "x" }', 3, "hosts.headers is not allowed"),
    ],
)
def test_bad_value_is_refused_with_place_setting_value_and_range(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    path = write(tmp_path, text)
    message = refusal(path, {})
    assert message.startswith(f"{path}:{line}: ")
    assert words in message


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("JIRD_PORT", "http", "JIRD_PORT (web.port) is 'http'; it must be 0 to 65535"),
        ("JIRD_DELAY_MS", "600001", "JIRD_DELAY_MS (crawl.delay_ms) is '600001'; it must be 0 to 600000"),
        ("JIRD_MAX_PAGES", "1e3", "it must be 0 to 10000000"),
        ("JIRD_SAME_ORIGIN_ONLY", "maybe", "it must be true or false"),
        ("JIRD_RESOLVE", "a.test", "each value an IP address"),
        ("JIRD_K1", "x", "it must be 0 to 10"),
    ],
)
def test_bad_variable_is_refused_by_its_name(tmp_path: Path, name: str, text: str, words: str) -> None:
    assert words in refusal(write(tmp_path, ""), {name: text})


@pytest.mark.parametrize("word", ["true", "yes", "on", "1", "TRUE"])
def test_words_for_true(tmp_path: Path, word: str) -> None:
    """J59: true/false, yes/no, on/off, 1/0."""
    assert load(write(tmp_path, ""), {"JIRD_SAME_ORIGIN_ONLY": word}).crawl.same_origin_only


@pytest.mark.parametrize("word", ["false", "no", "off", "0", "Off"])
def test_words_for_false(tmp_path: Path, word: str) -> None:
    """J59: true/false, yes/no, on/off, 1/0."""
    assert not load(write(tmp_path, ""), {"JIRD_SAME_ORIGIN_ONLY": word}).crawl.same_origin_only


def test_settings_that_bound_each_other_give_way(tmp_path: Path) -> None:
    """J65: the ceiling is never below the base. J67: one address never has more than all together."""
    path = write(tmp_path, "[crawl]\nretry_base_ms = 90000\n[web]\nmax_connections = 10\n")
    settings = load(path, {})
    assert settings.crawl.retry_max_ms == 90_000
    assert settings.web.max_connections_per_ip == 10


def test_toml_that_cannot_be_parsed_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, "[web]\nport = \n")
    assert "is not valid TOML" in refusal(path, {})
    assert "line 2" in refusal(path, {})


def test_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jird.toml"
    path.write_bytes(b"[web]\n# \xff\n")
    assert refusal(path, {}) == f"{path}:2: is not UTF-8"


def test_missing_file_is_refused_when_it_was_named(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refusal(tmp_path / "none.toml", {})


def test_deeply_nested_toml_is_refused(tmp_path: Path) -> None:
    assert "is not valid TOML" in refusal(write(tmp_path, "a = " + "[" * 5_000 + "]" * 5_000), {})


def test_variable_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    assert config_path(None, {"JIRD_CONFIG": str(path)}) == path
    assert config_path(Path("/other"), {"JIRD_CONFIG": str(path)}) == Path("/other")


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.0.2.1", "127.0.0.2"])
def test_open_bind_without_token_is_refused(tmp_path: Path, bind: str) -> None:
    """J53, J100: without a token only 127.0.0.1, ::1 and localhost."""
    settings = load(write(tmp_path, ""), {"JIRD_BIND": bind})
    with pytest.raises(SettingsError, match="there is no admin token"):
        refuse_open_admin(settings)
    refuse_open_admin(load(write(tmp_path, ""), {"JIRD_BIND": bind, "JIRD_ADMIN_TOKEN": TOKEN}))
    refuse_open_admin(load(write(tmp_path, ""), {"JIRD_BIND": bind, "JIRD_ADMIN": "off"}))


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1", "localhost"])
def test_loopback_bind_needs_no_token(tmp_path: Path, bind: str) -> None:
    """J100."""
    refuse_open_admin(load(write(tmp_path, ""), {"JIRD_BIND": bind, "JIRD_ADMIN": "local"}))


def test_local_admin_needs_a_loopback_bind(tmp_path: Path) -> None:
    settings = load(write(tmp_path, ""), {"JIRD_BIND": "0.0.0.0", "JIRD_ADMIN": "local", "JIRD_ADMIN_TOKEN": TOKEN})
    with pytest.raises(SettingsError, match="needs a loopback address"):
        refuse_open_admin(settings)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().web.port = 1  # type: ignore[misc]
