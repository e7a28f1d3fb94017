"""Secrets by name, place and content, and what is left alone."""

from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files import secrets
from holdfast.files.secrets import masked, masked_line, secret_name, secrets_in

RNG = random.Random(7)


def drawn(letters: str, length: int) -> str:
    """A value drawn at random, so that no real token stands in this file."""
    return "".join(RNG.choice(letters) for _ in range(length))


WORD = string.ascii_letters + string.digits


@pytest.mark.shows("SEC-SECRET-NAMES")
@pytest.mark.parametrize(
    "path",
    [
        ".env", "app/.env.production", ".npmrc", "keys/id_rsa", "home/.ssh/config",
        ".aws/credentials", "a/.docker/config.json", "k8s/secret.yaml", "service-account.json",
        "terraform.tfvars",
        "secrets.toml", "pip.conf", "wp-config.php", "server.key", "cert.PEM", "prod.tfvars.json",
        "client_secret_1234.json", ".kube/config", "state/terraform.tfstate", ".pgpass",
    ],
)  # fmt: skip
def test_a_name_or_a_place_says_that_a_file_is_secret(path: str) -> None:
    assert secret_name(path)


@pytest.mark.shows("SEC-SECRET-NAMES")
@pytest.mark.parametrize(
    "path",
    [
        ".env.example", "sample.env", ".environment.py", "secrets.py", "docs/secrets.md",
        "token.py", "config.json", ".ssh/id_rsa.pub", "keyboard.key.md", "credentials.py",
        "config/database.py",
        "secrets.example.toml", "envelope.py", "monkey.py",
    ],
)  # fmt: skip
def test_other_names_are_not_secret(path: str) -> None:
    assert not secret_name(path)


PLANTED = {
    "GitHub token": f'TOKEN = "ghp_{drawn(WORD, 36)}"',
    "AWS access key": f"aws_access_key_id = AKIA{drawn(string.ascii_uppercase + '234567', 16)}",
    "Slack token": f"xoxb-{drawn(string.digits, 12)}-{drawn(WORD, 24)}",
    "Stripe key": f"stripe.api_key = 'sk_live_{drawn(WORD, 24)}'",
    "Google key": f"key: AIza{drawn(WORD + '_-', 34)}a",
    "npm token": f"//registry/:_authToken=npm_{drawn(WORD, 36)}",
    "Anthropic key": f"sk-ant-api03-{drawn(WORD, 80)}",
    "assigned secret": f'client_secret = "{drawn(WORD, 40)}"',
    "password in a URL": f"postgres://app:{drawn(WORD, 24)}@db.internal/app",
    "JSON Web Token": f"eyJhbGciOiJIUzI1NiJ9.eyJ{drawn(WORD, 30)}.{drawn(WORD, 43)}",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(drawn(WORD + "+/", 64) for _ in range(12))
    + "\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.shows("SEC-SECRET-CONTENT")
@pytest.mark.parametrize("kind", PLANTED)
def test_a_secret_is_found_by_its_form(kind: str) -> None:
    text = f"before = 1\n{PLANTED[kind]}\nafter = 2\n".encode()
    assert kind in {secret.kind for secret in secrets_in(text)}
    hidden = masked(text)
    assert (len(hidden), hidden.count(b"\n")) == (len(text), text.count(b"\n"))
    assert hidden.startswith(b"before = 1\n")
    assert hidden.endswith(b"\nafter = 2\n")
    assert secrets_in(hidden) == []


VALUE = drawn(WORD, 16) + "a1B2c3D4" + drawn(WORD, 16)
BARE = [
    f"password: {VALUE}", f"  DB_PASSWORD={VALUE}", f"      - API_KEY={VALUE}",
    f"ENV SECRET_KEY={VALUE}", f"spring.datasource.password = {VALUE}",
    f"<password>{VALUE}</password>", f'<add key="token" value="x">{VALUE}</add>',
    f'"Server=db;User Id=app;Password={VALUE};"', f"Authorization: Bearer {VALUE}",
    f'"Authorization": "Basic {VALUE}=="', f"curl -u admin:{VALUE} https://host/",
    f"https://host/?access_token={VALUE}&page=2", f"client_secret: {VALUE}\r",
    f"secret: {drawn('0123456789abcdef', 40)}", f"key: LS0tLS1CRUdJTi{drawn(WORD, 60)}",
    f"b3BlbnNzaC1rZXktdjE{drawn(WORD, 60)}",
]  # fmt: skip


@pytest.mark.shows("SEC-SECRET-CONTENT")
@pytest.mark.parametrize("text", BARE)
def test_a_secret_needs_no_quotes(text: str) -> None:
    hidden = masked(f"before\n{text}\nafter\n".encode())
    assert b"*" * 20 in hidden
    assert VALUE.encode() not in hidden


@pytest.mark.shows("SEC-SECRET-NAMES")
@pytest.mark.parametrize(
    "path", [f"notes/ghp_{drawn(WORD, 36)}.py", f"npm_{drawn(WORD, 36)}/index.js"]
)
def test_a_path_with_a_token_is_secret(path: str) -> None:
    assert secret_name(path)


@pytest.mark.shows("SEC-SECRET-CONTENT")
@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DATABASE_PASSWORD"]',
        'token = "your-token-goes-here-please"',
        'AWS = "AKIAIOSFODNN7EXAMPLE"',
        'secret_name = "projects/shop/secrets/database-password"',
        'TOKEN_URL = "https://accounts.example.com/oauth2/v4/token"',
        'api_key: "${API_KEY}"',
        'auth_token_expired_message = "auth_token_expired_message_for_user"',
        "ghp_" + "x" * 36,
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
        "postgres://user:password@localhost/db",
        "token: ContextVar[Token[str]] = ContextVar('token_of_this_request_1')",
        "secret_key = computeBase64Sha256OfUser1Key2()",
        "access_token: OAuth2AccessTokenV1Response,",
        "password = passwordEncoder2.encodeWithSha256;",
        "next_token=continuation_token_from_page_2",
        "tokenizer = AutoTokenizerForGPT2WithBPE16k,",
        "certificate: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMrZ0F3SUJBZ0lCQVRBTkJn",
    ],
)
def test_a_placeholder_or_a_name_is_not_a_secret(text: str) -> None:
    assert secrets_in(text.encode()) == []


@pytest.mark.shows("SEC-SECRET-CONTENT")
@given(st.binary(max_size=400), st.sampled_from(sorted(PLANTED)), st.binary(max_size=400))
def test_masking_moves_nothing_and_is_done_once(before: bytes, kind: str, after: bytes) -> None:
    text = before + b"\n" + PLANTED[kind].encode() + b"\n" + after
    hidden = masked(text)
    assert len(hidden) == len(text)
    assert [at for at, byte in enumerate(hidden) if byte == 10] == [
        at for at, byte in enumerate(text) if byte == 10
    ]
    assert masked(hidden) == hidden


@pytest.mark.shows("SEC-SECRET-CONTENT")
@pytest.mark.parametrize(
    "text",
    [
        b"-----BEGIN PRIVATE KEY-----\n" * 20_000,
        b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 1_000_000,
        b"secret=" * 150_000,
        b"token" * 200_000,
        b"a://" * 250_000,
        b"a" * 1_000_000 + b"://" + b"b" * 1_000_000,
        b"x" * 10 + b"eyJ." * 200_000,
        b"eyJ" * 300_000,
        b"eyJ" + b"a" * 1_000 + b".eyJ" * 200_000,
        b"=" * 1_000_000,
        b"password=" + b"a1B" * 300_000,
        (b"password=" + b"a1B2" * 6) * 30_000,
        b"password=" * 100_000 + b">" * 100_000,
        b"LS0tLS1CRUdJTi" * 70_000,
    ],
    ids=range(14),
)
def test_hostile_text_is_looked_through_to_its_end(text: bytes) -> None:
    assert len(masked(text)) == len(text)


TOKENS = st.one_of([st.from_regex(token) for _, _, token in secrets._TOKENS])
ASSIGNED = st.from_regex(
    rb"(?:password|api_key|credential)s?\"?[ \t]{0,2}(?:=>|:=|[:=])[ \t]{0,2}"
    rb"[\"'`][\w+/=.~-]{20,24}[\"'`]"
)


@given(st.lists(st.one_of(TOKENS, ASSIGNED, st.binary(max_size=8)), max_size=4).map(b"".join))
def test_the_quick_look_at_a_text_misses_no_secret(text: bytes) -> None:
    """The twin: every pattern is tried on every text."""
    every = {*secrets._tokens(text), *secrets._private_keys(text), *secrets._assigned(text)}
    every |= {*secrets._bare(text)}
    assert every <= set(secrets._candidates(text))


LINES = st.one_of(
    st.sampled_from([text.encode() for text in (*PLANTED.values(), *BARE)]),
    st.binary(max_size=40),
    st.sampled_from([b"password =", b"token: '", b"authorization: bearer ", b"-----END X-----\r"]),
)


@pytest.mark.shows("SEC-SECRET-CONTENT")
@given(st.lists(LINES, max_size=6).map(b"\n".join))
def test_a_masked_line_is_that_of_the_masked_text(text: bytes) -> None:
    rows = masked(text).split(b"\n")
    assert [masked_line(text, number) for number in range(1, len(rows) + 1)] == rows
    assert masked_line(text, len(rows) + 1) == b""


PIECES = [
    *(b"password", b"Token", b"api_key", b"name", b" ", b"\t", b"=", b":", b"=>", b">", b"\n"),
    *(b'"', b"'", b"`", b"]", b"k9Qx2LmZ7vR4tB8nW3yC", b"k9Qx2LmZ7vR4tB8nW3yC="),
]


@given(st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join))
def test_values_that_nothing_is_before_are_passed_over_without_another_result(text: bytes) -> None:
    """The model looks at the text before every quoted value."""
    expected = [
        match.span(1)
        for match in secrets._QUOTED.finditer(text)
        if secrets._SECRET_IS.search(text[max(0, match.start() - 64) : match.start()].lower())
        and secrets._random_looking(match.group(1))
    ]
    assert [(found.start, found.end) for found in secrets._assigned(text)] == expected


PIECES = [marker for _, marker, _ in secrets._TOKENS] + [
    b"sk",
    b"a",
    b"_",
    b"-",
    b".",
    b" ",
    b"Z9" * 18,
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_a_pattern_that_begins_with_its_marker_matches_the_same_tokens(text: bytes) -> None:
    for _, marker, token in secrets._TOKENS:
        fast = re.compile(secrets._marker_first(marker, token))
        assert [m.span() for m in fast.finditer(text)] == [
            m.span() for m in re.compile(token).finditer(text)
        ]
