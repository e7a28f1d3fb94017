"""The kinds of mentions. Imports nothing of ours: `holdfast references --help` lists them."""

from typing import Literal

Kind = Literal["call", "import", "annotation", "base", "value", "write", "definition"]
Short = Literal["", "key", "value"]
KINDS: tuple[Kind, ...] = ("definition", "import", "base", "annotation", "call", "value", "write")
