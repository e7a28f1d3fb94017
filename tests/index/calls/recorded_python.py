"""Programs of Python with the calls that were recorded while they ran."""

from __future__ import annotations

from tests.index.calls.recorded.python_classes import PROGRAMS as CLASSES
from tests.index.calls.recorded.python_modules import PROGRAMS as MODULES
from tests.index.calls.recorded.python_protocols import PROGRAMS as PROTOCOLS
from tests.index.calls.recorded.python_values import PROGRAMS as VALUES

PROGRAMS = {**VALUES, **PROTOCOLS, **CLASSES, **MODULES}
