"""What a user's own sessions read, what was saved, and what could have been.

    served      what our short answers saved in the session itself, by their records
    replayed    what the rules save when the session is played again through the real reader
    bound       the upper bound: what a replay saves that knows every line the model was shown
    focus       folds that were made and reopened, and what folding whole first reads would save

A session that got short answers has less to save when it is played again: its results are already
short. Tokens are bytes divided by four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.answers import Part
from holdfast.file_focus import Outliner
from holdfast.reading.events import FOLDED
from holdfast.reading.focus import Presets
from holdfast.reading.history.reads import is_read, shown
from holdfast.reading.history.steps import Compacted, Context, Returned
from holdfast.reading.hosts.sidecar import ShortRecord
from holdfast.replay import bound
from holdfast.replay.focus_savings import VIEWS, Tally
from holdfast.replay.focus_savings import play as fold
from holdfast.replay.player import KINDS, play
from holdfast.replay.trace import trace_of

BYTES_PER_TOKEN = 4
RULES = (*KINDS, "focused")
NOT_REPLACED = ("gemini", "qwen")
"""Agents whose own reads cannot be answered in short: their replay is only hypothetical."""
FOLDS_MIN = 5
"""Fewer folds than this do not show whether focus pays."""


class FocusReport(Part, frozen=True, kw_only=True):
    """What focused first reads did, and what they would do."""

    folds: int = 0
    """Reads that were folded in the sessions themselves."""
    reopened: int = 0
    """How many of these were read again, in part or whole."""
    extra_reads: int = 0
    saved_tokens: int = 0
    """Saved by the folds, less what later reads brought back."""
    possible_folds: int = 0
    """Whole first reads that the preset would fold."""
    optimistic: int = 0
    middle: int = 0
    pessimistic: int = 0
    """Tokens that folding them would save, less what would be read again."""
    advice: str = ""


class AgentSavings(Part, frozen=True, kw_only=True):
    """One kind of context: an agent's conversations, or its subagents."""

    agent: str
    subagents: bool = False
    contexts: int
    reads: int
    read_tokens: int
    """What was read, including what was saved."""
    served: dict[str, int]
    replayed: dict[str, int]
    bound: int
    focus: FocusReport


class SavingsAnswer(Part, frozen=True, kw_only=True):
    """The answer of `holdfast savings`."""

    since: str | None = None
    sessions: int
    unreadable: tuple[str, ...] = ()
    left_out: int = 0
    """Sessions that were not replayed, because of the limit."""
    agents: tuple[AgentSavings, ...]


@dataclass
class _Sum:
    contexts: int = 0
    reads: int = 0
    read_bytes: int = 0
    served: dict[str, float] = field(default_factory=lambda: dict.fromkeys(RULES, 0.0))
    replayed: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    bound: float = 0.0
    tally: Tally = field(default_factory=Tally)
    folds: int = 0
    reopened: int = 0
    extra: int = 0
    refolded: float = 0.0


Records = Callable[[Context], Mapping[str, ShortRecord]]
"""Our records of the short answers in a conversation, by call."""


def agents_of(
    contexts: Iterable[Context], records: Records, outline: Outliner
) -> tuple[AgentSavings, ...]:
    """The savings of these conversations, by kind."""
    sums: dict[tuple[str, bool], _Sum] = {}
    for context in contexts:
        if any(isinstance(step, Returned) for step in context.steps):
            total = sums.setdefault((context.agent, context.subagent), _Sum())
            _add(total, context, records(context), outline)
    return tuple(_report(agent, sub, total) for (agent, sub), total in sorted(sums.items()))


def _add(
    total: _Sum, context: Context, records: Mapping[str, ShortRecord], outline: Outliner
) -> None:
    total.contexts += 1
    for at, step in enumerate(context.steps):
        if not isinstance(step, Returned):
            continue
        record = records.get(step.id)
        if record is not None and "[holdfast: " in step.text[:40]:
            total.reads += 1
            total.read_bytes += len(step.text.encode("utf-8", "surrogatepass"))
            total.read_bytes += record.saved_bytes
            total.served[record.rule if record.rule in RULES else "unchanged"] += record.saved_bytes
            if record.folds:
                total.folds += 1
                again = _reopenings(context, at, record)
                total.reopened += bool(again)
                total.extra += len(again)
                total.refolded += record.saved_bytes - sum(again)
        elif is_read(step):
            total.reads += 1
    trace = trace_of(context)
    player = play(trace)
    total.read_bytes += player.read_bytes
    for rule, saved in player.saved.items():
        total.replayed[rule] += saved
    total.bound += bound.saved(trace)
    fold(context, Presets(), outline, total.tally)


def _reopenings(context: Context, at: int, record: ShortRecord) -> list[int]:
    """The bytes of each later read that brought folded lines back."""
    folds = [piece for piece in record.event.pieces if piece.before == FOLDED]
    out = []
    for step in context.steps[at + 1 :]:
        if isinstance(step, Compacted):
            break
        read = shown(step) if isinstance(step, Returned) else None
        if read is None or read.path != record.event.path:
            continue
        last = read.first + len(read.rows) - 1
        if any(one.first <= last and read.first < one.first + one.lines for one in folds):
            out.append(read.size_bytes)
        if read.whole:
            break
    return out


def _tokens(size: float) -> int:
    return round(size / BYTES_PER_TOKEN)


def _report(agent: str, subagent: bool, total: _Sum) -> AgentSavings:
    folds = total.tally.folds
    nets = {view: _tokens(sum(one.net(view) for one in folds)) for view in VIEWS}
    focus = FocusReport(
        folds=total.folds,
        reopened=total.reopened,
        extra_reads=total.extra,
        saved_tokens=_tokens(total.refolded),
        possible_folds=len(folds),
        **nets,
        advice=advice(total, nets),
    )
    return AgentSavings(
        agent=agent,
        subagents=subagent,
        contexts=total.contexts,
        reads=total.reads,
        read_tokens=_tokens(total.read_bytes),
        served={rule: _tokens(size) for rule, size in total.served.items() if size},
        replayed={
            rule: _tokens(size)
            for rule, size in total.replayed.items()
            if size and agent not in NOT_REPLACED
        },
        bound=_tokens(total.bound),
        focus=focus,
    )


def advice(total: _Sum, nets: Mapping[str, int]) -> str:
    """Whether focus pays, judged by the folds that were made, else by those that could be."""
    if total.folds >= FOLDS_MIN:
        rate = f"{total.reopened} of {total.folds} folds were reopened"
        if total.refolded > 0:
            return f"focus pays here: {rate}"
        return f"focus does not pay here: {rate}, which cost more than they saved"
    if len(total.tally.folds) < FOLDS_MIN:
        return "too few long first reads to say whether focus would pay"
    if nets["middle"] <= 0:
        return "focus would not pay here"
    if nets["pessimistic"] < 0:
        return "focus would probably pay here"
    return "focus would pay here"
