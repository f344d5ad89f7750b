"""Checkpoints and folders that rows still need: of sources, and of dropped ones and former queries that can come back."""

from collections.abc import Iterator, Sequence

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptFiles, KeptNumber, ListKeptFiles
from treaty.core.refusals import TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import Incarnation, Source
from treaty.core.state.metastore.tables import DROPPED, SOURCE
from treaty.core.state.view import ALL_KEYS, View

PAUSE_EVERY = 200
"""Rows that are looked at before a pause."""


def list_kept_files(
    view: View, command: Command[ListKeptFiles], engine: SchemaEngine
) -> PausingWork[Decision[KeptFiles]]:
    """Return which numbers and places rows name."""
    request, base = command.request, without_filter(view)[0]
    _refuse_too_many(request)
    incarnations, generations = dict[CheckpointName, KeptNumber](), dict[CheckpointName, KeptNumber]()
    places: set[tuple[str, ...]] = set()
    for turn, (source, is_dropped) in enumerate(_walk_sources(base, command.time), 1):
        for number in (source.generation, *source.former):
            _note(generations, KeptNumber(number, not is_dropped, is_dropped))
        for kept_number in _list_incarnations(source, command.time, is_dropped=is_dropped):
            _note(incarnations, kept_number)
        if source.connector != "kafka":
            places.update(_parts_of(place) for place in _list_places(source))
        if turn % PAUSE_EVERY == 0:
            yield
    places_named = tuple(place for place in request.places if _is_named(_parts_of(place), places))
    return Decision(
        (),
        KeptFiles(
            tuple(incarnations[name] for name in request.incarnations if name in incarnations),
            tuple(
                generations[name]
                for name in (CheckpointName(0, generation) for generation in request.generations)
                if name in generations
            ),
            places_named,
        ),
    )


def _note(named: dict[CheckpointName, KeptNumber], kept_number: KeptNumber) -> None:
    """Add what a row says of a number to what others say."""
    name = CheckpointName(kept_number.generation, kept_number.number)
    stored = named.get(name, kept_number)
    needed, returns = stored.needed or kept_number.needed, stored.returns or kept_number.returns
    named[name] = KeptNumber(
        kept_number.number, needed, returns, max(stored.until, kept_number.until), kept_number.generation
    )


def _refuse_too_many(request: ListKeptFiles) -> None:
    count = len(request.incarnations) + len(request.generations) + len(request.places)
    if count > limits.KEPT_FILES:
        raise TooLarge.of(
            "KEPT_FILES",
            "The request names too many numbers and places",
            path="/incarnations",
            new=str(count),
            allowed=f"at most {limits.KEPT_FILES}, and the others by another request",
        )


def _walk_sources(base: View, time: int) -> Iterator[tuple[Source, bool]]:
    """All sources, and the dropped ones that can come back, with whether they are dropped."""
    for key in base.walk(SOURCE, *ALL_KEYS):
        source = base.get(SOURCE, key)
        if source is not None:
            yield source, False
    for gone in base.walk(DROPPED, *ALL_KEYS):
        dropped = base.get(DROPPED, gone)
        if dropped is not None and dropped.time + limits.DROP_GRACE + limits.CLOCK_MARGIN >= time:
            yield dropped.source, True


def _list_incarnations(source: Source, time: int, *, is_dropped: bool) -> Iterator[KeptNumber]:
    if source.query is None:
        return
    first = source.former[-1] if source.former else source.generation
    yield from (
        KeptNumber(number, not is_dropped, is_dropped, generation=first) for number in _numbers_of(source.query)
    )
    for newer, older in zip((source.query, *source.previous), source.previous, strict=False):
        if newer.time + limits.DROP_GRACE + limits.CLOCK_MARGIN < time:
            break
        yield from (KeptNumber(number, returns=True, generation=first) for number in _numbers_of(older))
    if source.query.after:
        yield KeptNumber(source.query.after, until=source.query.began, generation=first)


def _numbers_of(query: Incarnation) -> Iterator[int]:
    yield query.began
    if query.resumed:
        yield query.resumed


def _list_places(source: Source) -> Iterator[str]:
    yield source.place
    yield from (incarnation.definition.place for incarnation in source.previous if incarnation.definition is not None)


def _parts_of(place: str) -> tuple[str, ...]:
    """The folders of a place; file systems that take capitals for small letters are thought of."""
    return tuple(part for part in place.casefold().split("/") if part not in {"", "."})


def _is_named(place: Sequence[str], named: set[tuple[str, ...]]) -> bool:
    """Whether one of these is the place, or is below or above it."""
    return any(name and all(own == other for own, other in zip(name, place, strict=False)) for name in named)
