"""Canonical text for numbers and bytes.

Equal values must have equal text on every peer, so each value has exactly one form, and reading
refuses any other.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode


def number_text(number: float) -> str:
    """A finite double as JavaScript prints it: the shortest form, and `-0` as `0`."""
    if number == 0:
        return "0"
    mantissa, mark, exponent = repr(number).partition("e")
    if not mark:
        return mantissa.removesuffix(".0")
    power = int(exponent)
    if not -7 < power < 21:
        return f"{mantissa}e{power:+d}"
    sign = "-" if number < 0 else ""
    digits = mantissa.lstrip("-").replace(".", "")
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    return sign + digits.ljust(power + 1, "0")


def integer_bytes(value: int) -> bytes:
    """Two's complement, big-endian, in as few bytes as possible; zero is one byte."""
    # A negative number needs as many bits as its complement: -128 fits where 127 does.
    bits = (value if value >= 0 else ~value).bit_length()
    return int(value).to_bytes(bits // 8 + 1, "big", signed=True)


def base64url(data: bytes) -> str:
    """Base64 for URLs, without padding."""
    return urlsafe_b64encode(data).decode().rstrip("=")


def unbase64url(text: object) -> bytes:
    """The bytes of unpadded base64url; ValueError if the text is not canonical."""
    if not isinstance(text, str):
        raise ValueError("expected base64url text")
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    if base64url(data) != text:
        raise ValueError("not canonical base64url")
    return data


def integer_of(text: object) -> int:
    """An integer from two's complement in base64url; ValueError if not canonical."""
    data = unbase64url(text)
    value = int.from_bytes(data, "big", signed=True)
    if integer_bytes(value) != data:
        raise ValueError("not a minimal two's complement")
    return value
