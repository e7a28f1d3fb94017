"""A process to be killed: does one lifecycle action and says how far it is, a line at a time."""

import sys
from pathlib import Path
from typing import Any

from holdfast.index.code_index import open_index, run_here
from tests.index import double
from tests.index.wire import manage_index


def main() -> None:
    home, root, action = sys.argv[1:4]
    index = open_index(Path(home))
    index.extract = double.extract
    index.start = run_here
    index.processes = 2

    def say(text: object) -> None:
        print(text, flush=True)
        if "--wait" in sys.argv:
            sys.stdin.readline()

    force = action == "force"
    chosen: Any = "create" if force else action
    answer = manage_index(index, chosen, root, force=force, report=say)
    print("END", answer["status"], answer.get("reason", ""), flush=True)
    index.close()


if __name__ == "__main__":
    main()
