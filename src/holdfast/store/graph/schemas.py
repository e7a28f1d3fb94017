"""Schemas, which select the links to follow.

A selector's schema is a subset of JSON Schema. It never trims a document; it only selects which
parts of it are searched for links. Three functions, each with cached results:

    schema_of(raw)              the schema, checked and interned
    combine(parent, link)       the schema for a link's target
    alternatives(schema, node)  the shapes under which an object or array is walked

Expanding a schema before following a link would make what one document leads to depend on the
content of another. So `$ref`, anyOf, oneOf and allOf are passed across the link unexpanded and
expanded at the target. What a place leads to then depends on one document only.

A node is matched by its own type and keys, not by what is below. That may walk a value which a full
validator would reject further down: the result may have a document too many, never one too few. A
missing `required` key makes a node invalid only after its members were walked, so what they lead to
stays; among several options it decides which of them are walked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from holdfast.store.errors import QueryError
from holdfast.store.graph.links import is_index
from holdfast.store.graph.schema_check import DEPTH_MAX, checked

PARTS_MAX = 4
"""How many schemas may be combined at one place. Further links' schemas are ignored, because the
number of possible combinations grows too fast."""

KEPT_MAX = 8_192
"""How many schemas are cached between queries; dropping one only costs time."""

BLENDS_MAX = 256
"""How many narrowed forms are cached for one shape."""

COMBINATORS = ("anyOf", "oneOf", "allOf")

Node = dict[str, Any] | list[Any]
Spend = Callable[[], None]


def _text(raw: Mapping[str, Any]) -> bytes:
    """Equal for equal JSON, whatever the order of members."""
    try:
        return msgspec.json.encode(raw, order="sorted")
    except UnicodeEncodeError:  # a lone surrogate is valid in a key
        return json.dumps(raw, sort_keys=True).encode()


class SchemaScope:
    """The `$defs` in force where a schema is written."""

    __slots__ = ("definitions", "text")

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.text = _text(definitions)

    def extended(self, definitions: Mapping[str, Any]) -> SchemaScope:
        return SchemaScope({**self.definitions, **definitions})

    def target(self, ref: str) -> Any:
        """The schema that `ref` points to; False when there is none."""
        if not ref.startswith("#/$defs/"):
            return False
        definition: Any = self.definitions
        for token in ref.removeprefix("#/$defs/").split("/"):
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(definition, dict) and key in definition:
                definition = definition[key]
            elif isinstance(definition, list) and is_index(key, len(definition)):
                definition = definition[int(key)]
            else:
                return False
        return definition if isinstance(definition, dict | bool) else False


class Schema:
    """One schema, or several that links combined, the nearest to the root first.

    Schemas with equal text are equal, whatever the order of members. Derived facts are cached on
    the schema, so each is computed once.
    """

    __slots__ = ("_hash", "_opened", "_resolved", "_shape", "key", "parts", "raw", "scope")

    def __init__(self, key: tuple[Any, ...], raw: dict[str, Any], scope: SchemaScope) -> None:
        self.key, self.raw, self.scope = key, raw, scope
        self.parts: tuple[Schema, ...] = (self,)
        self._hash = hash(key)
        self._resolved: Schema | None = None
        self._opened: tuple[str, tuple[Schema, ...]] | None = None
        self._shape: SchemaShape | None = None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Schema) and self.key == other.key)

    def __repr__(self) -> str:
        return f"Schema({self.key!r})"

    def resolved(self) -> Schema:
        """This schema with a `$ref` at its top resolved; FALSE when it cannot be."""
        if self._resolved is None:
            self._resolved = self if "$ref" not in self.raw else self._follow_refs()
        return self._resolved

    def _follow_refs(self) -> Schema:
        raw, scope, followed = self.raw, self.scope, set()
        while "$ref" in raw:
            ref = raw["$ref"]
            if ref in followed:
                return FALSE
            followed.add(ref)
            target = scope.target(ref)
            if target is False:
                return FALSE
            if target is True:
                target = {}
            if "$defs" in target:
                scope = scope.extended(target["$defs"])
            raw = {**target, **{key: value for key, value in raw.items() if key != "$ref"}}
        return _intern(raw, scope)

    def opened(self) -> tuple[str, tuple[Schema, ...]] | None:
        """The combinator at the top and its options, each merged over the other keywords."""
        if self._opened is None:
            for combinator in COMBINATORS:
                if combinator in self.raw:
                    outer = {key: value for key, value in self.raw.items() if key != combinator}
                    options = [self._option(outer, option) for option in self.raw[combinator]]
                    self._opened = (combinator, tuple(options))
                    break
        return self._opened

    def _option(self, outer: dict[str, Any], raw: Any) -> Schema:
        # A reference is resolved first, so that its target overrides the keywords beside it.
        option = _intern(raw, self.scope).resolved()
        return option if option is FALSE else _intern({**outer, **option.raw}, option.scope)

    def shape(self) -> SchemaShape:
        assert "$ref" not in self.raw, "a shape needs a resolved schema"
        if self._shape is None:
            self._shape = SchemaShape(self)
        return self._shape


TRUE = Schema((True,), {}, SchemaScope({}))
"""Walk everything, follow every link."""

FALSE = Schema((False,), {}, SchemaScope({}))
"""Stop here."""

TRUE.parts = FALSE.parts = ()

_NO_SCOPE = SchemaScope({})
_schemas: dict[tuple[Any, ...], Schema] = {}


def schema_of(raw: object) -> Schema:
    """The schema of `raw`; a malformed one raises QueryError with its path."""
    return _intern(checked(raw), _NO_SCOPE)


def _keep(schema: Schema) -> Schema:
    if len(_schemas) >= KEPT_MAX:
        _schemas.clear()
    return _schemas.setdefault(schema.key, schema)


def _intern(raw: Any, scope: SchemaScope) -> Schema:
    if isinstance(raw, bool):
        return TRUE if raw else FALSE
    if "$defs" in raw:
        scope = scope.extended(raw["$defs"])
        raw = {key: value for key, value in raw.items() if key != "$defs"}
    if not raw:
        return TRUE
    key = (_text(raw), scope.text)
    return _schemas.get(key) or _keep(Schema(key, raw, scope))


def combine(*schemas: Schema) -> Schema:
    """The schema for a link's target; earlier arguments are nearer to the root.

    TRUE defers to the next schema. FALSE stops, unless an earlier schema applies. Duplicates are
    dropped, so chains of links cannot grow without bound.
    """
    parts: list[Schema] = []
    for schema in schemas:
        if schema is FALSE:
            if not parts:
                return FALSE
            continue
        parts.extend(part for part in schema.parts if part not in parts)
    del parts[PARTS_MAX:]
    if len(parts) < 2:
        return parts[0] if parts else TRUE
    key = ("&", *(part.key for part in parts))
    combined = _schemas.get(key)
    if combined is None:
        joined = Schema(key, {}, _NO_SCOPE)
        joined.parts = tuple(parts)
        combined = _keep(joined)
    return combined


class SchemaShape:
    """The keywords of a schema without references and combinators, for one object or array."""

    __slots__ = (
        "_blends", "_children", "_items", "_prefix", "_scope",
        "default", "kind", "properties", "required", "types",
    )  # fmt: skip

    def __init__(self, schema: Schema) -> None:
        raw, self._scope = schema.raw, schema.scope
        self.types: frozenset[str] | None = frozenset(raw["type"]) if "type" in raw else None
        self.required: frozenset[str] | None = (
            frozenset(raw["required"]) if "required" in raw else None
        )
        self.properties: Mapping[str, Any] = raw.get("properties", {})
        if "additionalProperties" in raw:
            self.default = _intern(raw["additionalProperties"], self._scope)
        else:
            self.default = FALSE if "properties" in raw else TRUE
        self._prefix: Sequence[Any] = raw.get("prefixItems", ())
        self._items = _intern(raw["items"], self._scope) if "items" in raw else TRUE
        self._children: dict[str, Schema] = {}
        self._blends: dict[tuple[Schema, ...], SchemaShape] = {}
        self.kind = _kind(raw)

    def child(self, key: str) -> Schema:
        """The schema of an object's member; FALSE if it is not walked."""
        schema = self._children.get(key)
        if schema is None:
            if key not in self.properties:
                return self.default
            schema = self._children[key] = self._declared(key)
        return schema

    def _declared(self, key: str) -> Schema:
        return _intern(self.properties[key], self._scope)

    def item(self, index: int) -> Schema:
        """The schema of an array's element."""
        if index < len(self._prefix):
            return _intern(self._prefix[index], self._scope)
        return self._items

    def admits(self, node: Node) -> bool:
        """Whether the node's type matches."""
        kind = "object" if isinstance(node, dict) else "array"
        return self.types is None or kind in self.types or "unknown" in self.types

    def complete(self, node: Node) -> bool:
        """Whether the node has every required key."""
        return self.required is None or isinstance(node, list) or self.required <= node.keys()

    def descends(self, node: Node) -> bool:
        """Whether an admitted node is walked further; one of type `unknown` is not."""
        return self.types is None or ("object" if isinstance(node, dict) else "array") in self.types

    def blended(self, rest: tuple[Schema, ...]) -> SchemaShape:
        """This shape narrowed by links' schemas for the same kind of value."""
        if not rest:
            return self
        blend = self._blends.get(rest)
        if blend is None:
            others = [part.resolved() for part in rest]
            shapes = [other.shape() for other in others if other.opened() is None]
            same = [shape for shape in shapes if shape.kind == self.kind and self.kind is not None]
            if len(self._blends) >= BLENDS_MAX:
                self._blends.clear()
            blend = self._blends[rest] = Blend(self, *same) if same else self
        return blend


class Blend(SchemaShape):
    """Several shapes of one kind combined by links; so are their children."""

    __slots__ = ("_shapes",)

    def __init__(self, *shapes: SchemaShape) -> None:
        self._shapes = shapes
        first = shapes[0]
        self.kind, self.types = first.kind, first.types
        required = [shape.required for shape in shapes if shape.required is not None]
        self.required = frozenset.intersection(*required) if required else None
        self.properties = {key: None for shape in shapes for key in shape.properties}
        self.default = combine(*(shape.default for shape in shapes))
        self._children, self._blends = {}, {}

    def _declared(self, key: str) -> Schema:
        return combine(*(shape.child(key) for shape in self._shapes))

    def item(self, index: int) -> Schema:
        return combine(*(shape.item(index) for shape in self._shapes))


def _kind(raw: Mapping[str, Any]) -> str | None:
    """Whether a schema is about objects or arrays; None when neither or both."""
    if "type" in raw:
        only = raw["type"][0] if len(raw["type"]) == 1 else None
        return only if only in ("object", "array") else None
    objects = "properties" in raw or "additionalProperties" in raw
    arrays = "items" in raw or "prefixItems" in raw
    return ("object" if objects else "array") if objects != arrays else None


EVERYTHING = SchemaShape(TRUE)
"""The shape of anything: every child is walked, every link followed."""


def alternatives(schema: Schema, node: Node, spend: Spend) -> list[SchemaShape]:
    """Every shape of `schema` that matches `node`."""
    if len(schema.parts) == 1:  # the common case, without recursion
        plain = schema.resolved()
        if plain is not TRUE and plain is not FALSE and plain.opened() is None:
            shape = plain.shape()
            return [shape] if shape.admits(node) and shape.descends(node) else []
    if schema is FALSE:
        return []
    shapes: list[SchemaShape] = []
    _open(schema.parts, node, shapes, set(), spend)
    return shapes


def _open(
    parts: tuple[Schema, ...],
    node: Node,
    shapes: list[SchemaShape],
    open_: set[Schema],
    spend: Spend,
    optional: bool = False,
) -> bool:
    """Add the shapes of `parts` to `shapes`; True when the node fits.

    An incomplete node is walked all the same, unless this is one of several options.
    """
    spend()
    head = TRUE
    while parts and head is TRUE:
        head, parts = parts[0].resolved(), parts[1:]
    if head is TRUE:
        shapes.append(EVERYTHING)
        return True
    if head is FALSE or head in open_:
        return False
    opened = head.opened()
    if opened is None:
        shape = head.shape().blended(parts)
        if not shape.admits(node):
            return False
        complete = shape.complete(node)
        if shape.descends(node) and (complete or not optional):
            shapes.append(shape)
        return complete
    if len(open_) >= DEPTH_MAX:
        raise QueryError(f"a schema opens more than {DEPTH_MAX} combinators at one place")
    open_.add(head)
    try:
        combinator, options = opened
        fits = combinator == "allOf"
        for option in options:
            # An option that accepts everything defers to the link's schema.
            rest, either = (*option.parts, *parts), combinator != "allOf"
            fit = option is not FALSE and _open(rest, node, shapes, open_, spend, either)
            if combinator == "allOf" and not fit:
                return False
            fits = fits or fit
        return fits
    finally:
        open_.discard(head)
