"""Import resolution: the rules of each language, applied to the paths of the program.

Which way it may err: an import of a file that is not in the program is external. It never resolves
to a file elsewhere that merely has the same name.
"""

from __future__ import annotations

import posixpath
import re

from holdfast.index.calls.program import Program, Thing, View

_SCRIPT = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_PYTHON = (".py", ".pyi", ".ipynb")
CRATE = "<crate>"
"""The name of a crate whose root file is not in the program."""
_SOURCE_ROOTS = ("", "src", "lib", "python")


def find(program: Program, view: View, module: str) -> Thing:
    """The file or package that `module` names in this file."""
    key = (view.path, module)
    known = program.found.get(key)
    if known is None:
        finder = _FINDERS.get(view.family)
        known = (finder(program, view, module) if finder else None) or Thing(
            "external", name=module
        )
        program.found[key] = known
    return known


def nearest(paths: list[str], path: str) -> str:
    """The file with the longest common path prefix; ties go to the first by name."""
    return max(sorted(paths, reverse=True), key=lambda p: len(posixpath.commonprefix([p, path])))


def _joined(folder: str, *parts: str) -> str:
    path = "/".join(part for part in (folder, *parts) if part)
    if "." in path and ("./" in path or path.endswith(".")):
        path = posixpath.normpath(path)
    return "" if path == "." else path.rstrip("/")


# Python


def _python_file(program: Program, stem: str) -> Thing | None:
    for suffix in _PYTHON:
        if stem + suffix in program.files:
            return Thing("file", stem + suffix)
    for suffix in _PYTHON[:2]:
        path = _joined(stem, "__init__" + suffix)
        if path in program.files:
            return Thing("file", path)
    if stem and program.above.get(stem):
        return Thing("package", name=stem.replace("/", "."), path=stem)
    return None


def _python(program: Program, view: View, module: str) -> Thing | None:
    dots = len(module) - len(module.lstrip("."))
    rest = module[dots:].replace(".", "/")
    if dots:
        folder = view.folder
        for _ in range(dots - 1):
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
        return (
            _python_file(program, _joined(folder, rest)) if rest else _package_of(program, folder)
        )
    # The importer's own folder first, as for a script; then each parent up to the root, and the
    # usual source folders beside them. This works for any layout.
    folder = view.folder
    while True:
        if not _in_package(program, folder):  # a package is not a folder of modules
            for root in _SOURCE_ROOTS if folder != view.folder or not folder else ("",):
                found = _python_file(program, _joined(folder, root, rest))
                # A package may import its own modules: `from shop import cart` in shop/__init__.py.
                if found and (found.path != view.path or "/__init__.py" in found.path):
                    return found
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _in_package(program: Program, folder: str) -> bool:
    return _joined(folder, "__init__.py") in program.files


def _package_of(program: Program, folder: str) -> Thing | None:
    path = _joined(folder, "__init__.py")
    if path in program.files:
        return Thing("file", path)
    return Thing("package", name=folder.replace("/", "."), path=folder)


# JavaScript and TypeScript


def _script_file(program: Program, stem: str) -> Thing | None:
    if stem in program.files:
        return Thing("file", stem)
    bare = re.sub(r"\.[cm]?jsx?$", "", stem)  # `./cart.js` may be written as `cart.ts`
    for base in (stem, bare):
        for suffix in _SCRIPT:
            if base + suffix in program.files:
                return Thing("file", base + suffix)
    for suffix in _SCRIPT:
        path = _joined(stem, "index" + suffix)
        if path in program.files:
            return Thing("file", path)
    return None


def _script(program: Program, view: View, module: str) -> Thing | None:
    if module.startswith("."):
        return _script_file(program, _joined(view.folder, module))
    for name in (module, *_prefixes(module)):
        folders = program.modules.get(name)
        if folders:
            folder = min(folders)
            rest = module[len(name) :].lstrip("/")
            for inner in (rest, f"src/{rest}", f"lib/{rest}") if rest else ("", "src", "lib"):
                found = _script_file(program, _joined(folder, inner))
                if found:
                    return found
    if module.startswith(("@/", "~/", "src/")):
        rest = module.partition("/")[2]
        folder = view.folder
        while True:
            for inner in ("src/" + rest, rest):
                found = _script_file(program, _joined(folder, inner))
                if found:
                    return found
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
    return None


def _prefixes(module: str) -> list[str]:
    parts = module.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


# Go


def _go(program: Program, view: View, module: str) -> Thing | None:
    known = [
        m for m in program.modules if any(_is_go_module(program, m, f) for f in program.modules[m])
    ]
    for name in sorted(known, key=len, reverse=True):
        if module == name or module.startswith(name + "/"):
            folder = min(program.modules[name])
            return _go_folder(program, _joined(folder, module[len(name) :].lstrip("/")))
    if not known and "." in module.split("/")[0]:
        parts = module.split("/")
        for start in range(1, len(parts)):
            found = _go_folder(program, "/".join(parts[start:]))
            if found:
                return found
    return None


def _is_go_module(program: Program, _module: str, folder: str) -> bool:
    return _joined(folder, "go.mod") in program.files


def _go_folder(program: Program, folder: str) -> Thing | None:
    for path in sorted(program.folders.get(folder, ())):
        if path.endswith(".go") and not path.endswith("_test.go"):
            return Thing("package", path=folder, name=program.files[path].facts.module)
    return None


# Rust


def crate_of(path: str) -> tuple[str, list[str]]:
    """The folder of a file's crate, and the module path of the file in it."""
    folder, source, rest = ("/" + path).rpartition("/src/")
    if not source:
        folder, rest = "", path
    parts = rest.removesuffix(".rs").split("/")
    if parts[-1] in ("mod", "lib", "main"):
        parts.pop()
    return folder.lstrip("/"), parts


def rust_file(program: Program, crate: str, parts: list[str]) -> Thing | None:
    """The file of a module of a crate."""
    bases = [_joined(crate, "src"), crate] if crate or "src" in program.folders else ["src", ""]
    for base in bases:
        stem = _joined(base, *parts) if parts else base
        names = [f"{stem}.rs", f"{stem}/mod.rs"] if parts else []
        if not parts:
            names = [_joined(base, "lib.rs"), _joined(base, "main.rs")]
        for name in names:
            if name in program.files:
                return Thing("file", name)
    return None


def _rust(program: Program, view: View, module: str) -> Thing | None:
    """The file that the first part of a path names; `holdfast.index.calls.names` walks the rest."""
    crate, parts = crate_of(view.path)
    if module == "crate":
        return rust_file(program, crate, []) or Thing("package", path=crate, name=CRATE)
    if module == "self":
        return Thing("file", view.path)
    if module == "super":
        if len(parts) < 2:
            return _rust(program, view, "crate") if parts else None
        return rust_file(program, crate, parts[:-1])
    child = rust_file(program, crate, [*parts, module])
    if child and child.path != view.path:
        return child
    for folder in sorted(program.folders):
        if folder.endswith("src"):
            owner = folder.removesuffix("src").rstrip("/")
            if owner != crate and owner.rpartition("/")[2].replace("-", "_") == module:
                return rust_file(program, owner, [])
    return None


# C, Ruby, PHP, Bash, Lua: files by path


def _include(program: Program, view: View, module: str) -> Thing | None:
    name = module.strip("<>")
    local = _joined(view.folder, name)
    if local in program.files:
        return Thing("file", local)
    if "." not in name and not module.startswith("<"):  # `using namespace shop`
        return _package(program, view, module)
    ends = [p for p in program.suffixes.get(name.rpartition("/")[2], ()) if p == name
            or p.endswith("/" + name)]  # fmt: skip
    if ends and (not module.startswith("<") or "/" in name):
        return Thing("file", nearest(ends, view.path))
    return None


def _relative(suffix: str, *roots: str):  # type: ignore[no-untyped-def]
    def finder(program: Program, view: View, module: str) -> Thing | None:
        names = [module, module + suffix]
        folders = [view.folder] if module.startswith(".") else [view.folder, *roots, ""]
        for folder in folders:
            for name in names:
                path = _joined(folder, name)
                if path in program.files:
                    return Thing("file", path)
        return None

    return finder


def _lua(program: Program, view: View, module: str) -> Thing | None:
    stem = module.replace(".", "/")
    folder = view.folder
    while True:
        for root in ("", "src", "lua", "lib"):
            for name in (f"{stem}.lua", f"{stem}/init.lua"):
                path = _joined(folder, root, name)
                if path in program.files:
                    return Thing("file", path)
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _package(program: Program, view: View, module: str) -> Thing | None:
    if (view.family, module) in program.packages:
        return Thing("package", name=module)
    found = program.exact(view.family, module)
    return min(found) if found else None


def _php(program: Program, view: View, module: str) -> Thing | None:
    if module.startswith("./"):
        found: Thing | None = _relative(".php")(program, view, module)
        return found
    return _package(program, view, module)


_FINDERS = {
    "python": _python,
    "js": _script,
    "go": _go,
    "rust": _rust,
    "jvm": _package,
    "csharp": _package,
    "php": _php,
    "c": _include,
    "ruby": _relative(".rb", "lib", "app"),
    "bash": _relative(".sh"),
    "lua": _lua,
}
