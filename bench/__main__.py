"""`python -m bench [NAME …]`: run every benchmark, or those named."""

import sys
from importlib import import_module

ALL = ["store", "sync", "index"]


def main() -> int:
    names = sys.argv[1:] or ALL
    return max(int(import_module(f"bench.{name}").main([])) for name in names)


if __name__ == "__main__":
    raise SystemExit(main())
