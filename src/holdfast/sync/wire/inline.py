"""Documents that are their own address: `data:` ids. They are read here and never sent."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import unquote_to_bytes

from holdfast.store import codec
from holdfast.store.delta import MISSING
from holdfast.store.errors import InvalidValue


def document(id: str) -> Any:
    """The JSON document in a `data:` id; `MISSING` if it cannot be read."""
    head, comma, body = id.removeprefix("data:").partition(",")
    if not comma:
        return MISSING
    data = unquote_to_bytes(body)
    try:
        if head.endswith(";base64"):
            data = base64.b64decode(data, validate=True)
        return codec.decode(data.decode("utf-8"), False)
    except (binascii.Error, UnicodeDecodeError, InvalidValue):
        return MISSING
