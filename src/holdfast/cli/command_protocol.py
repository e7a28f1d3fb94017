"""The protocol between a command and the background host, over the host's socket.

    to the host      {"holdfast":"cli","v":1,"version":…,"argv":[…],"cwd":…,"environment":{…},
                      "terminal":[out,err],"columns":…,"encoding":…}
    to the command   any number of lines, then the last one, which has a code:
                     an empty line            the host is working on it
                     {"err":"…"}              progress, written at once
                     {"out":"…"}              text; the command writes it and answers `shown`
                     {"out":"…","err":"…","code":0}
                     {"local":true}           the command must run in its own process

`holdfast` is the first member, which distinguishes the line from a greeting. After any failure
before text was written, the command runs in its own process and gives the same answer: no host,
another version, a host that is silent for longer than `SILENT_S`, or an invalid request.

Protocol history
    1   first version

Imports only what Python has loaded at start-up: each command imports this.
"""

from __future__ import annotations

COMMAND_VERSION = 1
HOSTED = frozenset(
    {
        *("search", "outline", "calls", "references", "explore", "impact"),
        *("locate", "clones", "read", "context"),
    }
)
"""Commands that the host can run."""

SHOWN = b"shown\n"
WORKING_S = 0.5
"""How often the host says that it is working."""
SILENT_S = 2.0
"""After this long without a message from the host, the command runs in its own process."""

SETTING = "HOLDFAST_CLI_HOST"
"""`0` runs every command in its own process."""

FORWARDED = ("HOME", "NO_COLOR", "TERM", "COLUMNS", "PYTHONIOENCODING", "HOLDFAST_HOME")
"""Variables that are sent to the host. Listed one by one: others may hold secrets."""
