"""`holdfast`: runs a command in the background host if possible, otherwise here.

Imports very little before that is decided.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from holdfast import system

NO_WINDOWS = (
    "holdfast: Windows is not supported: file locks, private sockets and forked parsers are missing"
    "\nhint: install it inside the Windows Subsystem for Linux (WSL); agents there can use it"
)


def main(leave: Callable[[int], None] = system.leave) -> None:
    """The `holdfast` command: run what the arguments say and end the process."""
    leave(run())


def run(
    environment: Callable[[], Mapping[str, str]] = system.environment,
    secure_imports: Callable[[], None] = system.secure_imports,
    keep_exit_codes: Callable[[], None] = system.keep_exit_codes,
    platform: str = sys.platform,
) -> int:
    """Run the command of this process; returns its exit code."""
    if platform == "win32":
        print(NO_WINDOWS, file=sys.stderr)
        return 2
    secure_imports()
    keep_exit_codes()
    argv = sys.argv[1:]
    if argv:
        from holdfast.cli.host_client import ask_host

        try:
            code = ask_host(argv, environment())
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        if code is not None:
            from holdfast.cli.streams import delivered

            return delivered(code)
    from holdfast.cli import main as commands

    return commands.main(argv)


if __name__ == "__main__":
    main()
