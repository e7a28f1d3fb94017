"""`python -m bench [NAME …]`: run every benchmark, or those named, each in a process of its own."""

import subprocess
import sys

from bench.arguments import parser

ALL = [
    "store",
    "growth",
    "graph",
    "sync",
    "reading",
    "savings",
    "edits",
    "sequence",
    "facts",
    "calls",
    "outline",
    "index",
    "exact",
    "mcp",
    "tokens",
    "load",
    "secrets",
    "hooks",
    "teams",
    "fleet",
]


def main() -> int:
    """0 if every benchmark met its goals."""
    options = parser("", __doc__)
    options.add_argument("name", nargs="*", help=f"one of {', '.join(ALL)}")
    names = options.parse_args().name or ALL
    codes = [subprocess.run([sys.executable, "-m", f"bench.{name}"]).returncode for name in names]
    return max(codes)


if __name__ == "__main__":
    raise SystemExit(main())
