"""Read a set of labelled questions.

The form, version 1 (docs/retrieval.md has it in full):

    {"format": "holdfast-retrieval", "version": 1, "name": "…",
     "repositories": [{"id": "shop", "path": "trees/shop", "language": "python", "split": "dev"}],
     "queries": [{"id": "q1", "repository": "shop", "query": "where are prices rounded",
                  "relevant": [{"path": "cart.py", "lines": [10, 20], "grade": 2}, "tax.py"],
                  "category": "behaviour"}]}

Other sets are converted to this format, so common alternative field names are accepted, unknown
fields are ignored, and an invalid question is reported with its position in the file: dropping it
silently would improve every system's score. One invalid question does not end the run; a set
without any valid question is rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

FORMAT, VERSION = "holdfast-retrieval", 1
"""History: 1, the first."""

QUERY = ("query", "text", "question", "q", "prompt")
RELEVANT = (
    "relevant", "relevant_paths", "relevant_files", "targets", "labels", "answers", "gold",
    "expected", "expected_files", "files", "paths", "ground_truth", "positives",
)  # fmt: skip
ALSO = ("secondary", "also_relevant", "partially_relevant")
PATH = ("path", "file", "file_path", "filepath", "filename", "relative_path")
START = ("start", "start_line", "startLine", "line_start", "first", "from", "line")
END = ("end", "end_line", "endLine", "line_end", "last", "to")
LINES = ("lines", "span", "line_span", "range", "line_range")
GRADE = ("grade", "relevance", "gain", "rel", "weight")
CATEGORY = ("category", "type", "kind", "query_type")
LANGUAGE = ("language", "lang")
REPOSITORY = ("repository", "repo", "repository_id", "repo_id", "repo_name", "codebase", "project")
IDENTITY = ("id", "query_id", "qid", "_id")
TREE = ("path", "root", "directory", "dir", "local_path", "repo_path", "repository_path")
REPOSITORIES = ("repositories", "repos", "codebases", "projects")
QUERIES = ("queries", "questions", "items", "tasks", "examples", "data", "cases")
SPLIT = ("split", "subset", "fold")

_SPANNED = re.compile(r"^(?P<path>.+?)(?::|#L)(?P<start>\d+)(?:(?:-|:)L?(?P<end>\d+))?$")


class BadSet(Exception):
    """Raised when a set is invalid; says where in the file."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place, self.problem = place, problem


@dataclass(frozen=True, slots=True)
class Target:
    """A place that answers a question: a file, or lines of it (1-based, inclusive)."""

    path: str
    start: int | None = None
    end: int | None = None
    grade: float = 1.0

    def shown_by(self, path: str, start: int | None, end: int | None) -> bool:
        """Whether a result shows part of it. A result without lines shows its whole file."""
        if path != self.path:
            return False
        if self.start is None or self.end is None or start is None or end is None:
            return True
        return start <= self.end and self.start <= end


@dataclass(frozen=True, slots=True)
class Query:
    """A question and every place that answers it."""

    id: str
    repository: str
    text: str
    targets: tuple[Target, ...]
    category: str = "all"
    language: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A source tree: where it is, or the package to fetch it from."""

    id: str
    path: Path | None = None
    package: Mapping[str, Any] | None = None
    language: str = ""
    split: str = ""
    blanked: Mapping[str, list[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Questions over repositories; the repository of every question is included."""

    name: str
    repositories: tuple[Repository, ...]
    queries: tuple[Query, ...]
    problems: tuple[str, ...] = ()
    """Invalid questions, which are left out, each with its position."""

    def chosen(
        self, split: str = "", repositories: Sequence[str] = (), most: int = 0
    ) -> LabelledSet:
        """The questions of some splits and repositories, at most `limit` for each repository."""
        splits = set(filter(None, split.split(",")))
        kept = [
            r for r in self.repositories
            if (not splits or r.split in splits) and (not repositories or r.id in repositories)
        ]  # fmt: skip
        names = {r.id for r in kept}
        counts: dict[str, int] = {}
        queries = []
        for query in self.queries:
            counts[query.repository] = counts.get(query.repository, 0) + 1
            if query.repository in names and (not most or counts[query.repository] <= most):
                queries.append(query)
        asked = {q.repository for q in queries}
        return LabelledSet(
            self.name, tuple(r for r in kept if r.id in asked), tuple(queries), self.problems
        )


def read_set(path: Path) -> LabelledSet:
    """The set in a file (JSON, or JSON lines), or in all JSON files of a directory together."""
    if path.is_dir():
        parts = [read_set(part) for part in sorted(path.glob("*.json*"))]
        if not parts:
            raise BadSet(str(path), "has no JSON file")
        merged: dict[str, Repository] = {}
        for part in parts:
            for repository in part.repositories:
                merged.setdefault(repository.id, repository)
        queries = tuple(query for part in parts for query in part.queries)
        problems = tuple(problem for part in parts for problem in part.problems)
        return LabelledSet(path.name, tuple(merged.values()), queries, problems)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSet(str(path), str(error)) from error
    return parse_set(_decoded(path.name, text), path)


def _decoded(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as whole:
        rows = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                # If some line is JSON, the file is JSON lines, and the error is in the other line.
                if rows:
                    raise BadSet(f"{name} line {number}", error.msg) from error
                raise BadSet(
                    f"{name} line {whole.lineno} column {whole.colno}", whole.msg
                ) from whole
        return rows


def parse_set(value: Any, path: Path) -> LabelledSet:
    """The set in a decoded file; `path` is used for its name and for relative paths."""
    return _Parser(path).parse(value)


def _first(fields: Mapping[str, Any], names: Sequence[str], default: Any = None) -> Any:
    for name in names:
        if fields.get(name) is not None:
            return fields[name]
    return default


class _Parser:
    def __init__(self, path: Path) -> None:
        self.file, self.base = path.name, path.parent
        self.repositories: dict[str, Repository] = {}
        self.queries: list[Query] = []
        self.seen: set[str] = set()
        self.problems: list[BadSet] = []

    def bad(self, place: str, problem: str) -> BadSet:
        return BadSet(f"{self.file} {place}".rstrip(), problem)

    def parse(self, value: Any) -> LabelledSet:
        if isinstance(value, list):
            value = {"queries": value}
        if not isinstance(value, dict):
            raise self.bad("", "is neither an object nor a list of queries")
        if value.get("format", FORMAT) != FORMAT:
            raise self.bad("format", f"is {value['format']!r}, not {FORMAT!r}")
        if value.get("format") == FORMAT and value.get("version", VERSION) != VERSION:
            raise self.bad("version", f"is {value['version']!r}; this program reads {VERSION}")
        listed = _first(value, REPOSITORIES, [])
        for place, fields in self._objects(listed, "repositories"):
            self._repository(place, fields)
        whole = _first(value, REPOSITORY) or _first(value, TREE)
        for place, fields in self._objects(_first(value, QUERIES, []), "queries"):
            self._query(place, fields, whole)
        if not self.queries:
            raise self.problems[0] if self.problems else self.bad("", "has no queries")
        name = str(value.get("name") or Path(self.file).stem)
        return LabelledSet(
            name,
            tuple(self.repositories.values()),
            tuple(self.queries),
            tuple(str(problem) for problem in self.problems),
        )

    def _objects(self, value: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if isinstance(value, dict):  # by id
            value = [
                {"id": key, **(item if isinstance(item, dict) else {"path": item})}
                for key, item in value.items()
            ]
        if not isinstance(value, list):
            raise self.bad(name, "is no list")
        for number, item in enumerate(value):
            place = f"{name}[{number}]"
            if isinstance(item, str) and name == "repositories":
                item = {"path": item}
            if not isinstance(item, dict):
                raise self.bad(place, "is no object")
            yield place, item

    def _repository(self, place: str, fields: Mapping[str, Any]) -> None:
        tree, package = _first(fields, TREE), fields.get("package")
        identity = str(_first(fields, (*IDENTITY, "name")) or tree or "")
        if not identity:
            raise self.bad(place, "has neither an id nor a path")
        if tree is not None and not isinstance(tree, str):
            raise self.bad(f"{place}.path", "is no text")
        if tree is None and package is None:
            tree = identity
        if package is not None and not isinstance(package, dict):
            raise self.bad(f"{place}.package", "is no object")
        blanked = {
            path: [(int(a), int(b)) for a, b in ranges]
            for path, ranges in (fields.get("blanked") or {}).items()
        }
        self.repositories[identity] = Repository(
            identity,
            self.base / _home(tree) if tree is not None else None,
            package,
            str(_first(fields, LANGUAGE, "")),
            str(_first(fields, SPLIT, "")),
            blanked,
        )
        for inner, query in self._objects(_first(fields, QUERIES, []), f"{place}.queries"):
            self._query(inner, query, identity)

    def _query(self, place: str, fields: Mapping[str, Any], whole: Any) -> None:
        try:
            self._understood(place, fields, whole)
        except BadSet as problem:
            self.problems.append(problem)

    def _understood(self, place: str, fields: Mapping[str, Any], whole: Any) -> None:
        text = _first(fields, QUERY)
        if not isinstance(text, str) or not text.strip():
            raise self.bad(place, f"has no text (one of {', '.join(QUERY)})")
        repository = _first(fields, REPOSITORY) or whole or _first(fields, ("repo_path", "root"))
        if repository is None and len(self.repositories) == 1:
            repository = next(iter(self.repositories))
        if not isinstance(repository, str):
            raise self.bad(place, f"names no repository (one of {', '.join(REPOSITORY)})")
        if repository not in self.repositories:
            # A path in place of an id.
            self._repository(place, {"path": repository, **_kept(fields, SPLIT, LANGUAGE)})
        relevant = _first(fields, RELEVANT)
        targets = [] if relevant is None else self._targets(f"{place}.relevant", relevant)
        if relevant is None and _first(fields, PATH) is not None:
            targets = self._targets(place, [fields])
        also = _first(fields, ALSO)
        if also is not None:
            targets += self._targets(f"{place}.secondary", also)
        if not any(target.grade > 0 for target in targets):
            raise self.bad(place, f"has nothing relevant (one of {', '.join(RELEVANT)})")
        identity = str(_first(fields, IDENTITY, f"{repository}#{len(self.queries) + 1}"))
        if identity in self.seen:
            identity = f"{identity}#{len(self.queries) + 1}"
        self.seen.add(identity)
        category = str(_first(fields, CATEGORY, "all"))
        language = str(_first(fields, LANGUAGE) or self.repositories[repository].language)
        unique = tuple(dict.fromkeys(t for t in targets if t.grade > 0))
        self.queries.append(Query(identity, repository, text, unique, category, language))

    def _targets(self, place: str, value: Any) -> list[Target]:
        if isinstance(value, str):
            value = [value]
        if isinstance(value, dict) and _first(value, PATH) is None:  # path to grade
            value = [
                {"path": path, "grade": grade} if isinstance(grade, int | float) else
                {"path": path, "lines": grade} for path, grade in value.items()
            ]  # fmt: skip
        if isinstance(value, dict):
            value = [value]
        if not isinstance(value, list):
            raise self.bad(place, "is no list of paths")
        found: list[Target] = []
        for number, item in enumerate(value):
            found += self._target(f"{place}[{number}]", item)
        return found

    def _target(self, place: str, item: Any) -> list[Target]:
        if isinstance(item, str):
            spanned = _SPANNED.match(item)
            if spanned is None:
                return [Target(self._clean(place, item))]
            start = int(spanned["start"])
            return [self._spanned(place, spanned["path"], start, spanned["end"] or start, 1.0)]
        if not isinstance(item, dict):
            raise self.bad(place, "is neither a path nor an object")
        path = _first(item, PATH)
        if not isinstance(path, str):
            raise self.bad(place, f"has no path (one of {', '.join(PATH)})")
        grade = _first(item, GRADE, 1)
        if isinstance(grade, bool) or not isinstance(grade, int | float):
            raise self.bad(f"{place}.grade", f"is no number: {grade!r}")
        spans = _first(item, LINES) or item.get("spans")
        if isinstance(spans, dict):
            item, spans = {**item, **spans}, None
        if isinstance(spans, str) and (
            two := re.fullmatch(r"L?(\d+)(?:\s*[-:,]\s*L?(\d+))?", spans)
        ):
            spans = [int(two[1]), int(two[2] or two[1])]
        if isinstance(spans, list) and spans:
            pairs = spans if isinstance(spans[0], list | tuple) else [spans]
            if any(len(pair) != 2 for pair in pairs):
                raise self.bad(f"{place}.lines", f"is no pair of lines: {spans!r}")
            return [self._spanned(place, path, a, b, float(grade)) for a, b in pairs]
        if spans is not None:
            raise self.bad(f"{place}.lines", f"is no pair of lines: {spans!r}")
        start = _first(item, START)
        if start is None:
            return [Target(self._clean(place, path), grade=float(grade))]
        return [self._spanned(place, path, start, _first(item, END, start), float(grade))]

    def _spanned(self, place: str, path: str, start: Any, end: Any, grade: float) -> Target:
        try:
            first, last = int(start), int(end)
        except (TypeError, ValueError):
            raise self.bad(f"{place}.lines", f"{start!r} to {end!r} are no lines") from None
        if not 1 <= first <= last:
            raise self.bad(f"{place}.lines", f"lines {first}-{last} name no line")
        return Target(self._clean(place, path), first, last, grade)

    def _clean(self, place: str, path: str) -> str:
        clean = path.replace("\\", "/").removeprefix("./").lstrip("/")
        if not clean or ".." in clean.split("/"):
            raise self.bad(place, f"{path!r} names no file of the repository")
        return clean


def within(tree: Path, identity: str, target: Target) -> Target:
    """The target by its path in the tree, without a leading name or path of the repository.

    A label that is a file of the tree already, or is none either way, is returned unchanged.
    """
    if (tree / target.path).is_file():
        return target
    parts = target.path.split("/")
    names = {tree.name, tree.resolve().name, identity.rstrip("/").rpartition("/")[2]}
    for at, part in enumerate(parts[:-1], 1):
        inside = "/".join(parts[at:])
        if part in names and (tree / inside).is_file():
            return replace(target, path=inside)
    return target


def _home(tree: str) -> Path:
    """A path with `~` expanded, if there is such a home."""
    try:
        return Path(tree).expanduser()
    except RuntimeError:
        return Path(tree)


def _kept(fields: Mapping[str, Any], *groups: Sequence[str]) -> dict[str, Any]:
    return {group[0]: value for group in groups if (value := _first(fields, group)) is not None}
