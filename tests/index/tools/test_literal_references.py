"""References in TypeScript through the types that object literals have to have."""

from __future__ import annotations

import pytest

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.mentions import find_mentions
from holdfast.index.references.find import ReadFile, References, ReferenceSearch
from holdfast.index.references.implementations import implementations
from holdfast.index.references.target import target_of

TYPES = """\
export interface Rule {
  code(x: number): void
  error?: Fault
}
export interface Fault { message: (x: number) => string; hint?: string }
export interface Plugin { started?(x: number): Promise<Listener | void> }
export interface Listener { ended(): void }
export function use(plugin: Plugin): void {}
"""


def found(sources: dict[str, str], path: str, qualified: str) -> list[str]:
    """The references of a symbol, `path:line kind`."""
    facts = [extract(p, text.encode()) for p, text in sources.items()]
    one = next(f for f in facts if f.path == path)
    identity = next(s.id for s in one.symbols if s.qualified == qualified)
    answer = references(LinkedProgram(Resolver(facts)), identity, sources)
    return [f"{r.path}:{r.line} {r.kind}" for r in answer.found if r.confidence >= 0.7]


def references(program: LinkedProgram, identity: str, sources: dict[str, str]) -> References:
    target = target_of(program, identity, overrides=True)
    assert target is not None
    search = ReferenceSearch(program)
    files = [
        ReadFile(p, text.encode(), find_mentions(p, text.encode(), search.names(target)))
        for p, text in sources.items()
    ]
    return search.judge(target, files)


@pytest.mark.shows("REF-LITERALS")
def test_a_member_of_a_type_is_found_where_a_literal_of_that_type_gives_it() -> None:
    main = """\
import {Rule} from "./types"
const one: Rule = { code(x) {} }
function two(): Rule { return { code: (x) => {} } }
const three = [{ code(x) {} }] as Rule[]
const other = { code(x: string) {} }
"""
    assert found({"types.ts": TYPES, "a.ts": main}, "types.ts", "Rule.code") == [
        "types.ts:2 definition", "a.ts:2 definition", "a.ts:3 definition", "a.ts:4 definition",
    ]  # fmt: skip


@pytest.mark.shows("REF-LITERALS")
def test_the_function_of_a_literal_is_one_with_the_member_and_with_other_literals() -> None:
    main = """\
import {Rule, Fault} from "./types"
const one: Rule = { code(x) {}, error: { message: (x) => "a" } }
const two: Fault = { message: (x) => "b" }
two.message(1)
function show(message: string) { return message }
type Text = Fault["message"]
"""
    assert found({"types.ts": TYPES, "a.ts": main}, "a.ts", "two.message") == [
        "types.ts:5 definition", "a.ts:2 definition", "a.ts:3 definition", "a.ts:4 call",
        "a.ts:6 annotation",
    ]  # fmt: skip


def test_a_literal_takes_the_type_of_a_parameter_and_of_a_promised_result() -> None:
    main = """\
import {use, Listener} from "./types"
use({
  async started(x) {
    return { async ended() {} }
  },
})
async function make(): Promise<Listener> {
  return { async ended() {} }
}
new Stream({ cancel() {} })
new Stream({ cancel() {} })
"""
    sources = {"types.ts": TYPES, "a.ts": main}
    assert found(sources, "types.ts", "Plugin.started") == [
        "types.ts:6 definition", "a.ts:3 definition",
    ]  # fmt: skip
    assert found(sources, "types.ts", "Listener.ended") == [
        "types.ts:7 definition", "a.ts:4 definition", "a.ts:8 definition",
    ]  # fmt: skip
    assert found(sources, "a.ts", "cancel") == ["a.ts:10 definition", "a.ts:11 definition"]


def test_a_parameter_with_the_name_of_its_function_is_not_the_function() -> None:
    main = """\
import {Fault} from "./types"
const one: Fault = { message: (message) => String(message) }
"""
    at = found({"types.ts": TYPES, "a.ts": main}, "a.ts", "one.message")
    assert at == ["types.ts:5 definition", "a.ts:2 definition"]


@pytest.mark.shows("REF-LITERALS")
def test_a_word_that_is_a_key_and_a_variable_is_both() -> None:
    main = """\
import {Fault} from "./types"
function message(x: number) { return "a" }
const one: Fault = { message }
function show({ message, hint = "" }: Fault) { return message(1) + hint }
const { message: other } = one
"""
    sources = {"types.ts": TYPES, "a.ts": main, "b.ts": "const two = { message: 1 }\n"}
    facts = [extract(p, text.encode()) for p, text in sources.items()]
    program = LinkedProgram(Resolver(facts))
    at = next(s.id for f in facts for s in f.symbols if s.name == "message")
    answer = references(program, at, sources)
    assert [(r.line, r.kind, r.short) for r in answer.found] == [
        (2, "definition", ""), (3, "value", "value"),
    ]  # fmt: skip
    main += 'const three: Fault = { message: (x) => "c" }\n'
    at_key = found({"types.ts": TYPES, "a.ts": main}, "a.ts", "three.message")
    assert at_key == ["types.ts:5 definition", "a.ts:3 write", "a.ts:4 value", "a.ts:6 definition"]


@pytest.mark.shows("REF-LITERALS")
def test_a_class_that_extends_a_default_import_overrides_its_members() -> None:
    sources = {
        "core.ts": "export default class Ajv { reset(): void {} }\n",
        "main.ts": 'import AjvCore from "./core"\nclass Ajv extends AjvCore { reset(): void {} }\n',
    }
    assert found(sources, "core.ts", "Ajv.reset") == [
        "core.ts:1 definition",
        "main.ts:2 definition",
    ]
    program = LinkedProgram(Resolver(extract(p, t.encode()) for p, t in sources.items()))
    inner = program.resolver.program
    core = inner.files["core.ts"].facts.symbols[0].id
    assert [thing.path for thing in implementations(program, core)] == ["main.ts"]


def test_the_type_of_a_private_getter_is_followed() -> None:
    main = """\
class Root { show() {} }
class Page {
  private get root(): Root { return new Root() }
  static get main(): Root { return new Root() }
  go() { this.root.show(); Page.main.show() }
}
"""
    assert found({"a.ts": main}, "a.ts", "Root.show") == [
        "a.ts:1 definition", "a.ts:5 call", "a.ts:5 call",
    ]  # fmt: skip


@pytest.mark.shows("REF-LITERALS")
def test_a_function_that_is_assigned_to_a_member_is_one_with_what_its_type_declares() -> None:
    types = """\
export interface Base { total: () => number }
export interface Cart<T> extends Base { other: () => void }
export interface Bill { total: () => number }
"""
    main = """\
import {Cart, Bill} from "./types"
export const feature = {
  create: <T>(cart: Cart<T>): void => {
    cart.total = () => { return 1 }
    cart.other = () => { cart.total() }
  },
}
export const use = async <T extends Bill>(cart: Cart<T>, bill: Bill) => cart.total() + bill.total()
"""
    sources = {"types.ts": types, "a.ts": main}
    assert found(sources, "a.ts", "cart.total") == [
        "types.ts:1 definition", "a.ts:4 write", "a.ts:5 call", "a.ts:8 call",
    ]  # fmt: skip
