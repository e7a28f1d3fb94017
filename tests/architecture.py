"""Looks at the source without running it: who imports whom, who reads the clock, what is unused."""

import ast
import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "holdfast"

CLOCKS = {
    "time": {
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime"),
        *("localtime", "ctime"),
    },
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "path": {"expanduser", "expandvars"},
    "Path": {"home"},
    "os": {"environ", "environb", "getenv", "getenvb", "putenv", "urandom", "getrandom"},
}
"""Names of modules and classes, with those members that read the machine."""

RANDOM = {"secrets", "uuid"}
"""Modules that are not imported at all. A seeded `random.Random` is not the machine's."""


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    # Looking for garbage among all these nodes would take longer than parsing, now and later.
    enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file, in the order of `ast.walk`."""
    found: list[ast.AST] = [tree_of(path)]
    for node in found:  # which grows; `ast.walk` takes twice as long
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return tuple(found)


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules of ours that a file imports: at the top, in functions and for types alike."""
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules() else node.module for name in below}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(n for n in found if n == "holdfast" or n.startswith("holdfast."))


def package_of(module: str) -> str:
    """The part of a module's name that the arrows speak of: `store` for `holdfast.store.batch`."""
    return module.split(".")[1] if "." in module else module


def knots(graph: Mapping[str, Iterable[str]]) -> list[frozenset[str]]:
    """Groups of nodes that all reach each other (strongly connected components), if more than one.

    Tarjan's algorithm, with a stack of its own: an import chain may be long.
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    is_open: set[str] = set()
    found: list[frozenset[str]] = []
    for start in graph:
        if start in order:
            continue
        work: list[tuple[str, Iterator[str]]] = [(start, iter(graph[start]))]
        order[start] = lowest[start] = len(order)
        open_nodes.append(start)
        is_open.add(start)
        while work:
            node, rest = work[-1]
            following = next((name for name in rest if name in graph), None)
            if following is not None:
                if following not in order:
                    order[following] = lowest[following] = len(order)
                    open_nodes.append(following)
                    is_open.add(following)
                    work.append((following, iter(graph[following])))
                elif following in is_open:
                    lowest[node] = min(lowest[node], order[following])
                continue
            work.pop()
            if work:
                lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
            if lowest[node] == order[node]:
                at = open_nodes.index(node)
                group = frozenset(open_nodes[at:])
                del open_nodes[at:]
                is_open -= group
                if len(group) > 1:
                    found.append(group)
    return found


def machine_reads(path: Path) -> list[str]:
    """Where a file looks at the clock, at randomness or at the environment of the process."""
    found = []
    aliases: dict[str, str] = {}
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                aliases[alias.asname or alias.name] = alias.name
                if alias.name in RANDOM:
                    found.append(f"{node.lineno}: import {alias.name}")
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                aliases[alias.asname or alias.name] = alias.name
                if node.module in RANDOM or alias.name in CLOCKS.get(node.module, ()):
                    found.append(f"{node.lineno}: from {node.module} import {alias.name}")
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute):
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else None
            if isinstance(node.value, ast.Name):
                owner = aliases.get(node.value.id)
            unseeded = owner == "random" and node.attr != "Random"
            if owner is not None and (unseeded or node.attr in CLOCKS.get(owner, ())):
                found.append(f"{node.lineno}: {owner}.{node.attr}")
    return found


def default_calls(path: Path) -> list[str]:
    """Where a file calls `holdfast.system` itself instead of taking a value as a parameter."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module == "holdfast.system":
            found += [f"{node.lineno}: from holdfast.system import {a.name}" for a in node.names]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Attribute) and owner.attr == "CLOCK":
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id == "system":
                found.append(f"{node.lineno}: system.{node.func.attr}()")
    return found


def definitions(path: Path) -> Iterator[tuple[int, str, bool]]:
    """The functions, classes, constants and methods of a file: line, name, whether a method."""
    body = tree_of(path).body
    members = [n for c in body if isinstance(c, ast.ClassDef) for n in c.body]
    for node, in_class in [*((n, False) for n in body), *((n, True) for n in members)]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name, in_class and not isinstance(node, ast.ClassDef)
        elif isinstance(node, ast.Assign):
            names = (t.id for t in node.targets if isinstance(t, ast.Name))
            yield from ((node.lineno, name, False) for name in names)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not in_class:
            yield node.lineno, node.target.id, False


def references(path: Path) -> tuple[set[str], set[str]]:
    """The names that a file uses: read or imported; and as an attribute, keyword or string."""
    names: set[str] = set()
    members: set[str] = set()
    for node in nodes_of(path):
        match node:
            case ast.Name(name, ast.Load()):
                names.add(name)
            case ast.Attribute(_, name) | ast.keyword(str(name)):
                members.add(name)
            case ast.alias(name):
                names.add(name.rpartition(".")[2])
            case ast.Constant(str(text)) if re.fullmatch(r"[\w.:]+", text):
                members.update(re.split(r"[.:]", text))
            case _:
                pass
    return names, members


def unimported() -> list[str]:
    """`module: name` of what a module defines at its top, and neither it nor another one uses.

    By the module that a name is imported from, so a name that others have too is found.
    """
    used: dict[str, set[str]] = {name: set() for name in modules()}
    for name, path in modules().items():
        known: dict[str, str] = {}
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module in used:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    if full in used:
                        known[alias.asname or alias.name] = full
                    else:
                        used[node.module].add(alias.name)
            elif isinstance(node, ast.Import):
                plain = (alias for alias in node.names if alias.name in used)
                known |= {alias.asname or alias.name: alias.name for alias in plain}
        for node in nodes_of(path):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used[name].add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.get(known.get(node.value.id, ""), set()).add(node.attr)
    return [
        f"{module.removeprefix('holdfast.')}: {name}"
        for module, path in modules().items()
        for name in _defined_at_top(tree_of(path))
        if name not in used[module] and not name.startswith("__")
    ]


def _defined_at_top(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def unreferenced(paths: Iterable[Path]) -> list[str]:
    """`file:line: name` of what is defined and used nowhere in these files.

    By name alone, so what shares its name with something used is not found. A method is used as an
    attribute, so a variable of the same name does not count.
    """
    files = list(paths)
    names: set[str] = set()
    members: set[str] = set()
    for path in files:
        read, reached = references(path)
        names |= read
        members |= reached
    return [
        f"{path.name}:{line}: {name}"
        for path in files
        for line, name, is_method in definitions(path)
        if name not in members and (is_method or name not in names) and not name.startswith("__")
    ]
