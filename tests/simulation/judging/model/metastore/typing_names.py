"""CREATE TYPE and DROP TYPE."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import TypeChanged
from tests.simulation.judging.model.metastore import sql_types
from tests.simulation.judging.model.metastore.dropping import expired
from tests.simulation.judging.model.metastore.names import refuse_bad_name, refuse_taken
from tests.simulation.judging.model.metastore.state import key_of, types, users_of_type
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import InvalidSource, SourceExists, SourceUsed, TooLarge, TypeNotFound
from treaty.core.sources import StoredType


def create_type(past: Past, asking: Asking, request: m.CreateType) -> Yes:
    """Name, label, text, whether it is there, room, what it is made of."""
    refuse_bad_name(request.name, "TYPE_NAME")
    if len(request.label) > limits.NAME_LENGTH:
        raise No(TooLarge, "NAME_LENGTH")
    read = sql_types.parse(request.definition, "TYPE_TEXT")
    key, there = key_of(request.name), types(past)
    if key in there:
        if request.if_not_exists:
            return Yes((), m.TypeStored(there[key].name, there[key].generation))
        raise No(SourceExists, "TYPE_EXISTS")
    refuse_taken(there, request.name, "TYPE_TAKEN")
    if len(there) >= limits.TYPES:
        raise No(TooLarge, "TYPES")
    used = sql_types.named_in(read)
    if key in used:
        raise No(InvalidSource, "TYPE_ITSELF")
    sql_types.refuse_missing(past, used)
    sql_types.refuse_deep(past, read)
    new = StoredType(
        request.name, sql_types.canonical(read), past.sequence + 1, tuple(sorted(used)), request.comment,
        asking.principal, asking.time, request.label,
    )  # fmt: skip
    answer = m.TypeStored(new.name, new.generation, created=True)
    return Yes(() if request.dry_run else (TypeChanged(key, new), *expired(past, asking)), answer)


def drop_type(past: Past, asking: Asking, request: m.DropType) -> Yes:
    """Nothing that is there may use it."""
    key = key_of(request.name)
    there = types(past).get(key)
    if there is None:
        if request.if_exists:
            return Yes((), m.TypeDropped(request.name))
        raise No(TypeNotFound, "TYPE_NOT_FOUND")
    if any(users_of_type(past, key)):
        raise No(SourceUsed, "TYPE_USED")
    events = () if request.dry_run else (TypeChanged(key, None), *expired(past, asking))
    return Yes(events, m.TypeDropped(there.name, dropped=True))
