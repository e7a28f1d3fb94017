"""Images that a read returns as pictures: recognised by their first bytes, never by name.

JPEG, PNG, GIF, WebP          an animated PNG is not treated as an image
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from holdfast.reading import javascript

SNIFFED_BYTES = 4100
SIDE_MAX = 2000
IMAGE_BYTES_MAX = int(4.5 * 1024 * 1024)

_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown for an image: a line of text and, unless it is too big to show, the image."""

    text: str
    mime: str
    data: bytes | None


def sniff(head: bytes) -> str | None:
    """The image type of a file that begins like this, or None for anything else."""
    if head[:1] not in (b"\x89", b"\xff", b"G", b"R"):
        return None
    if head.startswith(b"\xff\xd8\xff"):
        return None if head[3:4] == b"\xf7" else "image/jpeg"
    if head.startswith(_PNG):
        return None if _is_animated(head) else "image/png"
    if head.startswith((b"GIF87a", b"GIF89a", b"GIF")) and len(head) >= 6:
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def _is_animated(head: bytes) -> bool:
    at = len(_PNG)
    while at + 8 <= len(head):
        (length,) = struct.unpack_from(">I", head, at)
        kind = head[at + 4 : at + 8]
        if kind == b"acTL":
            return True
        if kind == b"IDAT":
            return False
        at += 12 + length
    return False


def dimensions(data: bytes, mime: str) -> tuple[int, int] | None:
    """Width and height from the header, or None when it is damaged."""
    try:
        if mime == "image/png":
            return struct.unpack_from(">II", data, 16)
        if mime == "image/gif":
            return struct.unpack_from("<HH", data, 6)
        if mime == "image/webp":
            return _webp_dimensions(data)
        return _jpeg_dimensions(data)
    except (struct.error, IndexError):
        return None


def _webp_dimensions(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return (
            1 + int.from_bytes(data[24:27], "little"),
            1 + int.from_bytes(data[27:30], "little"),
        )
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_dimensions(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        (length,) = struct.unpack_from(">H", data, at + 2)
        at += 2 + length
    return None


def show(data: bytes, mime: str) -> Picture:
    """The picture as it is sent: scaled down if it is too large and Pillow is installed."""
    heading = f"Read image file [{mime}]"
    size = dimensions(data, mime)
    if (size is None or max(size) <= SIDE_MAX) and len(data) <= IMAGE_BYTES_MAX:
        return Picture(heading, mime, data)
    smaller = _resized(data)
    if smaller is None:
        return Picture(f"{heading}\n[Image omitted: too large to show.]", mime, None)
    image, mime, old, new = smaller
    scale = javascript.fixed(old[0] / new[0], 2)
    note = (
        f"[Image: original {old[0]}x{old[1]}, displayed at {new[0]}x{new[1]}."
        f" Multiply coordinates by {scale} to map to original image.]"
    )
    return Picture(f"Read image file [{mime}]\n{note}", mime, image)


def _resized(data: bytes) -> tuple[bytes, str, tuple[int, int], tuple[int, int]] | None:
    try:
        import io

        from PIL import Image
    except ImportError:
        return None
    try:
        picture = Image.open(io.BytesIO(data))
        old = picture.size
        side = SIDE_MAX
        while side >= 64:
            smaller = picture.convert("RGB")
            smaller.thumbnail((side, side))
            out = io.BytesIO()
            smaller.save(out, "JPEG", quality=85)
            if len(out.getvalue()) <= IMAGE_BYTES_MAX:
                return out.getvalue(), "image/jpeg", old, smaller.size
            side = side * 3 // 4
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    return None
