"""What one registry, doing one thing at a time, does with one subject: the rules for versions, deletes, levels and encodings,
in small.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Version(NamedTuple):
    """A version: `state` is live, soft (deleted, and still seen by its number) or hidden (registered again since)."""

    number: int
    text: str
    state: str
    ordinal: int


class Encoding(NamedTuple):
    """What an encoding id stands for."""

    id: int
    ordinal: int
    codec: str


class State(NamedTuple):
    """A subject. `versions` ascend by ordinal. `level` is its own one, or empty. One that was made as a `group` lives without
    versions. `ordinals` is how many were given, `encoded` how many encoding ids: those are also used up when it is removed.
    """

    versions: tuple[Version, ...] = ()
    level: str = ""
    group: bool = False
    ordinals: int = 0
    codecs: frozenset[str] = frozenset()
    encodings: tuple[Encoding, ...] = ()
    encoded: int = 0

    @property
    def there(self) -> bool:
        """Whether the subject exists."""
        return self.group or bool(self.versions)

    @property
    def seen(self) -> list[Version]:
        """Versions that have a number, softly deleted ones too."""
        return [one for one in self.versions if one.state != "hidden"]

    @property
    def live(self) -> list[Version]:
        """What is not deleted."""
        return [one for one in self.versions if one.state == "live"]

    def removed(self) -> "State":
        """What is left when the subject goes."""
        return State(encoded=self.encoded)


READS = frozenset(
    {"versions", "latest", "numbered", "lookup", "listed", "check", "level", "group", "ordinal", "codecs", "encoding"}
)
"""Operations that change nothing: one whose end nobody saw says nothing."""


def step(state: State, name: str, argument: Any) -> tuple[Any, State]:
    """Return what one registry answers, and the state after it. All texts are incompatible with each other."""
    if name in READS:
        return _READ[name](state, argument), state
    return _WRITE[name](state, argument)


# ---------------------------------------------------------------------------------------------------------- reading


def _versions(state: State, _: Any) -> Any:
    return [one.number for one in state.live] or "SubjectNotFound"


def _latest(state: State, _: Any) -> Any:
    return [state.live[-1].number, state.live[-1].text] if state.live else "SubjectNotFound"


def _numbered(state: State, number: int) -> Any:
    found = [one.text for one in state.live if one.number == number]
    return found[0] if found else "VersionNotFound" if state.live else "SubjectNotFound"


def _lookup(state: State, text: str) -> Any:
    found = [one.number for one in state.live if one.text == text]
    return found[-1] if found else "SchemaNotFound" if state.live else "SubjectNotFound"


def _listed(state: State, _: Any) -> Any:
    return bool(state.live)


def _check(state: State, text: str) -> Any:
    if state.level in {"", "NONE"}:
        return True
    compared = state.live if state.level.endswith("TRANSITIVE") else state.live[-1:]
    return all(one.text == text for one in compared)


def _level(state: State, _: Any) -> Any:
    return state.level or "SettingNotFound"


def _group(state: State, _: Any) -> Any:
    return (state.level or "NONE") if state.there else "SubjectNotFound"


def _at(state: State, ordinal: int) -> Version | None:
    return next((one for one in state.versions if one.ordinal == ordinal), None)


def _ordinal(state: State, ordinal: int) -> Any:
    one = _at(state, ordinal)
    if one is None:
        return "VersionNotFound" if state.there else "SubjectNotFound"
    return [one.text, one.state == "live"]


def _codecs(state: State, _: Any) -> Any:
    return sorted(state.codecs) if state.there else "SubjectNotFound"


def _encoding(state: State, number: int) -> Any:
    for one in state.encodings:
        version = _at(state, one.ordinal)
        if one.id == number and version is not None:
            return [one.ordinal, version.text, one.codec]
    return "EncodingNotFound" if state.there else "SubjectNotFound"


# ---------------------------------------------------------------------------------------------------------- writing


def _registered(state: State, text: str) -> tuple[Version | str, State]:
    for one in state.live:
        if one.text == text:
            return one, state
    if not _check(state, text):
        return "Incompatible", state
    made = Version(max((one.number for one in state.seen), default=0) + 1, text, "live", state.ordinals)
    # a softly deleted one of the same schema is hidden
    kept = tuple(one._replace(state="hidden") if one.text == text else one for one in state.versions)
    return made, state._replace(versions=(*kept, made), ordinals=state.ordinals + 1)


def _register(state: State, text: str) -> tuple[Any, State]:
    made, after = _registered(state, text)
    return (made.number if isinstance(made, Version) else made), after


def _add(state: State, text: str) -> tuple[Any, State]:
    if not state.there:
        return "SubjectNotFound", state
    made, after = _registered(state, text)
    return (made.ordinal if isinstance(made, Version) else made), after


def _softly(state: State, gone: Version) -> State:
    soft = gone._replace(state="soft")
    return state._replace(versions=tuple(soft if one == gone else one for one in state.versions))


def _delete(state: State, number: int) -> tuple[Any, State]:
    for one in state.seen:
        if one.number == number:
            return (number, _softly(state, one)) if one.state == "live" else ("AlreadyDeleted", state)
    return ("VersionNotFound" if state.seen else "SubjectNotFound"), state


def _delete_ordinal(state: State, ordinal: int) -> tuple[Any, State]:
    one = _at(state, ordinal)
    if one is None:
        return ("VersionNotFound" if state.there else "SubjectNotFound"), state
    return (True, _softly(state, one)) if one.state == "live" else ("AlreadyDeleted", state)


def _purge(state: State, number: int) -> tuple[Any, State]:
    for one in state.seen:
        if one.number == number:
            if one.state == "live":
                return "NotDeletedFirst", state
            after = _without(state, tuple(each for each in state.versions if each.text == one.text))
            return ("Encoded", state) if after is None else (number, after)
    return ("VersionNotFound" if state.seen else "SubjectNotFound"), state


def _without(state: State, going: tuple[Version, ...]) -> State | None:
    """What is left when versions go for good: the last one takes the subject with it, but for a group. None: payloads need one."""
    if {one.ordinal for one in going} & {one.ordinal for one in state.encodings}:
        return None
    left = tuple(one for one in state.versions if one not in going)
    return state._replace(versions=left) if left or state.group else state.removed()


def _delete_all(state: State, _: Any) -> tuple[Any, State]:
    if not state.live:
        return ("AlreadyDeleted" if state.seen else "SubjectNotFound"), state
    after = tuple(one._replace(state="soft") if one.state == "live" else one for one in state.versions)
    return [one.number for one in state.live], state._replace(versions=after)


def _purge_all(state: State, _: Any) -> tuple[Any, State]:
    if state.live:
        return "NotDeletedFirst", state
    if not state.seen:
        return "SubjectNotFound", state
    after = _without(state, state.versions)
    return ("Encoded", state) if after is None else ([one.number for one in state.seen], after)


def _set_level(state: State, level: str) -> tuple[Any, State]:
    return level, state._replace(level=level)


def _unset_level(state: State, _: Any) -> tuple[Any, State]:
    return state.level or "SettingNotFound", state._replace(level="")


def _create(state: State, _: Any) -> tuple[Any, State]:
    return (False, state) if state.there else (True, state._replace(group=True))


def _remove(state: State, _: Any) -> tuple[Any, State]:
    return (True, state.removed()) if state.there else (False, state)


def _change_level(state: State, levels: list[str]) -> tuple[Any, State]:
    """Compare and set: the level in force must be the first of both."""
    previous, level = levels
    if not state.there:
        return "SubjectNotFound", state
    return (
        (level, state._replace(level=level)) if (state.level or "NONE") == previous else ("PreviousLevelDiffers", state)
    )


def _add_codec(state: State, name: str) -> tuple[Any, State]:
    if not state.there:
        return "SubjectNotFound", state
    return name not in state.codecs, state._replace(codecs=state.codecs | {name})


def _encode(state: State, wanted: list[Any]) -> tuple[Any, State]:
    ordinal, codec = wanted
    one = _at(state, ordinal)
    if one is None:
        return ("VersionNotFound" if state.there else "SubjectNotFound"), state
    for there in state.encodings:
        if (there.ordinal, there.codec) == (ordinal, codec):
            return there.id, state
    if one.state != "live":
        return "VersionNotFound", state
    if codec not in {"", *state.codecs}:
        return "CodecNotFound", state
    made = Encoding(state.encoded, ordinal, codec)
    return made.id, state._replace(encodings=(*state.encodings, made), encoded=state.encoded + 1)


_READ: Mapping[str, Callable[[State, Any], Any]] = {
    "versions": _versions,
    "latest": _latest,
    "numbered": _numbered,
    "lookup": _lookup,
    "listed": _listed,
    "check": _check,
    "level": _level,
    "group": _group,
    "ordinal": _ordinal,
    "codecs": _codecs,
    "encoding": _encoding,
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
    "add": _add,
    "delete_ordinal": _delete_ordinal,
    "add_codec": _add_codec,
    "encode": _encode,
}
