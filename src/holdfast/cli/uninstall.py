"""`holdfast uninstall`: take out of agents' settings what `install` put there, and nothing else."""

from __future__ import annotations

import argparse

from holdfast.app import App
from holdfast.cli import install


def configure(parser: argparse.ArgumentParser) -> None:
    install.configure(parser)


def run(args: argparse.Namespace, app: App) -> int:
    return install.run_uninstall(args, app)
