"""Holdfast as an agent uses it: `index create`, then the search tool, in a temporary home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.retrieval.workers.common import Ask, Place, work
from holdfast.home import Home


def prepare(job: Mapping[str, Any]) -> tuple[Ask, int]:
    from holdfast.index.code_index import run_here
    from holdfast.index.search.operators import as_words
    from holdfast.index.search.scopes import in_scope
    from holdfast.index.settings import index_of
    from holdfast.index.tools.manage import manage_index
    from holdfast.index.tools.search import search_code

    leave_out(job.get("without", ()), job.get("weights"))
    root = job["root"]
    index = index_of(Home(job["home"]), job.get("environment", {}))
    index.start = run_here
    manage_index(index, "create", root)
    status = wire(manage_index(index, "status", root))
    if status["status"] != "ok":
        raise SystemExit(f"not indexed: {status.get('message') or status}")
    with index.backend.reader(root) as reader:
        chunks = reader.totals().chunks
        for path in job.get("labels", ()):
            if not in_scope(path, job.get("scope", "runtime")) or not reader.chunks_of(path):
                job["unindexed"].append(path)

    def ask(text: str, limit: int) -> Sequence[Place]:
        # Questions are plain words for every system, so `path:` is not an operator here.
        asked = as_words(text)
        scope = job.get("scope", "runtime")
        answer = wire(search_code(index, root, asked, scope=scope, limit=limit))
        if answer["status"] != "ok":
            raise RuntimeError(f"search said {answer['status']}: {answer.get('message')}")
        return [place(result) for result in answer["results"]]

    return ask, chunks


def wire(answer: Any) -> dict[str, Any]:
    """An answer as JSON; in versions before typed answers it is that already."""
    plain: dict[str, Any] = answer if isinstance(answer, dict) else answer.to_wire()
    return plain


def place(result: Mapping[str, Any]) -> Place:
    """A result of the search tool: its span, the text that it shows, and what else it names."""
    target = result.get("target") or result
    span = target["span"]
    label = result.get("symbolLabel") or result.get("displayLabel") or ""
    shown = result.get("preview") or result.get("content") or ""
    head = f"{target['file']}:{span['startLine']}-{span['endLine']}  {label}"
    named = result.get("further", ())
    also = ", ".join(
        f"{one['span']['startLine']} {(one.get('symbolLabel') or '').rpartition('.')[2]}"
        for one in named
    )
    text = f"{head}\n{shown}\n" + (f"  also {also}\n" if also else "")
    further = [(one["span"]["startLine"], one["span"]["endLine"]) for one in named]
    return Place(target["file"], span["startLine"], span["endLine"], text, further)


def leave_out(signals: Sequence[str], weights: Mapping[str, Any] | None = None) -> None:
    """Switch off lanes and signals, or set weights, for this process."""
    if not signals and not weights:
        return
    from holdfast.index.search import ranking

    defaults: Any = ranking.find.__kwdefaults__
    if not defaults or "weights" not in defaults:
        raise SystemExit("this version has no named signals to switch off")
    changed = defaults["weights"]
    for signal in signals:
        changed = changed.without(signal)
    if weights:
        from bench.retrieval.weights import weighed

        changed = weighed(changed, weights)
    defaults["weights"] = changed


if __name__ == "__main__":
    raise SystemExit(work(prepare))
