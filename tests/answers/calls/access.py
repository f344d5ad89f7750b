"""Calls of functions on rights, declarations and outcomes: who may do what, and what a command that was decided before is answered."""

from collections.abc import Iterator
from typing import Any

from tests.answers.calls.printing import each, print_call
from tests.answers.odd import ODD
from tests.answers.recorded import ACCESSES
from tests.answers.shop import INTS
from tests.answers.tables.groups import VENDORS
from tests.answers.texts import print_needs, print_refusal, print_value
from tests.answers.worlds import WRITER, Sent, bench_of, make_command
from treaty.core.access import rights
from treaty.core.access.api_key_rules import rule_of_key, super_rule
from treaty.core.access.request_permissions import of_set_mode
from treaty.core.messages.api_keys import KEY_ACTIONS, ApiKeyFound
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, is_command, is_pausing, needs_read_barrier
from treaty.core.outcomes import read_outcome
from treaty.core.refusals import Refusal
from treaty.core.state.rows import Row


def call_rights() -> Iterator[str]:
    rules = (
        rights.AccessRule(("user:a", "group:g"), rights.with_included(("register",)), ("a*", "b?", "c"), (".", ".x*")), rights.AccessRule(("anonymous",), rights.with_included(("read",)), ("*",), ("*",), private=True),
        rights.AccessRule(("user:*",), rights.with_included(("query",)), (), (".",), topics=("t*", "path:/a/*"), sources=("s?", "*z")), rights.AccessRule(("group:all",), rights.with_included(("admin",)), ("*",), (".",), sources=()),
        rights.AccessRule(("key:k",), rights.with_included(("admin",)), ("v/*", "v.*/*"), ("*",)), rights.AccessRule(("user:b",), rights.with_included(("mode",)), ("",), (".",), topics=()), rights.AccessRule(("user:s",), rights.with_included(("pause",)), sources=("*",)),
    )  # fmt: skip
    held = rights.Rights(rules, {"g": frozenset({"user:b"}), "all": frozenset({"cert:*"})})
    for who, groups in (
        ("user:a", ()),
        ("user:b", ()),
        ("cert:x", ()),
        ("key:k", ()),
        ("anonymous", ()),
        ("token:z", ("g",)),
        ("user:s", ("all", "none")),
    ):
        access = held.access(who, groups)
        yield f"{who} {groups}: {sorted(held.list_names(who, groups))} {access is held.access(who, groups)} {[rules.index(rule) for rule in access.rules]}"
        yield from _call_access(access)
    for name, access in ACCESSES.items():
        yield name
        yield from _call_access(access)
    yield from each(
        rights.matches_pattern,
        [
            (pattern, text)
            for pattern in ("*", "", "a", "a*", "*a", "a*b*c", "?", "a?c", "[a]", "a.c", "**", "*a*a*")
            for text in ("", "a", "abc", "aXbYc", "[a]", "a\nc", "ba", "aa")
        ],
    )
    yield from each(rights.with_included, [((may,),) for may in rights.PERMISSIONS])
    yield from each(rights.patterns_of_vendor, ["v", ""])
    yield from each(super_rule, ["0a" * 32])
    yield from each(
        rule_of_key, [ApiKeyFound("0a" * 32, vendor, action) for vendor in VENDORS[:4] for action in KEY_ACTIONS]
    )


def _call_access(access: rights.Access) -> Iterator[str]:
    yield f"  sees {access.sees_all} {access.sees_private}"
    subjects = [
        Subject(*pair)
        for pair in (
            (".", "a1"),
            (".x1", "bb"),
            (".", "bbb"),
            (".", "c"),
            ("*", "c"),
            (".y", "v/n"),
            (".", "com.secret/plan"),
            (".", ""),
        )
    ]
    topics = [
        rights.TopicPart(*part)
        for part in (("t1", "n", "key"), ("a", "x1", "value"), ("shop", "", "value"), ("orders", "far", "key"))
    ]
    for may in rights.PERMISSIONS:
        facts: dict[str, list[Any]] = {
            "subjects": [subject for subject in subjects if access.may(may, subject)], "private": [subject for subject in subjects if access.may(may, subject, private=True)],
            "vendors": [vendor for vendor in ("v", "com.secret", "a") if access.may_vendor(may, vendor)], "whole": [context for context in (".", "*", ".x1") if access.may_whole(may, context)],
            "somewhere": [name for name in (None, "bb", "zz", "c", "v/n") if access.may_somewhere(may, name)], "topics": [topic.name for topic in topics if access.may_associate(may, topic)],
            "paths": [path for path in ("/a/b", "/b", "a1") if access.may_path(may, path)], "sources": [key for key in ("s1", "az", "clicks", "c") if access.may_source(may, key)],
            "any": [access.may_some_source(may), access.may_every_source(may)],
        }  # fmt: skip
        held = " ".join(f"{name}={value}" for name, value in facts.items() if any(item is not False for item in value))
        if held:
            yield f"  {may}: {held}"
    yield f"  enters {[context for context in ('.', '*', '.x1', '.far') if access.enters(context)]}"


def call_operations() -> Iterator[str]:
    for operation in OPERATIONS.values():
        facts = (
            operation.name,
            operation.answer.__name__,
            operation.answer_name,
            operation.limits,
            operation.alias is not None,
        )
        yield f"{facts} {operation.immutable} {operation.pauses}"
    modes = [SetMode(Scope(".", "a"), mode, force) for mode in ("IMPORT", "READWRITE", None) for force in (False, True)]
    yield from (
        f"{is_command(mode)} {is_pausing(mode)} {needs_read_barrier(mode)} {print_needs(of_set_mode(mode))}"
        for mode in modes
    )


def call_outcomes() -> Iterator[str]:
    """Commands whose ids have outcomes: of another version, of what is gone, of another request, and of the same one."""
    bench = bench_of(ODD)
    for name in (
        "odd-0",
        "odd-1",
        "odd-2",
        "odd-gone",
        "odd-other",
        "odd-short",
        "odd-hidden",
        "command-40",
        "command-80",
    ):
        for access in (None, ACCESSES["private"], ACCESSES["reader"]):
            for request in (
                ODD.commands()[int(name[8:] or 1) - 1 if name[0] == "c" else 0],
                Register(Subject(".", "new"), INTS[0]),
            ):
                if isinstance(request, Row | Sent):
                    continue
                verdict = bench.decide(
                    make_command(
                        request, 9, name=name, access=access, principal="user:bob" if name == "odd-1" else WRITER
                    )
                )
                text = " | ".join(print_refusal(verdict)) if isinstance(verdict, Refusal) else print_value(verdict)
                yield f"{name} {type(request).__name__} {access is None}: {text[:600]}"
        found = bench.decide(make_command(GetOutcome(name, "user:bob" if name == "odd-1" else WRITER), 9))
        if not isinstance(found, Refusal):
            yield f"{name} {print_call(read_outcome, found.answer)}"


CALLS = {"outcomes": call_outcomes, "rights": call_rights, "operations": call_operations}
