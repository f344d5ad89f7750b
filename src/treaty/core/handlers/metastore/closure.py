"""The closure of dependents: who needs a row, who needs those, and so on, by the lines of `USES` alone.

RESTRICT, CASCADE, dry runs, DESCRIBE and SHOW DEPENDENCIES all walk it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.handlers.uses import Effect, GoingRows, Use, users_of
from treaty.core.messages.metastore.sources import Dependent
from treaty.core.refusals import Reason, SourceUsed, TooLarge
from treaty.core.state.metastore.tables import SOURCE, TYPE
from treaty.core.state.state_tables import AnyTable
from treaty.core.state.table import Key
from treaty.core.state.view import View
from treaty.light_dataclass import dataclass

NEEDS: tuple[Effect, ...] = ("refuses", "goes along")
"""Effects of users that can't stay as they are when what they need goes."""


@dataclass(frozen=True, slots=True)
class ClosureStep:
    """A user, and what it needs: the line of `USES`, both keys, and how far the user is from the start."""

    use: Use
    user: Any
    needed: Any
    depth: int


def walk_closure(
    view: View, table: AnyTable, key: Key, *, effects: Sequence[Effect] = NEEDS, recursive: bool = True
) -> Iterator[ClosureStep]:
    """Return who needs a row, nearest first, and each user once. Raises `TooLarge` past limits.CLOSURE steps."""
    visited: set[tuple[str, Any]] = {(table.name, key)}
    level: list[tuple[AnyTable, Any]] = [(table, key)]
    depth, steps = 0, 0
    while level and (recursive or depth == 0):
        depth += 1
        users: list[tuple[AnyTable, Any]] = []
        for of, needed in level:
            for use, user in _users(view, of, needed, effects):
                if (use.user.name, user) in visited:
                    continue
                visited.add((use.user.name, user))
                steps += 1
                _refuse_many(steps)
                users.append((use.user, user))
                yield ClosureStep(use, user, needed, depth)
        level = users


def _users(view: View, table: AnyTable, key: Key, effects: Sequence[Effect]) -> Iterator[tuple[Use, Any]]:
    for effect in effects:
        yield from (
            (use, user) for use, user in users_of(view, table, key, effect, GoingRows()) if use.user in {SOURCE, TYPE}
        )


def _refuse_many(steps: int) -> None:
    if steps > limits.CLOSURE:
        raise TooLarge.of("CLOSURE", "Too many sources depend on it", allowed=f"at most {limits.CLOSURE}")


def may_see(access: Access | None, step: ClosureStep) -> bool:
    """Return whether a caller may see a user: a source that they may read, or a type."""
    return access is None or step.use.user is TYPE or access.may_source("read", step.user.name)


def describe_step(view: View, step: ClosureStep) -> Dependent:
    """Return a step in words: kinds and names as people wrote them."""
    kind = "TYPE" if step.use.user is TYPE else "SOURCE"
    user: Any = view.get(step.use.user, step.user)
    needed: Any = view.get(step.use.of, step.needed)
    return Dependent(kind, user.name, needed.name, step.use.effect, step.depth)


def describe_seen(view: View, access: Access | None, steps: Sequence[ClosureStep]) -> tuple[tuple[Dependent, ...], int]:
    """Return the steps that a caller may see, in words, and how many others there are. What a step needs has no name where the
    caller may not see that.
    """
    visible_steps = []
    for step in steps:
        if may_see(access, step):
            described = describe_step(view, step)
            hides = access is not None and step.use.of is SOURCE and not access.may_source("read", step.needed.name)
            visible_steps.append(replace(described, needs="") if hides else described)
    return tuple(visible_steps), len(steps) - len(visible_steps)


def list_names(names: Sequence[str], hidden: int) -> str:
    """Return names for a sentence, sorted, with the number of those that the caller may not see."""
    more = f"{hidden} that you may not see" if hidden else ""
    return " and ".join(filter(None, (", ".join(sorted(names)), more)))


def source_used(
    rule: str,
    sentence: str,
    names: Sequence[str],
    hidden: int,
    *,
    path: str = "/name",
    old: str = "",
    new: str = "",
    allowed: str = "",
) -> SourceUsed:
    """Return the refusal of a change that users prevent; the sentence ends with their names."""
    message = f"{sentence} {list_names(names, hidden)}"
    return SourceUsed(Reason(rule, message, path=path, old=old, new=new, allowed=allowed, details=tuple(sorted(names))))
