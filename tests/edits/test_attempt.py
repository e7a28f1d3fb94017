"""The old texts of a patch, and which failure the error of each agent reports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.edits import Attempt, Failure, failure_of, patch_attempts


def patched(path: str, old: str) -> Attempt:
    return Attempt(path, old, every=True, by_lines=True)


PATCHES = {
    "codex": (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n keep\n-old\n+new\n@@\n"
        "-two\n*** Add File: b.py\n+made\n*** Update File: c.py\n@@\n \n-three\n*** End Patch",
        [
            patched("a.py", "def f"),
            patched("a.py", "keep\nold"),
            patched("a.py", "two"),
            patched("c.py", "\nthree"),
        ],
    ),
    "a unified diff": (
        "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        [patched("x.py", "one\ntwo")],
    ),
    "a command": ("ls -la", []),
}


@pytest.mark.shows("EDIT-ATTEMPTS")
@pytest.mark.parametrize("case", PATCHES)
def test_the_old_texts_of_a_patch(case: str) -> None:
    patch, expected = PATCHES[case]
    assert list(patch_attempts(patch)) == expected


ERRORS = {
    "<tool_use_error>String to replace not found in file.\nString: x": Failure.NOT_FOUND,
    "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false.": (
        Failure.NOT_UNIQUE
    ),
    "Could not find oldString in the file. It must match exactly, including whitespace": (
        Failure.NOT_FOUND
    ),
    "oldString not found in content": Failure.NOT_FOUND,
    "Found multiple matches for oldString. Provide more surrounding context": Failure.NOT_UNIQUE,
    "Could not find the exact text in a.py. The old text must match exactly": Failure.NOT_FOUND,
    "Could not find edits[1] in a.py. The oldText must match exactly": Failure.NOT_FOUND,
    "Found 3 occurrences of the text in a.py. The text must be unique.": Failure.NOT_UNIQUE,
    "Found 2 occurrences of edits[0] in a.py. Each oldText must be unique.": Failure.NOT_UNIQUE,
    "Failed to edit, could not find the string to replace.": Failure.NOT_FOUND,
    "Could not find an exact match for 'old_string' in '/a'. If previous edits": Failure.NOT_FOUND,
    "Failed to edit, 0 occurrences found for old_string in /a. No edits made.": Failure.NOT_FOUND,
    "Failed to edit, Expected 1 occurrence but found 3 for old_string in file: /a.": (
        Failure.NOT_UNIQUE
    ),
    "apply_patch verification failed: Failed to find expected lines in /a:\nx": Failure.PATCH,
    "The user rejected permission to use this specific tool call.": None,
    "ENOENT: no such file or directory": None,
    "<tool_use_error>File has not been read yet. Read it first before writing to it.": None,
    "": None,
}


@pytest.mark.shows("EDIT-ATTEMPTS")
@pytest.mark.parametrize("error", ERRORS)
def test_which_failure_an_error_reports(error: str) -> None:
    assert failure_of(error) is ERRORS[error]


@pytest.mark.shows("EDIT-ATTEMPTS")
@given(st.text(alphabet="*+- @\nabUpdate File:", max_size=300))
def test_any_patch_is_read_without_failing(patch: str) -> None:
    for attempt in patch_attempts("*** Update File: a\n" + patch):
        assert attempt.path
