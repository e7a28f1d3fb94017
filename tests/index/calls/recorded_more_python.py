"""Later programs of Python with the calls that were recorded while they ran."""

from __future__ import annotations

from tests.index.calls.recorded.python_more_classes import PROGRAMS as CLASSES
from tests.index.calls.recorded.python_more_functions import PROGRAMS as FUNCTIONS
from tests.index.calls.recorded.python_more_values import PROGRAMS as VALUES

PROGRAMS = VALUES | FUNCTIONS | CLASSES
