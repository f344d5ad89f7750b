"""What one registry, doing one thing at a time, does with one subject: the rules for versions, deletes and levels, in small."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class State(NamedTuple):
    """A subject. `versions` ascend by number: number, text, whether it is live. `level` is its own one, or empty. One that
    was made as a `group` lives without versions.
    """

    versions: tuple[tuple[int, str, bool], ...] = ()
    level: str = ""
    group: bool = False

    @property
    def there(self) -> bool:
        """Whether the subject exists."""
        return self.group or bool(self.versions)

    @property
    def live(self) -> list[tuple[int, str]]:
        """Number and text of what is not deleted."""
        return [(number, text) for number, text, alive in self.versions if alive]


READS = frozenset({"versions", "latest", "numbered", "lookup", "listed", "check", "level", "group"})
"""Operations that change nothing: one whose end nobody saw says nothing."""


def step(state: State, name: str, argument: Any) -> tuple[Any, State]:
    """Return what one registry answers, and the state after it. All texts are incompatible with each other."""
    if name in READS:
        return _READ[name](state, argument), state
    return _WRITE[name](state, argument)


# ---------------------------------------------------------------------------------------------------------- reading


def _versions(state: State, _: Any) -> Any:
    return [number for number, _ in state.live] or "SubjectNotFound"


def _latest(state: State, _: Any) -> Any:
    return list(state.live[-1]) if state.live else "SubjectNotFound"


def _numbered(state: State, number: int) -> Any:
    found = [text for known, text in state.live if known == number]
    return found[0] if found else "VersionNotFound" if state.live else "SubjectNotFound"


def _lookup(state: State, text: str) -> Any:
    found = [number for number, known in state.live if known == text]
    return found[-1] if found else "SchemaNotFound" if state.live else "SubjectNotFound"


def _listed(state: State, _: Any) -> Any:
    return bool(state.live)


def _check(state: State, text: str) -> Any:
    if state.level in {"", "NONE"}:
        return True
    compared = state.live if state.level.endswith("TRANSITIVE") else state.live[-1:]
    return all(known == text for _, known in compared)


def _level(state: State, _: Any) -> Any:
    return state.level or "SettingNotFound"


def _group(state: State, _: Any) -> Any:
    return (state.level or "NONE") if state.there else "SubjectNotFound"


# ---------------------------------------------------------------------------------------------------------- writing


def _register(state: State, text: str) -> tuple[Any, State]:
    for number, known in state.live:
        if known == text:
            return number, state
    if not _check(state, text):
        return "Incompatible", state
    number = max((number for number, _, _ in state.versions), default=0) + 1
    kept = tuple(one for one in state.versions if one[1] != text)  # a softly deleted one of the same schema goes
    return number, state._replace(versions=(*kept, (number, text, True)))


def _delete(state: State, number: int) -> tuple[Any, State]:
    for known, _, alive in state.versions:
        if known == number and alive:
            return number, state._replace(versions=tuple((n, t, a and n != number) for n, t, a in state.versions))
        if known == number:
            return "AlreadyDeleted", state
    return ("VersionNotFound" if state.versions else "SubjectNotFound"), state


def _purge(state: State, number: int) -> tuple[Any, State]:
    for known, _, alive in state.versions:
        if known == number and alive:
            return "NotDeletedFirst", state
        if known == number:
            left = tuple(one for one in state.versions if one[0] != number)
            return number, _without(state, left)
    return ("VersionNotFound" if state.versions else "SubjectNotFound"), state


def _without(state: State, left: tuple[tuple[int, str, bool], ...]) -> State:
    """What is left when versions go for good: the last one takes the level with it, but for a group."""
    return state._replace(versions=left) if left or state.group else State()


def _delete_all(state: State, _: Any) -> tuple[Any, State]:
    if not state.live:
        return ("AlreadyDeleted" if state.versions else "SubjectNotFound"), state
    hidden = tuple((number, text, False) for number, text, _ in state.versions)
    return [number for number, _ in state.live], state._replace(versions=hidden)


def _purge_all(state: State, _: Any) -> tuple[Any, State]:
    if state.live:
        return "NotDeletedFirst", state
    if not state.versions:
        return "SubjectNotFound", state
    return [number for number, _, _ in state.versions], _without(state, ())


def _set_level(state: State, level: str) -> tuple[Any, State]:
    return level, state._replace(level=level)


def _unset_level(state: State, _: Any) -> tuple[Any, State]:
    return state.level or "SettingNotFound", state._replace(level="")


def _create(state: State, _: Any) -> tuple[Any, State]:
    return (False, state) if state.there else (True, state._replace(group=True))


def _remove(state: State, _: Any) -> tuple[Any, State]:
    return (True, State()) if state.there else (False, state)


def _change_level(state: State, levels: list[str]) -> tuple[Any, State]:
    """Compare and set: the level in force must be the first of both."""
    previous, level = levels
    if not state.there:
        return "SubjectNotFound", state
    return (
        (level, state._replace(level=level)) if (state.level or "NONE") == previous else ("PreviousLevelDiffers", state)
    )


_READ: Mapping[str, Callable[[State, Any], Any]] = {
    "versions": _versions,
    "latest": _latest,
    "numbered": _numbered,
    "lookup": _lookup,
    "listed": _listed,
    "check": _check,
    "level": _level,
    "group": _group,
}
_WRITE: Mapping[str, Callable[[State, Any], tuple[Any, State]]] = {
    "register": _register,
    "delete": _delete,
    "purge": _purge,
    "delete_all": _delete_all,
    "purge_all": _purge_all,
    "set_level": _set_level,
    "unset_level": _unset_level,
    "create": _create,
    "remove": _remove,
    "change_level": _change_level,
}
