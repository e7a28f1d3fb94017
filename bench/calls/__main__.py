"""Calls of packages from the registries, judged by a type checker.

`python -m bench.calls [--only PACKAGE…] [--language python|typescript|javascript] [--show N]`
fetches the packages and the judges through pip and npm (kept under bench/corpora), and prints
precision and recall by band of confidence and by reason, for each language. The confidences in
`holdfast.index.calls.confidence` are made of the tables by reason.

A call counts when the judge names a function or a class of the package for it. An edge is right
when it reaches that symbol, wrong when the judge names another or something outside of the package.
What the judge cannot decide (a parameter, a variable) counts neither way.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.calls import judges, score
from bench.facts import CORPORA, fetch
from bench.timing import Row, save
from holdfast.index.facts.extract import extract

PACKAGES = {
    "httpx": ("pip", "httpx==0.28.1", "python", "", "tuned"),
    "rich": ("pip", "rich==14.0.0", "python", "", "tuned"),
    "jinja2": ("pip", "jinja2==3.1.6", "python", "", "tuned"),
    "starlette": ("pip", "starlette==0.46.2", "python", "", "tuned"),
    "click": ("pip", "click==8.2.0", "python", "", "tuned"),
    "trio": ("pip", "trio==0.30.0", "python", "", "tuned"),
    "aiohttp": ("pip", "aiohttp==3.12.13", "python", "", "measured"),
    "flask": ("pip", "flask==3.1.1", "python", "", "tuned"),
    "marshmallow": ("pip", "marshmallow==4.0.0", "python", "", "measured"),
    "werkzeug": ("pip", "werkzeug==3.1.3", "python", "", "measured"),
    "anyio": ("pip", "anyio==4.9.0", "python", "", "measured"),
    "attrs": ("pip", "attrs==25.3.0", "python", "", "tuned"),
    "falcon": ("pip", "falcon==4.4.0", "python", "", "tuned"),
    "wtforms": ("pip", "wtforms==3.3.2", "python", "", "tuned"),
    "tenacity": ("pip", "tenacity==9.2.1", "python", "", "tuned"),
    "structlog": ("pip", "structlog==26.1.0", "python", "", "tuned"),
    "pyramid": ("pip", "pyramid==2.1", "python", "", "tuned"),
    "mako": ("pip", "mako==1.4.3", "python", "", "tuned"),
    "cattrs": ("pip", "cattrs==26.2.1", "python", "", "tuned"),
    "lark": ("pip", "lark==1.3.1", "python", "", "tuned"),
    "tornado": ("pip", "tornado==6.6.1", "python", "", "measured"),
    "pluggy": ("pip", "pluggy==1.7.0", "python", "", "measured"),
    "nox": ("pip", "nox==2026.10.20", "python", "", "measured"),
    "parso": ("pip", "parso==0.8.7", "python", "", "measured"),
    "bottle": ("pip", "bottle==0.13.4", "python", "", "measured"),
    "itsdangerous": ("pip", "itsdangerous==2.2.0", "python", "", "measured"),
    "markdown": ("pip", "markdown==3.11.3", "python", "", "measured"),
    "hypercorn": ("pip", "hypercorn==0.18.0", "python", "", "tuned"),
    "mobx": ("npm", "mobx@6.13.7", "typescript", "package/src", "tuned"),
    "rxjs": ("npm", "rxjs@7.8.1", "typescript", "package/src", "tuned"),
    "query-core": ("npm", "@tanstack/query-core@5.76.0", "typescript", "package/src", "measured"),
    "zod": ("npm", "zod@4.1.5", "typescript", "package/src", "tuned"),
    "ajv": ("npm", "ajv@8.20.0", "typescript", "package/lib", "tuned"),
    "trpc-server": ("npm", "@trpc/server@11.23.0", "typescript", "package/src", "tuned"),
    "toolkit": ("npm", "@reduxjs/toolkit@2.14.0", "typescript", "package/src", "measured"),
    "mongodb": ("npm", "mongodb@6.17.0", "typescript", "package/src", "measured"),
    "prosemirror": ("npm", "prosemirror-view@1.40.0", "typescript", "package/src", "measured"),
    "apollo-server": ("npm", "@apollo/server@4.12.2", "typescript", "package/src", "measured"),
    "tiptap": ("npm", "@tiptap/core@2.12.0", "typescript", "package/src", "measured"),
    "table-core": ("npm", "@tanstack/table-core@8.21.3", "typescript", "package/src", "measured"),
    "immer": ("npm", "immer@11.2.10", "typescript", "package/src", "measured"),
    "redux": ("npm", "redux@5.0.1", "typescript", "package/src", "measured"),
    "virtual": ("npm", "@tanstack/virtual-core@3.19.11", "typescript", "package/src", "measured"),
    "nodemailer": ("npm", "nodemailer@10.4.0", "javascript", "package/dist", "measured"),
    "chai": ("npm", "chai@6.3.0", "javascript", "package", "measured"),
    "commander": ("npm", "commander@14.0.0", "javascript", "package/lib", "tuned"),
    "three": ("npm", "three@0.170.0", "javascript", "package/src", "tuned"),
    "hono": ("npm", "hono@4.7.9", "javascript", "package/dist", "measured"),
    "jose": ("npm", "jose@6.0.11", "javascript", "package/dist", "measured"),
    "undici": ("npm", "undici@7.30.2", "javascript", "package/lib", "tuned"),
    "fastify": ("npm", "fastify@5.12.8", "javascript", "package/lib", "measured"),
    "ioredis": ("npm", "ioredis@6.0.0", "javascript", "package/built", "measured"),
    "knex": ("npm", "knex@3.1.0", "javascript", "package/lib", "measured"),
    "express": ("npm", "express@5.1.0", "javascript", "package/lib", "tuned"),
    "yjs": ("npm", "yjs@13.6.27", "javascript", "package/src", "tuned"),
    "ws": ("npm", "ws@8.22.2", "javascript", "package/lib", "measured"),
    "koa": ("npm", "koa@3.2.1", "javascript", "package/lib", "tuned"),
    "postcss": ("npm", "postcss@8.5.32", "javascript", "package/lib", "tuned"),
    "execa": ("npm", "execa@10.2.1", "javascript", "package/lib", "measured"),
    "eslint-scope": ("npm", "eslint-scope@9.1.2", "javascript", "package/lib", "measured"),
    "pino": ("npm", "pino@10.4.0", "javascript", "package/lib", "measured"),
    "got": ("npm", "got@16.1.0", "javascript", "package/dist/source", "measured"),
}  # fmt: skip
"""Registry, package, language, folder, and whether we tuned on it or only measured it."""
JUDGES = {"basedpyright": "basedpyright==1.40.2", "typescript": "typescript@5.9.3"}
SUFFIXES = {"python": (".py",), "typescript": (".ts", ".tsx"), "javascript": (".js", ".mjs")}
FILES_MAX = 800


def judge_folder(name: str) -> Path:
    """Where a judge is installed; installs it when it is missing."""
    folder = CORPORA / f"judge-{name}"
    if not folder.is_dir():
        package = JUDGES[name]
        command = (
            [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), package]
            if name == "basedpyright"
            else ["npm", "install", "--silent", "--prefix", str(folder), package]
        )
        folder.mkdir(parents=True)
        subprocess.run(command, check=True, timeout=600)
    return folder / "node_modules" / "typescript" if name == "typescript" else folder


def files_of(folder: Path, language: str) -> list[str]:
    """The source files of a package: no tests, declarations or minified bundles."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix not in SUFFIXES[language] or path.stat().st_size > 500_000:
            continue
        if not any(part in name.lower() for part in ("test", ".d.ts", ".min.")):
            found.append(name)
    return found[:FILES_MAX]


def answers(name: str, language: str, folder: Path, files: list[str]) -> list[judges.Judged]:
    """The judge's answers for a package; kept beside it, since they do not change."""
    kept = CORPORA / f"judged-{name}.json"
    if kept.is_file():
        return [
            judges.plausible(
                folder, judges.Judged(p, s, n, tuple(judges.Place(*place) for place in places))
            )
            for p, s, n, places in json.loads(kept.read_text())
        ]
    if language == "python":
        found = list(judges.language_server(judge_folder("basedpyright"), folder, files))
    else:
        found = list(judges.compiler(judge_folder("typescript"), folder, files))
    kept.write_text(json.dumps(found))
    return [judges.plausible(folder, each) for each in found]


GOALS = {"python": (98, 99.5), "typescript": (95, 99), "javascript": (95, 99)}


def summary(name: str, total: score.Score, packages: int) -> Iterator[Row]:
    """What is recorded: shares of the judge's calls, in percent."""
    found, known = total.recall()
    right, edges = total.precision()
    least, sure = GOALS[name.partition(",")[0]]
    recall, precision = 100 * found / max(1, known), 100 * right / max(1, edges)
    yield Row(
        f"{name}: found",
        recall,
        "%",
        f"≥ {least}",
        recall >= least,
        f"of {known:,} calls in {packages} packages",
    )
    yield Row(f"{name}: right", precision, "%", f"≥ {sure}", precision >= sure, f"of {edges:,}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--language")
    parser.add_argument("--part", choices=("tuned", "measured"))
    parser.add_argument("--show", type=int, default=0, help="print so many errors of each kind")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    totals: dict[str, score.Score] = {}
    counted: Counter[str] = Counter()
    for name, (registry, package, language, inner, part) in PACKAGES.items():
        if (args.only and name not in args.only) or (args.part and args.part != part):
            continue
        if args.language and args.language != language:
            continue
        fetched = fetch(name, {name: (registry, package)})
        if fetched is None:
            continue
        folder = fetched / inner
        files = files_of(folder, language)
        facts = [extract(path, (folder / path).read_bytes()) for path in files]
        one = score.judge(facts, answers(name, language, folder, files))
        right, edges = one.precision()
        found, known = one.recall()
        print(f"{name}: {len(files)} files, precision {right}/{edges}, recall {found}/{known}",
              file=sys.stderr)  # fmt: skip
        group = f"{language}, {part}"
        counted[group] += 1
        total = totals.setdefault(group, score.Score())
        total.verdicts += one.verdicts
        total.unmatched += one.unmatched
    save(
        "calls",
        [row for name, total in totals.items() for row in summary(name, total, counted[name])],
    )
    if args.json:
        print(json.dumps({name: [v._asdict() for v in s.verdicts] for name, s in totals.items()}))
        return 0
    for name, total in totals.items():
        print("\n".join(score.tables(name, total, args.show)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
