"""What holds for schemas of every format, whoever stands behind the door."""

import base64
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.client.connection import Connection
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, Invalid, InvalidSchema, NotPermitted, Referenced, TooLarge
from treaty.core.schema import Draft, Metadata, Reference


def avro(fields: str, name: str = "Order") -> str:
    return f'{{"type":"record","name":"{name}","fields":[{fields}]}}'


def proto(fields: str, name: str = "Order", imports: str = "") -> str:
    return f'syntax = "proto3";\n\n{imports}message {name} {{\n{fields}}}\n'


@dataclass(frozen=True)
class Texts:
    """Texts of a format: two that fit, one that does not, and one that uses another by name."""

    format: str
    first: str
    second: str
    broken: str
    spelt: str
    """The first one as a person would write it."""
    field: str
    """A top-level name that the second adds."""
    refers: Callable[[str], str]
    """A text called X that uses the one under a name."""
    inner: tuple[str, str]
    """Two texts that may stand under a name."""
    called: Callable[[str], str]
    """The name of a reference to the text called X."""

    def draft(self, text: str, *references: Reference, metadata: Metadata | None = None) -> Draft:
        return Draft(text, self.format, references, metadata)


AVRO = Texts(
    "AVRO",
    avro('{"name":"id","type":"long"}'),
    avro('{"name":"id","type":"long"},{"name":"note","type":"string","default":""}'),
    avro('{"name":"id","type":"string"}'),
    '{ "name": "Order", "type": "record",\n "fields": [ {"type": {"type": "long"}, "name": "id"} ] }',
    "note",
    lambda name: avro(f'{{"name":"inner","type":"{name}"}}', "Outer"),
    (avro('{"name":"a","type":"int"}', "Inner"), avro('{"name":"a","type":"long"}', "Inner")),
    lambda name: name,
)
JSON = Texts(
    "JSON",
    '{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}',
    '{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"additionalProperties":false}',
    '{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}',
    '{ "type": "object", "properties": { "id": {"type": "integer"} },\n"additionalProperties": false }',
    "note",
    lambda name: f'{{"type":"object","properties":{{"inner":{{"$ref":"{name}"}}}}}}',
    ('{"type":"integer"}', '{"type":"string"}'),
    lambda name: f"{name}.json",
)
PROTOBUF = Texts(
    "PROTOBUF",
    proto("  int64 id = 1;\n"),
    proto("  int64 id = 1;\n  string note = 2;\n"),
    proto("  string id = 1;\n"),
    '// orders\nsyntax="proto3"; message Order { int64 id = 1; }',
    "note",
    lambda name: proto("  Inner inner = 1;\n", "Outer", f'import "{name}";\n\n'),
    (proto("  int32 a = 1;\n", "Inner"), proto("  string a = 1;\n", "Inner")),
    lambda name: f"{name}.proto",
)


@pytest.fixture(params=[AVRO, JSON, PROTOBUF], ids=lambda one: one.format)
def texts(request: pytest.FixtureRequest) -> Texts:
    found: Texts = request.param
    return found


def test_versions_are_registered_found_and_told(connection: Connection, texts: Texts) -> None:
    first = connection.register("s", texts.draft(texts.first)).version
    again = connection.register("s", texts.draft(texts.spelt))
    second = connection.register("s", texts.draft(texts.second)).version

    assert (first.format, first.text, first.number) == (texts.format, texts.first, 1)
    assert not again.created
    assert again.version == first
    assert second.number == 2
    assert connection.lookup("s", texts.draft(texts.spelt)) == first
    assert connection.schema(first.schema_id).format == texts.format
    assert connection.by_guid(second.guid).text == texts.second
    assert connection.versions("s") == (1, 2)


def test_a_descriptor_becomes_a_text(connection: Connection) -> None:
    made = FileDescriptorProto(name="order.proto", syntax="proto3")
    made.message_type.add(name="Order").field.add(name="id", number=1, label=1, type=3, json_name="id")
    posted = Draft(base64.b64encode(made.SerializeToString()).decode(), "PROTOBUF")
    version = connection.register("s", posted).version

    assert version.text == PROTOBUF.first
    assert connection.version("s") == version == connection.lookup("s", posted)
    assert not connection.register("s", PROTOBUF.draft(PROTOBUF.spelt)).created


def test_a_break_is_refused_with_its_findings(connection: Connection, texts: Texts) -> None:
    connection.register("s", texts.draft(texts.first))
    with pytest.raises(Incompatible) as refused:
        connection.register("s", texts.draft(texts.broken))
    told = connection.check("s", texts.draft(texts.broken))

    assert refused.value.findings == told.findings
    assert refused.value.reason.details == told.messages
    assert refused.value.reason.path == told.findings[0].path != ""
    assert refused.value.reason.allowed == told.findings[0].remedy != ""
    assert connection.check("s", texts.draft(texts.second)).compatible


def test_a_text_that_is_not_valid_is_refused_with_its_faults(connection: Connection, texts: Texts) -> None:
    with pytest.raises(InvalidSchema) as refused:
        connection.register("s", texts.draft(texts.first[:-4]))

    fault = refused.value.faults[0]
    assert (fault.line > 0, fault.column > 0, bool(fault.expected)) == (True, True, True)
    assert str(refused.value).startswith(f"Invalid schema of type {texts.format}, details: ")


def test_what_stands_at_a_reference_is_part_of_what_a_schema_is(connection: Connection, texts: Texts) -> None:
    name = texts.called("Inner")
    connection.set_level("", "NONE")
    for inner in texts.inner:
        connection.register("inner", texts.draft(inner))
    outer = texts.refers(name)
    made = [
        connection.register("outer", texts.draft(outer, Reference(name, "inner", number))).version for number in (1, 2)
    ]

    assert [one.number for one in made] == [1, 2]
    assert len({one.guid for one in made}) == len({one.schema_id for one in made}) == 2
    assert [connection.lookup("outer", texts.draft(outer, *one.references)).number for one in made] == [1, 2]
    connection.set_level("outer", "BACKWARD")
    verdict = connection.check("outer", texts.draft(outer, made[0].references[0]), 2)
    assert not verdict.compatible
    with pytest.raises(Referenced):
        connection.delete_version("inner", 1)
    with pytest.raises(InvalidSchema, match='No schema reference found for subject "nobody" and version 1'):
        connection.register("outer", texts.draft(outer, Reference(name, "nobody", 1)))
    with pytest.raises(InvalidSchema, match=f"Invalid schema of type {texts.format}"):
        connection.register("outer", texts.draft(outer))


def layered(texts: Texts, name: str, under: tuple[str, ...]) -> str:
    """A text called `name` that uses those under it."""
    if texts.format == "AVRO":
        return avro(",".join(f'{{"name":"{one}","type":"{one}"}}' for one in under), name)
    if texts.format == "JSON":
        parts = ",".join(f'{{"$ref":"{texts.called(one)}"}}' for one in under)
        return f'{{"title":"{name}","allOf":[{parts or "true"}]}}'
    fields = "".join(f"  {one} {one.lower()} = {at};\n" for at, one in enumerate(under, 1))
    return proto(fields, name, "".join(f'import "{texts.called(one)}";\n' for one in under))


def test_shared_references_cost_what_they_are(connection: Connection, texts: Texts) -> None:
    """Thirty layers of two, each of which uses both of the layer before: a billion ways, sixty texts."""
    layers: list[tuple[str, ...]] = [(), *((f"A{layer}", f"B{layer}") for layer in range(30))]
    uses: tuple[Reference, ...] = ()
    for under, names in itertools.pairwise(layers):
        uses = tuple(Reference(texts.called(one), one, 1) for one in under)
        for name in names:
            connection.register(name, texts.draft(layered(texts, name, under), *uses))

    top = texts.draft(layered(texts, "A29", layers[-2]), *uses)
    assert connection.lookup("A29", top).number == 1
    assert connection.check("A29", top).compatible


def test_a_chain_of_references_has_a_limit(connection: Connection, texts: Texts) -> None:
    connection.register("L0", texts.draft(layered(texts, "L0", ())))
    last = REFERENCE_DEPTH + 1
    for link in range(1, last):
        name, under = f"L{link}", f"L{link - 1}"
        use = Reference(texts.called(under), under, 1)
        connection.register(name, texts.draft(layered(texts, name, (under,)), use))
    over = texts.draft(layered(texts, f"L{last}", (name,)), Reference(texts.called(name), name, 1))
    with pytest.raises(TooLarge) as refused:
        connection.register(f"L{last}", over)
    assert refused.value.reason.rule == "REFERENCE_DEPTH"


def test_reserved_names_are_kept_free(connection: Connection, texts: Texts) -> None:
    connection.set_config("s", Config(validate_fields=True))
    kept = Metadata(properties=(("confluent:reserved", f"old, {texts.field}"),))
    connection.register("s", texts.draft(texts.first, metadata=kept))
    with pytest.raises(Incompatible) as refused:
        connection.register("s", texts.draft(texts.second))

    assert refused.value.reason.details[0] == (
        f"The new schema has field that conflicts with the reserved field {texts.field}."
    )
    assert refused.value.reason.rule == "RESERVED_FIELD_USED"


def test_validators_of_the_subject_are_asked(connection: Connection, texts: Texts) -> None:
    connection.set_config("s", Config(validators=("DOC_MISSING",)))
    assert connection.config("s").validators == ("DOC_MISSING",)
    with pytest.raises(InvalidSchema) as refused:
        connection.register("s", texts.draft(texts.first))
    told = connection.check("s", texts.draft(texts.first))

    assert {one.rule for one in refused.value.faults} == {"DOC_MISSING"}
    assert all(one.expected and one.line for one in refused.value.faults)
    assert [one.rule for one in told.findings] == ["DOC_MISSING"] * len(refused.value.faults)
    assert connection.set_config("s", Config(), clear=("validators",)).validators is None
    assert connection.register("s", texts.draft(texts.first)).created


def test_a_first_format_keeps_its_subject(connection: Connection, texts: Texts) -> None:
    other = next(one for one in (AVRO, JSON, PROTOBUF) if one.format != texts.format)
    connection.register("s", texts.draft(texts.first))
    with pytest.raises(Incompatible, match="Incompatible because of different schema type"):
        connection.register("s", other.draft(other.first))
    connection.set_level("s", "NONE")

    assert connection.register("s", other.draft(other.first)).version.format == other.format


@pytest.mark.parametrize("text", ["  <a/>\r\n", "\ufeff\x00 {", "ключ \U0001f600"])
def test_a_format_without_a_plug_in_is_kept_to_the_letter(doors: tuple[Connection, Connection], text: str) -> None:
    near, _ = doors
    made = near.ask(
        Register(
            subject_of("x"), Draft(text, "XML"), create_with=SubjectCreation("pravega", policy=Config(level="NONE"))
        )
    ).answer.version

    assert (made.text, made.format) == (text, "XML")
    for connection in doors:
        assert connection.version("x", 1).text == text
        assert connection.schema(made.schema_id).text == text
        assert connection.lookup("x", Draft(text, "XML")).number == 1
        with pytest.raises(InvalidSchema, match="Invalid schema type XML"):
            connection.register("y", Draft(text, "XML"))


def test_a_format_without_a_plug_in_is_neither_compared_nor_inspected(doors: tuple[Connection, Connection]) -> None:
    near, _ = doors
    subject = subject_of("x")
    near.ask(
        Register(subject, Draft("<a/>", "XML"), create_with=SubjectCreation("pravega", policy=Config(level="FULL")))
    )
    with pytest.raises(Incompatible) as refused:
        near.ask(Register(subject, Draft("<b/>", "XML"), create_with=SubjectCreation("pravega")))
    assert refused.value.findings[0].rule == "FORMAT_OPAQUE"
    near.set_config("z", Config(validators=("DOC_MISSING",)))
    with pytest.raises(NotPermitted, match="no plug-in for format XML"):
        near.ask(
            Register(
                subject_of("z"),
                Draft("<a/>", "XML"),
                create_with=SubjectCreation("pravega", policy=Config(level="NONE")),
            )
        )


def test_a_subject_of_another_api_takes_formats_without_a_plug_in_from_who_requires_it(
    doors: tuple[Connection, Connection],
) -> None:
    near, _ = doors
    near.create_subject("group", GroupSettings("pravega"))
    near.register("subject", '"int"')
    for connection in doors:
        made = connection.ask(Register(subject_of("group"), Draft("<a/>", "XML"), require_subject=True)).answer
        assert (made.version.format, made.version.text) == ("XML", "<a/>")
        for request in (
            Register(subject_of("group"), Draft("<b/>", "XML")),
            Register(subject_of("subject"), Draft("<b/>", "XML"), require_subject=True),
        ):
            with pytest.raises(InvalidSchema, match="Invalid schema type XML"):
                connection.ask(request)


def test_what_an_api_says_of_a_new_subject_does_not_come_over_http(doors: tuple[Connection, Connection]) -> None:
    _, far = doors
    with pytest.raises(Invalid, match=r"createWith\.origin"):
        far.ask(Register(subject_of("x"), Draft("<a/>", "XML"), create_with=SubjectCreation("pravega")))
    with pytest.raises(Invalid, match=r"createWith\.identity"):
        far.ask(Register(subject_of("x"), Draft("<a/>"), create_with=SubjectCreation(identity="exact")))


PERSON = "STRUCT Person (id STRING NOT NULL, age INT)"


@pytest.mark.parametrize("form", ["AVRO", "JSON", "PROTOBUF"])
def test_a_text_of_logical_types_is_the_schema_that_it_describes(connection: Connection, form: str) -> None:
    first = connection.register("people", Draft(PERSON, form)).version

    assert "STRUCT" not in first.text
    again = connection.register("people", Draft(first.text, form))
    assert (again.created, again.version.schema_id) == (False, first.schema_id)
    assert connection.lookup("people", Draft(PERSON, form)).number == 1
    assert connection.check("people", Draft(PERSON, form)).compatible
    with pytest.raises(InvalidSchema) as caught:
        connection.register("people", Draft("STRUCT Person (id WEIRD)", form))
    assert (caught.value.reason.rule, caught.value.reason.path) == ("LOGICAL_TYPE", "/id")
