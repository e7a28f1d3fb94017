"""How long a graph query takes: `python -m bench.graph [--json]`.

Baselines in the same run: a bare scan of the same documents for links, which knows no schema and
reports nothing, and the plain recursive traversal that the tests compare with.
"""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.arguments import parser
from bench.timing import Row, save
from holdfast.ids import EntityId, Seq
from holdfast.store.graph import Loaded, Memo, TrackedGraph, query_graph, roots_of
from holdfast.store.graph.links import link_in
from tests.store.graph import twin
from tests.store.graph.world import NODES, World, chain, query


def _median_us(work: Callable[[], object], rounds: int = 200) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def _scan(documents: dict[EntityId, Loaded]) -> set[str]:
    """Every id that some document links to."""
    found = set()
    stack: list[Any] = [loaded.document for loaded in documents.values()]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            link = link_in(node)
            if link is not None:
                found.add(link.id)
            else:
                stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return found


def measure() -> dict[str, float]:
    """Microseconds, median of 200, over a recursive graph of 32 documents in memory."""
    world = World()
    world.commit(chain(1, 32))
    documents = {EntityId(id_): Loaded(Seq(seq), doc) for _, seq, id_, doc in world.writes}
    load, asked = documents.get, query("of:1", schema=NODES)
    roots = roots_of(asked)
    graph, memo = TrackedGraph(), Memo()
    graph.grow(load, roots)
    TrackedGraph(memo=memo).grow(load, roots)
    one = {EntityId("of:16")}
    return {
        "scan for links (baseline)": _median_us(lambda: _scan(documents)),
        "plain recursive traversal": _median_us(lambda: twin.reached(documents.get, asked), 20),  # type: ignore[arg-type]
        "query": _median_us(lambda: query_graph(load, asked)),
        "growth with a shared memo": _median_us(lambda: TrackedGraph(memo=memo).grow(load, roots)),
        "growth onto what is tracked": _median_us(lambda: graph.grow(load, roots)),
        "refresh after one write": _median_us(lambda: graph.refresh(load, one)),
        "refresh after a write elsewhere": _median_us(lambda: graph.refresh(load, {EntityId("x")})),
    }


def main() -> None:
    options = parser("graph", __doc__)
    options.add_argument("--json", action="store_true", help="print one JSON object")
    as_json = options.parse_args().json
    found = measure()
    if as_json:
        print(json.dumps(found))
        return
    baseline = found["scan for links (baseline)"]
    save("graph", [Row(n, us / baseline, "times", note=f"{us:.0f} µs") for n, us in found.items()])
    for name, micros in found.items():
        print(f"{name:34} {micros:9.1f} us  {micros / baseline:7.2f} x")


if __name__ == "__main__":
    main()
