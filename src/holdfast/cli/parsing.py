"""An argument parser that accepts options anywhere.

argparse fills optional positional arguments as soon as it meets an option: in
`index create --force PATH` it sets the path to its default and then rejects PATH.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

TYPE_CHECKING = False  # `typing` defines it too, but is slow to import
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Parses again with options first if arguments are left over; subparsers do the same."""

    _again = False
    _adding = False

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        self._adding = True
        try:
            return super().add_argument(*names, **settings)
        finally:
            self._adding = False

    def _get_formatter(self) -> argparse.HelpFormatter:
        """argparse makes one for each added argument, to check the number of its names. With a
        width it does not import `shutil` to get the terminal's."""
        if self._adding:
            return argparse.HelpFormatter(prog=self.prog, width=78)
        return super()._get_formatter()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[Any, list[str]]:
        before = None if namespace is None else argparse.Namespace(**vars(namespace))
        parsed, rest = super().parse_known_args(args, namespace)
        if not rest or self._again or any(map(_takes_all, self._actions)):
            return parsed, rest
        self._again = True
        try:
            # Parse options first, then all positional arguments in order.
            parsed, rest = self.parse_known_intermixed_args(args, before)
        finally:
            self._again = False
        if rest:
            # Reported here and not by the parser above, whose usage line lacks these options.
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed, rest

    def error(self, message: str) -> NoReturn:
        super().error(self.with_choices(message))

    def with_choices(self, message: str) -> str:
        """The message; for a missing verb the verbs, because the usage line may not list them."""
        for action in self._actions:
            name = action.metavar or action.dest
            if action.choices and message == f"the following arguments are required: {name}":
                return f"name one of: {', '.join(map(str, action.choices))}"
        return message


class DeferredParser:
    """A subparser that is made when it is used, because a command runs only one of its verbs."""

    def __init__(self, parser_class: type[argparse.ArgumentParser], **settings: Any) -> None:
        self._parser_class = parser_class
        self._settings = settings
        self._steps: list[Callable[[argparse.ArgumentParser], object]] = []
        self._parser: argparse.ArgumentParser | None = None

    def set_defaults(self, **values: Any) -> None:
        self._later(lambda parser: parser.set_defaults(**values))

    def add_argument(self, *names: str, **settings: Any) -> None:
        self._later(lambda parser: parser.add_argument(*names, **settings))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._make_parser(), name)

    def _later(self, step: Callable[[argparse.ArgumentParser], object]) -> None:
        if self._parser is None:
            self._steps.append(step)
        else:
            step(self._parser)

    def _make_parser(self) -> argparse.ArgumentParser:
        if self._parser is None:
            self._parser = self._parser_class(**self._settings)
            for step in self._steps:
                step(self._parser)
        return self._parser


def _takes_all(action: argparse.Action) -> bool:
    return action.nargs in (argparse.PARSER, argparse.REMAINDER)
