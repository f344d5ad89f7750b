"""In which order a registration looks at things, and how often: what is wrong by itself first, each text once."""

import pytest

from tests.laws.toy import Bench, S, put, toy
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.refusals import InvalidRules
from treaty.core.schema import Rule, RuleSet
from treaty.core.schema_engine import ParseSchema


def test_a_new_schema_is_read_once() -> None:
    """Whether it is there already is asked with the strict reading that a new one needs; only what fails that is read once more."""
    bench = Bench(slow=True)
    put(bench, S, "a")
    for names, readings in ((("a", "b?"), [True]), (("a",), [True]), (("a", "-b?"), [True, False])):
        bench.engine.asked.clear()
        bench.verdict(Register(S, toy(*names)), "another")
        assert sorted(one.strict for one in bench.engine.asked if isinstance(one, ParseSchema)) == sorted(readings)


@pytest.mark.parametrize(
    "request_",
    [
        Register(S, toy("a", rules=RuleSet(domain=(Rule("1x"),)))),
        Derive(S, 1, rules=RuleSet(migration=(Rule("1x"),))),
        Derive(S, 1, merge_rules=RuleSet(encoding=(Rule("1x"),))),
    ],
)
def test_rules_that_are_wrong_by_themselves_are_told_before_what_is_not_there(request_: Request[VersionFound]) -> None:
    with pytest.raises(InvalidRules):
        Bench().do(request_)
