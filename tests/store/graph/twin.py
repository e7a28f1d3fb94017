"""The traversal again, as plainly as it can be said: recursion, raw schemas, no caches.

A schema here is False, or a list of parts, each a JSON schema with its `$defs`; the empty list
accepts everything. A list has more than one part after a link with a schema of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from holdfast.store.graph import Loaded
from holdfast.store.graph.schemas import PARTS_MAX

Json = Any
Part = tuple[Json, Json]
Schema = Any
ACCEPTS_ALL = {"default", "$defs", "ifc", "asCell", "asStream"}


def reached(
    find: Callable[[str], Loaded | None], query: Json, space: str = "", path_max: int = 100
) -> dict[str, Loaded | None]:
    """Every id that the query reports, with what is there."""
    found: dict[str, Loaded | None] = {}
    visited = set()

    def visit(entity: str, path: list[str], schema: Schema) -> None:
        key = json.dumps([entity, path, schema], sort_keys=True)
        if key in visited or len(path) > path_max:
            return
        visited.add(key)
        loaded = find(entity)
        if loaded is None or loaded.document is None:
            return
        found[entity] = loaded
        node: Json = loaded.document
        for index, token in enumerate(path):
            if index and is_link(node):
                follow(node, entity, path[index:], schema)
                node = None
            if isinstance(node, dict):
                node = node.get(token)
            elif isinstance(node, list):
                node = dict(zip(map(str, range(len(node))), node, strict=True)).get(token)
            else:
                node = None
        walk(node, schema, entity)
        if isinstance(loaded.document.get("source"), dict):
            visit("of:" + loaded.document["source"]["/"], [], False)

    def follow(node: Json, entity: str, beyond: list[str], schema: Schema) -> None:
        if "$alias" in node:
            body = dict(node["$alias"])
            if "cell" in body:
                body["id"] = "of:" + body["cell"]["/"]
        else:
            body = node["/"]["link@1"]
        if body.get("space", space) == space:
            target = ["value", *map(str, body.get("path", [])), *beyond]
            visit(body.get("id") or entity, target, schema)

    def walk(node: Json, schema: Schema, entity: str) -> None:
        if schema is False or not isinstance(node, dict | list):
            return
        if is_link(node):
            link: Json = node
            body = link["$alias"] if "$alias" in link else link["/"]["link@1"]
            said = simplified(body["schema"], {}) if "schema" in body else []
            follow(node, entity, [], join([schema, said]))
            return
        for shape in shapes(schema, node):
            children = node.items() if isinstance(node, dict) else enumerate(node)
            for key, child in children:
                walk(child, join([at(part, key) for part in shape]), entity)

    for root in query["roots"]:
        selector = root["selector"]
        schema = simplified(selector.get("schema", False), {})
        visit(root["id"], ["value", *selector["path"]], schema)
    for root in query["roots"]:
        found.setdefault(root["id"], find(root["id"]))
    return dict(sorted(found.items()))


def is_link(node: Json) -> bool:
    if not isinstance(node, dict) or len(node) != 1:
        return False
    if "$alias" in node:
        return True
    return "/" in node and isinstance(node["/"], dict) and "link@1" in node["/"]


def simplified(raw: Json, defs: Json) -> Schema:
    if isinstance(raw, bool):
        return [] if raw else False
    if raw.get("not") is True or raw.get("not") == {}:
        return False
    defs = {**defs, **raw.get("$defs", {})}
    if raw.keys() <= ACCEPTS_ALL:
        return []
    return [({k: v for k, v in raw.items() if k != "$defs"}, defs)]


def join(schemas: list[Schema]) -> Schema:
    parts: list[Part] = []
    for schema in schemas:
        if schema is False:
            if not parts:
                return False
        else:
            parts += [part for part in schema if part not in parts]
    return parts[:PARTS_MAX]


def dereferenced(part: Part) -> Schema:
    raw, defs = part
    followed = []
    while "$ref" in raw:
        name = raw["$ref"].removeprefix("#/$defs/")
        if name in followed or name not in defs:
            return False
        followed.append(name)
        target = simplified(defs[name], defs)
        if target is False:
            return False
        beside = {k: v for k, v in raw.items() if k != "$ref"}
        raw = {**(target[0][0] if target else {}), **beside}
    return simplified(raw, defs)


def shapes(schema: list[Part], node: Json) -> list[list[Part]]:
    """The ways to walk `node`: each a list of parts without references and combinators."""
    ways: list[list[Part]] = []

    def fits(parts: list[Part], opened: list[Part], optional: bool = False) -> bool:
        if not parts:
            ways.append([])
            return True
        head, rest = dereferenced(parts[0]), parts[1:]
        if head is False:
            return False
        if head == []:
            return fits(rest, opened, optional)
        raw, defs = part = head[0]
        for combinator in ("anyOf", "oneOf", "allOf"):
            if combinator in raw:
                break
        else:
            return fits_plainly(part, rest, optional)
        if part in opened:
            return False
        outer = {k: v for k, v in raw.items() if k != combinator}
        fitting = []
        for option in raw[combinator]:
            said = simplified(option, defs)
            if said:
                said = dereferenced(said[0])
            merged: Schema = False
            if said is not False:
                merged = simplified({**outer, **(said[0][0] if said else {})}, defs)
            either = combinator != "allOf"
            fit = merged is not False and fits(merged + rest, [*opened, part], either)
            fitting.append(fit)
            if combinator == "allOf" and not fit:
                return False
        return combinator == "allOf" or any(fitting)

    def fits_plainly(part: Part, rest: list[Part], optional: bool) -> bool:
        said = [part]
        for other in rest:
            plain = dereferenced(other)
            if plain and not {"anyOf", "oneOf", "allOf"} & plain[0][0].keys():
                kind = kind_of(plain[0][0])
                if kind is not None and kind == kind_of(part[0]):
                    said.append(plain[0])
        types = part[0].get("type", "any")
        types = [types] if isinstance(types, str) else types
        actual = "object" if isinstance(node, dict) else "array"
        if not {"any", "unknown", actual} & set(types):
            return False
        required = [set(raw["required"]) for raw, _ in said if "required" in raw]
        missing = isinstance(node, dict) and required
        incomplete = missing and not set.intersection(*required) <= node.keys()
        if {"any", actual} & set(types) and not (incomplete and optional):
            ways.append(said)
        return not incomplete

    fits(schema, [])
    return ways


def kind_of(raw: Json) -> str | None:
    if "type" in raw:
        types = [raw["type"]] if isinstance(raw["type"], str) else raw["type"]
        return types[0] if set(types) in ({"object"}, {"array"}) else None
    objects = "properties" in raw or "additionalProperties" in raw
    arrays = "items" in raw or "prefixItems" in raw
    if objects == arrays:
        return None
    return "object" if objects else "array"


def at(part: Part, key: str | int) -> Schema:
    """What a plain part says about one child."""
    raw, defs = part
    if isinstance(key, int):
        prefix = raw.get("prefixItems", [])
        return simplified(prefix[key] if key < len(prefix) else raw.get("items", True), defs)
    if key in raw.get("properties", {}):
        return simplified(raw["properties"][key], defs)
    if "additionalProperties" in raw:
        return simplified(raw["additionalProperties"], defs)
    return False if "properties" in raw else []
