"""A host that is stopped (SIGSTOP): calls end, the host is replaced, doctor says so."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.mcp import host_connection
from holdfast.mcp.frozen_host import answer_seconds, end_frozen_host, host_answers
from holdfast.mcp.host_connection import HostRefused, connect_to_host
from holdfast.mcp.rendezvous import greeting
from tests.mcp.agents import Machine, machine_in
from tests.mcp.test_host import Raw
from tests.stopping import stopped_holder

ANSWER_S = "2"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with machine_in(tmp_path, forks_host=True, HOLDFAST_MCP_ANSWER_S=ANSWER_S) as machine:
        yield machine


@contextmanager
def agent(machine: Machine) -> Iterator[Raw]:
    raw = Raw(machine)
    try:
        raw.initialize()
        yield raw
    finally:
        raw.close()


def freeze(machine: Machine) -> int:
    pid = machine.host
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    return pid


@pytest.mark.long
@pytest.mark.shows("SEC-FROZEN-HOST")
def test_calls_to_a_frozen_host_end_and_the_next_call_has_a_new_host(machine: Machine) -> None:
    with agent(machine) as first, agent(machine) as second:
        frozen = freeze(machine)
        waiting = second.post("tools/call", name="memory_get", arguments={"id": "a"})
        lost = first.tool("memory_get", id="a")
        assert lost["error"]["data"]["reason"] == "host_lost"
        also = second.receive()
        assert (also["id"], also["error"]["data"]["reason"]) == (waiting, "host_lost")
        for raw in (first, second):
            assert "error" not in raw.tool("memory_get", id="a")
        assert machine.host not in (None, frozen)


@pytest.mark.shows("SEC-FROZEN-HOST")
def test_a_new_agent_replaces_a_frozen_host(machine: Machine) -> None:
    with agent(machine):
        frozen = freeze(machine)
        with agent(machine) as new:
            assert "error" not in new.tool("memory_get", id="a")
        assert machine.host not in (None, frozen)


@pytest.mark.long
@pytest.mark.shows("SEC-FROZEN-HOST")
def test_doctor_and_status_say_that_it_is_frozen_and_stop_ends_it(machine: Machine) -> None:
    with agent(machine):
        frozen = freeze(machine)
        said = machine.run("doctor").stdout
        assert f"the background host does not answer: process {frozen} is frozen or busy" in said
        assert "holdfast mcp --stop" in said
        assert "does not answer" in machine.run("mcp", "--status").stdout
        assert machine.run("mcp", "--stop").stdout == "stopped the host\n"
        assert machine.host is None


@pytest.mark.long
@pytest.mark.shows("SEC-FROZEN-HOST")
def test_a_long_call_to_a_host_that_answers_pings_is_not_cut_off(tmp_path: Path) -> None:
    """The call takes many times the deadline, and reports nothing meanwhile."""
    with (
        machine_in(tmp_path, forks_host=True, HOLDFAST_MCP_ANSWER_S="0.2") as machine,
        agent(machine) as raw,
    ):
        raw.tool("manage_index", action="create", path=str(machine.tree), wait=60)
        host = machine.host
        for number in range(300):
            text = "".join(f"def f{number}_{k}():\n    return {k}\n" for k in range(40))
            (machine.tree / f"many_{number}.py").write_text(text)
        done = raw.tool("manage_index", action="reindex", path=str(machine.tree), wait=60)
        assert "error" not in done
        assert machine.host == host


@pytest.mark.shows("SEC-FROZEN-HOST")
def test_only_a_process_that_has_the_lock_is_ended(machine: Machine, tmp_path: Path) -> None:
    with agent(machine):
        frozen = freeze(machine)
        lock = Path(machine.place.lock)
        facts = lock.read_text()
        lock.write_text(facts.replace(str(frozen), str(os.getpid())))
        assert not host_answers(machine.place, 1)
        assert not end_frozen_host(machine.place, 1)
        lock.write_text(facts)
        assert end_frozen_host(machine.place, 1)


@pytest.mark.parametrize(("value", "seconds"), [("", 20), ("x", 20), ("-1", 20), ("3.5", 3.5)])
def test_the_deadline_is_a_setting(value: str, seconds: float) -> None:
    assert answer_seconds({"HOLDFAST_MCP_ANSWER_S": value}) == seconds


@pytest.mark.shows("SEC-FROZEN-SHIM")
def test_a_frozen_shim_holds_up_no_other_agent_and_goes_on_when_it_is_let(machine: Machine) -> None:
    with agent(machine) as frozen, agent(machine) as other:
        os.kill(frozen.process.pid, signal.SIGSTOP)
        try:
            # More than a pipe holds, so that a host that waited for the shim would be blocked.
            for number in range(200):
                frozen.post("tools/call", name="memory_get", arguments={"id": f"{number}"})
            for _ in range(5):
                assert "error" not in other.tool("memory_get", id="a")
        finally:
            os.kill(frozen.process.pid, signal.SIGCONT)
        answers = [frozen.receive() for _ in range(200)]
        assert all("error" not in answer for answer in answers)
        assert "error" not in other.tool("memory_get", id="a")


def served(machine: Machine) -> None:
    """Connect as a shim does, in this process."""
    here = os.getcwd()
    hello = greeting(__version__, machine.environment, None, None)
    try:
        connect_to_host(machine.place, hello, machine.environment).close()
    finally:
        os.chdir(here)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_connection, "STOPPED_S", 0.1)


@pytest.mark.long
@pytest.mark.shows("SEC-FROZEN-HOST")
@pytest.mark.usefixtures("impatient")
def test_a_host_that_is_stopped_before_it_listens_is_replaced(machine: Machine) -> None:
    """It has the lock and no socket: every agent was refused until somebody killed it."""
    with stopped_holder(Path(machine.place.lock)) as pid:
        served(machine)
        assert machine.host not in (None, pid)


@pytest.mark.shows("SEC-FROZEN-SHIM")
@pytest.mark.usefixtures("impatient")
def test_a_shim_that_is_stopped_while_it_starts_the_host_holds_up_no_other(
    machine: Machine,
) -> None:
    """Every other agent waited for the lock of the one that starts the host."""
    with stopped_holder(Path(machine.place.start)) as pid:
        with pytest.raises(HostRefused, match=f"process {pid} is stopped") as refused:
            served(machine)
        assert f"kill -CONT {pid}" in refused.value.hint
    with agent(machine), stopped_holder(Path(machine.place.start)):
        served(machine)  # the host listens, so the lock is not needed
