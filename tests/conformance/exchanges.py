"""Raw exchanges with the server: each frame in, the frames out, and where the reference differs.

Every exchange states what the specification of the protocol says its answer is, in short form. The
frames themselves are recorded in `recorded/exchanges.json`, with ids and tokens normalised,
so that any change of an answer is seen: `python -m tests.conformance.exchanges --write` records
them again, and refuses an answer that does not fit its short form.

    "ok", "ok seq=3"            accepted; members of `ok` that must have this value
    "ConflictError: stale"      refused by this name, with this text in its message
    "invalid InvalidMessageError"   refused under the requestId `invalid`
    "… > effect a@3 b-"         then an effect with these upserts (`-`: deleted), or `revoked`

An exchange with a `Differs` is answered differently by the reference, for the reason it gives.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.exchange_scenarios import SCENARIOS, Differs, Exchange, Scenario
from tests.conformance.players.store_wire import WirePlayer

FORMAT = 1
RECORDED = Path(__file__).parent / "recorded" / "exchanges.json"

Frames = dict[str, list[Any]]


@dataclass
class Normaliser:
    """Gives ids and tokens that the server made up names by their first appearance."""

    names: dict[str, str] = field(default_factory=dict)

    def learn(self, frame: Any) -> None:
        ok = frame.get("ok") if isinstance(frame, dict) else None
        for member, kind in (("sessionId", "session"), ("sessionToken", "token")):
            value = ok.get(member) if isinstance(ok, dict) else None
            made_up = isinstance(value, str) and value.startswith(("session-", "token-"))
            if made_up and isinstance(value, str) and value not in self.names:
                number = sum(name.startswith(f"${kind}") for name in self.names.values()) + 1
                self.names[value] = f"${kind}{number}"

    def plain(self, value: Any) -> Any:
        """A value with made-up names replaced."""
        if isinstance(value, str):
            return self.names.get(value, value)
        if isinstance(value, dict):
            return {name: self.plain(item) for name, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, list) else value

    def filled(self, text: str) -> str:
        """The text of a frame with our names replaced by the server's."""
        for real, name in sorted(self.names.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(name, real)
        return text


def play(scenario: Scenario) -> Iterator[tuple[Exchange, dict[str, Any]]]:
    """Every exchange of a scenario, with what was recorded of it."""
    player = WirePlayer("later", scenario.options)
    normaliser = Normaliser()
    connections: list[str] = []
    try:
        for exchange in scenario.exchanges:
            _prepare(player, exchange, connections)
            text = normaliser.filled(exchange.text) if exchange.text is not None else None
            if text is not None:
                player.receive(exchange.conn, text)
            out: Frames = {}
            for conn in connections:
                frames = player.step({"op": "drain", "conn": conn})
                for frame in frames:
                    normaliser.learn(frame)
                if frames:
                    out[conn] = [normaliser.plain(frame) for frame in frames]
            record: dict[str, Any] = {"conn": exchange.conn, "in": exchange.shown, "out": out}
            if exchange.before:
                record["before"] = list(exchange.before)
            closed = player.closing(exchange.conn)
            if closed is not None:
                record["closes"] = closed[0]
            if exchange.differs is not None:
                record["reference"] = exchange.differs.reference
                record["reason"] = exchange.differs.reason
            yield exchange, record
    finally:
        player.close()


def _prepare(player: WirePlayer, exchange: Exchange, connections: list[str]) -> None:
    if exchange.conn not in connections:
        connections.append(exchange.conn)
        player.step({"op": "connect", "conn": exchange.conn})
    for event in exchange.before:
        kind, _, rest = event.partition(" ")
        if kind == "flush":
            player.step({"op": "flush"})
        elif kind == "disconnect":
            connections.remove(rest)
            player.step({"op": "disconnect", "conn": rest})
        else:
            assert kind == "branch", event
            name, _, fork = rest.partition(" ")
            more = {"forkSeq": int(fork)} if fork else {}
            player.step({"op": "server.branch.create", "space": "s", "name": name, **more})


def summary(exchange: Exchange, record: dict[str, Any]) -> str:
    """The short form of what was answered."""
    parts = []
    for conn, frames in record["out"].items():
        for frame in frames:
            where = "" if conn == exchange.conn else f"{conn}:"
            parts.append(where + _short(frame, exchange.request_id))
    return " > ".join(parts)


def _short(frame: dict[str, Any], request_id: str | None) -> str:
    if frame["type"] == "session/effect":
        entries = [
            f"{one['id']}-" if one.get("deleted") else f"{one['id']}@{one['seq']}"
            for one in frame["effect"]["upserts"]
        ]
        removed = [f"~{one['id']}" for one in frame["effect"]["removes"]]
        return " ".join(["effect", *entries, *removed])
    if frame["type"] == "session/revoked":
        return "revoked"
    if frame["type"] == "hello.ok":
        return "hello.ok"
    prefix = "" if frame["requestId"] == request_id else f"{frame['requestId']} "
    if "ok" in frame:
        return f"{prefix}ok"
    return f"{prefix}{frame['error']['name']}: {frame['error']['message']}"


def fits(exchange: Exchange, record: dict[str, Any]) -> bool:
    """Whether an answer is what the exchange says it is."""
    found = summary(exchange, record).split(" > ") if record["out"] else [""]
    wanted = exchange.answer.split(" > ")
    if len(found) != len(wanted):
        return False
    own = record["out"].get(exchange.conn, [{}])
    ok: dict[str, Any] = next((frame["ok"] for frame in own if "ok" in frame), {})
    for short, want in zip(found, wanted, strict=True):
        if want.startswith("ok "):
            members = dict(part.split("=", 1) for part in want[3:].split(";"))
            if short != "ok" or any(
                json.dumps(_at(ok, name), separators=(",", ":")) != value
                for name, value in members.items()
            ):
                return False
        elif "Error" in want or "Unsupported" in want:
            name, _, message = want.partition(": ")
            if not short.startswith(f"{name}: ") or message not in short:
                return False
        elif short != want:
            return False
    return True


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = (
            [_at(item, path.split("[].", 1)[1]) for item in value[name[:-2]]]
            if name.endswith("[]")
            else value.get(name)
        )
        if name.endswith("[]"):
            return value
    return value


def recording() -> dict[str, Any]:
    """All exchanges as they are played now."""
    return {
        "format": FORMAT,
        "note": "written by python -m tests.conformance.exchanges --write",
        "scenarios": [
            {
                "name": scenario.name,
                "from": scenario.source,
                "exchanges": [record for _, record in play(scenario)],
            }
            for scenario in SCENARIOS
        ],
    }


def written(recorded: dict[str, Any]) -> str:
    """The text of the file: one exchange per line, so that a change is one line."""
    scenarios = []
    for one in recorded["scenarios"]:
        lines = ",\n".join(json.dumps(record) for record in one["exchanges"])
        head = json.dumps({"name": one["name"], "from": one["from"]})[:-1]
        scenarios.append(f'{head}, "exchanges": [\n{lines}\n]}}')
    head = json.dumps({"format": recorded["format"], "note": recorded["note"]})[:-1]
    return f'{head}, "scenarios": [\n' + ",\n".join(scenarios) + "\n]}\n"


def main() -> None:
    wrong = [
        f"{scenario.name}: {record['in']}\n   wanted {exchange.answer}\n"
        f"   found  {summary(exchange, record)}\n   {json.dumps(record['out'])[:600]}"
        for scenario in SCENARIOS
        for exchange, record in play(scenario)
        if not fits(exchange, record)
    ]
    for line in wrong:
        print(line)
    count = sum(len(scenario.exchanges) for scenario in SCENARIOS)
    differing = sum(e.differs is not None for s in SCENARIOS for e in s.exchanges)
    print(f"{count} exchanges, {differing} answered differently by the reference")
    if "--write" in sys.argv and not wrong:
        RECORDED.write_text(written(recording()), encoding="utf-8")


__all__ = ["Differs", "Exchange", "Scenario", "fits", "main", "play", "recording", "summary"]

if __name__ == "__main__":
    main()
