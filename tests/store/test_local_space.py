"""The space of a Python program: `put`, `update`, transactions; and the names of the package."""

import pydoc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.errors import UsageError
from holdfast.store.errors import ConflictError


@pytest.fixture
def space() -> Iterator[holdfast.Space]:
    with holdfast.open_space() as opened:
        yield opened


@pytest.mark.shows("PY-NAMES")
def test_the_package_lists_its_public_names_and_helps() -> None:
    assert set(holdfast.__all__) <= set(dir(holdfast))
    assert {"annotations", "TYPE_CHECKING"}.isdisjoint(dir(holdfast))
    text = pydoc.plain(pydoc.render_doc(holdfast))
    assert "space.put(" in text
    assert "class Space" in text
    assert "open_space(url" in text
    # Listing names imports nothing: the command starts from this package too.
    program = "import holdfast, sys; dir(holdfast); print('holdfast.store.store' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


@pytest.mark.shows("PY-SPACE")
def test_a_transaction_lands_whole_or_not_at_all(space: holdfast.Space) -> None:
    space.put("a", {"n": 1, "list": [1, {"x": 2}]})
    with space.transaction() as tx:
        assert tx.read("a", ["list", 1, "x"]) == 2
        tx.write("a", ["list", 1, "x"], 3)
        tx.write("b", ["made", "on", "the way"], True)
        assert tx.read("a", ["list", 1, "x"]) == 3  # sees its own writes
        assert space.get("b") is None
    assert space.get("a") == {"n": 1, "list": [1, {"x": 3}]}
    assert space.get("b") == {"made": {"on": {"the way": True}}}
    with pytest.raises(ZeroDivisionError), space.transaction() as tx:
        tx.write("a", ["n"], 1 / 0)
    assert space.get("a")["n"] == 1
    with pytest.raises(UsageError, match="has ended"):
        tx.read("a")
    with pytest.raises(UsageError, match="no place 'x' in a list"), space.transaction() as tx:
        tx.write("a", ["list", "x"], 1)


@pytest.mark.shows("PY-SPACE")
def test_a_transaction_that_read_something_old_is_refused(space: holdfast.Space) -> None:
    space.put("a", 1)
    tx = space.transaction()
    tx.write("b", [], tx.read("a"))
    space.put("a", 2)
    with pytest.raises(ConflictError):
        tx.commit()
    assert space.get("b") is None
    tx = space.transaction()
    tx.write("new", [], 1)
    space.put("new", 2)
    with pytest.raises(ConflictError):
        tx.commit()
    assert space.get("new") == 2
    tx = space.transaction()
    tx.write("a", [], 9)
    tx.abort()
    assert space.get("a") == 2
    with space.transaction() as tx:
        tx.delete("a")
    assert (space.get("a", "gone"), space.get("a", at=1)) == ("gone", 1)


@pytest.mark.shows("PY-SPACE")
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.booleans()), max_size=12))
def test_a_transaction_agrees_with_a_dictionary(steps: list[tuple[str, int, bool]]) -> None:
    model: dict[str, dict[str, int]] = {}
    with holdfast.open_space() as space:
        for id, n, fails in steps:
            before = {name: dict(value) for name, value in model.items()}
            try:
                with space.transaction() as tx:
                    tx.write(id, [f"k{n}"], tx.read(id, [f"k{n}"], 0) + 1)
                    model.setdefault(id, {})
                    model[id][f"k{n}"] = model[id].get(f"k{n}", 0) + 1
                    if fails:
                        raise KeyError
            except KeyError:
                model = before
        assert {id: space.get(id) for id in model} == model


@pytest.mark.shows("PY-SPACE")
def test_updates_of_several_programs_are_not_lost(tmp_path: Path) -> None:
    spaces = [holdfast.open_space(tmp_path / "n.sqlite") for _ in range(3)]

    def count(space: holdfast.Space) -> None:
        for _ in range(10):
            space.update("n", lambda n: n + 1, default=0)

    threads = [threading.Thread(target=count, args=(space,)) for space in spaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert spaces[0].get("n") == 30
    for space in spaces:
        space.close()


@pytest.mark.shows("PY-SPACE")
def test_branches_are_forked_compared_and_merged(space: holdfast.Space) -> None:
    space.put("a", {"x": 1})
    space.branch("draft")
    space.put("a", {"x": 2}, branch="draft")
    assert [diff.id for diff in space.diff("draft")] == ["a"]
    assert space.merge("draft") is not None
    assert space.get("a") == {"x": 2}
    assert space.merge("draft") is None
