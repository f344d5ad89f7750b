"""Leases of runners, and who has which part: a runner by its name and epoch, a part by its source's generation."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import AssignmentChanged, Event, RunnerChanged
from tests.simulation.judging.model.metastore.dropping import source_named
from tests.simulation.judging.model.metastore.state import assignments, dropped, key_of, part_of, runners, sources
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_every_source
from tests.simulation.judging.model.rights import Need
from treaty.core import limits
from treaty.core.messages.metastore import kept_files as k
from treaty.core.messages.metastore import runners as r
from treaty.core.refusals import Forbidden, InvalidSource, NotLatest, NotPermitted, TooLarge
from treaty.core.sources import Assignment, Runner


def needs_of_assigning(request: r.AssignQueries) -> list[Need]:
    """Planning of each source that it names, and of any where it names none."""
    named = (*request.take, *request.release)
    return [Need(("plan",), source=key_of(one.source)) for one in named] or [Need(("plan",), source="*")]


def acquire_runner(past: Past, asking: Asking, request: r.AcquireRunner) -> Yes:
    """A new name for who asks first, a held one for its holder, or for who names the epoch that it has."""
    for text, most in ((request.name, limits.RUNNER_NAME), (request.holder, limits.RUNNER_NAME)):
        if text == "" or len(text) > most or not text.isprintable():
            raise No(InvalidSource, "RUNNER_NAME")
    if len(request.address) > limits.RUNNER_ADDRESS or not request.address.isprintable():
        raise No(InvalidSource, "RUNNER_ADDRESS")
    if any(request.root and one.root not in {"", request.root} for one in runners(past).values()):
        raise No(NotPermitted, "RUNNER_ROOT")
    old = runners(past).get(request.name)
    if request.epoch and (old is None or old.epoch != request.epoch):
        raise No(NotLatest, "RUNNER_LOST")
    if old is None and len(runners(past)) == limits.RUNNERS:
        raise No(TooLarge, "RUNNERS")
    same = old is not None and old.holder == request.holder
    if old is not None and not request.epoch and not same:
        raise No(NotLatest, "RUNNER_HELD")
    if old is not None:
        _refuse_foreign(asking, old)
    epoch = old.epoch if old is not None and same else past.sequence + 1
    lease = r.RunnerLease(request.name, epoch, request.holder, request.address)
    now = Runner(epoch, request.holder, request.address, request.root, asking.principal)
    return Yes(() if now == old else (RunnerChanged(request.name, now),), lease)


def list_kept_files(past: Past, asking: Asking, request: k.ListKeptFiles) -> Yes:
    """Numbers of live rows first, then those of dropped sources and former queries in their grace."""
    if len(request.incarnations) + len(request.generations) + len(request.places) > limits.KEPT_FILES:
        raise No(TooLarge, "KEPT_FILES")
    grace = limits.DROP_GRACE + limits.CLOCK_MARGIN
    gone = [one.source for one in dropped(past).values() if one.time + grace >= asking.time]
    live = [*sources(past).values()]
    needed, returning, until = set[tuple[int, int]](), set[tuple[int, int]](), dict[tuple[int, int], int]()
    for source in (*gone, *live):
        first = [source.generation, *source.former][-1]
        chain = [one for one in (source.query, *source.previous) if one is not None]
        for at, one in enumerate(chain):
            if at and chain[at - 1].time + grace < asking.time:
                break
            (returning if at or source in gone else needed).update(
                (first, number) for number in (one.began, one.resumed) if number
            )
        if source.query is not None and source.query.after:
            left = (first, source.query.after)
            until[left] = max(source.query.began, until.get(left, 0))
    named = [(one.generation, one.number) for one in request.incarnations]
    answer = tuple(
        k.KeptNumber(one[1], one in needed, one in returning, until.get(one, 0), one[0])
        for one in named if one in needed | returning | until.keys()
    )  # fmt: skip
    ages = [(number, source in gone) for source in (*gone, *live) for number in (source.generation, *source.former)]
    generations = tuple(
        k.KeptNumber(one, (one, False) in ages, (one, True) in ages)
        for one in request.generations if {(one, False), (one, True)} & set(ages)
    )  # fmt: skip
    folders = {
        one.strip("/").casefold()
        for source in (*gone, *live) if source.connector != "kafka"
        for one in (source.place, *(old.definition.place for old in source.previous if old.definition))
    } - {""}  # fmt: skip
    wished = [f"{place.strip('/').casefold()}/" for place in request.places]
    places = tuple(
        place for place, wanted in zip(request.places, wished, strict=True)
        if any(wanted.startswith(f"{one}/") or f"{one}/".startswith(wanted) for one in folders)
    )  # fmt: skip
    return Yes((), k.KeptFiles(answer, generations, places))


def _refuse_foreign(asking: Asking, lease: Runner) -> None:
    """Somebody else's lease is for who may plan everything."""
    if asking.access is not None and asking.principal != lease.sender and not may_every_source(asking.access, "plan"):
        raise No(Forbidden, "RUNNER_OF_ANOTHER")


def release_runner(past: Past, asking: Asking, request: r.ReleaseRunner) -> Yes:
    """The runner goes with what it has, or with a part of that where it has too much."""
    old = runners(past).get(request.name)
    if old is None:
        return Yes((), r.RunnerReleased(request.name))
    if old.epoch != request.epoch:
        raise No(NotLatest, "RUNNER_LOST")
    _refuse_foreign(asking, old)
    held = sorted(key for key, one in assignments(past).items() if one.runner == request.name)
    going = held[: limits.ASSIGNED_PARTS]
    events: list[Event] = [AssignmentChanged(key, None) for key in going]
    if going == held:
        events.append(RunnerChanged(request.name, None))
    return Yes(tuple(events), r.RunnerReleased(request.name, len(going), going != held))


def assign_queries(past: Past, asking: Asking, request: r.AssignQueries) -> Yes:
    """What is given back is given back first; then each part that is taken has to be nobody's, or the runner's own."""
    if len(request.take) + len(request.release) > limits.ASSIGNED_PARTS:
        raise No(TooLarge, "ASSIGNED_PARTS")
    if any(one.part not in {"query", "bad"} for one in (*request.take, *request.release)):
        raise No(InvalidSource, "QUERY_PART")
    runner = runners(past).get(request.runner)
    if runner is None or runner.epoch != request.epoch:
        raise No(NotLatest, "RUNNER_LOST")
    _refuse_foreign(asking, runner)
    there = assignments(past)
    wanted = [_part(past, one, request.runner) for one in request.take]
    given = {(one.part, one.generation) for one in request.release}
    left = {key for key in given if key in there and there[key].runner == request.runner} - set(wanted)
    new = [key for key in dict.fromkeys(wanted) if key not in there]
    events = (
        *(AssignmentChanged(key, None) for key in sorted(left)),
        *(AssignmentChanged(key, Assignment(request.runner, runner.epoch)) for key in new),
    )
    named = {(key_of(one.source), one.part, one.generation) for one in request.take}
    parts = tuple(r.QueryPart(source, generation, part) for source, part, generation in sorted(named))
    return Yes(events, r.QueriesAssigned(request.runner, runner.epoch, parts))


def _part(past: Past, wanted: r.QueryPart, runner: str) -> tuple[str, int]:
    _, source = source_named(past, wanted.source)
    if source.generation != wanted.generation:
        raise No(NotLatest, "SOURCE_GENERATION")
    if part_of(source) != wanted.part:
        raise No(InvalidSource, "QUERY_NONE")
    has = assignments(past).get((wanted.part, wanted.generation))
    if has is not None and has.runner != runner:
        raise No(NotLatest, "QUERY_ASSIGNED")
    return wanted.part, wanted.generation
