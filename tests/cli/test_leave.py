"""How a command ends: quickly, and with everything done that an ordinary end does."""

from __future__ import annotations

import subprocess
import sys


def ended(script: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_a_process_leaves_with_its_code_its_output_and_its_exit_handlers() -> None:
    assert ended(
        "import atexit, sys\n"
        "from holdfast import system\n"
        "atexit.register(lambda: print('handled', file=sys.stderr))\n"
        "print('answer', end='')\n"
        "system.leave(3)\n"
    ) == (3, "answer", "handled\n")


def test_a_process_leaves_without_freeing_its_objects() -> None:
    """Freeing the objects of a search of a large tree took a tenth of its time."""
    script = (
        "from holdfast import system\n"
        "class Large:\n"
        "    def __del__(self): print('freed', flush=True)\n"
        "large = Large()\n"
    )
    assert ended(script) == (0, "freed\n", "")
    assert ended(f"{script}system.leave(0)\n") == (0, "", "")


def test_a_process_leaves_after_the_work_of_its_threads() -> None:
    assert ended(
        "import threading\n"
        "from holdfast import system\n"
        "go = threading.Event()\n"
        "def work():\n"
        "    go.wait()\n"
        "    print('worked')\n"
        "threading.Thread(target=work).start()\n"
        "def later():\n"
        "    go.set()\n"
        "threading._register_atexit(later)\n"
        "system.leave(1)\n"
    ) == (1, "worked\n", "")


def test_a_process_with_closed_output_leaves() -> None:
    script = "import sys; sys.stdout = None\nfrom holdfast import system\nsystem.leave(0)\n"
    assert ended(script) == (0, "", "")
