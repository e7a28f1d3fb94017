"""Built-in names of languages, and method names too common to be evidence."""

from __future__ import annotations

import builtins
from io import IOBase, TextIOBase

_GO = """
append cap clear close complex copy delete imag len make max min new panic print println real
recover string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32
float64 byte rune bool error any
"""
_JAVASCRIPT = """
Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Float32Array Float64Array
Function Int16Array Int32Array Int8Array JSON Map Math Number Object Promise Proxy RangeError
ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError Uint16Array Uint32Array
Uint8Array URIError URL WeakMap WeakRef WeakSet console decodeURIComponent document
encodeURIComponent fetch globalThis isFinite isNaN parseFloat parseInt process queueMicrotask
require setInterval setTimeout clearInterval clearTimeout structuredClone window
"""
_COMMON = """
add all any append apply call charAt clear clone close collect concat contains copy count decode
delete each encode end endswith entries equals every execute exit extend fetch filter find first
flatMap flush forEach format from get getattr group hash hashCode has indexOf info insert
is_empty isEmpty items iter join keys last len length lines list load log lower map match max
merge min next open parse pop print push put query read reduce release remove replace reset
resolve reverse run save seek select send set size slice some sort split start startswith
startsWith stop strip sum test then title toString to_string trim unwrap update upper value
values wait warn write
abort accept addEventListener appendChild assert assign at bind cancel catch click code compare
complete connect createElement data debug defineProperty dispatchEvent dispose done emit error
exec exists fill finally findIndex flat freeze getItem getOwnPropertyDescriptor hasOwnProperty
includes isArray lastIndexOf limit listen localeCompare lock next normalize now off on once option
padEnd padStart parent path pause pipe port post querySelector random reject removeChild
removeEventListener render repeat request require resume return search setAttribute setItem
setTimeout shift shutdown splice stringify submit subscribe substr substring text throw toFixed
acquire add_done_callback cancelled critical exception get_nowait is_set notify put_nowait qsize
recv result sendall set_exception set_result task_done warning
enqueue getReader getWriter pipeThrough pipeTo pull releaseLock tee
toJSON toLowerCase toUpperCase toLocaleString trace unref unshift url use valueOf
"""

_CALLBACKS = """
accumulate add_done_callback addEventListener addListener apply_async call_at call_later call_soon
call_soon_threadsafe catch dropwhile every filter filterfalse finally find findIndex findLast
flatMap forEach from groupby imap map max min nextTick nlargest nsmallest on once Process Promise
queueMicrotask reduce reduceRight register replace requestAnimationFrame run_in_executor
setImmediate setInterval setTimeout some sort sorted starmap submit takewhile then Thread Timer
to_thread toSorted
"""

BUILT_IN = {
    "python": frozenset(dir(builtins)),
    "go": frozenset(_GO.split()),
    "js": frozenset(_JAVASCRIPT.split()),
}
"""Built-in names, by language family; anything the program defines takes precedence."""

_OF_BUILT_INS = frozenset(
    name
    for kind in (dict, list, set, str, bytes, bytearray, tuple, int, float, IOBase, TextIOBase)
    for name in dir(kind)
    if name[0] != "_"
)
COMMON_METHODS = frozenset(_COMMON.split()) | _OF_BUILT_INS
"""Method names so common in libraries that a match by name alone is not evidence."""

CALLBACK_TAKERS = frozenset(_CALLBACKS.split())
"""Built-in and library functions that call the functions passed to them."""
EVENT_TAKERS = frozenset({
    "on", "once", "addListener", "addEventListener", "catch", "subscribe", "register",
}) & CALLBACK_TAKERS  # fmt: skip
"""Those that call a function only when something happens."""
