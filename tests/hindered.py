"""Lets a test that runs as root be refused what permissions refuse to any other user."""

import ctypes
import os

MAY_IGNORE_PERMISSIONS = 1
"""CAP_DAC_OVERRIDE"""
DROP_FOR_PROGRAMS = 24
"""PR_CAPBSET_DROP: without it a program that this process starts has the capability again."""


def obey_permissions() -> None:
    """Give the capability up, in this process and in those that it starts."""
    if os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(DROP_FOR_PROGRAMS, MAY_IGNORE_PERMISSIONS, 0, 0, 0)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert system.capget(header, sets) == 0
    for number in range(3):  # effective, permitted, inherited
        sets[number] &= ~(1 << MAY_IGNORE_PERMISSIONS)
    assert system.capset(header, sets) == 0
