"""Which files hold secrets: by name, by place and by content. One policy for every part.

By name or place (`.env`, `id_rsa`, `.aws/credentials`) a file is a secret as a whole: it is not
indexed, and nothing of it is kept; so is one whose path contains a token. In any other file,
secrets are found by their form: tokens with a well-known prefix, blocks with a private key, and
random-looking values assigned to a name such as `password`, quoted or not. Those are masked, byte
for byte, before anything is made of the text, so that lines and offsets stay as they are.

May miss a secret of a form that is not listed. May mask a value that is not one; names such as
`.env.example` and values that are plainly placeholders are left alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache

import msgspec

from holdfast.patterns import lazy_pattern

MASK = ord("*")

_NAMES = frozenset(
    {
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", ".netrc",
        "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd",
        ".dockercfg", ".s3cfg", ".boto", ".vault_pass", ".vault-token", ".terraformrc",
        "credentials.json", "credentials.yml", "credentials.yaml", "credentials.toml",
        "credentials.ini", "credentials.csv", "secret.json", "secret.yml", "secret.yaml",
        "secret.toml", "secret.ini", "secret.properties", "secrets.json", "secrets.yml",
        "secrets.yaml", "secrets.toml", "secrets.ini", "secrets.properties", "secrets.env",
        "serviceaccountkey.json", "service-account.json", "service_account.json",
        "serviceaccount.json", "client_secret.json", "client_secrets.json", "local.settings.json",
        "application_default_credentials.json", "kubeconfig", "master.key", "pip.conf", "pip.ini",
        "wp-config.php", "terraform.tfstate", "terraform.tfstate.backup", ".bash_history",
        ".zsh_history", ".python_history", ".psql_history", ".mysql_history",
        ".node_repl_history",
    }
)  # fmt: skip
_SUFFIXES = (
    *(".pem", ".key", ".p12", ".pfx", ".crt", ".cer", ".der", ".pk8", ".ppk", ".jks", ".keystore"),
    *(".kdbx", ".ovpn", ".tfvars", ".tfstate", ".tfvars.json", ".mobileprovision"),
)
_PLACES = frozenset(
    {
        (".aws", "credentials"),
        (".aws", "config"),
        (".docker", "config.json"),
        (".kube", "config"),
        (".config", "gh", "hosts.yml"),
        (".m2", "settings.xml"),
        (".codex", "auth.json"),
        (".claude", ".credentials.json"),
    }
)
_ACCOUNTS = ("service-account", "service_account", "client_secret")
_FOLDERS = frozenset({".ssh", ".gnupg", ".password-store"})
_LONG_RUN = lazy_pattern(r"[A-Za-z0-9]{16}")
"""What few names have, and all names that are tokens."""
_SAMPLE = lazy_pattern(r"(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?)(?:[._-]|$)")


def secret_name(path: str) -> bool:
    """Whether a path, by its name or place alone, is a secret as a whole.

    A walk asks this about every file, so what few paths need is decided last.
    """
    lowered = path.lower().replace("\\", "/")
    name = lowered[lowered.rfind("/") + 1 :]
    parts: list[str] = []
    if "/." in lowered or lowered.startswith("."):  # as all folders and places of secrets do
        parts = lowered.split("/")
        if not _FOLDERS.isdisjoint(parts[:-1]):
            return not name.endswith(".pub")
    secret = (
        name in _NAMES
        or name.endswith(_SUFFIXES)
        or (name.startswith(".env") and (name == ".env" or name[4] in "._-"))
        or (name.startswith(_ACCOUNTS) and name.endswith(".json"))
        or any(tuple(parts[-len(place) :]) == place for place in (_PLACES if parts else ()))
    )
    if secret:
        return _SAMPLE.search(name) is None
    return _LONG_RUN.search(path) is not None and any(_tokens(path.encode(errors="replace")))


class Secret(msgspec.Struct, frozen=True):
    """A secret in a text: where, and what kind."""

    start: int
    end: int
    kind: str


_TOKENS: tuple[tuple[str, bytes, bytes], ...] = (
    # kind, a string that must be in the text, the token
    *(
        ("GitHub token", marker, marker + rb"[A-Za-z0-9]{36,255}\b")
        for marker in (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_")
    ),
    ("GitHub token", b"github_pat_", rb"\bgithub_pat_[A-Za-z0-9_]{50,255}\b"),
    ("GitLab token", b"glpat-", rb"\bglpat-[\w-]{20,64}"),
    ("AWS access key", b"AKIA", rb"AKIA[0-9A-Z]{16}\b"),
    ("AWS access key", b"ASIA", rb"ASIA[0-9A-Z]{16}\b"),
    ("Slack token", b"xox", rb"\bxox[abeoprs]-[0-9A-Za-z-]{10,250}"),
    ("Slack webhook", b"hooks.slack", rb"hooks\.slack\.com/services/T\w{6,12}/B\w{6,12}/\w{20,30}"),
    ("Stripe key", b"_live_", rb"\b[rs]k_live_[0-9a-zA-Z]{20,247}\b"),
    ("Anthropic key", b"sk-ant-", rb"\bsk-ant-[\w-]{24,200}"),
    ("OpenAI key", b"sk-", rb"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,200}"),
    ("Google key", b"AIza", rb"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("npm token", b"npm_", rb"\bnpm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", b"pypi-", rb"\bpypi-AgE[\w-]{50,250}"),
    ("SendGrid key", b"SG.", rb"\bSG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("Hugging Face token", b"hf_", rb"\bhf_[A-Za-z0-9]{34}\b"),
    ("DigitalOcean token", b"_v1_", rb"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("age key", b"AGE-SECRET-KEY-", rb"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("Azure key", b"AccountKey=", rb"AccountKey=[A-Za-z0-9+/=]{80,100}"),
    ("JSON Web Token", b"eyJ", rb"(?<![\w-])eyJ[\w-]{10,2000}+\.eyJ[\w-]{4,4000}+\.[\w-]{20,2000}"),
    # A PEM block in base64, as in the secrets of Kubernetes; certificates are public.
    (
        "private key",
        b"LS0tLS1CRUdJTi",
        rb"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/=]{40,20000}",
    ),
    ("private key", b"b3BlbnNzaC1rZXktdjE", rb"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{40,20000}"),
)


@cache
def _compiled() -> tuple[tuple[str, bytes, re.Pattern[bytes]], ...]:
    """The same with the tokens compiled; on first use, because most processes read no such text."""
    return tuple(
        (kind, marker, re.compile(_marker_first(marker, token))) for kind, marker, token in _TOKENS
    )


def _marker_first(marker: bytes, token: bytes) -> bytes:
    """The same pattern, with the condition before its marker checked behind it.

    `re` finds a pattern that begins with plain bytes many times as fast.
    """
    literal = marker.replace(b".", rb"\.")
    if token.startswith(rb"\b" + literal):
        return literal + rb"(?<=\b" + literal + rb")" + token[2 + len(literal) :]
    before = rb"(?<![\w-])"
    if token.startswith(before + literal):
        return literal + rb"(?<![\w-]" + literal + rb")" + token[len(before) + len(literal) :]
    return token


_MAY_BE_TOKEN = (
    # Each begins with one byte, which `re` finds many times as fast as it would a set of words.
    lazy_pattern(
        rb"_(?=\w{20})(?:(?<=gh[pousr]_)|(?<=npm_)|(?<=hf_)|(?<=github_pat_)|(?<=_live_)|(?<=_v1_))"
    ),
    lazy_pattern(
        rb"-(?=[\w-]{10})(?:(?<=glpat-)|(?<=sk-)|(?<=pypi-)|(?<=xox[abeoprs]-)"
        rb"|(?<=AGE-SECRET-KEY-))"
    ),
    lazy_pattern(rb"A(?:KIA|SIA|Iza|ccountKey=)"),
    lazy_pattern(rb"SG\.[\w-]{16}"),
)
_MARKS = (b"hooks.slack.", b".eyJ", b"LS0tLS1CRUdJTi", b"b3BlbnNzaC1rZXktdjE")
"""A text in which none of these is found has no token of the list above."""

_KEY_START = lazy_pattern(rb"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = b"-----END "
KEY_BYTES_MAX = 64 * 1024
"""A private key without an end is taken to be at most this long."""

_QUOTED = lazy_pattern(rb"[\"'`]([A-Za-z0-9+/=_.~-]{20,200})[\"'`]")
_MAY_BE_ASSIGNED = tuple(
    lazy_pattern(quote + rb"(?<=[=:> \t]" + quote + rb")[A-Za-z0-9+/=_.~-]{20,200}[\"'`]")
    for quote in (b'"', b"'", b"`")
)
"""The same for values that are assigned to a name."""
_SECRET = (
    rb"(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    rb"|auth[_-]?key|credential)[\w-]{0,20}"
)
_BEFORE_VALUE = b"=:> \t"
"""How the text before an assigned value ends: the last bytes that `_SECRET_IS` can match."""
_SECRET_IS = lazy_pattern(_SECRET + rb"[\"'\]]{0,2}[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}\Z")
_BARE = tuple(
    (start, lazy_pattern(before + rb"([A-Za-z0-9+/_~-]{20,200}+={0,2})(?=" + after + rb")"))
    for start, before, after in (
        (b"=", rb"=[ \t]{0,8}", rb"[\s;,&\"'`]|\Z"),
        (b":", rb":[ \t]{0,8}", rb"[\s;,&\"'`]|\Z"),
        (b">", rb">", rb"</"),
        (b"uthorization", rb"earer ", rb"[\s;,\"'`]|\Z"),
        (b"uthorization", rb"asic ", rb"[\s;,\"'`]|\Z"),
    )
)
"""Values without quotes, as in settings, environments, connection strings and headers."""
_BARE_SECRET_IS = lazy_pattern(
    rb"(?:" + _SECRET + rb"(?:[\"'\]]{0,2}[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}|[^<>\n]{0,40}>)"
    rb"|authorization[\"']?[ \t]{0,8}[:=,][ \t]{0,8}[\"']?(?:bearer|basic)[ \t]"
    rb"|(?:-u|--user)[ \t][\w.@-]{1,40}:)\Z"
)
NAME_BYTES_MAX = 64
"""How far before a quoted value the name is looked for that it is assigned to."""
_CREDENTIALS_IN_URL = lazy_pattern(
    rb"://[^\s:/@\"'<>]{1,64}:([^\s:/@\"'<>${}]{8,128})@[\w.-]{1,253}"
)
_PLACEHOLDER = lazy_pattern(
    rb"(?i)example|sample|dummy|fake|test|placeholder|changeme|change_me|redacted|your[_-]?|xxxx|abcdef"
    rb"|12345|password|passwd|secret|00000|foobar|default|invalid"
)
_UUID = lazy_pattern(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ENTROPY_MIN_BITS = 3.7
"""Of an assigned value, in bits for each character: words and repetition stay below it."""
TOKEN_ENTROPY_MIN_BITS = 3.0


def secrets_in(text: bytes) -> list[Secret]:
    """The secrets in a text, in order. Takes time in proportion to its length."""
    secrets: list[Secret] = []
    for secret in sorted(_candidates(text), key=lambda secret: (secret.start, -secret.end)):
        if not secrets or secret.start >= secrets[-1].end:
            secrets.append(secret)
    return secrets


def masked(text: bytes) -> bytes:
    """The text with its secrets replaced by stars; as long as before, line by line."""
    secrets = secrets_in(text)
    if not secrets:
        return text
    out = bytearray(text)
    for secret in secrets:
        for at in range(secret.start, secret.end):
            if out[at] not in b"\r\n":
                out[at] = MASK
    return bytes(out)


def masked_line(text: bytes, number: int) -> bytes:
    """One line of the masked text, from 1, without its end; empty if there is none.

    Only private keys go over several lines, so the other lines are read only if there may be one.
    """
    rows = (masked(text) if b"PRIVATE KEY" in text else text).split(b"\n", number)
    return masked(rows[number - 1]) if len(rows) >= number else b""


def _candidates(text: bytes) -> Iterator[Secret]:
    if any(mark in text for mark in _MARKS) or any(one.search(text) for one in _MAY_BE_TOKEN):
        yield from _tokens(text)
    if b"PRIVATE KEY" in text:
        yield from _private_keys(text)
    if any(pattern.search(text) for pattern in _MAY_BE_ASSIGNED):
        yield from _assigned(text)
    yield from _bare(text)
    if b"://" in text:
        for match in _CREDENTIALS_IN_URL.finditer(text):
            if _random_looking(match.group(1)) or _drawn(match.group(1)):
                yield Secret(match.start(1), match.end(1), "password in a URL")


def _tokens(text: bytes) -> Iterator[Secret]:
    for kind, marker, token in _compiled():
        if marker in text:
            for match in token.finditer(text):
                if _plausible(match.group()):
                    yield Secret(match.start(), match.end(), kind)


def _assigned(text: bytes) -> Iterator[Secret]:
    for match in _QUOTED.finditer(text):
        if not match.start() or text[match.start() - 1] not in _BEFORE_VALUE:
            continue  # not assigned to anything
        before = text[max(0, match.start() - NAME_BYTES_MAX) : match.start()].lower()
        if _SECRET_IS.search(before) and _random_looking(match.group(1)):
            yield Secret(match.start(1), match.end(1), "assigned secret")


def _bare(text: bytes) -> Iterator[Secret]:
    for mark, pattern in _BARE:
        for match in pattern.finditer(text) if mark in text else ():
            start = match.start(1)
            if _drawn(match.group(1)) and _BARE_SECRET_IS.search(
                text[max(0, start - NAME_BYTES_MAX) : start].lower()
            ):
                yield Secret(start, match.end(1), "assigned secret")


def _private_keys(text: bytes) -> Iterator[Secret]:
    at = 0
    while (start := _KEY_START.search(text, at)) is not None:
        latest = start.end() + KEY_BYTES_MAX
        end = text.find(_KEY_END, start.end(), latest)
        if end >= 0:
            latest = text.find(b"\n", end)
        at = len(text) if latest < 0 else min(latest, len(text))
        # The header alone, as in a program that writes keys, is not one.
        if re.search(rb"[A-Za-z0-9+/]{40}", text[start.end() : at]):
            yield Secret(start.start(), at, "private key")


def _plausible(token: bytes) -> bool:
    """Whether a token of a known form is not plainly made up for an example."""
    lowered = token.lower()
    return not (
        b"example" in lowered or b"xxxx" in lowered or entropy_bits(token) < TOKEN_ENTROPY_MIN_BITS
    )


def _random_looking(value: bytes) -> bool:
    """Whether a value looks drawn at random: letters and digits mixed, no words, no path."""
    if _UUID.fullmatch(value):
        return False  # names something, as request tokens do
    if _PLACEHOLDER.search(value) or value.count(b"/") > 2 or value.count(b".") > 2:
        return False
    digits = sum(48 <= byte <= 57 for byte in value)
    letters = sum(chr(byte).isalpha() for byte in value)
    if digits < 2 or letters < 4:
        return False
    if _looks_like_words(value):
        return False
    return entropy_bits(value) >= ENTROPY_MIN_BITS


_HEXADECIMAL = lazy_pattern(rb"[0-9a-f]{32,}|[0-9A-F]{32,}")
_CHANGES = lazy_pattern(rb"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
CHANGES_MIN = 0.45
"""How often neighbours of a value without quotes differ in kind, for each byte. In a value that was
drawn from letters and digits it is 0.6, in `computeBase64Sha256Key1` 0.4."""


def _drawn(value: bytes) -> bool:
    """Whether a value can hardly be the name of something: code assigns names without quotes.

    Most values are names, so what tells those is asked first.
    """
    if _DIGIT.search(value) is None:
        return False
    if _HEXADECIMAL.fullmatch(value):
        least = TOKEN_ENTROPY_MIN_BITS
    elif len(_CHANGES.findall(value)) >= CHANGES_MIN * len(value):
        least = ENTROPY_MIN_BITS
    else:
        return False
    return _PLACEHOLDER.search(value) is None and entropy_bits(value) >= least


_DIGIT = lazy_pattern(rb"[0-9]")


def _looks_like_words(value: bytes) -> bool:
    """Whether a value is made of words: long runs of lower-case letters between separators."""
    runs = re.findall(rb"[a-z]{5,}|[A-Z]{5,}", value)
    return sum(map(len, runs)) * 2 > len(value)


def entropy_bits(value: bytes) -> float:
    """The entropy of a value's bytes, in bits for each."""
    total = len(value)
    counts = [value.count(byte) for byte in set(value)]
    return -sum(count / total * math.log2(count / total) for count in counts)
