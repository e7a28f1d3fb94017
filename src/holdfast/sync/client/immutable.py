"""Documents that cannot be changed by accident.

What a transaction reads belongs to the replica. Copying it on every read would cost as much as the
document is large. So reads return frozen values: dicts and lists that refuse to be changed. Each
part of a document is frozen once and returned again until it changes.
"""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("this value belongs to the replica; write through the transaction instead")


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: object) -> dict[str, Any]:
        return {name: thaw(value) for name, value in self.items()}

    def __reduce__(self) -> Any:
        return (dict, (self.__deepcopy__(None),))


class FrozenList(list[Any]):
    """A list that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __deepcopy__(self, memo: object) -> list[Any]:
        return [thaw(value) for value in self]

    def __reduce__(self) -> Any:
        return (list, (self.__deepcopy__(None),))


class Freezer:
    """Freezes values, each once: the same part gives the same frozen value."""

    def __init__(self) -> None:
        # The part itself is kept beside its frozen form, so that no id is reused meanwhile.
        self._frozen: dict[int, tuple[Any, Any]] = {}

    def freeze(self, value: Any) -> Any:
        if not isinstance(value, dict | list) or isinstance(value, FrozenDict | FrozenList):
            return value
        pair = self._frozen.get(id(value))
        if pair is not None:
            return pair[1]
        frozen: Any
        if isinstance(value, dict):
            frozen = FrozenDict({name: self.freeze(member) for name, member in value.items()})
        else:
            frozen = FrozenList([self.freeze(member) for member in value])
        self._frozen[id(value)] = (value, frozen)
        return frozen


def thaw(value: Any) -> Any:
    """A plain copy that shares no container with the original."""
    if isinstance(value, dict):
        return {name: thaw(member) for name, member in value.items()}
    if isinstance(value, list):
        return [thaw(member) for member in value]
    return value
