"""`python -m models.train STEP --cache DIR`."""

from __future__ import annotations

import sys

from models.train.cli import main

if __name__ == "__main__":
    sys.exit(main())
