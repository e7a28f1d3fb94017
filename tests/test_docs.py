"""The documentation is true: it runs, it is complete, and the code has the shape it describes."""

import re
from pathlib import Path

import pytest

from holdfast.cli.main import COMMANDS
from tests import wording
from tests.architecture import (
    default_calls,
    imports,
    knots,
    machine_reads,
    modules,
    package_of,
    unimported,
    unreferenced,
)
from tests.docs_runner import blocks, run_page

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "holdfast"
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
]
PAGES += sorted((ROOT / "docs").glob("*.md"))
TAKE_LONG = {"client.md"}
"""Its programs start servers."""


@pytest.mark.shows("DOCS-RUN")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.long] * (page.name in TAKE_LONG))
        for page in PAGES
    ],
)
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, tmp_path, monkeypatch)


def test_the_readme_has_something_to_run() -> None:
    languages = [language for language, _ in blocks(ROOT / "README.md")]
    assert "console" in languages
    assert "python" in languages


@pytest.mark.shows("DOCS-COMPLETE")
def test_every_command_is_documented() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [name for name in COMMANDS if f"holdfast {name}" not in text]
    assert missing == []


@pytest.mark.shows("DOCS-COMPLETE")
def test_every_memory_verb_is_documented() -> None:
    source = (SOURCE / "cli" / "memory" / "__init__.py").read_text(encoding="utf-8")
    verbs = re.findall(r'verb\(\s*"(\w+)"', source)
    text = "".join(
        (ROOT / "docs" / name).read_text("utf-8") for name in ("store.md", "memory.md", "sync.md")
    )
    assert [verb for verb in verbs if f"holdfast memory {verb}" not in text] == []


def test_links_between_pages_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    links = [(page, to) for page in PAGES for to in link.findall(page.read_text("utf-8"))]
    assert [f"{page.name}: {to}" for page, to in links if not (page.parent / to).exists()] == []


# The arrows of ARCHITECTURE.md: what each package may import, in functions and for types too.
LEAVES = {
    "answers",
    "credentials",
    "ids",
    "errors",
    "home",
    "patterns",
    "system",
    "text",
    "postgresql",
    "file_times",
    "locks",
    "parent_death",
    "extras",
}
DOMAINS = {"files", "store", "sync", "index", "sequence", "reading"}
MEETING = {
    *(
        "edits",
        "trees",
        "tree_texts",
        "repeats",
        "links",
        "notes",
        "sessions",
        "live",
        "observed",
        "purge",
    ),
    *("file_focus", "replay", "repositories", "repository_names"),
}
ARROWS: dict[str, set[str]] = {
    "answers": set(),
    "ids": set(),
    "errors": set(),
    "system": set(),
    "home": {"errors", "system"},
    "credentials": {"errors", "home", "system"},
    "patterns": set(),
    "text": set(),
    "extras": set(),
    "postgresql": {"extras", "system"},
    "file_times": {"system"},
    "locks": {"errors"},
    "parent_death": set(),
    "files": LEAVES,
    "store": LEAVES,
    "sync": LEAVES | {"store"},
    "index": LEAVES | {"files"},
    "sequence": LEAVES | {"files"},
    "reading": LEAVES | {"files"},
    "edits": LEAVES | {"files", "sequence"},
    "tree_texts": LEAVES | {"files", "sequence"},
    "trees": LEAVES | {"files", "sequence", "tree_texts"},
    "repeats": LEAVES | {"files", "sequence", "tree_texts", "index"},
    "repository_names": LEAVES | {"files"},
    "repositories": LEAVES | {"files", "repository_names"},
    "file_focus": LEAVES | {"files", "index", "reading"},
    "replay": LEAVES | {"files", "reading", "file_focus"},
    "sessions": LEAVES | {"store", "reading"},
    "links": LEAVES | {"files", "store", "index"},
    "notes": LEAVES | {"files", "store", "index", "links"},
    "live": LEAVES | {"store"},
    "purge": LEAVES | {"files", "index", "app"},
    "observed": LEAVES | {"store", "index", "reading", "sessions"},
    "app": LEAVES | DOMAINS | MEETING - {"observed", "live", "purge"},
    "web": LEAVES | {"app", "index", "store", "sync"},
    "agents": LEAVES | DOMAINS | MEETING | {"app"},
    "mcp": LEAVES | DOMAINS | MEETING | {"app", "web", "agents"},
    "dashboard": LEAVES | DOMAINS | MEETING | {"app", "web", "agents"},
    "cli": LEAVES | DOMAINS | MEETING | {"app", "web", "agents", "mcp", "dashboard"},
}
FACES = {
    "mcp": {
        *("mcp.control", "mcp.shim", "mcp.http", "mcp.rendezvous"),
        *("mcp.host", "mcp.host_connection", "mcp.toolsets"),
    },
    "web": {"web.call_gate", "web.compose", "web.site", "web.watchdog"},
    "dashboard": {"dashboard"},
    "agents": {
        *("agents.client", "agents.clients", "agents.target", "agents.plan"),
        *("agents.doctor", "agents.hooks", "agents.hook_client", "agents.focus_setting"),
    },
    "cli": set[str](),
}
"""The modules of a surface that other surfaces may import."""

EXCEPTIONS = {
    ("web.compose", "mcp.http"): "puts the parts of `holdfast serve` together",
    ("agents.doctor", "mcp.control"): "looks whether the background host runs",
}
"""Imports against an arrow, each with its reason."""


@pytest.mark.shows("ARCH-ARROWS")
def test_imports_follow_the_arrows() -> None:
    wrong = []
    for module, path in modules().items():
        package, name = package_of(module), module.removeprefix("holdfast.")
        if package in ("holdfast", "__main__"):
            continue
        assert package in ARROWS, f"{package} is not in the picture: see ARCHITECTURE.md"
        for imported in sorted(imports(path) - {"holdfast"}):
            target, of = package_of(imported), imported.removeprefix("holdfast.")
            if target == package or (name, of) in EXCEPTIONS:
                continue
            if target not in ARROWS[package] or of not in FACES.get(target, {of}):
                wrong.append(f"{name} imports {of}")
    assert wrong == []


ROOMS: dict[str, set[str]] = {
    "facts": set(),
    "calls": {"facts"},
    "embedding": {"search"},
    "search": {"facts", "embedding", "generations"},
    "references": {"facts", "calls"},
    "generations": {"facts", "calls", "search"},
    "shared": {"facts", "embedding", "search", "generations", "building", "calls"},
    "building": {"facts", "embedding", "search", "generations", "shared", "calls"},
}
"""What each room of `index` may import of the others; the modules beside the rooms are free."""


@pytest.mark.shows("ARCH-ARROWS")
def test_the_rooms_of_the_index_follow_their_arrows() -> None:
    wrong = []
    for module, path in modules().items():
        name = module.removeprefix("holdfast.index.")
        room = name.split(".")[0]
        if name == module or room not in ROOMS:
            continue
        for imported in sorted(imports(path)):
            target = imported.removeprefix("holdfast.index.").split(".")[0]
            other = imported.startswith("holdfast.index.") and target in {*ROOMS, "tools"}
            if other and target not in {room, *ROOMS[room]}:
                wrong.append(f"{name} imports {imported}")
    assert wrong == []


@pytest.mark.shows("ARCH-KNOTS")
def test_no_more_than_three_modules_import_each_other() -> None:
    """Imports in functions and for types count too: they hide a circle, they do not remove it."""
    graph = {module: imports(path) - {module} for module, path in modules().items()}
    found = [f"{len(knot)} modules: {', '.join(sorted(knot))}" for knot in knots(graph)]
    assert [line for line in found if int(line.split()[0]) > 3] == []


@pytest.mark.shows("ARCH-MACHINE")
def test_only_system_reads_the_clock_randomness_and_the_environment() -> None:
    """So tests own time and ids: everything else is handed them by `app.py` or its caller."""
    reads = [
        f"{module}:{place}"
        for module, path in modules().items()
        if module != "holdfast.system"
        for place in machine_reads(path)
    ]
    calls = [
        f"{module}:{place}"
        for module, path in modules().items()
        if module not in ("holdfast.system", "holdfast.app")
        for place in default_calls(path)
    ]
    assert reads + calls == []


def test_the_checks_of_the_architecture_find_what_they_look_for(tmp_path: Path) -> None:
    loop = {"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": [], "e": ["e"]}
    assert knots(loop) == [frozenset("abc")]
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import os, time, secrets, datetime, random\n"
        "from datetime import datetime as moment\n"
        "from time import monotonic\n"
        "from holdfast import system\n"
        "a = time.time\n"
        "b = moment.now()\n"
        "c = datetime.datetime.now()\n"
        "d = os.environ.get('x')\n"
        "e = random.random()\n"
        "f = random.Random(7), time.sleep\n"
        "g = system.now_ms, system.now_ms()\n"
        "h = os.path.expanduser('~'), pathlib.Path.home()\n"
        "i = time.thread_time(), time.gmtime(0)\n"
    )
    lines = sorted(int(place.split(":")[0]) for place in machine_reads(bad))
    assert lines == [1, 3, 5, 6, 7, 8, 9, 12, 12, 13]
    assert default_calls(bad) == ["11: system.now_ms()"]
    used = tmp_path / "used.py"
    used.write_text(
        "LIMIT = 3\nclass A:\n  def f(self): return LIMIT\n  def g(self): ...\nA().f()\n"
        "WIDTH: int = 4\ng = A()\nprint(g)\n"
    )
    assert unreferenced([used]) == ["used.py:6: WIDTH", "used.py:4: g"]


LINES_MAX = 500
"""A longer file has several concerns: pull one out and name it."""

LIBRARY = {
    "named by a format or by another program": {
        *(
            "LAYOUT_VERSION",
            "NOTE_FORMAT",
            "AUTHOR_FORMAT",
            "hash_text",
            "OBSERVE",
        ),
        *("eof_received", "pause_writing", "resume_writing"),
    },
    "for programs that import the package": {
        *("edit_context", "watch_only", "request_line", "weak"),
        *("find_parent", "advance_index", "query_end", "NEVER"),
    },
}
"""What no other module of ours uses, each with its reason."""
BY_NAME = {
    *("configure", "run", "CLIENT", "LANGUAGE", "TSX", "asgi"),
    *("event_of", "shown_text", "reply_to"),
    *("inverse", "common_prefixes", "left_changes", "maximal_repeats"),
}
"""What is looked up in a module that a setting, a command or a language names."""
BESIDE = {
    "index.building.lifecycle: prune": "for maintenance by hand",
    "mcp.sdk_server: listing": "measured by bench.tokens",
    "replay.focus_savings: row_of": "printed by bench.focus",
}


@pytest.mark.shows("ARCH-UNUSED")
def test_nothing_is_there_that_only_tests_use() -> None:
    allowed = set[str]().union(*LIBRARY.values())
    found = {place.rpartition(" ")[2]: place for place in unreferenced(modules().values())}
    assert [place for name, place in found.items() if name not in allowed] == []
    others = [place for place in unimported() if place.rpartition(" ")[2] not in allowed | BY_NAME]
    assert sorted(others) == sorted(BESIDE)


@pytest.mark.shows("ARCH-LENGTH")
def test_no_file_collects_concerns() -> None:
    lengths = {
        module: path.read_text(encoding="utf-8").count("\n") for module, path in modules().items()
    }
    assert {module: n for module, n in lengths.items() if n > LINES_MAX} == {}


@pytest.mark.shows("ARCH-SQL")
def test_only_these_files_contain_sql() -> None:
    allowed = {"store/sqlite.py", "store/postgres.py", "store/upgrade.py"}
    sql = re.compile(r"\b(SELECT .+ FROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE)\b")
    store = [p for p in (SOURCE / "store").rglob("*.py") if sql.search(p.read_text("utf-8"))]
    names = {path.relative_to(SOURCE).as_posix() for path in store}
    assert {name for name in names if not name.startswith("store/tables/")} == allowed


@pytest.mark.shows("ARCH-START")
@pytest.mark.parametrize("module", ["holdfast.cli.main", "holdfast.mcp.shim"])
def test_starting_up_imports_nothing_heavy(module: str) -> None:
    import subprocess
    import sys

    program = f"import sys, {module}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    heavy = {"apsw", "msgspec", "psycopg", "numpy", "asyncio", "rich", "cryptography", "sqlite3"}
    heavy |= {"typing", "dataclasses", "pathlib", "inspect", "datetime", "tempfile", "subprocess"}
    assert loaded & heavy == set()


@pytest.mark.long  # `make quick` checks it as part of `make lint`.
@pytest.mark.shows("DOCS-WORDING")
def test_no_page_or_message_has_a_phrase_that_must_be_decoded() -> None:
    assert wording.findings() == []


def test_nothing_speaks_of_where_it_was_made() -> None:
    """No machine paths in what we ship."""
    suspicious = re.compile(r"/work/|/root/|\.\./shared")
    found = [
        str(path.relative_to(ROOT))
        for folder in ("src", "docs", "examples", "bench")
        for path in (ROOT / folder).rglob("*")
        # What `bench.retrieval.fetch` brings is other people's, and may be in any encoding.
        if "corpora" not in path.parts
        and path.suffix in {".py", ".md", ".toml"}
        and suspicious.search(path.read_text("utf-8"))
    ]
    assert found == []
