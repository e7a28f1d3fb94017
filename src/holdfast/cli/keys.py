"""`holdfast keys`: create and list Ed25519 keys. The private key is never printed."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

from holdfast.app import App
from holdfast.cli.output import print_json, print_table
from holdfast.errors import UsageError
from holdfast.home import Home

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SEED_BYTES = 32
HOURS_MAX = 24 * 366


def configure(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    new = verbs.add_parser(
        "new",
        help="create a key and print its identity",
        description="Create a key and print its identity.",
    )
    show = verbs.add_parser(
        "show",
        help="print the identity of one key or of all keys",
        description="Print the identity of one key or of all keys.",
    )
    new.add_argument(
        "name", nargs="?", default="default", help="the name of the key (default: default)"
    )
    show.add_argument("name", nargs="?", help="only this key")
    token = verbs.add_parser(
        "pass",
        help="create a pass: a client that has it may use the repositories that the key may read",
        description="Make a pass for `holdfast serve`, signed by a key.",
    )
    token.add_argument("name", nargs="?", default="default", help="the key (default: default)")
    token.add_argument("--audience", required=True, help="the server's --audience")
    token.add_argument("--hours", type=float, default=12.0, help="how long it is good (12)")
    for sub in (new, show, token):
        sub.add_argument("--json", action="store_true", help="answer as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    home = app.home
    if args.verb == "new":
        seed = app.random_bytes(SEED_BYTES)
        did = _did(seed)  # before the file: a key that cannot be used is not stored
        make_key(home, args.name, seed)
        if args.json:
            print_json({"name": args.name, "did": did})
        else:
            print(did)
            print(f"saved the private key to {key_path(home, args.name)}", file=sys.stderr)
        return 0
    if args.verb == "pass":
        from holdfast.store.passes import make_pass

        if not 0 < args.hours <= HOURS_MAX:
            raise UsageError(f"--hours must be more than 0 and at most {HOURS_MAX}")
        until_ms = app.clock.now_ms() + int(args.hours * 3_600_000)
        pass_text = make_pass(load_key(home, args.name), args.audience, until_ms)
        print_json({"pass": pass_text, "untilMs": until_ms}) if args.json else print(pass_text)
        return 0
    names = [args.name] if args.name else sorted(p.stem for p in home.keys.glob("*.key"))
    rows = [(name, _did(load_key(home, name))) for name in names]
    if args.json:
        print_json([{"name": name, "did": did} for name, did in rows])
    elif rows:
        print_table(("name", "identity"), rows)
    else:
        print("no keys; create one: holdfast keys new")
    return 0


def key_path(home: Home, name: str) -> Path:
    """The file of a key."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a key name", hint="use letters, digits, dots and dashes")
    return home.keys / f"{name}.key"


def make_key(home: Home, name: str, seed: bytes) -> bytes:
    """Store a new key under a name that is not taken."""
    path = key_path(home, name)
    home.make()
    path.parent.mkdir(mode=0o700, exist_ok=True)
    # Written under a temporary name first: a full disk must not leave an empty key.
    file, unfinished = tempfile.mkstemp(prefix=f".{name}.", dir=path.parent)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(seed)
            out.flush()
            os.fsync(out.fileno())
        os.link(unfinished, path)  # fails if the name is taken; a rename would not
    except FileExistsError:
        raise UsageError(f"key {name!r} already exists", hint="choose another name") from None
    finally:
        os.unlink(unfinished)
    return seed


def load_key(home: Home, name: str) -> bytes:
    """The seed of a key."""
    path = key_path(home, name)
    try:
        seed = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no key {name!r}", hint=f"holdfast keys new {name}") from None
    if len(seed) != SEED_BYTES:
        raise UsageError(f"{path} is not a key: it has {len(seed)} bytes, not {SEED_BYTES}")
    return seed


def _did(seed: bytes) -> str:
    from holdfast.sync.client.keys import SigningKey

    return SigningKey(seed).did
