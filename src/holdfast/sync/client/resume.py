"""Resume a session: send again what was sent before, and apply what was missed.

What was missed may already contain the commits that are sent again. So their verdicts are awaited
first, and then both are applied together: each change is shown once.

If the watches are sent again too, the answer to them has everything, and nothing is applied before
it. The server does not know what the view had before: a document may have left the watches
unnoticed, and its old state would be shown beside newer documents.

    replays without a verdict ──all answered──> caught up ──watches known there──> done
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UnsetType

from holdfast.ids import LocalSeq
from holdfast.sync.client.commits import Accepted, Commits, commit_refused
from holdfast.sync.client.replica import Replica
from holdfast.sync.wire.messages import Response, Sync


class Restoring:
    """The answers that a session still waits for after it was opened again."""

    def __init__(
        self, commits: Commits, replica: Replica, missed: Sync | None, reinstalls: bool
    ) -> None:
        self._commits, self._replica = commits, replica
        self._replays: set[LocalSeq] = set(commits.outstanding)
        self._verdicts: dict[LocalSeq, Response] = {}
        self._missed = [] if missed is None or reinstalls else [missed]
        self.watches = reinstalls
        """Whether the watches must be sent to the server again."""
        self.caught_up = False

    @property
    def done(self) -> bool:
        return self.caught_up and not self.watches

    def effect(self, sync: Sync) -> None:
        """Something watched has changed; it is kept back until the session has caught up."""
        if self.watches:
            return
        if self.caught_up:
            self._replica.integrate(sync)
        else:
            self._missed.append(sync)

    def missed_nothing(self) -> None:
        """Discard what was missed: the server will send it again."""
        self._missed.clear()

    def verdict(self, local_seq: LocalSeq, response: Response) -> None:
        """The answer to a commit that was sent again, or to one made since."""
        self._verdicts[local_seq] = response

    @property
    def all_answered(self) -> bool:
        return len(self._verdicts) >= len(self._replays)

    def catch_up(self) -> None:
        """Apply the verdicts and what was missed together, so that no change is shown twice."""
        self.caught_up = True
        accepted = self._accept(sorted(self._verdicts.items()))
        if accepted is None:
            return
        frames, self._missed = self._missed, []
        for frame in frames:
            self._replica.integrate(frame)
        for local_seq, response in sorted(self._verdicts.items()):
            if local_seq in accepted:
                self._commits.land(local_seq, accepted[local_seq])
            elif local_seq in self._commits.outstanding:
                self._commits.refuse(local_seq, commit_refused(response))

    def _accept(
        self, verdicts: Iterable[tuple[LocalSeq, Response]]
    ) -> dict[LocalSeq, Accepted] | None:
        """Mark the commits that landed as landed, and return them; None if an answer is invalid."""
        accepted: dict[LocalSeq, Accepted] = {}
        for local_seq, response in verdicts:
            if isinstance(response.error, UnsetType) and local_seq in self._commits.outstanding:
                landed = self._commits.accepted(response)
                if landed is None:
                    return None
                accepted[local_seq] = landed
                self._replica.accept(local_seq, landed.seq)
        return accepted
