"""A registry with one private subject, and callers who may and may not read it."""

from typing import Any

from tests.laws.test_policy_cases import Engine
from tests.laws.toy import Bench
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command
from treaty.core.decide import decide
from treaty.core.messages.schemaver import Publish
from treaty.core.names import Subject
from treaty.core.schema import Draft, Reference

ADMIN = Access((AccessRule(("user:root",), with_included(["admin"]), ("*",), ("*",)),))
VENDOR = Access((AccessRule(("user:root",), with_included(["admin"]), ("p/*", "nick"), ("*",)),))
USED, USER = Subject(".", "p/used/avro"), Subject(".", "p/user/avro")
NICK = Subject(".", "nick")
RECORD = Draft('{"type":"record","name":"R","fields":[]}', "AVRO")
OUTER = '{"type":"record","name":"O","fields":[{"name":"r","type":"R"}]}'


def private_bench() -> Bench:
    """A bench with a subject that everybody may read, and a private one that refers to it."""
    bench = Bench()
    bench.engine = Engine()
    bench.do(Publish(USED, "1-0-0", RECORD), "used")
    bench.do(Publish(USER, "1-0-0", Draft(OUTER, "AVRO", (Reference("R", USED.name, 1),)), private=True), "user")
    return bench


def verdict(bench: Bench, request: Any, access: Access | None = ADMIN) -> Any:
    return decide(bench.tables, Command(request, "c", 1, "user:root", access), bench.engine)
