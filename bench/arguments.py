"""The command line of a benchmark. `--help` prints what it measures and runs nothing."""

from __future__ import annotations

import argparse


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """For `python -m bench.NAME`; the description is printed as it is written."""
    return argparse.ArgumentParser(
        prog=f"python -m bench.{name}".removesuffix("."),
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def takes_none(name: str, description: str | None, arguments: list[str] | None = None) -> None:
    """End the process after `--help`, and with an error at any other argument."""
    parser(name, description).parse_args(arguments)
