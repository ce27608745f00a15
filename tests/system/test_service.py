"""jird as a service of a real systemd, installed from the package: start, use, crashes, reload, stop."""

import json
import re

import pytest

from testkit.installation import Installation
from testkit.machine import Machine
from testkit.processes import wait_until

SERVICES = ("jird.service", "jird-web.service")


def crawl(running: Installation) -> None:
    """Crawl the handbook, and wait for the end."""
    running.machine.run("jirdctl", "crawl", "start", f"{running.origin}/", "--max-depth", "5", "--wait", timeout_s=120)


def pids_of(machine: Machine, module: str) -> list[int]:
    """Process ids, as seen inside, of the daemon's processes that run a module."""
    found = machine.run("pgrep", "--full", f"jird_daemon[.]{module}", check=False).stdout.split()
    return [int(pid) for pid in found]


def kill(machine: Machine, pid: int) -> None:
    """SIGKILL inside."""
    machine.run("kill", "-KILL", str(pid))


def urls(answer: str) -> list[str]:
    """The URLs of a search's JSON answer."""
    return [result["url"] for result in json.loads(answer)["results"]]


def test_installing_makes_users_and_enables_both_services(installation: Installation) -> None:
    machine = installation.machine
    assert machine.run("systemctl", "is-enabled", *SERVICES).stdout.split() == ["enabled", "enabled"]
    for user in ("jird", "jird-web"):
        assert machine.run("getent", "passwd", user).stdout.endswith(":/usr/sbin/nologin\n")
    machine.run("getent", "group", "jird-admin")


def test_start_brings_both_services_up(running: Installation) -> None:
    """S2: daemon and frontend are units of their own."""
    machine = running.machine
    for unit in SERVICES:
        shown = machine.show(unit, "ActiveState", "SubState", "Result")
        assert shown == {"ActiveState": "active", "SubState": "running", "Result": "success"}
    assert machine.show("jird", "StatusText")["StatusText"] != ""


def test_sockets_belong_to_the_groups_that_may_open_them(running: Installation) -> None:
    """F121: the frontend's group opens search.sock, members of jird-admin open admin.sock, others open neither."""
    machine = running.machine
    listed = machine.run("stat", "--format=%a %U %G %F", "/run/jird/search.sock", "/run/jird/admin.sock").stdout
    assert listed.splitlines() == ["660 jird jird-web socket", "660 jird jird-admin socket"]
    assert machine.run("jirdctl", "status", user="nobody", check=False).returncode == 4
    machine.run("useradd", "--groups", "jird-admin", "keeper", check=False)
    machine.run("jirdctl", "status", user="keeper")


def test_crawled_pages_are_found_through_the_reverse_proxy(running: Installation) -> None:
    crawl(running)
    answer = running.search("rhubarb upturned bucket")
    assert urls(answer)[0] == f"{running.origin}/crops/rhubarb.html"


def test_journal_finds_the_lines_of_an_origin(running: Installation) -> None:
    crawl(running)
    entries = running.machine.journal("--unit=jird", f"JIRD_ORIGIN={running.origin}")
    assert any(entry.get("JIRD_URL", "").startswith(running.origin) for entry in entries)
    assert all(entry["JIRD_ORIGIN"] == running.origin for entry in entries)
    assert {"JIRD_EVENT", "MESSAGE", "PRIORITY"} <= entries[0].keys()


def test_parser_cannot_leave_its_confinement_under_the_unit(running: Installation) -> None:
    """J5: a parse worker under the unit's own filters still confines itself, and each forbidden action is refused."""
    output = running.machine.run("jirdctl", "debug", "sandbox", "--json").stdout
    probes = json.loads(output)["probes"]
    assert {"open_file", "connect", "fork"} <= {probe["name"] for probe in probes}
    assert [probe for probe in probes if not probe["is_refused"]] == []


def test_killed_main_process_comes_back_with_frontend_and_data(running: Installation) -> None:
    """S40: systemd starts and watches the daemon, and the daemon its own processes."""
    crawl(running)
    machine = running.machine
    before = machine.main_pid("jird")
    kill(machine, before)
    wait_until(lambda: machine.main_pid("jird") not in (0, before), "systemd starts jird again")
    machine.wait_active(*SERVICES)
    wait_until(lambda: bool(pids_of(machine, "ingest")), "ingest is there again")
    assert len(pids_of(machine, "ingest")) == 1
    # What had not been checkpointed is indexed again from the store, beside the searches that are answered meanwhile.
    wanted = f"{running.origin}/crops/leek.html"
    wait_until(lambda: wanted in urls(running.search("leek seedlings deep holes")), "the pages are found again")


def test_killed_ingest_is_replaced_while_search_stays_up(running: Installation) -> None:
    crawl(running)
    machine = running.machine
    main, (ingest,) = machine.main_pid("jird"), pids_of(machine, "ingest")
    kill(machine, ingest)
    assert urls(running.search("garlic clove winter"))
    wait_until(lambda: pids_of(machine, "ingest") not in ([], [ingest]), "serve starts ingest again")
    assert machine.main_pid("jird") == main
    machine.wait_for(["jirdctl", "crawl", "list"], "ingest answers")
    crawl(running)


def test_killed_parser_is_replaced(running: Installation) -> None:
    crawl(running)
    machine = running.machine
    before = pids_of(machine, "parse")
    kill(machine, before[0])
    crawl(running)
    wait_until(lambda: len(pids_of(machine, "parse")) == len(before), "the parser is replaced")
    assert before[0] not in pids_of(machine, "parse")


def test_killed_frontend_comes_back(running: Installation) -> None:
    machine = running.machine
    before = machine.main_pid("jird-web")
    kill(machine, before)
    wait_until(lambda: machine.main_pid("jird-web") not in (0, before), "systemd starts jird-web again")
    machine.wait_active("jird-web")
    running.search("anything")


def test_hung_main_process_is_killed_and_restarted_by_the_watchdog(running: Installation) -> None:
    machine = running.machine
    machine.write("/run/systemd/system/jird.service.d/watchdog.conf", "[Service]\nWatchdogSec=3\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "jird")
    machine.wait_active(*SERVICES)
    before = machine.main_pid("jird")
    machine.run("kill", "-STOP", str(before))
    wait_until(lambda: machine.main_pid("jird") not in (0, before), "the watchdog acts", timeout_s=30)
    machine.wait_active(*SERVICES)
    machine.run("rm", "-r", "/run/systemd/system/jird.service.d")
    machine.run("systemctl", "daemon-reload")


def test_reload_with_a_fault_keeps_the_service_as_it_was(running: Installation) -> None:
    machine = running.machine
    before = machine.main_pid("jird")
    running.write_config({"crawl": {"delay_ms": 700_000}})
    machine.run("systemctl", "reload", "jird", check=False)
    wait_until(
        lambda: any("delay_ms" in entry["MESSAGE"] for entry in machine.journal("--unit=jird", f"_PID={before}")),
        "the refusal is logged",
    )
    assert machine.main_pid("jird") == before
    assert machine.is_active("jird")


def test_bad_configuration_fails_the_start_once_and_says_why(running: Installation) -> None:
    machine = running.machine
    machine.run("systemctl", "stop", "jird")
    running.write_config({"crawl": {"delay_ms": 700_000}})
    assert machine.run("systemctl", "start", "jird", check=False).returncode != 0
    shown = machine.show("jird", "ActiveState", "ExecMainStatus", "NRestarts")
    assert (shown["ActiveState"], shown["ExecMainStatus"]) == ("failed", "2")
    entries = machine.journal("--unit=jird", "--lines=20")
    assert any(re.search(r"crawl\.delay_ms is 700000", entry["MESSAGE"]) for entry in entries)


@pytest.mark.parametrize(("token", "status"), [("x" * 40, "200"), ("y" * 40, "401"), ("", "401")])
def test_admin_token_comes_from_a_credential(running: Installation, token: str, status: str) -> None:
    """J52: the routes that change something need the token that systemd passed on."""
    machine = running.machine
    machine.write("/etc/jird/admin-token", "x" * 40 + "\n", 0o600)
    drop_in = "[Service]\nLoadCredential=admin-token:/etc/jird/admin-token\n"
    machine.write("/run/systemd/system/jird.service.d/token.conf", drop_in)
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", "jird")
    machine.wait_active(*SERVICES)
    header = ["--header", f"Authorization: Bearer {token}"] if token else []
    options = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--request", "POST", *header]
    done = machine.run("curl", *options, "http://127.0.0.1:8890/api/index/checkpoint")
    machine.run("rm", "-r", "/run/systemd/system/jird.service.d")
    machine.run("systemctl", "daemon-reload")
    assert done.stdout == status


def test_stop_ends_the_frontend_first_and_both_with_success(running: Installation) -> None:
    """J45: the stop is ordered, and everything ends with exit code 0."""
    machine = running.machine
    machine.run("systemctl", "stop", "jird")
    ends = {}
    for unit in SERVICES:
        shown = machine.show(unit, "ActiveState", "Result", "ExecMainStatus", "ExecMainExitTimestampMonotonic")
        assert (shown["ActiveState"], shown["Result"], shown["ExecMainStatus"]) == ("inactive", "success", "0")
        ends[unit] = int(shown["ExecMainExitTimestampMonotonic"])
    assert ends["jird-web.service"] < ends["jird.service"]
    assert machine.run("pgrep", "--full", "jird_daemon", check=False).returncode != 0
    assert machine.run("ls", "/run/jird/admin.sock", check=False).returncode != 0


def test_restarted_machine_state_answers_as_before(running: Installation) -> None:
    crawl(running)
    before = urls(running.search("beans"))
    running.machine.run("systemctl", "restart", "jird")
    running.machine.wait_active(*SERVICES)
    assert urls(running.search("beans")) == before != []


def test_upgrade_keeps_configuration_and_data_and_starts_again(running: Installation) -> None:
    crawl(running)
    machine = running.machine
    config = (machine.root / "etc" / "jird" / "jird.toml").read_text()
    machine.run("dpkg", "--install", "--force-confold", "/srv/jird.deb")
    machine.wait_active(*SERVICES)
    assert (machine.root / "etc" / "jird" / "jird.toml").read_text() == config
    assert urls(running.search("leek seedlings"))
