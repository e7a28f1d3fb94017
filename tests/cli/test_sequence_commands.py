"""`locate`, `clones` and `sequence show` on a real tree."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.sequence.locate import locate
from holdfast.sequence.segment_store import SegmentStore, document_facts
from holdfast.sequence.suffix.stream import Document
from holdfast.sequence.tokens.lexer import lex

TOTAL = """
def total(prices, rate):
    result = 0
    for price in prices:
        if price.active:
            result += price.amount * (1 + rate)
    return round(result, 2)
"""
RENAMED = TOTAL.replace("prices", "items").replace("price", "item").replace("rate", "tax")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "tree"
    (root / "lib").mkdir(parents=True)
    (root / "shop.py").write_text("import os\n" + TOTAL)
    (root / "lib" / "cart.py").write_text("# a cart\n" + TOTAL + "\nprint(total([], 3))\n")
    (root / "lib" / "tax.py").write_text(RENAMED)
    (root / "logo.bin").write_bytes(b"\0\1\2" * 50)
    (root / "empty.py").write_text("")
    return root


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.shows("SEQ-CLI-LOCATE")
def test_locate_says_how_much_exists_and_what_differs_first(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    code, out, _ = run(
        capsys, "locate", "for price in prices:\n    if price.paid:", "--path", str(tree)
    )
    assert code == 1
    assert "8 of 10 tokens found from the start, 2 times" in out
    assert "lib/cart.py:5:5 to 6:17" in out
    assert "shop.py:5:5 to 6:17" in out
    assert "the snippet has `paid` (line 2:14)" in out
    assert "the tree has `active` at lib/cart.py:6, shop.py:6" in out
    assert "\ninside a repeated block of" in out
    first = TOTAL.strip().splitlines()[0]
    assert "at the beginning of a repeated block of" in run(capsys, "locate", first)[1]
    assert (
        "at the end of a repeated block of" in run(capsys, "locate", "return round(result, 2)")[1]
    )


@pytest.mark.shows("SEQ-CLI-LOCATE", "SEQ-CLI-JSON")
def test_locate_in_json_carries_the_same_facts(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "locate", "result = 0 for x", "--json", "--path", str(tree))
    data = json.loads(out)
    assert code == 1
    assert (data["tokens"], data["matched"], data["count"]) == (5, 4, 3)
    assert data["difference"]["snippet"]["token"] == "x"
    assert {(d["path"], d["token"]) for d in data["difference"]["tree"]} == {
        ("lib/cart.py", "price"),
        ("shop.py", "price"),
        ("lib/tax.py", "item"),
    }
    assert data["container"]["tokens"] >= 4
    code, out, _ = run(capsys, "locate", "return round(result, 2)", "--json", "--path", str(tree))
    assert code == 0
    assert json.loads(out)["count"] == 3


@pytest.mark.shows("SEQ-CLI-LOCATE")
def test_locate_reads_a_file_or_standard_input(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.parent / "snippet.py").write_text("# no token\nimport os\n")
    assert (
        run(capsys, "locate", "--file", str(tree.parent / "snippet.py"), "--path", str(tree))[0]
        == 0
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"import os")))
    assert run(capsys, "locate", "-", "--path", str(tree))[0] == 0
    code, _, err = run(capsys, "locate", "a", "--file", "b", "--path", str(tree))
    assert (code, "both given" in err) == (2, True)
    code, _, err = run(capsys, "locate", "  # only a comment", "--path", str(tree))
    assert (code, "the query is empty" in err) == (1, True)
    assert run(capsys, "locate", "zzz yyy", "--path", str(tree))[1].startswith(
        "0 of 2 tokens found: `zzz` occurs nowhere"
    )
    assert run(capsys, "locate", "x", "--language", "klingon", "--path", str(tree))[0] == 2


@pytest.mark.shows("SEQ-INDENTATION")
@pytest.mark.parametrize(
    ("snippet", "line", "at"),
    [
        ("for price in prices:\n    if price.active:\n        result +=", None, None),
        ("        for price in prices:\n            if price.active:", None, None),
        ("for price in prices: if price.active: result +=", None, None),
        ("for price in prices:\n    if price.active:\n    result +=", 3, 7),
        ("for price in prices:\n\n  if price.active:\n    result +=", 3, 6),
        ("rate):\n    result = 0\n  # note\n  for price in prices:", 4, 5),
        ("rate):\n    result = 0\n    for x in", None, None),
    ],
)
def test_locate_says_where_the_indentation_differs(
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    snippet: str,
    line: int | None,
    at: int | None,
) -> None:
    """Blanks are not tokens: Python with other indentation was all found, and nothing said so."""
    monkeypatch.chdir(tree)
    (tree / "lib" / "tax.py").unlink()
    _, out, _ = run(capsys, "locate", snippet)
    _, data, _ = run(capsys, "locate", snippet, "--json")
    found = json.loads(data)["indentation"]
    if line is None:
        assert "indentation" not in out
        assert found == []
    else:
        places = f"lib/cart.py:{at}, shop.py:{at}"
        assert f"the indentation differs from line {line} of the snippet on, at {places}" in out
        assert found == [
            {"path": path, "line": at, "snippetLine": line} for path in ("lib/cart.py", "shop.py")
        ]


@pytest.mark.shows("SEQ-INDENTATION")
def test_only_the_places_with_other_indentation_are_named(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    (tree / "one.py").write_text('if a:\n    b = """\n"""; c = 1\n    d\n')
    (tree / "two.py").write_text('if a:\n    b = """\n"""; c = 1\nd\n')
    _, out, _ = run(capsys, "locate", 'if a:\n    b = """\n"""; c = 1\n    d')
    assert "all 11 tokens found, 2 times" in out
    assert "the indentation differs from line 4 of the snippet on, at two.py:4\n" in out


@pytest.mark.long
@pytest.mark.shows("SEQ-EXPLAIN")
def test_locate_explains_a_match_by_the_smallest_vertices_around_it(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("locate", "price.amount * (1 + tax", "--explain", "--path", str(tree))
    code, out, _ = run(capsys, *ask)
    assert code == 1
    assert "smallest vertices that contain the match:\n" in out
    _, data, _ = run(capsys, *ask, "--json")
    answer = json.loads(data)
    containers = answer["explanation"]["containers"]
    widths = [container["tokens"] for container in containers]
    assert widths == sorted(set(widths))
    assert widths[0] >= answer["matched"]
    assert answer["container"]["tokens"] in widths
    for container in containers:
        assert container["end"] - container["start"] == answer["matched"]
        assert container["count"] >= 1
        assert f"({container['tokens']} tokens, " in out
    assert "explanation" not in json.loads(run(capsys, "locate", "price", "--json")[1])


@pytest.mark.shows("SEQ-CLI-FRESH")
def test_what_was_just_written_is_found_and_what_was_deleted_is_not(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ("locate", "quite = new + thing", "--path", str(tree))
    assert run(capsys, *ask)[0] == 1
    (tree / "new.py").write_text("quite = new + thing\n")
    assert run(capsys, *ask)[0] == 0
    (tree / "new.py").write_text("quite = other\n")
    assert run(capsys, *ask)[0] == 1
    (tree / "new.py").unlink()
    assert "0 of 5" in run(capsys, *ask)[1]


@pytest.mark.shows("SEQ-CLI-CLONES")
def test_clones_are_grouped_with_sizes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "clones", str(tree), "--min-tokens", "20")
    assert code == 0
    assert "39 tokens (6 lines) 2 times" in out
    assert "lib/cart.py:3-8" in out
    assert "shop.py:3-8" in out
    assert "tax.py" not in out
    assert "no repeated block" in run(capsys, "clones", str(tree), "--min-tokens", "400")[1]
    assert run(capsys, "clones", str(tree), "--min-tokens", "1")[0] == 2


@pytest.mark.shows("SEQ-CLI-PATHS")
@pytest.mark.parametrize("stand", [".", "lib", ".."])
def test_places_are_named_so_that_they_can_be_opened_from_where_one_stands(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, stand: str
) -> None:
    """They were named from the tree, wherever that was."""
    monkeypatch.chdir(tree / stand)
    asked = os.path.relpath(tree)
    for words in (
        ("clones", asked, "--min-tokens", "20"),
        ("locate", "--path", asked, "--file", str(tree / "shop.py")),
    ):
        _, out, _ = run(capsys, *words)
        named = re.findall(r"\S+\.py(?=:)", out)
        assert {Path(name).resolve() for name in named} == {tree / "shop.py"} | (
            {tree / "lib" / "cart.py"} if words[0] == "clones" else set()
        )
        data = json.loads(run(capsys, *words, "--json")[1])
        assert data["root"] == str(tree)
    log = json.loads(run(capsys, "clones", asked, "--min-tokens", "20", "--sarif")[1])
    base = log["runs"][0]["originalUriBaseIds"]["TREE"]["uri"]
    assert base == tree.as_uri() + "/"


@pytest.mark.shows("SEQ-CLI-RENAMED")
def test_renamed_copies_are_found_when_asked_for(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, "clones", str(tree), "--min-tokens", "20", "--renamed", "--json")
    data = json.loads(out)
    assert data["groups"][0]["count"] == 3
    assert {place["path"] for place in data["groups"][0]["places"]} == {
        "shop.py",
        "lib/cart.py",
        "lib/tax.py",
    }
    assert data["summary"]["groups"] >= 1


@pytest.mark.shows("SEQ-CLI-SARIF")
def test_clones_as_sarif(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "clones", str(tree), "--min-tokens", "20", "--sarif")
    log = json.loads(out)
    assert log["version"] == "2.1.0"
    (result,) = log["runs"][0]["results"]
    places = [result["locations"][0], *result["relatedLocations"]]
    regions = {
        p["physicalLocation"]["artifactLocation"]["uri"]: p["physicalLocation"]["region"]
        for p in places
    }
    assert regions == {
        "lib/cart.py": {"startLine": 3, "endLine": 8},
        "shop.py": {"startLine": 3, "endLine": 8},
    }


@pytest.mark.shows("SEQ-CLI-SINCE")
def test_only_new_duplication_is_listed_since_a_revision(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tree), *identity, *arguments], check=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    since = ("clones", str(tree), "--min-tokens", "20", "--since", "HEAD", "--json")
    os.utime(tree / "shop.py", (1_000_000_000, 1_000_000_000))
    before = (tree / ".git" / "index").read_bytes()
    assert json.loads(run(capsys, *since)[1])["groups"] == []
    assert (tree / ".git" / "index").read_bytes() == before, "git wrote down that it was touched"
    (tree / "shop.py").write_text("import os\n\n\nSEEN = 1\n" + TOTAL)
    assert json.loads(run(capsys, *since)[1])["groups"] == [], "an old copy that moved is not new"
    (tree / "third.py").write_text(TOTAL)
    (group,) = json.loads(run(capsys, *since)[1])["groups"]
    assert group["count"] == 3
    assert run(capsys, "clones", str(tree), "--since", "no-such")[0] == 2


def committed(tree: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(tree), *identity, *arguments], check=True)


@pytest.mark.shows("SEQ-CLI-SINCE")
def test_blocks_of_a_repository_inside_the_tree_are_not_new(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """git does not know the files of a submodule, so all of its blocks were new."""
    committed(tree)
    (tree / "library").mkdir()
    for name in ("a.py", "b.py"):
        (tree / "library" / name).write_text(TOTAL)
    since = ("clones", str(tree), "--min-tokens", "20", "--since", "HEAD", "--json")
    assert len(json.loads(run(capsys, *since)[1])["groups"]) == 1
    committed(tree / "library")
    assert json.loads(run(capsys, *since)[1])["groups"] == []


@pytest.mark.shows("SEQ-CLI-SINCE")
def test_a_copy_of_a_table_is_new_however_often_its_rows_repeat(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Places now do not overlap, and those at the revision did: of a table of equal rows there
    were always more, so that a copy of it was never new."""
    rows = "row(1, 2),\n" * 12
    (tree / "table.py").write_text(f"first = [\n{rows}]\n")
    committed(tree)
    since = ("clones", str(tree), "--min-tokens", "30", "--since", "HEAD", "--json")
    (tree / "table.py").write_text(f"first = [\n{rows}]\nonce = 1\n")
    assert json.loads(run(capsys, *since)[1])["groups"] == []
    (tree / "copy.py").write_text(f"second(\n{rows[: len(rows) // 12 * 5]})\n")
    groups = json.loads(run(capsys, *since)[1])["groups"]
    assert {place["path"] for place in groups[0]["places"]} == {"table.py", "copy.py"}


@pytest.mark.shows("SEQ-CLI-SINCE")
def test_when_git_cannot_say_what_changed_nothing_is_claimed(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failed `git diff` was taken for no changes: no new duplication."""
    committed(tree)
    (tree / "third.py").write_text(TOTAL)
    (tree / ".git" / "index").write_bytes(b"damaged")
    code, out, err = run(capsys, "clones", str(tree), "--min-tokens", "20", "--since", "HEAD")
    assert (code, out) == (2, "")
    assert "cannot list the changes since HEAD" in err


@pytest.mark.shows("SEQ-CLI-LOCATE", "SEQ-HOSTILE-ENCODINGS")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_snippet_is_read_as_files_are(
    tree: Path, capsys: pytest.CaptureFixture[str], encoding: str
) -> None:
    """A file that stands in the tree was not found in it, its mark being taken for a word."""
    (tree / "marked.py").write_bytes("import marked\nsome = marked.thing\n".encode(encoding))
    code, out, _ = run(capsys, "locate", "--file", str(tree / "marked.py"), "--path", str(tree))
    assert (code, out.splitlines()[0]) == (0, "all 7 tokens found, once")


@pytest.mark.shows("SEQ-CLI-LOCATE")
def test_a_binary_snippet_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "locate", "--file", str(tree / "logo.bin"), "--path", str(tree))
    assert code == 2
    assert "contains a NUL byte; expected text" in err


@pytest.mark.shows("SEQ-CLI-CLONES")
@pytest.mark.parametrize("form", ["--sarif", "--json", "--all"])
def test_clones_say_what_was_not_searched_in_every_form(
    tree: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """A SARIF log said nothing of it."""
    (tree / "large.py").write_text("x = 1\n" * 200_000)
    _, out, err = run(capsys, "clones", str(tree), "--min-tokens", "20", form)
    assert "not searched: 1 too large" in out + err


@pytest.mark.shows("SEQ-CLI-LOCATE", "SEQ-HOSTILE-TREE")
def test_a_name_that_no_text_can_hold_is_said_not_to_be_searched(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stands in such a file was said to occur nowhere."""
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff.py")).write_text("hidden = here\n")
    code, out, err = run(capsys, "locate", "hidden = here", "--path", str(tree))
    assert (code, out.splitlines()[0]) == (1, "0 of 3 tokens found: `hidden` occurs nowhere")
    assert err == "not searched: 1 with names that are not UTF-8\n"


@pytest.mark.shows("SEQ-CLI-LOCATE", "SEQ-CLI-CLONES", "SEQ-HOSTILE-TREE")
def test_a_name_of_two_lines_stays_on_one(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    (tree / "odd\n  shop.py:1-9.py").write_text(TOTAL)
    _, out, _ = run(capsys, "locate", "def total(prices, rate):", "--path", str(tree))
    assert "  odd\\n  shop.py:1-9.py:2:1 to 2:24" in out.splitlines()
    _, out, _ = run(capsys, "clones", str(tree), "--min-tokens", "20")
    assert "  odd\\n  shop.py:1-9.py:2-7" in out.splitlines()


@pytest.mark.shows("SEQ-CLI-SHOW")
def test_a_small_graph_is_drawn_as_text_and_as_svg(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = tmp_path / "graph.svg"
    code, out, _ = run(
        capsys, "sequence", "show", "abcab", "bcab", "--query", "cab", "--svg", str(drawing)
    )
    assert code == 0
    assert out.splitlines()[0] == "atoms: a b c"
    assert "query 'cab': all of it, complete in cab [0, 3)" in out
    assert ET.parse(drawing).getroot().tag.endswith("svg")
    _, out, _ = run(capsys, "sequence", "show", "--tokens", "x = fn(1)", "y = fn(1)", "--json")
    labels = {vertex["label"] for vertex in json.loads(out)["vertices"]}
    assert "= fn ( 1 )" in labels
    assert run(capsys, "sequence", "show", "ab", "--query", "zz")[0] == 2
    assert run(capsys, "sequence", "show")[0] == 2
    assert run(capsys, "sequence", "show", "ab" * 300 + "ba" * 200, "--max-vertices", "20")[0] == 1


def test_a_home_that_cannot_be_written_is_said(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.parent / "file").write_text("")
    monkeypatch.setenv("HOLDFAST_HOME", str(tree.parent / "file"))
    code, _, err = run(capsys, "locate", "x = 1", "--path", str(tree))
    assert code == 2
    assert "cannot be written" in err
    assert "hint: set HOLDFAST_HOME" in err
    assert run(capsys, "clones", str(tree))[0] == 0, "it only keeps its answer, if it can"
    assert run(capsys, "clones", str(tree / "missing"))[0] == 2


@pytest.mark.shows("SEQ-CANCEL")
@pytest.mark.parametrize("command", [("locate", "x = 1"), ("clones",)])
def test_ctrl_c_ends_a_compiled_step_at_once_and_leaves_nothing_behind(
    tree: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Ctrl-C was heard only after the suffixes were sorted, ten seconds later on a large tree."""
    home = tmp_path / "cancelled"
    program = (
        "import ctypes, sys\n"
        "from holdfast.cli.main import main\n"
        "from holdfast.repeats import find\n"
        "from holdfast.sequence import segment_store\n"
        "def sorts(*_):\n"
        "    print('sorting', flush=True)\n"
        "    while True:\n"
        "        ctypes.PyDLL(None).sleep(60)\n"  # as compiled code: Python hears of nothing
        "segment_store.build = find.build = sorts\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    words = [command[0], *command[1:], *(["--path"] if command[0] == "locate" else []), str(tree)]
    environment = {**os.environ, "HOLDFAST_HOME": str(home)}
    running = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with running:
        assert running.stdout is not None
        assert running.stdout.readline() == "sorting\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) == -signal.SIGINT
        assert running.stderr is not None
        assert running.stderr.read() == ""


@pytest.mark.shows("SEQ-CANCEL")
def test_what_a_killed_writer_left_is_removed_by_the_next(tree: Path, tmp_path: Path) -> None:
    store = SegmentStore(tmp_path / "segments")
    store.directory.mkdir(parents=True)
    left = store.directory / ".00000001.segment.4711"
    left.write_bytes(b"half")
    text = b"a = b + c\n"
    store.refresh([Document(document_facts("a.py", len(text), 0, text), text)], removed=[])
    assert not left.exists()
    assert SegmentStore(store.directory).corpus.tokens == 5


@pytest.mark.shows("SEQ-CANCEL")
def test_a_look_can_be_called_off_between_parts(tmp_path: Path) -> None:
    store = SegmentStore(tmp_path / "segments")
    text = b"a = b + c\n"
    corpus = store.refresh([Document(document_facts("a.py", len(text), 0, text), text)], removed=[])
    source = b"c + zz a = yy b + " * 50
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == 10:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        locate(corpus, source, lex(source, 0), check=check)
    assert looks == 10


def test_more_places_than_a_machine_can_count_are_all_there_are(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("locate", "result = 0", "--path", str(tree), "--copies", str(10**30), "--json")
    code, out, _ = run(capsys, *words)
    assert code == 0
    assert len(json.loads(out)["copies"]) == 3
