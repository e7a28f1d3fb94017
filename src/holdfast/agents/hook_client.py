"""The program that an agent's hook runs: sends the payload to the host and prints the answer.

Runs standalone, as `python -I -S hook_client.py AGENT`, without installed packages: that starts in
a third of the time, and an agent waits for it at every tool call. So it imports only Python's
built-in modules, and it neither parses the payload nor starts a host. On any failure it prints
nothing and exits with 0 within 0.3 s.

    hook_client.py AGENT [HOME]     HOME is used unless HOLDFAST_HOME is set
"""

import sys

VERSION = 1
WAIT_S = 0.28
SETTINGS = (
    "HOLDFAST_DATABASE_URL",
    "HOLDFAST_INDEX_URL",
    "HOLDFAST_INDEX_TOKEN",
    "HOLDFAST_INDEX_SECRET",
    "HOLDFAST_INDEX_NAMESPACE",
    "HOLDFAST_EMBEDDING",
    "HOLDFAST_EMBEDDING_URL",
    "HOLDFAST_EMBEDDING_MODEL",
    "HOLDFAST_EMBEDDING_DIMENSION",
    "OPENAI_API_KEY",
    "VOYAGE_API_KEY",
)
"""Same value as in `mcp/rendezvous.py`; a test compares them."""


def socket_of(environment: "dict[str, str]", home: str = "") -> "tuple[str, str]":
    """The directory and the name of the host's socket for these settings."""
    root = environment.get("HOLDFAST_HOME") or home
    if not root:
        root = (environment.get("HOME") or "") + "/.holdfast"
    chosen = SETTINGS if environment.get("HOLDFAST_EMBEDDING") else SETTINGS[:-2]
    pairs = [f"{name}={environment[name]}" for name in chosen if environment.get(name)]
    key = "default"
    if pairs:
        import hashlib

        text = "\0".join(pairs).encode("utf-8", "surrogateescape")
        key = hashlib.sha256(text).hexdigest()[:12]
    return root + "/run", f"host-{key}.sock"


def ask(agent: str, payload: bytes, place: "tuple[str, str]", wait_s: float = WAIT_S) -> bytes:
    """The host's answer; raises OSError when there is none."""
    import _socket
    import posix

    posix.chdir(place[0])  # a socket path is limited to about 100 bytes; the home may be longer
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(wait_s)
    connection.connect(place[1])
    # A raw newline in JSON is only white space, so a blank can replace it to get one line.
    line = payload.replace(b"\r", b" ").replace(b"\n", b" ")
    head = b'{"holdfast":"hook","v":%d,"agent":"%s","payload":' % (VERSION, agent.encode())
    connection.sendall(head + line + b"}\n")
    pieces: list[bytes] = []
    while not pieces or not pieces[-1].endswith(b"\n"):
        piece = connection.recv(1 << 16)
        if not piece:
            return b""
        pieces.append(piece)
    return b"".join(pieces)


def main() -> None:
    import _signal  # type: ignore[import-not-found]
    import posix

    _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
    environment = {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in posix.environ.items()
    }
    wait_s = float(environment.get("HOLDFAST_HOOK_S") or WAIT_S)
    _signal.setitimer(_signal.ITIMER_REAL, wait_s)
    answer = ask(
        sys.argv[1],
        sys.stdin.buffer.read(),
        socket_of(environment, *sys.argv[2:3]),
        wait_s,
    )
    if answer.strip() not in (b"", b"{}"):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:  # noqa: SIM105
        main()
    except BaseException:  # noqa: S110
        pass
    import posix

    posix._exit(0)  # skips interpreter shutdown, which takes time
