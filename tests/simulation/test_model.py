"""The model of the rules: it knows every kind of request, and what it does not know fails."""

import dataclasses
import random
from collections import Counter
from typing import Any

import pytest

from tests.simulation.asker import Asker
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.deciding import NO_RULE, RULES, decide, is_command
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.rights import is_allowed
from tests.simulation.workload import generator
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule, with_included
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeletedVersions
from treaty.core.operations import OPERATIONS, Operation

HOLDERS = (
    [
        Access((AccessRule(("user:a",), with_included(held), (subject,), (context,)),))
        for held in ([one] for one in PERMISSIONS)
        for subject in ("*", "s", "nothing")
        for context in (".", ".x", "*")
    ]
    + [Access(())]
    + [
        Access((AccessRule(("user:a",), with_included([held]), (), (".",), topics, sources=sources),))
        for held in PERMISSIONS
        for sources, topics in ((("*",), ("*",)), (("a", "point"), ("t1",)), ((), None))
    ]
    + [
        Access(
            (
                AccessRule(("user:a",), with_included(("register", "query")), (), (".",), ("t?",), sources=("*",)),
                AccessRule(("user:a",), with_included(("register",)), ("*",), ("*",), (), sources=()),
            )
        )
    ]
    + [
        Access((AccessRule(("user:a",), frozenset(PERMISSIONS), ("*",), ("*",), private=private),))
        for private in (False, True)
    ]
)
"""Who may do one thing, everywhere or in one place."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unheard(Request[DeletedVersions]):
    """A request without a rule."""


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda one: one.name)
def test_the_model_has_a_rule_for_every_operation(operation: Operation[Any, Any]) -> None:
    rule = RULES.get(operation.request)

    assert rule is not None, NO_RULE.format(operation.request.__name__)
    assert (rule.writes, rule.from_memory, rule.follows_alias) == (
        operation.writes, operation.immutable, operation.alias is not None,
    )  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda one: one.name)
def test_what_an_operation_needs_is_what_the_model_says(operation: Operation[Any, Any]) -> None:
    """The matrix of rights: every operation, with any request, for holders of each permission in each place."""
    ask = Asker(random.Random(operation.name), command_ids=["c1"])
    needs, allowed = RULES[operation.request].needs, Counter[bool]()
    for request in (generator(operation.request)(ask) for _ in range(60)):
        for holder in HOLDERS:
            mine = is_allowed(holder, needs(request))
            assert all(one.is_met(holder) for one in operation.permissions(request)) is mine, (request, holder.rules)
            allowed[mine] += 1
    assert all(allowed[each] for each in (True, False)), "nobody is refused, or everybody"


def test_what_the_model_does_not_know_fails() -> None:
    request: Request[Any] = Unheard()

    with pytest.raises(Broken, match="does not know Unheard"):
        is_command(request)
    with pytest.raises(Broken, match="does not know Unheard"):
        decide(Past(), Asking(request, "c1", 0))
