"""Recognise permissive licences; only such packages are used for training.

An unknown licence counts as not permissive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_PERMISSIVE = re.compile(
    r"(?:the[ -])?(?:mit(?:[-/ ].*)?|expat(?:[-~ ].*)?|x11(?:-.*)?|(?:new|modified|simplified|"
    r"revised|original|2-clause|3-clause)?[ -]?bsd(?:[-~ /].*)?|0bsd|apache(?:[-~ ,].*)?|asl ?2.*|"
    r"isc(?:[-~ ].*)?|isc license.*|zlib(?:[-~/ ].*)?|libpng(?:[-~ ].*)?|psf(?:[- ].*)?|python"
    r"(?:-[0-9.]+| software foundation.*)?|bsl(?:-1.*)?|boost(?:[- ].*)?|unlicense(?:d? .*)?|"
    r"the unlicense.*|public[- ]domain|cc0(?:[- ].*)?|postgresql.*|curl|ncsa|university of "
    r"illinois.*|icu|unicode(?:-.*)?|hpnd|ruby|php-3.*|blueoak.*|wtfpl|zpl(?:-.*)?|llvm)",
    re.IGNORECASE,
)
_NEVER = re.compile(r"\b[al]?gpl|gnu |copyleft|mpl\b|mozilla|epl\b|eclipse|cddl|cecill|eupl|osl|"
                    r"commons clause|business source|sspl|non-?commercial|-nc\b|proprietary|"
                    r"commercial|unlicensed$", re.IGNORECASE)  # fmt: skip


def permissive(expression: str) -> bool:
    """Whether a licence, or one of its alternatives, is permissive."""
    text = expression.strip().strip("()").strip()
    if not text or len(text) > 200:
        return False
    choices = re.split(r"\s+or\s+|\s*[|]\s*", text, flags=re.IGNORECASE)
    if len(choices) > 1:
        return any(permissive(choice) for choice in choices)
    parts = re.split(r"\s+and\s+|\s*[,;&]\s*", text, flags=re.IGNORECASE)
    return all(
        bool(_PERMISSIVE.fullmatch(part.strip("() "))) and not _NEVER.search(part)
        for part in parts
        if part.strip("() ")
    )


def of_python(fields: dict[str, object]) -> str:
    """The licence in a wheel's metadata; "" if unknown."""
    expression = str(fields.get("license_expression") or "")
    if expression:
        return expression if permissive(expression) else ""
    classified = [
        str(c).rpartition("::")[2].strip()
        for c in _listed(fields.get("classifier"))
        if str(c).startswith("License ::") and not str(c).endswith("OSI Approved")
    ]
    if classified:
        short = [re.sub(r"\s*License(?: \(.*\))?$", "", c) for c in classified]
        return " AND ".join(short) if all(map(permissive, short)) else ""
    named = str(fields.get("license") or "").strip()
    first = re.sub(
        r",? (?:software )?licen[sc]e.*$", "", named.split("\n", 1)[0], flags=re.IGNORECASE
    )
    return first if permissive(first) else ""


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def of_npm(value: object) -> str:
    """The licence in a package.json; "" if not permissive."""
    if isinstance(value, list):
        value = " OR ".join(str(v.get("type", "") if isinstance(v, dict) else v) for v in value)
    if isinstance(value, dict):
        value = value.get("type", "")
    named = str(value or "")
    return named if permissive(named) else ""


class DebianCopyright:
    """A `debian/copyright` file: which licence each file of the package has."""

    def __init__(self, text: str) -> None:
        self.rules: list[tuple[list[str], str]] = []
        self.plain = ""
        if "Files:" not in text:
            self.plain = _plain(text)
            return
        for stanza in re.split(r"\n\s*\n", text):
            files = re.search(r"^Files:((?:.*)(?:\n[ \t]+.*)*)", stanza, re.MULTILINE)
            licence = re.search(r"^License:[ \t]*(.*)", stanza, re.MULTILINE)
            if files and licence:
                self.rules.append((re.split(r"[\s,]+", files[1].strip()), licence[1].strip()))

    def licence_of(self, path: str) -> str:
        """The licence of the last rule that matches the path; "" if none does."""
        found = self.plain
        for patterns, licence in self.rules:
            if any(fnmatchcase(path, p) or fnmatchcase(path, f"{p}/*") for p in patterns):
                found = licence
        return found

    def summary(self) -> str:
        """The licence of most of the package."""
        return self.plain or next(
            (licence for patterns, licence in self.rules if "*" in patterns),
            self.rules[0][1] if self.rules else "",
        )


_NEVER_TEXT = re.compile(
    r"\b[al]?gpl\b|gnu\s+(?:lesser|general|affero|library)|mozilla\s+public|eclipse\s+public|"
    r"common\s+development\s+and|business\s+source|commons\s+clause|non-?commercial",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    if _NEVER_TEXT.search(text):
        return ""
    for mark, name in _MARKS:
        if re.search(mark, re.sub(r"\s+", " ", text), re.IGNORECASE):
            return name
    return ""


_MARKS: Iterable[tuple[str, str]] = (
    ("permission is hereby granted, free of charge", "MIT"),
    ("apache license,? version 2", "Apache-2.0"),
    ("redistribution and use in source and binary forms", "BSD"),
    ("permission to use, copy, modify, and(?:/or)? distribute this software", "ISC"),
    ("boost software license", "BSL-1.0"),
)
