"""`python -m models.train STEP --cache DIR`."""

from __future__ import annotations

import os
import sys

# One thread: sums shared by threads are added in another order on another machine.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from models.train.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
