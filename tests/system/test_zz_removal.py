"""Removing the package; the last module, since nothing is there to be tested afterwards."""

from testkit.installation import Installation


def test_purge_stops_the_service_and_keeps_the_data(running: Installation) -> None:
    machine = running.machine
    machine.run("dpkg", "--purge", "jird")
    assert machine.show("jird", "ActiveState")["ActiveState"] == "inactive"
    assert machine.run("pgrep", "--full", "jird_daemon", check=False).returncode != 0
    assert (machine.root / "var" / "lib" / "jird").is_dir()
    assert not (machine.root / "usr" / "bin" / "jird").exists()
    assert not (machine.root / "etc" / "jird" / "jird.toml").exists()
