"""`holdfast uninstall`: remove from agents' settings exactly what `install` added."""

from __future__ import annotations

import argparse

from holdfast.app import App
from holdfast.cli import install


def configure(parser: argparse.ArgumentParser) -> None:
    install.configure(parser, install=False)


def run(args: argparse.Namespace, app: App) -> int:
    return install.run_uninstall(args, app)
