"""Plays recorded sessions of the read tool against ours.

Each scenario is played twice. First *as the reference*: its candidates only, its strictness about
old metadata, its trimming of patches; where no repaired defect is involved, every text, mode, piece
of metadata and trust map must be the recorded one. Scenarios that a repaired defect changes have
our own expectation, with the reason, in `expectations/reading.json`. Then *as we ship*: there the
context window itself is the judge, and every marker and diff must be true of the text shown.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import ReadingError
from holdfast.reading import commands
from holdfast.reading import scope as scopes
from holdfast.reading.answer import Policy
from holdfast.reading.disk import read_once
from holdfast.reading.hosts.pi_entries import Rules
from holdfast.reading.objects import Objects
from holdfast.reading.paths import Place, Request
from holdfast.reading.reader import Reader, Settings
from holdfast.reading.result import Answer
from holdfast.reading.trust import OVERLAY_SEQ
from tests.conformance.players import Case
from tests.reading import window
from tests.reading.pi_session import PiSession

EXPECTATIONS = Path(__file__).parents[1] / "expectations" / "reading.json"
FORMAT = "readcache-golden/1"


def cases(folder: Path) -> Iterator[Case]:
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        assert document["format"] == FORMAT, f"unknown format {document['format']!r}"
        for scenario in document["scenarios"]:
            yield scenario["id"], _player(scenario)


def _player(scenario: dict[str, Any]) -> Callable[[], None]:
    def play() -> None:
        ours = json.loads(EXPECTATIONS.read_text(encoding="utf-8")).get(scenario["id"])
        play_as_reference(scenario, ours)
        play_as_shipped(scenario)

    return play


def play_as_reference(scenario: dict[str, Any], ours: dict[str, Any] | None) -> None:
    """Every step as recorded, or as we state it where a repaired defect is involved."""
    with World(scenario, reference=True) as world:
        for number, step in enumerate(scenario["steps"]):
            observed = world.play(step)
            if "expect" not in step:
                continue
            expected = step["expect"]
            if scenario["affected_by"]:
                if ours is None:
                    continue
                expected = ours["steps"].get(str(number), expected)
            _compare(expected, observed, f"{scenario['id']} step {number} {step['op']}")


def play_as_shipped(scenario: dict[str, Any]) -> None:
    """With our own defaults, the window being the judge."""
    with World(scenario, reference=False) as world:
        for step in scenario["steps"]:
            world.play(step)


def _compare(expected: dict[str, Any], observed: dict[str, Any], where: str) -> None:
    for name, value in expected.items():
        assert name in observed, f"{where}: nothing to compare {name!r} with"
        assert observed[name] == value, (
            f"{where}: {name}\nexpected {_short(value)}\nobserved {_short(observed[name])}"
        )


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 1500 else f"{text[:700]} … {text[-700:]}"


def expand(content: dict[str, Any]) -> bytes:
    """The bytes a content description stands for, checked against its digest."""
    data: bytes
    if "text" in content:
        data = content["text"].encode("utf-8")
    elif "b64" in content:
        data = base64.b64decode(content["b64"])
    elif "repeat" in content:
        rule = {"prefix": "", "suffix": ""} | content | content["repeat"]
        text = rule["prefix"] + rule["unit"] * rule["count"] + rule["suffix"]
        data = text.encode("utf-8")
    else:
        data = _generate(content | content["gen"]).encode("utf-8")
    assert hashlib.sha256(data).hexdigest() == content["sha256"], "content does not match its hash"
    return data


def _generate(rule: dict[str, Any]) -> str:
    lines: list[str] = []
    before, overrides = rule.get("insert_before", {}), rule.get("overrides", {})
    deleted, alt = {int(n) for n in rule.get("deleted", rule.get("delete", ()))}, rule.get("alt")
    for n in range(1, rule["count"] + 1):
        inserted = before.get(str(n), [])
        lines += [inserted] if isinstance(inserted, str) else inserted
        if n in deleted:
            continue
        if str(n) in overrides:
            lines.append(overrides[str(n)])
            continue
        template = rule["template"]
        if alt and alt["from"] <= n <= alt["to"] and (n - alt["from"]) % alt.get("every", 1) == 0:
            template = alt["template"]
        lines.append(template.replace("{n}", str(n)))
    appended = rule.get("append", [])
    lines += [appended] if isinstance(appended, str) else appended
    newline: str = rule.get("newline", "\n")
    return newline.join(lines) + (newline if rule.get("final_newline") else "")


class World:
    """A working directory, a home, sessions and a reader, as a scenario's steps change them."""

    def __init__(self, scenario: dict[str, Any], *, reference: bool) -> None:
        self.reference = reference
        # Where the repair of that defect is not in question, patches end as the reference's do.
        self.trims = reference and not scenario["affected_by"]
        self.persisted = bool(scenario.get("persisted"))
        # Metadata that a scenario forges proves texts nobody was shown: nothing to judge there.
        self.judged = not reference and not any(
            step["op"] == "append" and step.get("details") for step in scenario["steps"]
        )
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="holdfast-case-"))
        self.cwd, self.home = f"{self.root}/cwd", f"{self.root}/home"
        os.mkdir(self.cwd)
        os.mkdir(self.home)
        self.clock = 1_777_885_200_000
        self.names: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.facts: dict[str, window.Fact] = {}
        self.pending: list[window.Fact] = []
        self.between: Callable[[], None] | None = None
        self.session = self._new_session("main")
        self.sessions = {"main": self.session}
        self.reader = self._new_reader()

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def now_ms(self) -> int:
        self.clock += 1
        return self.clock

    def _new_id(self) -> str:
        return f"{len(self.names) + self.now_ms():08x}"

    def _new_session(self, name: str) -> PiSession:
        path = f"{self.root}/{name}.jsonl" if self.persisted else None
        return PiSession(
            f"session-{name}",
            self.cwd,
            path=path,
            now_ms=self.now_ms,
            new_id=self._new_id,
            wait_for_assistant=True,
            rules=Rules(aliases=not self.reference),
        )

    def _new_reader(self) -> Reader:
        return Reader(
            Place(self.cwd, self.home),
            Objects(f"{self.cwd}/.pi/readcache"),
            now_ms=lambda: self.clock,
            monotonic=lambda: 0.0,
            settings=Settings(policy=Policy(union=not self.reference, trim_patches=self.trims)),
            read_file=self._read_file,
        )

    def _read_file(self, path: str) -> tuple[bytes, str]:
        found = read_once(path)
        if self.between is not None:
            self.between()
        return found

    def play(self, step: dict[str, Any]) -> dict[str, Any]:
        """Do one step; returns what was observed, in the words of `expect`."""
        method = getattr(self, f"_play_{step['op']}", None)
        assert method is not None, f"unknown step {step['op']!r}"
        observed: dict[str, Any] = method(self._expanded(step)) or {}
        observed.setdefault("leaf_after", self._name(self.session.leaf))
        observed.setdefault("trust_after", self._trust())
        folded: dict[str, Any] = self._folded(observed)
        return folded

    # Paths and names

    def _expanded(self, value: Any) -> Any:
        return self._replaced(value, {"$CWD": self.cwd, "$HOME": self.home})

    def _folded(self, value: Any) -> Any:
        return self._replaced(value, {self.cwd: "$CWD", self.home: "$HOME"})

    def _replaced(self, value: Any, table: dict[str, str]) -> Any:
        if isinstance(value, str):
            for old, new in table.items():
                value = value.replace(old, new)
            return value
        if isinstance(value, list):
            return [self._replaced(item, table) for item in value]
        if isinstance(value, dict):
            return {
                self._replaced(key, table): self._replaced(item, table)
                for key, item in value.items()
            }
        return value

    def _name(self, entry: str | None) -> str | None:
        return None if entry is None else self.names[entry]

    def _named(self, entry: str, alias: str | None = None) -> str:
        """Give the entry the scenario's name for it: the next `e<N>` unless it has its own."""
        name = alias or f"e{len(self.names) + 1}"
        self.names[entry], self.ids[name] = name, entry
        self.pending.clear()
        return name

    def _id(self, name: str | None) -> str | None:
        return None if name is None else self.ids.get(name, name)

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.cwd}/{path}"

    def _trust(self) -> dict[str, dict[str, Any]]:
        holdings = self.reader.holdings(self.session)
        out: dict[str, dict[str, Any]] = {}
        overlay = sorted(
            trust.seq
            for path in holdings.paths()
            for trust in holdings.scopes(path).values()
            if trust.seq > OVERLAY_SEQ
        )
        for path in holdings.paths():
            for scope, trust in holdings.scopes(path).items():
                seq: int | str = trust.seq
                if trust.seq > OVERLAY_SEQ:
                    seq = f"overlay#{overlay.index(trust.seq) + 1}"
                out.setdefault(path, {})[scopes.key(scope)] = {"hash": trust.digest, "seq": seq}
        return out

    # Files

    def _play_write(self, step: dict[str, Any]) -> None:
        self._write(step["path"], step["content"])

    def _write(self, path: str, content: dict[str, Any]) -> None:
        target = Path(self._path(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(expand(content))

    def _play_mkdir(self, step: dict[str, Any]) -> None:
        os.makedirs(self._path(step["path"]))

    def _play_delete(self, step: dict[str, Any]) -> None:
        os.unlink(self._path(step["path"]))

    def _play_symlink(self, step: dict[str, Any]) -> None:
        path = self._path(step["path"])
        if os.path.islink(path):
            os.unlink(path)
        os.symlink(step["target"], path)

    # The object store

    def _object(self, content: dict[str, Any]) -> str:
        return self.reader.objects.path_of(content["sha256"])

    def _play_delete_object(self, step: dict[str, Any]) -> None:
        os.unlink(self._object(step["of"]))

    def _play_corrupt_object(self, step: dict[str, Any]) -> None:
        Path(self._object(step["of"])).write_bytes(expand(step["with"]))

    def _play_block_store(self, _: dict[str, Any]) -> None:
        Path(f"{self.cwd}/.pi").write_bytes(b"in the way")

    def _play_store_listing(self, _: dict[str, Any]) -> dict[str, Any]:
        root = Path(f"{self.cwd}/.pi/readcache")

        def mode(path: Path) -> str:
            return f"{path.stat().st_mode & 0o777:o}"

        return {
            "dirs": {
                "objects_mode": mode(root / "objects"),
                "tmp_mode": mode(root / "tmp"),
                "readcache_mode": mode(root),
                "pi_mode": mode(root.parent),
            },
            "objects": [
                {
                    "name": path.name,
                    "bytes": path.stat().st_size,
                    "content_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                    "mode": mode(path),
                }
                for path in sorted((root / "objects").iterdir())
            ],
            "tmp": sorted(path.name for path in (root / "tmp").iterdir()),
        }

    # Reads

    def _play_read(self, step: dict[str, Any]) -> dict[str, Any]:
        before = self._name(self.session.leaf)
        if "toctou_write" in step:
            change = step["toctou_write"]
            path = change.get("path", step["request"]["path"])
            content = change.get("content", change)
            self.between = lambda: self._write(path, content)
        try:
            answer = self._read(step)
        except ReadingError as error:
            return {"error": str(error), "mode": None, "leaf_before": before}
        finally:
            self.between = None
        observed = self._observed(answer) | {"leaf_before": before}
        fact = self._judge(step, answer) if self.judged else None
        if step.get("append", True):
            entry = self.session.append_read(answer.content, answer.details)
            observed["entry"] = self._named(entry, step.get("as"))
            if fact is not None:
                self.facts[entry] = fact
        elif fact is not None:
            self.pending.append(fact)
        return observed

    def _read(self, step: dict[str, Any]) -> Answer:
        request = step["request"]
        aborted = bool(step.get("pre_aborted"))
        return self.reader.read(
            Request(
                request["path"],
                request.get("offset"),
                request.get("limit"),
                bypass_cache=request.get("bypass_cache") is True,
            ),
            self.session,
            lambda: aborted,
        )

    def _observed(self, answer: Answer) -> dict[str, Any]:
        details = copy.deepcopy(answer.details)
        if details is not None and "truncation" in details:
            content = details["truncation"].pop("content")
            digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
            details["truncation"]["content_sha256"] = digest
        return {
            "error": None,
            "mode": answer.mode,
            "content_types": [block["type"] for block in answer.content],
            "text": answer.text,
            "text_sha256": hashlib.sha256(answer.text.encode("utf-8")).hexdigest(),
            "details": details,
        }

    def _judge(self, step: dict[str, Any], answer: Answer) -> window.Fact | None:
        """Hold the answer against the window; only texts with metadata can teach anything."""
        if answer.meta is None or "toctou_write" in step:
            return None
        current = Path(answer.meta.path).read_bytes().decode("utf-8-sig")
        shown = answer.text.replace("\ufeff", "") if answer.meta.first == 1 else answer.text
        return window.judge(
            self._visible(), answer.meta.path, shown, current, answer.meta.first, answer.mode
        )

    def _visible(self) -> list[window.Fact]:
        """What stands in the context: the path after its latest compaction, less the edited."""
        raw = {entry["id"]: entry for entry in self.session.entries}
        path: list[dict[str, Any]] = []
        at = self.session.leaf
        while at is not None:
            path.append(raw[at])
            at = raw[at]["parentId"]
        path.reverse()
        edited = {entry["targetId"] for entry in path if entry["type"] == "context_edit"}
        last = max((n for n, entry in enumerate(path) if entry["type"] == "compaction"), default=-1)
        seen = [e["id"] for e in path[last + 1 :] if e["id"] not in edited]
        return [self.facts[entry] for entry in seen if entry in self.facts] + self.pending

    # The session

    def _play_append(self, step: dict[str, Any]) -> dict[str, Any]:
        entry = self._append(step)
        return {"entry": self._named(entry, step.get("as"))}

    def _append(self, step: dict[str, Any]) -> str:
        append, text = self.session.append, step.get("text", "")
        match step["kind"]:
            case "user":
                return append("message", message={"role": "user", "content": text})
            case "assistant":
                content = [{"type": "text", "text": text}]
                return append("message", message={"role": "assistant", "content": content})
            case "tool_result":
                message = {
                    "role": "toolResult",
                    "toolCallId": "call",
                    "toolName": step["toolName"],
                    "content": [{"type": "text", "text": text}],
                    "isError": step.get("isError", False),
                }
                if step.get("details") is not None:
                    message["details"] = step["details"]
                return append("message", message=message)
            case "custom":
                return append("custom", customType=step["customType"], data=step.get("data"))
            case "custom_message":
                return append(
                    "custom_message", customType=step.get("customType", "note"), content=text
                )
            case "label":
                return append("label", targetId=self._id(step["target"]), label=step.get("label"))
            case "session_info":
                return append("session_info", name=step.get("name"))
            case "model_change":
                return append("model_change", provider="p", modelId="m")
            case "thinking" | "thinking_level_change":
                return append("thinking_level_change", thinkingLevel="high")
            case "bash" | "bash_execution":
                return append("message", message={"role": "bashExecution", "command": text})
            case "branch_summary":
                return append("branch_summary", fromId=self.session.leaf, summary=text)
            case "usage":
                return append("usage", provider="p", model="m")
            case "context_edit":
                target = self._id(step["target"])
                return append("context_edit", targetId=target, replacement=step["replacement"])
            case kind:
                raise AssertionError(f"unknown kind of entry {kind!r}")

    def _play_compact(self, step: dict[str, Any]) -> dict[str, Any]:
        entry = self.session.append(
            "compaction",
            summary="…",
            firstKeptEntryId=self._id(step.get("first_kept")),
            tokensBefore=1,
        )
        return {"entry": self._named(entry, step.get("as"))}

    def _play_navigate(self, step: dict[str, Any]) -> dict[str, Any]:
        observed = {}
        entry = self.session.navigate(self._id(step["to"]), step.get("summary"))
        self.pending.clear()
        if entry is not None:
            observed["entry"] = self._named(entry, step.get("as"))
        return observed | {"branch": self._branch()}

    def _branch(self) -> list[str | None]:
        return [self._name(entry) for entry in self.session.branch()]

    def _play_restart(self, _: dict[str, Any]) -> dict[str, Any]:
        self.reader = self._new_reader()
        self.pending.clear()
        if self.persisted:
            path = self.session.path
            assert path is not None, "a persisted scenario has files"
            if os.path.exists(path):
                self.session = PiSession.open(
                    path,
                    now_ms=self.now_ms,
                    new_id=self._new_id,
                    wait_for_assistant=True,
                    rules=Rules(aliases=not self.reference),
                )
            else:
                self.session = self._new_session("main")
            for name, session in self.sessions.items():
                if session.path == path:
                    self.sessions[name] = self.session
        return {"branch": self._branch()}

    def _play_fork_session(self, step: dict[str, Any]) -> dict[str, Any]:
        return self._fork(step, None)

    def _play_branched_session(self, step: dict[str, Any]) -> dict[str, Any]:
        names = ("to", "at", "leaf", "from", "up_to", "entry", "target")
        target = next((step[name] for name in names if name in step), None)
        return self._fork(step, self._id(target) or self.session.leaf)

    def _fork(self, step: dict[str, Any], up_to: str | None) -> dict[str, Any]:
        name = step.get("as", f"s{len(self.sessions)}")
        path = f"{self.root}/{name}.jsonl" if self.persisted else None
        self.sessions[name] = self.session.fork(f"session-{name}", path=path, up_to=up_to)
        if "expect" in step:
            self.session = self.sessions[name]
            self.pending.clear()
        return {"branch": self._branch()}

    def _play_new_session(self, step: dict[str, Any]) -> dict[str, Any]:
        name = step.get("as", f"s{len(self.sessions)}")
        self.sessions[name] = self._new_session(name)
        if "expect" in step:
            self.session = self.sessions[name]
            self.pending.clear()
        return {"branch": self._branch()}

    def _play_switch_session(self, step: dict[str, Any]) -> dict[str, Any]:
        self.session = self.sessions[step["to"]]
        self.pending.clear()
        return {"branch": self._branch()}

    # Refresh and status

    def _play_refresh_tool(self, step: dict[str, Any]) -> dict[str, Any]:
        request = step["request"]
        known = len(self.session.entries)
        try:
            text = self.reader.refresh(
                Request(request["path"], request.get("offset"), request.get("limit")), self.session
            ).to_text()
        except ReadingError as error:
            return {"error": str(error), "text": None, "details": None, "invalidation": None}
        entry = self.session.entries[known]
        self._named(entry["id"], step.get("as"))
        return {
            "error": None,
            "text": text,
            "details": None,
            "invalidation": {**entry["data"], "at": "<ms>"},
        }

    def _play_command(self, step: dict[str, Any]) -> dict[str, Any]:
        known = len(self.session.entries)
        try:
            kind, text, note = self._command(step)
        except ReadingError as error:
            return {
                "error": str(error),
                "messages": [],
                "notifications": [{"message": str(error), "level": "error"}],
                "appended": [],
            }
        self.session.append("custom_message", customType=kind, content=text, display=True)
        appended = []
        for entry in self.session.entries[known:]:
            self._named(entry["id"])
            shown = {"type": entry["type"], "customType": entry["customType"]}
            if entry["type"] == "custom":
                shown["data"] = {**entry["data"], "at": "<ms>"}
            appended.append(shown)
        return {
            "error": None,
            "messages": [{"customType": kind, "content": text, "display": True}],
            "notifications": [{"message": note, "level": "info"}],
            "appended": appended,
        }

    def _command(self, step: dict[str, Any]) -> tuple[str, str, str]:
        match step["name"]:
            case "readcache-refresh":
                request = commands.parse_refresh(step.get("args", ""), self.reader.place)
                text = self.reader.refresh(request, self.session).to_text()
                note = "Readcache refresh invalidation appended"
                return "pi-readcache-refresh", text, note
            case "readcache-status":
                text = self.reader.status(self.session).to_text()
                return "pi-readcache-status", text, "Readcache status generated"
            case name:
                raise AssertionError(f"unknown command {name!r}")
