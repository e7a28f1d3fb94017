"""What a model holds, from all events at once: the model of readers that go on from a leaf."""

from collections.abc import Iterable

from holdfast.reading.events import Barrier, Event, Hidden
from holdfast.reading.trust import Ledger, advance


def replay(events: Iterable[tuple[str, Event]]) -> Ledger:
    """Fold the events of a path, each with its entry's id, into the trust they leave behind.

    Entries that any later `Hidden` on the path names count as never shown, and so does everything
    that depends on them.
    """
    path = list(events)
    start = 1 + max(
        (at for at, (_, event) in enumerate(path) if type(event) is Barrier), default=-1
    )
    hidden: set[str] = set()
    for _, event in path:
        if type(event) is Hidden:
            hidden.update(event.targets)
    ledger = Ledger()
    for entry, event in path[start:]:
        advance(ledger, entry, event, hidden)
    return ledger
