"""Publish the index of a commit to the team."""

from __future__ import annotations

from holdfast.errors import CodeIndexError
from holdfast.files.identity import Unidentified
from holdfast.index.answers import ManageAnswer
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Open
from holdfast.index.shared.publish import Published, publish
from holdfast.index.shared.team_marker import team_commit
from holdfast.index.tools.manage.request import ManageRequest
from holdfast.index.tools.refusals import refusal


def _built_here(index: CodeIndex, root: str) -> Open | str:
    """The own generation of a root, with the team's work on files; or why there is none."""
    from holdfast.index.code_index import run_here
    from holdfast.index.tools.manage import manage_index

    start, index.start = index.start, run_here
    try:
        answer = manage_index(index, "create", root, force=True)
    finally:
        index.start = start
    gate = index.verified_gate(index.root_of(root)[1])
    return gate if isinstance(gate, Open) else answer.human_text


def publish_index(index: CodeIndex, path: str, *, accept_history: bool = False) -> ManageAnswer:
    """Publish the generation of a path's root, if it is that of a commit."""
    requested, record = index.root_of(path)
    root = requested if record is None else record.root
    request = ManageRequest("status", root)
    if index.shared is None:
        text = "Not published: no shared index is set (set HOLDFAST_INDEX_URL)"
        return request.answer("error", text)
    gate = index.verified_gate(record)
    if not isinstance(gate, Open) or gate.marker is None:
        message = refusal(gate, root, index.runtime(), "publish").message
        return request.answer("not_indexed", message, reason="not_indexed")
    identity = index.identify(root)
    if isinstance(identity, Unidentified):
        return request.answer("error", f"Not published: {identity.sentence()}")
    commit = team_commit(gate.marker)
    if commit == identity.head:
        text = (
            f"'{root}' uses the team's generation of commit {commit[:12]} itself; nothing to give."
        )
        return request.answer("ok", text)
    if commit is not None:
        # `create` took the generation of a commit before this one, as it does in a fresh container.
        built = _built_here(index, root)
        if not isinstance(built, Open):
            return request.answer("error", f"Not published: {built}")
        gate = built
    try:
        done = publish(index, gate, identity, accept_history=accept_history)
    except CodeIndexError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return request.answer("error", f"Not published: {error}{hint}")
    if isinstance(done, Published):
        return request.answer("ok", done.sentence())
    return request.answer("error", f"Not published: {done.sentence()}")
