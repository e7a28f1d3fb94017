"""What a read gives back: the text, and what it claims about the reader's context."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.reading.baseline import Truncation
from holdfast.reading.events import Printed
from holdfast.reading.images import Picture
from holdfast.reading.meta import Meta


class Answer(NamedTuple):
    """What goes back to the caller, and what it claims."""

    text: str
    meta: Meta | None = None
    truncation: Truncation | None = None
    picture: Picture | None = None
    printed: tuple[Printed, ...] = ()
    """All lines that were sent, when only some were: the metadata can claim only one run."""

    @property
    def mode(self) -> str | None:
        return None if self.meta is None else self.meta.mode

    @property
    def details(self) -> dict[str, Any] | None:
        """The result's `details`: how the text was cut, and the metadata."""
        out: dict[str, Any] = {}
        if self.truncation is not None:
            out["truncation"] = self.truncation.as_details()
        if self.meta is not None:
            out["readcache"] = self.meta.as_json()
        return out or None

    def to_wire(self) -> dict[str, Any]:
        return {"content": self.content, "details": self.details, "mode": self.mode}

    @property
    def content(self) -> list[dict[str, Any]]:
        """The result's blocks: text, and for a picture the image."""
        blocks: list[dict[str, Any]] = [{"type": "text", "text": self.text}]
        if self.picture is not None and self.picture.data is not None:
            import base64

            image = base64.b64encode(self.picture.data).decode("ascii")
            blocks.append({"type": "image", "data": image, "mimeType": self.picture.mime})
        return blocks
