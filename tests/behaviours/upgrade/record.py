# mypy: ignore-errors
"""Records a log of format 1, as Treaty wrote it before format 2, in all its forms. It runs with an older checkout of Treaty
only (the commit before `ENVELOPE_FORMAT` became 2), with the root of this checkout as the second path::

    git worktree add OLD 6761f02
    PYTHONPATH=OLD/src:OLD python tests/behaviours/upgrade/record.py FOLDER [SCHEMAS]

It writes to FOLDER the log's SQLite file, a dump, the records of both topics of Kafka, and what the old registry
answers to every question that lists something. `tests/behaviours/upgrade/data` has what it wrote for 500 schemas.
"""

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import zstandard
from drafting import KINDS, draft, text

from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core import requests as asked
from treaty.core.answers import Config, Resource
from treaty.core.messages import associations as tied
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Refusal
from treaty.core.registry import CallOptions
from treaty.core.requests import ForceReason, Request, Scope, SubjectCreation
from treaty.core.schema import Draft, Metadata, Rule, RuleSet
from treaty.core.state import values
from treaty.core.state.codec import encode
from treaty.core.state.commit import ENVELOPE_FORMAT, START, Append, Commit, make_append
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.kafka.single_writer.records import make_transaction
from treaty.log.log import AppendResult, Log
from treaty.log.maintenance.dump import make_head, write_dump
from treaty.log.sqlite.log import SqliteLog
from treaty.node.embedded import EmbeddedRegistry
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service

TIME = 1_790_000_000_000
FEW = 5_000
"""Schemas up to which the log is written in all its forms; a larger one is its SQLite file, with compressed texts."""


class Registry:
    """The old registry, and all appends that it makes."""

    def __init__(self, path: Path) -> None:
        self.appends: list[Append] = []
        self.refused: dict[str, int] = {}
        self._path, self._commands = path, 0
        self._inner = EmbeddedRegistry(self._node)

    async def _node(self) -> Node:
        log = await SqliteLog.open(str(self._path), durable=False)
        kept = log.append

        async def append(one: Append) -> AppendResult:
            fate = await kept(one)
            if fate is AppendResult.ACCEPTED:
                self.appends.append(one)
            return fate

        log.append = append  # type: ignore[method-assign]
        self.log = log
        return Node(log, make_thread_service(), real_environment())

    def ask(self, request: Request[Any]) -> Any:
        self._commands += 1
        return self._inner.ask(request, CallOptions(command_id=f"c{self._commands}", principal="recorder")).answer

    def may(self, request: Request[Any]) -> Any:
        """Ask what may be refused; the refusals are counted, so that the recorder can tell them."""
        try:
            return self.ask(request)
        except Refusal as refusal:
            name = f"{type(request).__name__}: {refusal.reason.rule}"
            self.refused[name] = self.refused.get(name, 0) + 1
            return None

    def put(self, rows: list[EncodedRow]) -> None:
        """Write rows below the law, for tables that no command of format 1 writes."""

        async def work() -> None:
            base = await self.log.tip()
            commit = Commit(base.sequence + 1, tuple(rows), "", TIME)
            assert await self.log.append(make_append(base, random.randbytes(16), (commit,))) is AppendResult.ACCEPTED

        self._inner.run(work())

    def close(self) -> None:
        self._inner.close()


def settings(registry: Registry) -> None:
    rules = RuleSet(domain=(Rule("over", "TRANSFORM", "READ", "ENCRYPT", tags=("PII",), params=(("k", "v"),)),))
    wishes: list[tuple[Scope, Config]] = [
        (Scope("*"), Config(level="FULL", normalize=True, policy="LENIENT")),
        (Scope("."), Config(level="BACKWARD", group="major", validate_fields=False)),
        (Scope(".team"), Config(level="FORWARD_TRANSITIVE", normalize=False, override_rules=rules,
                                default_metadata=Metadata(properties=(("owner", "team"),)))),
        (Scope(".", "free"), Config(level="NONE")),
        (Scope(".", "advised"), Config(validators=("FIELD_DOC_MISSING",), validate_rules=True)),
        (Scope(".", "nowhere"), Config(level="FULL_TRANSITIVE")),
        (Scope(".team", "strict"), Config(level="FULL_TRANSITIVE", policy="STRICT", group="team")),
        (Scope(".", "alias-of-free"), Config(alias="free")),
        (Scope(".", "alias-away"), Config(alias=":.team:strict")),
    ]  # fmt: skip
    for scope, config in wishes:
        registry.may(asked.SetConfig(scope, config))
    registry.ask(asked.SetConfig(Scope(".", "cleared"), Config(level="FULL", normalize=True)))
    registry.ask(asked.SetConfig(Scope(".", "cleared"), Config(), clear=("level",)))
    registry.ask(asked.SetConfig(Scope(".", "gone"), Config(level="FULL")))
    registry.ask(asked.DeleteConfig(Scope(".", "gone")))


def fill(registry: Registry, count: int) -> None:
    """Register, and do everything else that changes a registry on the way."""
    chance = random.Random(16)
    settings(registry)
    registry.ask(asked.SetMode(Scope(".empty"), "IMPORT"))
    registry.ask(asked.MakeContext(".empty", 77))
    bases: dict[str, list[Subject]] = {kind: [] for kind in KINDS}
    for number, kind in enumerate(KINDS):
        for more in range(3):
            base = Subject(".", f"base-{number}-{3 * number + more}")
            found = registry.ask(asked.Register(base, draft(kind, f"Base{3 * number + more}", 2, random.Random(1))))
            assert found.version.schema_id
            bases[kind].append(base)
    schemas, subject_number = 9, 0
    while schemas < count:
        subject_number += 1
        kind = chance.choice([*KINDS])
        context = chance.choice([".", ".", ".", ".team", ".other"])
        subject = Subject(context, f"{kind.lower()}-{subject_number}")
        refers = chance.choice(bases[kind]) if context == "." and chance.random() < 0.2 else None
        policy = chance.choice(["", "", "", "NONE", "FULL", "FORWARD_TRANSITIVE", "BACKWARD_TRANSITIVE"])
        made = SubjectCreation(policy=policy, properties=(("by", "recorder"),) if policy else ())
        for version in range(chance.choice([1, 2, 4, 12])):
            what = draft(kind, f"T{subject_number}", 3 + version, chance, refers)
            names = ((("tag", f"v{version}"),)) if chance.random() < 0.1 else ()
            force = ForceReason("me", "because") if chance.random() < 0.03 else None
            registered = registry.may(asked.Register(
                subject, what, create_with=made if not version else SubjectCreation(), names=names, force=force,
                properties=(("n", str(version)),) if chance.random() < 0.1 else (), normalize=chance.choice([None, True])))  # fmt: skip
            schemas += bool(registered and registered.created)
        change(registry, subject, chance)


def change(registry: Registry, subject: Subject, chance: random.Random) -> None:
    """What may happen to a subject after its registrations."""
    steps: list[Callable[[], object]] = [
        lambda: registry.may(asked.DeleteVersion(subject, asked.LATEST)),
        lambda: (registry.may(asked.DeleteVersion(subject, 1)), registry.may(asked.DeleteVersion(subject, 1, permanent=True))),
        lambda: registry.may(asked.DeleteSubject(subject)),
        lambda: (registry.may(asked.DeleteSubject(subject)), registry.may(asked.DeleteSubject(subject, permanent=True))),
        lambda: again(registry, subject),
        lambda: hidden(registry, subject),
        lambda: registry.may(asked.SetMode(Scope(*subject), "READONLY")),
        lambda: registry.may(asked.SetConfig(Scope(*subject), Config(level="FULL", alias_for_deks="other"))),
        lambda: registry.may(asked.Derive(subject, asked.LATEST, metadata=Metadata(properties=(("derived", "yes"),)))),
        lambda: registry.may(tied.Associate(Resource(f"topic-{subject.name}", "lkc-1", f"id-{subject}"),
                                            (tied.AssociationSpec("value", subject, chance.choice(["WEAK", "STRONG"])),))),
    ]  # fmt: skip
    if chance.random() < 0.5:
        chance.choice(steps)()


def hidden(registry: Registry, subject: Subject) -> None:
    """Delete the latest version and register the same again: the deleted one is hidden."""
    found = registry.may(asked.GetVersion(subject, asked.LATEST))
    registry.may(asked.DeleteVersion(subject, asked.LATEST))
    if found is not None:
        registry.may(
            asked.Register(subject, Draft(found.text, found.format, found.references, found.metadata, found.rules))
        )


def again(registry: Registry, subject: Subject) -> None:
    """Purge a subject and make it again: another generation, other ids."""
    registry.may(asked.DeleteSubject(subject))
    registry.may(asked.DeleteSubject(subject, permanent=True))
    for fields in (30, 31):
        registry.may(asked.Register(subject, Draft(text("AVRO", "Again", fields))))


def imports(registry: Registry) -> None:
    """Ids and numbers that somebody else gave."""
    registry.ask(asked.SetMode(Scope(".import"), "IMPORT"))
    for number, schema_id in ((1, 100), (3, 4_000), (9, 5)):
        subject = Subject(".import", "brought")
        registry.ask(asked.Register(subject, Draft(text("AVRO", "Brought", number + 3)), number=number,
                                    schema_id=schema_id, time=TIME + number))  # fmt: skip
    registry.ask(asked.Register(Subject(".import", "ßubject/ü:x"), Draft(text("JSON", "Odd", 4), "JSON"), number=2,
                                schema_id=6, time=0))  # fmt: skip
    registry.ask(asked.SetMode(Scope(".", "free"), "READONLY_OVERRIDE"))
    registry.ask(tied.Associate(
        Resource("frozen", "lkc-1", "id-frozen"),
        (tied.AssociationSpec("key", Subject(".team", "tied-key"), "STRONG", frozen=True,
                   schema=asked.Register(Subject(".team", "tied-key"), Draft(text("AVRO", "Key", 2)))),)))  # fmt: skip


def below(registry: Registry) -> None:
    """Rows of tables and members that no command of format 1 writes, and members that nobody knows yet."""
    rows = registry._inner.run(registry.log.read(START)).rows
    versions = [decode_row(row) for row in rows if row.table == "version"]
    subjects = [decode_row(row) for row in rows if row.table == "subject"]
    till, deny = sorted(subjects, key=lambda row: row.key)[-2:]
    ours = [one for one in versions if one.key[:2] == till.key]
    assert ours
    assert isinstance(ours[0].value, values.Version)
    assert isinstance(till.value, values.SubjectValue)
    assert isinstance(deny.value, values.SubjectValue)
    extra = (("later", '{"a":[1,2.50,"ü"]}'),)
    named = values.PolicyValue(backward=True, range="till", till=1, partition="type", validators=("NAME_CASE",),
                               strictness="LOGICAL")  # fmt: skip
    made = [
        Row("policy", ("since",), named),
        Row("policy", ("never",), values.PolicyValue(deny=True)),
        Row("policy", ("unused",), values.PolicyValue(forward=True, range="all")),
        Row("subject", till.key, replace(till.value, policy="since", validators=("FIELD_DOC_MISSING",), extra=extra)),
        Row("subject", deny.key, replace(deny.value, policy="never")),
        Row("version", ours[0].key, replace(ours[0].value, policy=named, extra=extra)),
        Row("encoding", (*till.key, 7), values.Encoding(ours[0].value.schema_id, int(ours[0].key[2]), "snappy")),
        Row("counter", ("encodings", *till.key, ""), values.Counter(9)),
        Row("codec", (*till.key, "snappy"), values.Codec((("level", "3"),))),
        Row("counter", ("ids", ".empty", "", ""), values.Counter(77, ((90, 95), (2**31 - 1, 2**31 - 1)))),
        Row("counter", ("ids", "", "", ""), values.Counter(12)),
        Row("source", ("clicks",), values.Source("STREAM", "CREATE STREAM clicks", "id BIGINT", "clicks", 5, (3,))),
        Row("type", ("address",), values.Type("STRUCT<city STRING>", 6)),
        Row("runner", ("main",), values.Runner(3, "host")),
        Row("topic", ("clicks",), values.Topic("present", (("retention.ms", "7"),))),
        Row("sealing", ("k" * 16,), values.Sealing(extra)),
        Row("aside", ("schema", '[".",99999]'), values.Aside('{"v":1,"broken', "no JSON", TIME)),
        Row("lineage", ("origin",), values.Lineage("ab" * 16, 12, "cd" * 32, TIME, 0, "memory:before")),
    ]
    registry.put([encode_row(row) for row in made])


def answers(registry: Registry) -> Iterator[dict[str, object]]:
    """What the registry says to every question that lists something."""

    def told(request: Request[Any]) -> object:
        try:
            return encode(registry.ask(request))
        except Refusal as refusal:
            return {"refused": type(refusal).__name__}

    contexts = registry.ask(asked.ListContexts()).names
    yield {"question": "contexts", "answer": [*contexts]}
    for visible in ("live", "all", "deleted"):
        subjects = registry.ask(asked.ListSubjects(visible=visible)).names  # type: ignore[arg-type]
        yield {"question": "subjects", "visible": visible, "answer": [*subjects]}
    found, page = [], registry.ask(asked.ListSettings()).settings
    while page:
        found += page
        page = registry.ask(asked.ListSettings(after=Scope(page[-1].context, page[-1].name))).settings
    yield {"question": "settings", "answer": [encode(one) for one in found]}
    for context in contexts:
        versions, page = [], (None,)
        while page:
            after = (page[-1].subject, page[-1].number) if versions else None
            page = registry.ask(
                asked.ListSchemas(Subject(context, ""), visible="all", limit=1_000, after=after)
            ).versions
            versions += page
        yield {"question": "schemas", "context": context, "answer": [encode(one) for one in versions]}
        for guid in sorted({one.guid for one in versions}):
            yield {"question": "guid", "guid": guid, "answer": told(asked.GetGuidIds(guid))}
    for name in sorted({*registry.ask(asked.ListSubjects(visible="all")).names, "free", "nowhere", ":.team:strict"}):
        subject = subject_of(name)
        yield {"question": "config", "subject": name, "answer": told(asked.GetConfig(Scope(*subject), resolve=True))}
        yield {"question": "mode", "subject": name, "answer": told(asked.GetMode(Scope(*subject), resolve=True))}
        yield {
            "question": "associations",
            "subject": name,
            "answer": told(tied.ListAssociations(tied.OfSubject(subject))),
        }


# ------------------------------------------------------------------------------------------------- the other forms


async def topic_of_any(appends: list[Append]) -> list[tuple[int, bytes | None, bytes | None]]:
    """The partition of a log with any writer: with a fold in the midst, whose prefix is deleted, a loser and a stranger."""
    partition = Partition()
    bounds = SnapshotPolicy(records=10**9, margin=50)
    log: Log = MultiWriterLog(LinkModel(partition, Storm(), random.Random(1), fetched=500), bounds=bounds)
    half = len(appends) * 2 // 3
    for one in appends[:half]:
        assert await log.append(one) is AppendResult.ACCEPTED
    partition.append(b"somebody else's", b"k")
    partition.append(appends[half - 3].envelope)
    await log.compact()
    tip = await log.tip()
    assert partition.first > 0
    chain = tip
    rest = []
    for one in appends[half:]:  # the naming of the fold took a place: the same commits again, after it
        commits = tuple(
            Commit(chain.sequence + n, commit.rows, commit.command_id, commit.time)
            for n, commit in enumerate(one.commits, 1)
        )
        moved = make_append(chain, one.attempt, commits)
        assert await log.append(moved) is AppendResult.ACCEPTED
        chain = moved.position
        rest.append(moved)
    partition.append(rest[-2].envelope)
    await log.close()
    return [(record.offset, record.key, record.value) for record in partition.records]


def topic_of_owner(appends: list[Append]) -> list[tuple[int, bytes | None, bytes | None]]:
    """The partition of a log with one owner: its first half compacted, as a cleaner leaves it, with gaps for markers."""
    records: list[tuple[int, bytes | None, bytes | None]] = []
    offset = 0
    for one in appends:
        for key, value in make_transaction(one):
            records.append((offset, key, value))
            offset += 1
        offset += 1
    half = offset // 2
    last = {key: at for at, key, _ in records if at < half}
    return [
        (at, key, value)
        for at, key, value in records
        if at >= half or (last[key] == at and (value is not None or at > half // 2))
    ]


def pack(path: Path, data: bytes) -> None:
    path.write_bytes(zstandard.ZstdCompressor(level=19 if len(data) < 1 << 24 else 3).compress(data))


def pack_topic(path: Path, records: list[tuple[int, bytes | None, bytes | None]]) -> None:
    lines = [
        json.dumps([at, *(None if one is None else one.decode("latin-1") for one in (key, value))])
        for at, key, value in records
    ]
    pack(path, ("\n".join(lines) + "\n").encode())


def main(folder: Path, count: int) -> None:
    """Write all forms."""
    assert ENVELOPE_FORMAT == 1, "this is not an older Treaty"
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "log.db")
        registry = Registry(path)
        fill(registry, count)
        imports(registry)
        below(registry)
        found = [*answers(registry)]
        appends = [*registry.appends]
        delta = registry._inner.run(registry.log.read(START))
        head = make_head(delta, "sqlite:///old/log.db", TIME)
        print(f"{len(delta.rows)} rows, {len(appends)} appends, refused: {registry.refused}", file=sys.stderr)
        pack(folder / "answers.jsonl.zst", "".join(json.dumps(one) + "\n" for one in found).encode())
        if count > FEW:
            registry._inner.run(registry.log.compact())  # texts are compressed with a dictionary
        else:
            pack(folder / "log.dump.zst", b"".join(write_dump(head, delta.rows)))
            pack_topic(folder / "any.zst", asyncio.run(topic_of_any(appends)))
            pack_topic(folder / "owner.zst", topic_of_owner(appends))
        registry.close()
        with closing(sqlite3.connect(path)) as file:
            file.execute("pragma wal_checkpoint(truncate)")
            file.execute("pragma journal_mode = delete")
            file.execute("vacuum")
        pack(folder / "log.db.zst", path.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
