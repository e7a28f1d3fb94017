"""Record the calls of small programs while they run, and write them down as claims.

`python -m tests.index.calls.record FILE…` prints each program with its claims. A file has the title
in its first line and then the files of the program, each after a line `# --- path`; the last one is
run. Labels are those of the outline; the resolver of calls is not asked.

Python is rewritten so that every call says what it is about to call, and a profile adds what the
interpreter calls by itself (operators, properties, callbacks). In JavaScript every function says
when it is entered, and the stack says from which line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import tree_sitter
import tree_sitter_javascript

from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts
from tests.index.claims import Written, split

Seen = set[tuple[str, int, str]]
"""Path, line and the label of what the line calls."""
CALLABLE = ("function", "method", "constructor", "property")

PYTHON = r"""
import ast, importlib, importlib.machinery, json, sys
folder, entry, labels = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
sys.path.insert(0, folder)
seen, decorated = set(), {}
known = {name for table in labels.values() for name in table["names"]}

class Rewrite(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        args = [ast.Constant(node.lineno), node.func]
        node.func = ast.Call(ast.Name("__about_to_call__", ast.Load()), args, [])
        return ast.fix_missing_locations(ast.copy_location(node, node))

def rewritten(self, data, path, *, _optimize=-1):
    tree = ast.parse(data)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.decorator_list:
            decorated.setdefault(node.name, []).append((path, node.decorator_list[0].lineno))
    if path.startswith(folder):
        tree = Rewrite().visit(tree)
    return compile(tree, path, "exec", dont_inherit=True)

importlib.machinery.SourceFileLoader.source_to_code = rewritten

def label(code):
    if not code.co_filename.startswith(folder):
        return None
    table = labels[code.co_filename[len(folder) + 1:]]
    if code.co_name == "<lambda>":
        return table["lambdas"].get(str(code.co_firstlineno))
    name = table["module"] + "." + code.co_qualname.replace(".<locals>", "")
    return name if name in table["names"] else None

def of_class(kind):
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", "") or ""
    if not path.startswith(folder):
        return None
    name = labels[path[len(folder) + 1:]]["module"]
    return name + "." + kind.__qualname__.replace(".<locals>", "")

def note(frame, line, found):
    if found:
        seen.add((frame.f_code.co_filename[len(folder) + 1:], line, found))

def about_to_call(line, what):
    frame = sys._getframe(1)
    inner = getattr(what, "__func__", what)
    code = getattr(inner, "__code__", None)
    if code is not None:
        note(frame, line, label(code))
    if isinstance(what, type) and of_class(what) and f"{of_class(what)}.__init__" not in known:
        note(frame, line, of_class(what))
    name = getattr(inner, "__name__", "")
    owners = [vars(m) for m in list(sys.modules.values())
              if (getattr(m, "__file__", "") or "").startswith(folder)]
    owners += [vars(k) for o in list(owners) for k in list(o.values()) if isinstance(k, type)]
    for owner in owners:  # the decorated function that a name stands for
        for key, value in list(owner.items()):
            if key in decorated and getattr(value, "__func__", value) is inner:
                for path, first in decorated[key]:
                    table = labels[path[len(folder) + 1:]]
                    prefix = table["module"]
                    if "__qualname__" in owner or "__module__" in owner and "__name__" not in owner:
                        kinds = [k for o in owners for k in o.values()
                                 if isinstance(k, type) and vars(k) == owner]
                        prefix = of_class(kinds[0]) if kinds else prefix
                    if f"{prefix}.{key}" in table["names"]:
                        note(frame, line, f"{prefix}.{key}")
    return what

def profile(frame, event, _):
    code = frame.f_code
    if event != "call" or code.co_flags & 0x2A0 and label(code) and code.co_name[:2] != "__":
        return  # a generator or coroutine starts when it is asked for its first value
    found = label(code)
    if not found:
        return
    if code.co_flags & 0x2A0 and frame.f_lasti > 4:
        return
    around = frame.f_back
    while around is not None and not around.f_code.co_filename.startswith(folder):
        around = around.f_back
    if around is not None:
        note(around, around.f_lineno, found)

import builtins
builtins.__about_to_call__ = about_to_call
sys.setprofile(profile)
importlib.import_module(entry)
sys.setprofile(None)
print("\n" + json.dumps(sorted(seen)))
"""

SCRIPT = r"""
const fs = require("fs");
const folder = process.env.FOLDER;
const seen = new Set();
let origin = null;
Error.stackTraceLimit = 60;
function sites() {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, frames) => frames;
  const frames = new Error().stack;
  Error.prepareStackTrace = before;
  return frames.slice(2);
}
const path = (frame) => (frame.getFileName() || "").replace("file://", "");
const implicit = new Set(JSON.parse(process.env.IMPLICIT));
function caller(frames) {
  for (const frame of frames) {
    const name = (frame.getFunctionName() || "").replace(/^.* /, "");
    if (!path(frame).startsWith(folder + "/") || frame.isAsync()) continue;
    if (frame.isConstructor() && (!name || implicit.has(name))) continue;
    return [path(frame).slice(folder.length + 1), frame.getLineNumber()];
  }
  return null;
}
globalThis.__enter = (label, field) => {
  let frames = sites().slice(1);
  if (field) frames = frames.slice(1);
  const name = (frames[0]?.getFunctionName() || "").replace(/^.* /, "");
  if (field && frames[0]?.isConstructor() && implicit.has(name)) return; // of a subclass
  const at = caller(frames) || origin;
  if (at) seen.add(JSON.stringify([...at, label]));
};
function late(owner, name) {
  const original = owner[name];
  owner[name] = function (...args) {
    const at = caller(sites());
    const wrapped = args.map((f) => typeof f !== "function" ? f : function (...given) {
      const before = origin;
      origin = at || before;
      try { return f.apply(this, given); } finally { origin = before; }
    });
    return original.apply(this, wrapped);
  };
}
late(Promise.prototype, "then");
late(globalThis, "setTimeout");
late(globalThis, "queueMicrotask");
late(process, "nextTick");
process.on("exit", () => {
  fs.writeFileSync(process.env.SEEN, JSON.stringify([...seen].map((s) => JSON.parse(s))));
});
"""


def facts_of(file: Written) -> FileFacts:
    return extract(file.path, ("\n".join(file.lines) + "\n").encode())


def python(folder: Path, files: list[Written]) -> Seen:
    labels = {}
    for file in files:
        facts = facts_of(file)
        lambdas = {
            s.span.first_line: facts.label(i)
            for i, s in enumerate(facts.symbols)
            if "lambda" in s.signature and s.kind in CALLABLE
        }
        names = [facts.label(i) for i, s in enumerate(facts.symbols) if s.kind in CALLABLE]
        labels[file.path] = {"module": facts.module, "names": names, "lambdas": lambdas}
    entry = files[-1].path.removesuffix(".py").replace("/", ".")
    command = [sys.executable, "-c", PYTHON, str(folder), entry, json.dumps(labels)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return {(p, n, label) for p, n, label in json.loads(run.stdout.splitlines()[-1])}


FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "function_expression",
    "generator_function", "arrow_function", "method_definition",
})  # fmt: skip


def instrumented(file: Written, implicit: set[str]) -> str:
    """The source of a script in which functions say that they were entered, line by line."""
    source = ("\n".join(file.lines) + "\n").encode()
    facts = extract(file.path, source)
    free = [i for i, s in enumerate(facts.symbols) if s.kind in CALLABLE]
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))
    inserts: list[tuple[int, int, str]] = []
    work = [parser.parse(source).root_node]
    while work:
        node = work.pop()
        work.extend(reversed(node.children))
        if node.is_named and node.type in ("class_declaration", "class"):
            _implicit(facts, node, inserts, implicit)
        if node.type not in FUNCTIONS:
            continue
        spans = [(i, facts.symbols[i].span) for i in free]
        fits = [
            (s.start, i)
            for i, s in spans
            if s.start <= node.start_byte and 0 <= s.end - node.end_byte <= 2
        ]
        if not fits:
            continue
        index = max(fits)[1]
        free.remove(index)
        entered = f"__enter({json.dumps(facts.label(index))})"
        body = node.child_by_field_name("body")
        taken = node.child_by_field_name("parameters")
        assert body is not None
        lazy = "generator" in node.type or any(c.type == "*" for c in node.children)
        if lazy and taken is not None and b"..." not in taken.text:  # type: ignore[operator]
            comma = ", " if taken.named_child_count else ""
            inserts.append((taken.end_byte - 1, 0, f"{comma}__r = {entered}"))
        elif body.type == "statement_block":
            inserts.append((body.start_byte + 1, 0, f" {entered};"))
        else:
            inserts.append((body.start_byte, 0, f"({entered}, "))
            inserts.append((body.end_byte, -1, ")"))
    text = source
    for at, _, more in sorted(inserts, reverse=True):
        text = text[:at] + more.encode() + text[at:]
    return text.decode()


def _implicit(
    facts: FileFacts, node: tree_sitter.Node, inserts: list[tuple[int, int, str]], known: set[str]
) -> None:
    """A class without a constructor says so in a field."""
    body = node.child_by_field_name("body")
    assert body is not None
    names = [c.child_by_field_name("name") for c in body.named_children]
    if any(n is not None and n.text == b"constructor" for n in names):
        return
    for index, symbol in enumerate(facts.symbols):
        near = symbol.span.start <= node.start_byte and 0 <= symbol.span.end - node.end_byte <= 2
        if symbol.kind == "class" and near:
            known.add(symbol.name)
            label = json.dumps(facts.label(index))
            inserts.append((body.start_byte + 1, 0, f" #__r = __enter({label}, true);"))
            return


def script(folder: Path, files: list[Written]) -> Seen:
    implicit: set[str] = set()
    for file in files:
        (folder / file.path).write_text(instrumented(file, implicit))
    whole = "\n".join(line for file in files for line in file.lines)
    kind = "module" if "\nexport " in whole or "\nimport " in whole else "commonjs"
    (folder / "package.json").write_text(json.dumps({"type": kind}))
    preload, seen = folder.with_name(folder.name + ".cjs"), folder / "seen.json"
    preload.write_text(SCRIPT)
    command = ["node", "--require", str(preload), str(folder / files[-1].path)]
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "FOLDER": str(folder), "SEEN": str(seen)}
    env["IMPLICIT"] = json.dumps(sorted(implicit))
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
    preload.unlink()
    assert run.returncode == 0, run.stderr
    return {(p, n, label) for p, n, label in json.loads(seen.read_text())}


def recorded(text: str) -> str:
    """A program with a claim for every call that was recorded."""
    files = split(text)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for file in files:
            place = folder / file.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("\n".join(file.lines) + "\n")
        is_python = files[0].path.endswith(".py")
        seen = python(folder, files) if is_python else script(folder, files)
    sign = "#" if is_python else "//"
    lines = []
    for file in files:
        lines.append(f"{sign} --- {file.path}")
        for number, line in enumerate(file.lines, 1):
            lines.append(line)
            margin = line[: len(line) - len(line.lstrip())]
            found = sorted(label for p, n, label in seen if (p, n) == (file.path, number))
            lines += [f"{margin}{sign} ^ calls {label}" for label in found]
    return "\n".join(lines)


def main() -> int:
    print("PROGRAMS = {")
    for name in sys.argv[1:]:
        title, _, text = Path(name).read_text().partition("\n")
        body = textwrap.indent(recorded(text), " " * 8)
        prefix = "r" if "\\" in body else ""
        print(f'    "{title}": {prefix}"""\n{body}\n        """,')
    print("}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
