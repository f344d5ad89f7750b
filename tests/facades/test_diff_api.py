"""`/treaty/v1/diff` over HTTP: versions, guids and texts, rights, and users of a subject that the caller may not see."""

import asyncio
import json
from pathlib import Path

from tests.facades.doors import basic, door, write_passwords
from treaty.api.protection import ProtectionSettings
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.names import Subject
from treaty.core.schema import Draft, Reference
from treaty.core.sources import QueryPlan, SourceColumn, SourcePart, SourceRead

OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
NEW = OLD.replace("int", "string")
PATH = "/treaty/v1/diff"
RULES = """[basic]
file = "passwords"
[[rule]]
who = "user:all"
may = "admin"
contexts = "*"
[[rule]]
who = "user:some"
may = "read"
subjects = "open*"
sources = ["clicks"]
"""


def test_versions_guids_and_texts_are_compared_alike() -> None:
    async def run() -> None:
        async with door(ProtectionSettings()) as it:
            register = Register(Subject(".", "s"), Draft(OLD))
            await it.app.node.ask(register)
            forced = Register(Subject(".", "s"), Draft(NEW), force=ForceReason("", ""))
            guid = (await it.app.node.ask(forced)).answer.version.guid
            _, by_number = await it.ask("GET", f"{PATH}?from=s@1&to=s@2")
            _, by_guid = await it.ask("GET", f"{PATH}?from=s@1&to={guid}")
            _, by_text = await it.ask("POST", PATH, {}, {"from": "s@1", "to": {"schema": NEW}})
            assert by_number["differences"] == by_guid["differences"]
            places = [{**one, "sent": None} for one in by_text["differences"]]
            assert places == by_number["differences"]
            assert [(one["rule"], one["harm"], one["to"]["line"]) for one in places] == [
                ("TYPE_MISMATCH", "backward", 7),
                ("TYPE_MISMATCH", "forward", 7),
            ]
            assert (by_number["from"]["version"], by_number["to"]["version"], by_number["equal"]) == (1, 2, False)
            _, same = await it.ask("GET", f"{PATH}?from=s&to=s@latest")
            assert (same["equal"], same["differences"]) == (True, [])
            for path, code in (
                ("from=s@3&to=s", 40402),
                ("from=t&to=s", 40401),
                ("from=s@x&to=s", 42202),
                ("to=s", 400),
            ):
                assert await it.code("GET", f"{PATH}?{path}") == code, path
            assert await it.code("POST", PATH, {}, {"to": {"schema": "{"}, "subject": "s"}) == 42201

    asyncio.run(run())


def test_users_that_may_not_be_read_are_not_named(tmp_path: Path) -> None:
    write_passwords(tmp_path / "passwords", all="secret", some="secret")
    (tmp_path / "rights.toml").write_text(RULES)
    home, part = Subject(".", "open"), SourcePart("AVRO")
    column = SourceColumn("a", "INT")

    async def run() -> None:
        async with door(ProtectionSettings(tmp_path / "rights.toml")) as it:
            ask = it.app.node.ask
            await ask(Register(home, Draft(OLD)))
            user = '{"type":"record","name":"U","fields":[{"name":"f","type":"F"}]}'
            for name in ("open-user", "shut-user"):
                draft = Draft(user.replace('"U"', f'"U{name[0]}"'), references=(Reference("F", "open", 1),))
                await ask(Register(Subject(".", name), draft))
            source = m.SourceDefinition("clicks", "STREAM", "", (column,), value=part)
            made = (await ask(m.CreateSource(source, value_schema=Register(home, Draft(OLD))))).answer
            plan = QueryPlan("SELECT a FROM clicks", (SourceRead("clicks", made.generation, columns=("a",)),))
            await ask(
                m.CreateSource(m.SourceDefinition("counts", "STREAM", "", (column,), connector="delta", query=plan))
            )
            body = {"subject": "open", "to": {"schema": NEW}}
            _, every = await it.ask("POST", PATH, basic("all"), body)
            _, some = await it.ask("POST", PATH, basic("some"), body)
            assert [(one["kind"], one["name"], one["depth"]) for one in every["change"]["touched"]] == [
                ("SOURCE", "clicks", 1),
                ("SUBJECT", "open-user", 1),
                ("SUBJECT", "shut-user", 1),
                ("QUERY", "counts", 2),
            ]
            assert [one["name"] for one in some["change"]["touched"]] == ["clicks", "open-user"]
            assert (every["change"]["hidden"], some["change"]["hidden"]) == (0, 1)
            assert "shut" not in json.dumps(some)
            assert "counts" not in json.dumps(some)
            assert await it.code("GET", f"{PATH}?from=open@1&to=shut-user@1", basic("some")) == 40301

    asyncio.run(run())
