"""Limits at their edges: what comes to one is taken, one more is refused by its name, and what is there already stays."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.laws.tied import refused, schema, weak
from tests.laws.toy import Bench, S, toy
from tests.worlds.world import World
from treaty.core.command import Decision
from treaty.core.messages import associations, encodings, groups
from treaty.core.messages.api_keys import AddApiKeys, NewApiKey, RemoveApiKey
from treaty.core.messages.metastore import plans, runners, scripts, sources
from treaty.core.messages.metastore.kept_files import ListKeptFiles
from treaty.core.messages.policies import CreatePolicy, DeletePolicy
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import PutDraft
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import Subject
from treaty.core.schema import Rule, RuleSet
from treaty.core.sources import SourceColumn
from treaty.core.state.values import PolicyValue

Make = Callable[[int], Request[Any]]
DRAFTED = Subject(".", "com.acme/a/jsonschema")
ROOM = 3
"""How many there may be in these tests."""


def digest(number: int) -> str:
    return hashlib.sha256(bytes([number])).hexdigest()


def define(name: str, **members: Any) -> sources.CreateSource:
    definition = sources.SourceDefinition(name, "STREAM", "", (SourceColumn("id", "INT"),), **members)
    return sources.CreateSource(definition, replace=True)


def resource(number: int) -> associations.Resource:
    return associations.Resource(f"topic-{number}", "lkc", f"id-{number}")


def create(**settings: Any) -> groups.CreateSubject:
    return groups.CreateSubject(Subject(".", "group"), groups.GroupSettings(**{"origin": "o", **settings}))


def name(**members: Any) -> Register:
    return Register(S, toy("a?"), **members)


def pairs(count: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"n{number}", "x") for number in range(count))


def take(bench: Bench, request: Request[Any], command_id: str = "") -> None:
    command_id = command_id or f"take-{bench.clock}"
    verdict = bench.verdict(request, command_id)
    assert isinstance(verdict, Decision), verdict
    bench.do(request, command_id)


@dataclass(frozen=True, slots=True)
class Counted:
    """The request that makes the thing of a number, and the one that takes it away, if there is one. `again`: what is there may be
    made once more.
    """

    make: Make
    take_away: Make | None = None
    again: bool = True


COUNTED: Mapping[str, Counted] = {
    "API_KEYS": Counted(
        lambda number: AddApiKeys("com.acme", (NewApiKey(digest(number), "READ"),)),
        lambda number: RemoveApiKey(digest(number)),
    ),
    "ASSOCIATIONS_PER_SUBJECT": Counted(
        lambda number: associations.Associate(resource(number), (weak(schema=schema("a?")),), update=True),
        lambda number: associations.Dissociate(f"id-{number}"),
    ),
    "CODECS_PER_SUBJECT": Counted(lambda number: encodings.AddCodec(S, encodings.CodecType(f"c{number}"))),
    "DRAFTS": Counted(lambda number: PutDraft(DRAFTED, number + 1, "{}")),
    "PLANNING_WAITING": Counted(
        lambda number: plans.RequestPlan(f"s{number}", "CREATE STREAM s AS SELECT 1"),
        lambda number: plans.WithdrawPlan(f"s{number}", f"make-{number}"),
        again=False,
    ),
    "POLICIES": Counted(
        lambda number: CreatePolicy(f"p{number}", PolicyValue()), lambda number: DeletePolicy(f"p{number}")
    ),
    "RUNNERS": Counted(
        lambda number: runners.AcquireRunner(f"r{number}", "process"),
        lambda number: runners.ReleaseRunner(f"r{number}", number + 2),
    ),
    "SOURCE_PROPERTIES": Counted(
        lambda number: sources.ChangeSource("there", properties=((f"n{number}", "x"),)),
        lambda number: sources.ChangeSource("there", properties=((f"n{number}", ""),)),
    ),
    "SOURCES": Counted(lambda number: define(f"s{number}"), lambda number: sources.DropSource(f"s{number}")),
    "TYPES": Counted(
        lambda number: sources.CreateType(f"t{number}", "INT", if_not_exists=True),
        lambda number: sources.DropType(f"t{number}"),
    ),
}
"""By the name of the limit: what is counted in the state."""


@pytest.mark.parametrize("limit", COUNTED)
def test_so_many_are_made_and_no_more_and_those_that_are_there_stay(limit: str) -> None:
    counted, bench = COUNTED[limit], Bench()
    bench.do(Register(S, toy("a?")))
    if limit == "SOURCE_PROPERTIES":
        bench.do(define("there"))
    with World(pages=((limit, ROOM),)).paged():
        for number in range(ROOM):
            take(bench, counted.make(number), f"make-{number}")
        assert refused(bench, counted.make(ROOM)).reason.rule == limit
        for number in range(ROOM if counted.again else 0):
            take(bench, counted.make(number))
        if counted.take_away is not None:
            take(bench, counted.take_away(1))
            take(bench, counted.make(ROOM))
            assert refused(bench, counted.make(1)).reason.rule == limit


def register_rules(size: int, prefix: str = "r") -> Register:
    """The first rule is one of domains, and the others are of migrations and encodings."""
    rules = tuple(Rule(f"{prefix}{number}", "CONDITION", "WRITE", "CEL", expr="true") for number in range(size))
    upgrades = tuple(replace(rule, mode="UPGRADE") for rule in rules[1::2])
    return Register(S, toy("a?", rules=RuleSet(upgrades, rules[:1], rules[2::2])))


@dataclass(frozen=True, slots=True)
class Sized:
    """The request with something of a size, the size that it may have in the test, and the rule, where that is no name of a limit."""

    make: Make
    size: int = 4
    rule: str = ""


SIZED: Mapping[tuple[str, str], Sized] = {
    ("API_KEYS_AT_ONCE", "keys"): Sized(
        lambda size: AddApiKeys("com.acme", tuple(NewApiKey(digest(number), "READ") for number in range(size)))
    ),
    ("ASSIGNED_PARTS", "take"): Sized(
        lambda size: runners.AssignQueries("r", 2, release=tuple(runners.QueryPart("s", n) for n in range(size)))
    ),
    ("ASSOCIATION_BATCH", "gets"): Sized(
        lambda size: associations.GetAssociations((associations.ListAssociations(associations.OfId("i")),) * size),
        rule="ASSOCIATION_INVALID",
    ),
    ("ASSOCIATION_BATCH", "changes"): Sized(
        lambda size: associations.ChangeAssociations((associations.ResourceChange(resource(1), ()),) * size),
        rule="ASSOCIATION_INVALID",
    ),
    ("ASSOCIATIONS_PER_RESOURCE", "wishes"): Sized(
        lambda size: associations.Associate(resource(1), tuple(weak(kind=kind) for kind in ("key", "value")[:size])), 1
    ),
    ("CODEC_CHARACTERS", "properties"): Sized(
        lambda size: encodings.AddCodec(S, encodings.CodecType("c", (("n", "x" * (size - 2)), ("m", ""))))
    ),
    ("GROUP_PROPERTIES", "properties"): Sized(lambda size: create(properties=pairs(size))),
    ("GROUP_PROPERTY_CHARACTERS", "properties"): Sized(
        lambda size: create(properties=(("n", "x" * (size - 2)), ("m", "")))
    ),
    ("ID_SCHEMES", "schemes"): Sized(lambda size: create(schemes=("sequence", "md5", "sha-256")[:size]), 2),
    ("KEPT_FILES", "places"): Sized(lambda size: ListKeptFiles(generations=(1,), places=("a",) * (size - 1))),
    ("NAMES_PER_VERSION", "names"): Sized(lambda size: name(names=pairs(size))),
    ("NAME_LENGTH", "codec"): Sized(lambda size: encodings.AddCodec(S, encodings.CodecType("c" * size)), 40),
    ("NAME_LENGTH", "name"): Sized(lambda size: name(names=(("x", "n" * size),)), 40, "NAME_INVALID"),
    ("NAME_LENGTH", "subject"): Sized(lambda size: Register(Subject(".", "s" * (size - 1)), toy("a?")), 40),
    ("NAME_LENGTH", "setting"): Sized(
        lambda size: SetConfig(Scope(".", "s" * (size - 1)), Config(level="NONE")), 40, "SUBJECT_NAME"
    ),
    ("ORIGIN_LENGTH", "origin"): Sized(lambda size: create(origin="o" * size), rule="SUBJECT_ORIGIN"),
    ("PATH_TEXT", "place"): Sized(lambda size: define("p", connector="files", place="p" * size)),
    ("PLANNER_NAME", "planner"): Sized(lambda size: plans.TakePlanningJob("planned", "p" * size)),
    ("PLANNING_SECONDS", "seconds"): Sized(lambda size: plans.RequestPlan("other", "CREATE", seconds=size)),
    ("POLICY_NAME", "name"): Sized(lambda size: CreatePolicy("p" * size, PolicyValue())),
    ("RULES", "domain"): Sized(register_rules),
    ("RULE_NAME", "domain"): Sized(lambda size: register_rules(1, "r" * (size - 1)), rule="RULE_INVALID"),
    ("RUNNER_ADDRESS", "address"): Sized(lambda size: runners.AcquireRunner("r", "process", "a" * size)),
    ("RUNNER_NAME", "name"): Sized(lambda size: runners.AcquireRunner("n" * size, "h")),
    ("RUNNER_NAME", "holder"): Sized(lambda size: runners.AcquireRunner("m", "h" * size)),
    ("RUNNER_NAME", "root"): Sized(lambda size: runners.AcquireRunner("m", "h", root="r" * size)),
    ("SCHEMA_BYTES", "draft"): Sized(lambda size: PutDraft(DRAFTED, 1, "\u00e9" * (size // 2) + "x" * (size % 2))),
    ("SCHEME_LENGTH", "names"): Sized(lambda size: name(names=(("x" * size, "n"),)), rule="NAME_INVALID"),
    ("SCRIPT_STATEMENTS", "members"): Sized(
        lambda size: scripts.RunScript(
            tuple(scripts.ScriptMember(create_type=sources.CreateType(f"t{number}", "INT")) for number in range(size))
        )
    ),
    ("SOURCE_PROPERTIES", "create"): Sized(lambda size: define("q", properties=pairs(size))),
    ("SOURCE_PROPERTIES", "change"): Sized(lambda size: sources.ChangeSource("there", properties=pairs(size))),
    ("SOURCE_PROPERTIES", "plan"): Sized(lambda size: plans.RequestPlan("other", "CREATE", pairs(size))),
    ("STATEMENT_BYTES", "create"): Sized(
        lambda size: sources.CreateSource(
            sources.SourceDefinition("q", "STREAM", "\u00e9" * (size // 2) + "x" * (size % 2), (SourceColumn("id", "INT"),))
        )
    ),
    ("VALIDATORS", "validators"): Sized(
        lambda size: SetConfig(Scope("."), Config(validators=("NAME_SHORT",) * size))
    ),
    ("VALIDATOR_CHARACTERS", "validators"): Sized(
        lambda size: SetConfig(Scope("."), Config(validators=(f"{'NAME_SHORT':<{size}}", "NAME_SHORT"))), 12
    ),
}  # fmt: skip
"""By the name of the limit and what it is a limit of: what has a size of its own, whatever is there."""


@pytest.mark.parametrize(("limit", "what"), SIZED)
def test_so_much_is_taken_and_no_more(limit: str, what: str) -> None:
    sized, bench = SIZED[limit, what], Bench()
    bench.do(Register(S, toy("a?")))
    bench.do(runners.AcquireRunner("r", "process"))
    bench.do(define("there"))
    bench.do(plans.RequestPlan("planned", "CREATE"))
    with World(pages=((limit, sized.size),)).paged():
        refusal = refused(bench, sized.make(sized.size + 1))
        take(bench, sized.make(sized.size))
    assert refusal.reason.rule == (sized.rule or limit)
