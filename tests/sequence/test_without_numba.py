"""numba is an optional extra: without it every command gives the same answers."""

import json
import sys
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.sequence import segment_store
from holdfast.sequence.suffix import backends
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.segment import TokenSegment, build
from holdfast.sequence.suffix.stream import TokenStream


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    root = tmp_path / "tree"
    root.mkdir()
    block = "".join(f"value_{n} = compute({n}, other={n})\n" for n in range(40))
    for name in "abc":
        (root / f"{name}.py").write_text(f"# {name}\n" + block + f"print('{name}')\n")
    return root


@pytest.mark.shows("SEQ-NUMBA")
def test_large_trees_are_built_with_numpy_where_numba_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert backends.choose(10**8) is SuffixBackend.COMPILED
    monkeypatch.setitem(sys.modules, "numba", None)
    assert backends.choose(10**8) is SuffixBackend.VECTOR


@pytest.mark.shows("SEQ-NUMBA")
def test_every_command_answers_the_same_with_and_without_numba(
    tree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(backends, "WARM_FROM_TOKENS", 0)
    monkeypatch.setattr(backends, "COLD_FROM_TOKENS", 0)
    used: list[SuffixBackend] = []
    plain = build

    def recording(stream: TokenStream, backend: SuffixBackend = SuffixBackend.PURE) -> TokenSegment:
        used.append(backend)
        return plain(stream, backend)

    monkeypatch.setattr(segment_store, "build", recording)

    def answers(home: str) -> list[object]:
        monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / home))
        found: list[object] = []
        for words in (
            ["locate", "value_3 = compute(3, other=4)", "--explain", "--path", str(tree)],
            ["clones", str(tree), "--min-tokens", "20"],
            ["clones", str(tree), "--min-tokens", "20", "--renamed", "--all"],
        ):
            found += [main([*words, "--json"]), json.loads(capsys.readouterr().out)]
        return found

    with_numba = answers("with")
    assert set(used) == {SuffixBackend.COMPILED}
    used.clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    assert answers("without") == with_numba
    assert set(used) == {SuffixBackend.VECTOR}


@pytest.mark.shows("SEQ-NUMBA")
def test_doctor_says_what_numba_would_speed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    main(["doctor"])
    assert "numba is not installed" not in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "numba", None)
    main(["doctor"])
    out = capsys.readouterr().out
    assert "numba is not installed" in out
    assert "pip install 'holdfast[fast]'" in out
