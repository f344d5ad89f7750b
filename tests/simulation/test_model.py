"""The model of the rules: it knows every kind of request, and what it does not know fails."""

import dataclasses
from typing import Any

import pytest

from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.deciding import RULES, decide, is_command
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.rights import NEEDS
from treaty.core.answers import Deleted
from treaty.core.operations import OPERATIONS
from treaty.core.requests import Request


@dataclasses.dataclass(frozen=True, slots=True)
class Unheard(Request[Deleted]):
    """A request without a rule."""


def test_the_model_has_a_rule_and_a_need_for_every_kind_of_request() -> None:
    writing = {kind for kind, operation in OPERATIONS.items() if operation.writes}

    assert set(RULES) == set(OPERATIONS) == set(NEEDS)
    assert {kind for kind, rule in RULES.items() if rule.writes} == writing


def test_what_the_model_does_not_know_fails() -> None:
    request: Request[Any] = Unheard()

    with pytest.raises(Broken, match="does not know Unheard"):
        is_command(request)
    with pytest.raises(Broken, match="does not know Unheard"):
        decide(Past(), Asking(request, "c1", 0))
