"""What is read from the configuration of a git repository, without asking git. Pure.

Git is never shown a repository's configuration (`git.py`), because it names programs that git would
run. The addresses of remotes and the place of the work tree are all that is needed of it, so they
are read here: sections, names and values as git writes them; files that are included by it are not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from holdfast.patterns import lazy_pattern

_SECTION = lazy_pattern(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]')
_SCP = lazy_pattern(r"(?:[^@/:\s]+@)?(\[[0-9a-fA-F:]+\]|[^@/:\s]+):(?!//)(.+)\Z")
_PORTS = {"ssh": 22, "https": 443, "http": 80, "git": 9418}
_FOLDING_HOSTS = {"github.com", "gitlab.com", "bitbucket.org"}
"""Here `Org/Repo` and `org/repo` are one repository."""
NAME_MAX = 400


def remotes_of(configuration: str) -> dict[str, str]:
    """The first address of each remote, by the remote's name."""
    remotes: dict[str, str] = {}
    for section, name, key, value in _settings(configuration):
        if section == "remote" and name is not None and key == "url" and value:
            remotes.setdefault(name, value)
    return remotes


def work_tree_setting(configuration: str) -> str | None:
    """The work tree that a git directory says it belongs to, as written."""
    values = [
        value
        for section, name, key, value in _settings(configuration)
        if (section, name, key) == ("core", None, "worktree")
    ]
    return values[-1] if values else None


def main_remote(remotes: dict[str, str]) -> str | None:
    """The address that names a repository: of `origin`, or of its only remote."""
    if "origin" in remotes:
        return remotes["origin"]
    return next(iter(remotes.values())) if len(remotes) == 1 else None


def local_path(address: str) -> str | None:
    """The path that an address names on this machine; None if it names another machine."""
    if address.startswith("file://"):
        return unquote(urlsplit(address).path) or None
    is_remote = "://" in address or _SCP.match(address) is not None
    return None if is_remote else address


def ssh_user(address: str) -> str | None:
    """The user in an address of ssh, whose home a path may be relative to; else None."""
    if "://" not in address:
        return address.partition("@")[0] if _SCP.match(address) and "@" in address else None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return parts.username if parts.scheme.lower().removeprefix("git+") == "ssh" else None


def shown(address: str) -> str:
    """An address for messages: without a password, and for http without the user, a token often."""
    scheme, separator, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    if not separator or not at:
        return address
    if scheme.lower().removeprefix("git+") == "ssh":
        user, colon, _ = user.partition(":")
        return f"{scheme}://{user}{':…' if colon else ''}@{host}{slash}{path}"
    return f"{scheme}://…@{host}{slash}{path}"


def normalised(address: str) -> str | None:
    """One name for all ways to write an address: `host/path`, without user, password and `.git`.

    None for a path on this machine and for what is not an address.
    """
    address = address.strip()
    if local_path(address) is not None or not address.isprintable() or len(address) > NAME_MAX:
        return None
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return None
        scheme = parts.scheme.lower().removeprefix("git+")
        path = unquote(parts.path)
        if port is not None and port != _PORTS.get(scheme):
            host = f"{host}:{port}"
    else:
        short = _SCP.match(address)
        if short is None:
            return None
        host, path = short[1].lower(), short[2].split("?")[0]
    path = path.strip("/").removesuffix(".git").rstrip("/")
    if not host or not path or not path.isprintable():
        return None
    return f"{host}/{path.lower() if host in _FOLDING_HOSTS else path}"


def _settings(configuration: str) -> Iterator[tuple[str, str | None, str, str]]:
    """Section, name of the section, key and value of every setting, in order."""
    section: str = ""
    name: str | None = None
    for line in configuration.replace("\\\n", "").splitlines():
        line = line.strip()
        head = _SECTION.match(line)
        if head is not None:
            section = head[1].lower()
            name = None if head[2] is None else re.sub(r"\\(.)", r"\1", head[2])
            line = line[head.end() :].strip()
        key, equals, value = line.partition("=")
        if equals and not key.lstrip().startswith(("#", ";")):
            yield section, name, key.strip().lower(), _value(value)


def _value(text: str) -> str:
    """A value without its quotes, escapes and comment."""
    characters, quoted, escaped = [], False, False
    for character in text.strip():
        if escaped:
            characters.append({"n": "\n", "t": "\t"}.get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            characters.append(character)
    return "".join(characters).strip()
