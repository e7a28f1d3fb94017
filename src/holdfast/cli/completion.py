"""`holdfast completion SHELL`: print the completion script of a shell.

The script is small and never out of date: it asks `holdfast completion words` for candidates.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

SHELLS = {
    "bash": """_holdfast() {
  local IFS=$'\\n'
  COMPREPLY=($(holdfast completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [ ${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -o filenames -F _holdfast holdfast
""",
    "zsh": """#compdef holdfast
_holdfast() {
  local -a found
  found=("${(@f)$(holdfast completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _holdfast holdfast
""",
    "fish": """function __holdfast_words
  holdfast completion words (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c holdfast -a '(__holdfast_words)'
""",
}

WHERE = {
    "bash": 'eval "$(holdfast completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(holdfast completion zsh)"    # in ~/.zshrc, after compinit',
    "fish": "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(WHERE.values())
    parser.add_argument(
        "shell", nargs="?", choices=[*SHELLS, "words"], metavar="SHELL", help="bash, zsh or fish"
    )
    parser.add_argument("typed", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace, _app: object) -> int:
    if args.shell == "words":
        for word in words(args.typed):
            print(word)
        return 0
    if args.shell is None:
        print("\n".join(WHERE.values()))
        return 0
    print(SHELLS[args.shell], end="")
    return 0


def words(typed: list[str]) -> list[str]:
    """The candidates for the last word; empty if there are none."""
    from holdfast.cli.main import COMMANDS

    if len(typed) <= 1:
        last = typed[0] if typed else ""
        return [name for name in (*COMMANDS, "--help", "--version") if name.startswith(last)]
    command, *rest = typed
    if command not in COMMANDS:
        return []
    parser = argparse.ArgumentParser(prog=command, add_help=True)
    import_module(COMMANDS[command][0]).configure(parser)
    return sorted({word for word in _fitting(parser, rest) if word.startswith(rest[-1])})


def _fitting(parser: argparse.ArgumentParser, typed: list[str]) -> Iterator[str]:
    actions = list(parser._actions)
    place, waiting = 0, None
    positional = [action for action in actions if not action.option_strings]
    for number, word in enumerate(typed[:-1]):
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            waiting = _takes_value(actions, word)
        else:
            action = positional[place] if place < len(positional) else None
            if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                yield from _fitting(action.choices[word], typed[number + 1 :])
                return
            place += action is not None and action.nargs not in ("*", "+")
    if waiting is not None:
        yield from map(str, waiting.choices or ())
        return
    if typed[-1].startswith("-"):
        for action in actions:
            if action.help != argparse.SUPPRESS:
                yield from action.option_strings
    elif place < len(positional):
        yield from map(str, positional[place].choices or ())


def _takes_value(actions: list[argparse.Action], word: str) -> argparse.Action | None:
    for action in actions:
        if word in action.option_strings and action.nargs != 0:
            return action
    return None
