"""What the test configuration writer writes is what TOML reads."""

import tomllib

from testkit import toml


def test_written_tables_read_back_equal() -> None:
    tables: toml.Tables = {
        "storage": {"state_dir": '/tmp/a "b"\\c'},
        "network": {"resolve": {"docs.test": "127.0.1.1"}, "ports": [443, 8443], "allow_private": ["127.0.0.0/8"]},
        "crawl": {"same_origin_only": True, "rate": 0.5, "user_agent": "jird für Tests"},
        "hosts": [{"match": "*.test", "delay_ms": 0}, {"match": "b.test"}],
    }
    assert tomllib.loads(toml.dump(tables)) == tables


def test_setting_without_value_is_left_out() -> None:
    assert tomllib.loads(toml.dump({"web": {"port": None, "bind": "127.0.0.1"}})) == {"web": {"bind": "127.0.0.1"}}


def test_later_layer_wins_and_lists_and_mappings_are_joined() -> None:
    merged = toml.merge(
        {"network": {"ports": [1], "resolve": {"a.test": "127.0.1.1"}, "ca_file": "x"}, "hosts": [{"match": "a"}]},
        {"network": {"ports": [1, 2], "resolve": {"b.test": "127.0.1.2"}, "ca_file": "y"}, "hosts": [{"match": "b"}]},
    )
    assert merged == {
        "network": {
            "ports": [1, 2],
            "resolve": {"a.test": "127.0.1.1", "b.test": "127.0.1.2"},
            "ca_file": "y",
        },
        "hosts": [{"match": "a"}, {"match": "b"}],
    }
