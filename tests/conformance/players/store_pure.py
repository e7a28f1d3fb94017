"""Plays the steps of the store's pure levels: codec, hash, auth and store paths.

Each level has one function from a step to its result. Rich values are written in the cases as
`{"$bigint": "n"}`, `{"$undefined": true}` and `{"$hole": true}`; `from_case` and `to_case` convert.
"""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.store import codec, hashing, identity, roots
from holdfast.store.values import BigInt, Hole, Undefined

Step = dict[str, object]


def from_case(written: object) -> object:
    """A value as the cases write it -> the value."""
    match written:
        case {"$bigint": str(digits), **rest} if not rest:
            return BigInt(digits)
        case {"$undefined": True, **rest} if not rest:
            return Undefined
        case {"$hole": True, **rest} if not rest:
            return Hole
        case dict():
            return {name: from_case(item) for name, item in written.items()}
        case list():
            return [from_case(item) for item in written]
        case _:
            return written


def to_case(value: object) -> object:
    """A value -> as the cases write it."""
    match value:
        case BigInt():
            return {"$bigint": str(int(value))}
        case _ if value is Undefined:
            return {"$undefined": True}
        case _ if value is Hole:
            return {"$hole": True}
        case dict():
            return {name: to_case(item) for name, item in value.items()}
        case list():
            return [to_case(item) for item in value]
        case _:
            return value


def codec_step(step: Step) -> object:
    unified = _flag(step, "unified")
    match step["op"]:
        case "codec.encode":
            return codec.encode(from_case(step["value"]), unified)
        case "codec.decode":
            return to_case(codec.decode(_text(step, "text"), unified))
        case "codec.roundtrip":
            return codec.encode(codec.decode(_text(step, "text"), unified), unified)
        case _:
            raise _unknown(step)


def hash_step(step: Step) -> object:
    if step["op"] == "hash.modern":
        return hashing.hash_of(from_case(step["value"])).hex()
    raise _unknown(step)


def auth_step(step: Step) -> object:
    if step["op"] == "auth.verify":
        return identity.verify_open(
            space=_text(step, "space"),
            session=step["session"],
            invocation=step["invocation"],
            signature=bytes.fromhex(_text(step, "signatureHex")),
            canonical_hashing=_flag(step, "canonicalHashing"),
        )
    raise _unknown(step)


def store_step(step: Step) -> object:
    single = _flag(step, "singleFile") if "singleFile" in step else None
    where = "store" if "store" in step else "root"
    match step["op"]:
        case "store.resolve":
            return _posix(roots.resolve(_text(step, where), _text(step, "subject"), single))
        case "store.root":
            return _posix(roots.resolve_root(_text(step, where), single))
        case _:
            raise _unknown(step)


def plain_path(expected: object) -> object:
    """An expectation whose `file://` URLs are written as the paths that `store_step` answers."""
    match expected:
        case str() if expected.startswith("file://"):
            return Path(unquote(urlsplit(expected).path)).as_posix()
        case dict():
            return {name: plain_path(item) for name, item in expected.items()}
        case _:
            return expected


LEVELS: dict[str, Callable[[Step], object]] = {
    "codec": codec_step,
    "hash": hash_step,
    "auth": auth_step,
    "store": store_step,
}


def _posix(path: Path | None) -> str | None:
    return None if path is None else path.as_posix()


def _text(step: Step, name: str) -> str:
    text = step[name]
    assert isinstance(text, str), f"{name} is text in {step}"
    return text


def _flag(step: Step, name: str) -> bool:
    flag = step[name]
    assert isinstance(flag, bool), f"{name} is a flag in {step}"
    return flag


def _unknown(step: Step) -> AssertionError:
    return AssertionError(f"no such step: {step['op']!r}")
