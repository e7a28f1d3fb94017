"""The server over real sockets: `python -m bench sync`.

Baselines in the same run: a bare WebSocket echo of the same frames on the same web server, and the
store's own commit rate without a server. The server has one process, the clients another.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Semaphore
from typing import Any

from bench.arguments import takes_none
from bench.peer import Socket, framed
from bench.timing import Row, median_rate, percentiles, report
from bench.watchers import Line, Watchers
from holdfast.store.store import Store, open_store

SPACE = "did:key:z6Mk-bench"
FLAGS = dict.fromkeys(
    ("richStorableValues", "unifiedJsonEncoding", "canonicalHashing", "modernSchemaHash"), False
)
CLIENTS = 32
WATCHERS = 100
IDLE = 1_000
ROUNDS = 5

ECHO = """
import sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        event = await receive()
        if event["type"] == "websocket.disconnect":
            return
        await send({"type": "websocket.send", "text": event["text"]})
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)
Server(uvicorn.Config(app, port=0, ws=sys.argv[1], lifespan="off", log_level="warning",
                      access_log=False, ws_per_message_deflate=False)).run()
"""


def document(number: int) -> dict[str, Any]:
    return {"value": {"n": number, "title": "a note of ordinary length", "tags": ["one", "two"]}}


def commit(number: int, id: str) -> dict[str, Any]:
    return {
        "localSeq": number,
        "reads": {"confirmed": [], "pending": []},
        "operations": [{"op": "set", "id": id, "value": document(number)}],
    }


class Peer:
    """One connection with one session."""

    def __init__(self, socket: Socket, session: str) -> None:
        self.socket, self.session = socket, session
        self.number = 0

    @classmethod
    async def open(cls, url: str, session: str) -> Peer:
        socket = await Socket.connect(url)
        peer = cls(socket, session)
        await peer.say({"type": "hello", "protocol": "memory/v2", "flags": FLAGS})
        await peer.say(
            {
                "type": "session.open",
                "requestId": "o",
                "space": SPACE,
                "session": {"sessionId": session},
            }
        )
        return peer

    def frame(self, kind: str, **members: Any) -> str:
        head = {"type": kind, "requestId": "r", "space": SPACE, "sessionId": self.session}
        return json.dumps({**head, **members})

    async def say(self, message: dict[str, Any]) -> Any:
        self.socket.send(json.dumps(message))
        return json.loads(await self.socket.recv())

    async def ask(self, kind: str, **members: Any) -> Any:
        self.socket.send(self.frame(kind, **members))
        return json.loads(await self.socket.recv())

    def next_commit(self, id: str | None = None) -> str:
        self.number += 1
        name = id or f"of:{self.session}-{self.number}"
        return self.frame("transact", commit=commit(self.number, name))


def watch(name: str, id: str, schema: Any = False) -> dict[str, Any]:
    root = {"id": id, "selector": {"path": [], "schema": schema}}
    return {"id": name, "kind": "graph", "query": {"roots": [root]}}


async def rate_of(times: int, act: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    for _ in range(times):
        await act()
    return times / (time.perf_counter() - start)


async def middle(act: Callable[[], Awaitable[float]]) -> float:
    return sorted([await act() for _ in range(ROUNDS)])[ROUNDS // 2]


async def echo_rate(url: str, frame: str, clients: int = 1, each: int = 300) -> float:
    """Round trips per second of so many clients, each waiting for its own."""
    sockets = [await Socket.connect(url) for _ in range(clients)]

    async def run(socket: Socket) -> None:
        for _ in range(each):
            socket.send(frame)
            await socket.recv()

    async def once() -> float:
        start = time.perf_counter()
        await asyncio.gather(*(run(socket) for socket in sockets))
        return clients * each / (time.perf_counter() - start)

    found = await middle(once)
    for socket in sockets:
        socket.close()
    return found


def store_rate(home: Path) -> float:
    """Commits per second of the store alone, one after the other."""
    store = open_store(str(home), "did:key:z6Mk-alone")
    numbers = iter(range(1, 10_000_000))

    def serially() -> int:
        for _ in range(200):
            number = next(numbers)
            store.transact("S", commit(number, f"of:{number}"))
        return 200

    serial = median_rate(serially)
    store.close()
    return serial


def _grouped(store: Store, numbers: Any) -> int:
    room, done = Semaphore(CLIENTS * 8), Semaphore(0)

    def told(_: object) -> None:
        room.release()
        done.release()

    for _ in range(3_000):
        room.acquire()
        number = next(numbers)
        store.submit("S", commit(number, f"of:{number}"), told)
    for _ in range(3_000):
        done.acquire()
    return 3_000


async def pipelined(peers: list[Peer], each: int = 100) -> float:
    """Commits per second when every client sends all of its own before it waits."""
    frames = [b"".join(framed(peer.next_commit()) for _ in range(each)) for peer in peers]

    async def run(peer: Peer, own: bytes) -> None:
        peer.socket.send_framed(own)
        for _ in range(each):
            await peer.socket.recv()

    start = time.perf_counter()
    await asyncio.gather(*(run(peer, own) for peer, own in zip(peers, frames, strict=True)))
    return len(peers) * each / (time.perf_counter() - start)


async def in_turns(home: Path, clients: list[Peer]) -> tuple[float, float, float]:
    """The store's groups, the server's pipeline, and the middle of what they are to each other.

    One round each in turns: a machine that slows down slows both.
    """
    store = open_store(str(home), "did:key:z6Mk-groups")
    numbers = iter(range(1, 10_000_000))
    rounds = []
    for _ in range(2 * ROUNDS):
        start = time.perf_counter()
        done = _grouped(store, numbers)
        grouped = done / (time.perf_counter() - start)
        rounds.append((grouped, await pipelined(clients)))
    store.close()
    return (
        statistics.median(grouped for grouped, _ in rounds),
        statistics.median(piped for _, piped in rounds),
        statistics.median(piped / grouped for grouped, piped in rounds),
    )


def fan_out(url: str, process: int) -> tuple[list[float], float]:
    """Seconds from sending a commit until the last of 100 watchers has it, and the CPU it took."""

    def opened(session: str) -> Line:
        line = Line(url)
        line.say({"type": "hello", "protocol": "memory/v2", "flags": FLAGS})
        line.say(
            {
                "type": "session.open",
                "requestId": "o",
                "space": SPACE,
                "session": {"sessionId": session},
            }
        )
        return line

    def about(session: str, kind: str, **members: Any) -> dict[str, Any]:
        head = {"type": kind, "requestId": "r", "space": SPACE, "sessionId": session}
        return {**head, **members}

    watchers = []
    for number in range(WATCHERS):
        line = opened(f"fan-{number}")
        watches = [watch("w", "of:shared")]
        line.say(about(f"fan-{number}", "session.watch.set", watches=watches))
        watchers.append(line)
    everyone = Watchers(opened("fan-writer"), watchers)
    samples = []
    before = cpu_seconds(process)
    for number in range(1, 301):
        message = about("fan-writer", "transact", commit=commit(number, "of:shared"))

        def has_it(frame: Any, number: int = number) -> bool:
            (upsert,) = frame["effect"]["upserts"]
            return bool(upsert["doc"]["value"]["n"] == number)

        samples.append(everyone.seconds_to_last(json.dumps(message), has_it))
    used = cpu_seconds(process) - before
    everyone.close()
    return samples, used / 300


async def many_watches(url: str) -> list[float]:
    """Seconds for one watch.add of 100 watches."""
    peer = await Peer.open(url, "watches")
    samples = []
    for turn in range(10):
        watches = [watch(f"{turn}-{n}", f"of:S-{turn * 100 + n}") for n in range(100)]
        start = time.perf_counter()
        await peer.ask("session.watch.add", watches=watches)
        samples.append(time.perf_counter() - start)
    peer.socket.close()
    return samples


async def graph_query(url: str) -> list[float]:
    """Seconds for one warm query of a recursive graph of 32 documents."""
    peer = await Peer.open(url, "query")
    operations = []
    for number in range(32):
        value: dict[str, Any] = {"n": number}
        if number < 31:
            value["next"] = {"/": {"link@1": {"id": f"of:g{number + 1}", "path": []}}}
        operations.append({"op": "set", "id": f"of:g{number}", "value": {"value": value}})
    await peer.ask("transact", commit={"localSeq": 1, "operations": operations})
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    query = {"roots": [{"id": "of:g0", "selector": {"path": [], "schema": schema}}]}
    samples = []
    for _ in range(100):
        start = time.perf_counter()
        answer = await peer.ask("graph.query", query=query)
        samples.append(time.perf_counter() - start)
        assert len(answer["ok"]["entities"]) == 32
    peer.socket.close()
    return samples


async def idle_memory(url: str, process: int) -> float:
    """Megabytes that the server holds with 1,000 idle watchers."""
    peers = []
    for number in range(IDLE):
        peer = await Peer.open(url, f"idle-{number}")
        await peer.ask("session.watch.set", watches=[watch("w", f"of:idle-{number}")])
        peers.append(peer)
    resident = resident_of(process)
    for peer in peers:
        peer.socket.close()
    return resident


async def measure(url: str, process: int, echoes: dict[str, str], home: Path) -> list[Row]:
    peer = await Peer.open(url, "S")
    sample = peer.next_commit()
    peer.number = 0
    echo = {name: await echo_rate(address, sample) for name, address in echoes.items()}
    many = {name: await echo_rate(a, sample, CLIENTS, 60) for name, a in echoes.items()}
    store_serial = store_rate(home / "alone")

    async def one() -> None:
        peer.socket.send(peer.next_commit())
        await peer.socket.recv()

    serial = await middle(lambda: rate_of(200, one))
    clients = [await Peer.open(url, f"C{n}") for n in range(CLIENTS)]
    before = cpu_seconds(process)
    store_grouped, piped, of_groups = await in_turns(home / "alone", clients)
    piped_cpu = (cpu_seconds(process) - before) / (2 * ROUNDS * CLIENTS * 100)
    for client in clients:
        client.socket.close()
    samples, fan_cpu = fan_out(url, process)
    fan = percentiles(samples)
    added = percentiles(await many_watches(url))
    queried = percentiles(await graph_query(url))
    memory = await idle_memory(url, process)
    peer.socket.close()
    bare = echo["websockets-sansio"]
    # A round trip that ends on the disk takes both, one after the other.
    bound = 1 / (1 / bare + 1 / store_serial)
    rows = [Row(f"echo, one client, uvicorn {name}", rate, "/s") for name, rate in echo.items()]
    rows += [
        Row(f"echo, {CLIENTS} clients, uvicorn {name}", rate, "/s") for name, rate in many.items()
    ]
    rows += [
        Row("store alone, one after the other", store_serial, "/s"),
        Row("store alone, in groups", store_grouped, "/s"),
        Row("transact, one after the other", serial, "/s", note="reference: 570-590 /s"),
        _at_least("… of an echo and a commit in a row", serial / bound, 0.5),
        Row(f"transact, {CLIENTS} clients pipelined", piped, "/s", note="reference: 690-1,030 /s"),
        _at_least("… of the store's groups, in turns", of_groups, 0.7),
        Row("… the server's CPU per commit", piped_cpu * 1e6, "us"),
        _at_most(f"commit to last of {WATCHERS} watchers, p50", fan["p50"] / 1e3, 5, "14-22 ms"),
        _at_most(f"commit to last of {WATCHERS} watchers, p99", fan["p99"] / 1e3, 15),
        Row("… the server's CPU per commit and its watchers", fan_cpu * 1e3, "ms"),
        _at_most("watch.add of 100 watches, p50", added["p50"] / 1e3, 10, "57-65 ms"),
        _at_most("graph.query of 32 documents, p50", queried["p50"] / 1e3, 2, "6-9 ms"),
        _at_most(f"server with {IDLE} idle watchers", memory, 300, unit="MB"),
    ]
    return rows


def _at_least(what: str, value: float, goal: float) -> Row:
    return Row(what, value, "x", f">= {goal}", value >= goal)


def _at_most(what: str, value: float, goal: float, reference: str = "", unit: str = "ms") -> Row:
    note = f"reference: {reference}" if reference else ""
    return Row(what, value, unit, f"<= {goal}", value <= goal, note)


def resident_of(process: int) -> float:
    """Megabytes of memory that a process holds."""
    with Path(f"/proc/{process}/status").open() as file:
        (held,) = [line.split()[1] for line in file if line.startswith("VmRSS")]
    return int(held) / 1024


def cpu_seconds(process: int) -> float:
    """What a process has used of the processor so far; a busy machine does not change it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str] | None = None) -> int:
    """Start the server and the echoes, measure, stop them."""
    takes_none("sync", __doc__, arguments)
    processes: list[subprocess.Popen[str]] = []

    def start(*command: str) -> str:
        process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOLDFAST_HOME": str(home / "home")},
        )
        processes.append(process)
        assert process.stdout is not None
        return process.stdout.readline()

    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        try:
            store = str(home / "spaces")
            serve = ("-m", "holdfast.cli.main", "serve", "--port", "0", "--json", "--show-token")
            served = json.loads(start(*serve, "--store", store))
            # The token as the user of the address, where the bench's own client looks for it.
            url = served["url"].replace("://", f"://{served['token']}@")
            server = processes[0].pid
            echoes = {
                name: f"ws://127.0.0.1:{start('-c', ECHO, name).strip()}/"
                for name in ("websockets-sansio", "websockets")
            }
            rows = asyncio.run(measure(url, server, echoes, home))
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(10)
    return report("sync", rows)


if __name__ == "__main__":
    raise SystemExit(main())
