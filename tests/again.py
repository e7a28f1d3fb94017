"""Run the tests that failed last once more, alone: python -m tests.again

For a test that depends on the load of the machine or on its neighbours. Its name is printed even
when it passes now, so that it gets mended. Many failures are no accident: they are not run again.
"""

import json
import subprocess
import sys
from pathlib import Path

MOST = 5
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main() -> int:
    try:
        failed = sorted(json.loads(LAST_FAILED.read_text()))
    except FileNotFoundError:
        failed = []
    if not 0 < len(failed) <= MOST:
        print(f"{len(failed)} tests failed; only 1 to {MOST} are run again", file=sys.stderr)
        return 1
    code = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *failed]
    ).returncode
    if code == 0:
        print("passed only at the second try, to be mended:", *failed, sep="\n  ")
    return code


if __name__ == "__main__":
    sys.exit(main())
