"""Programs of JavaScript with the calls that were recorded while they ran."""

from __future__ import annotations

from tests.index.calls.recorded.javascript_functions import PROGRAMS as FUNCTIONS
from tests.index.calls.recorded.javascript_modules import PROGRAMS as MODULES
from tests.index.calls.recorded.javascript_objects import PROGRAMS as OBJECTS

PROGRAMS = {**FUNCTIONS, **OBJECTS, **MODULES}
