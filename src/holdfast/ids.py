"""Types for identity and order that every package uses. Imports no other module of Holdfast."""

from typing import NewType

EntityId = NewType("EntityId", str)
"""Identifies one document in a space: an opaque string, by convention `scheme:rest`."""

SpaceId = NewType("SpaceId", str)
"""Names one space, the unit of isolation; usually a `did:key:…`."""

SessionId = NewType("SessionId", str)
"""Identifies a session; before it lands, a commit is identified by its session and `LocalSeq`."""

Seq = NewType("Seq", int)
"""The store's order: one number per accepted commit of a space, gap-free from 1."""

LocalSeq = NewType("LocalSeq", int)
"""A client's order: one number per commit of a session, chosen before the commit lands."""

BranchName = NewType("BranchName", str)
"""Names a branch; the default branch is the empty string."""

GENESIS = Seq(0)
"""The seq before the first commit, at which nothing exists."""

MAIN = BranchName("")
"""The default branch."""
