"""Sets of descriptors with imports at Pravega's API: what a file imports comes with it, is compared with it, and is no subject."""

import base64
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from confluent_kafka.schema_registry import SchemaRegistryClient
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.real.running import Running, serving
from treaty.arrow.decode import decode
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.serializers.protobuf import ProtobufDeserializer
from treaty.plan.decode_plans import make_plan

KIND = {"serializationFormat": "Protobuf", "fullTypeName": "Protobuf"}
TYPES = {"int64": FieldDescriptorProto.TYPE_INT64, "string": FieldDescriptorProto.TYPE_STRING}
Fields = tuple[tuple[str, int, str], ...]
MONEY: Fields = (("cents", 1, "int64"),)
ORDER: Fields = (("price", 1, ".money.Money"),)


def file(path: str, message: str, fields: Fields, *needs: str) -> FileDescriptorProto:
    package = path.removesuffix(".proto")
    made = FileDescriptorProto(name=path, package=package, syntax="proto3", dependency=needs)
    body = made.message_type.add(name=message)
    for name, number, kind in fields:
        field = body.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        if kind in TYPES:
            field.type = TYPES[kind]
        else:
            field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, kind
    return made


def order(*fields: tuple[str, int, str]) -> FileDescriptorProto:
    return file("order.proto", "Order", (*ORDER, *fields), "money.proto")


def schema(*files: FileDescriptorProto) -> dict[str, Any]:
    data = base64.b64encode(FileDescriptorSet(file=files).SerializeToString(deterministic=True)).decode()
    return {"type": "order.Order", "serializationFormat": KIND, "schemaData": data, "properties": {}}


def ask(server: Running, method: str, path: str, body: object = None) -> tuple[int, Any]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


def add(server: Running, name: str, *files: FileDescriptorProto) -> tuple[int, Any]:
    return ask(server, "POST", f"/v1/groups/{name}/schemas", schema(*files))


FIRST = (file("money.proto", "Money", MONEY), order())
SECOND = (file("money.proto", "Money", MONEY), order(("note", 2, "string")))
OTHER_IMPORT = (file("money.proto", "Money", (*MONEY, ("currency", 2, "string"))), order())
OTHER_KIND = (file("money.proto", "Money", (("cents", 1, "string"),)), order())
TAKEN = (file("money.proto", "Money", MONEY), file("order.proto", "Order", (("price", 1, "string"),), "money.proto"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("sets")
    with serving(folder, "--log", f"sqlite://{folder}/log.db") as one:
        yield one
    checked = CliRunner().invoke(group, ["log", "verify", f"sqlite://{folder}/log.db"])
    assert checked.exit_code == 0, checked.output


@pytest.fixture
def made(server: Running, request: pytest.FixtureRequest) -> str:
    """A group that compares backward with all versions."""
    policy = {"policy": "BackwardTransitive"}
    properties = {"serializationFormat": KIND, "compatibility": policy, "allowMultipleTypes": False}
    name: str = request.node.name.replace("_", "-")[:60]
    assert ask(server, "POST", "/v1/groups", {"groupName": name, "groupProperties": properties})[0] == 201
    return name


def test_sets_are_compared_with_what_they_import(server: Running, made: str) -> None:
    assert add(server, made, *FIRST)[1]["id"] == 0
    assert add(server, made, *SECOND)[1]["id"] == 1
    assert add(server, made, *reversed(FIRST))[1]["id"] == 0, "the order in the set does not matter"
    status, told = add(server, made, *TAKEN)
    assert (status, told["code"]) == (409, "incompatible")
    assert not any("UNREADABLE" in reason for reason in told["reasons"])


def test_another_import_is_another_schema(server: Running, made: str) -> None:
    assert [add(server, made, *files)[1]["id"] for files in (FIRST, OTHER_IMPORT, FIRST)] == [0, 1, 0]
    found = [ask(server, "GET", f"/subjects/{made}/versions/{number}")[1] for number in (1, 2)]
    assert found[0]["schema"] == found[1]["schema"]
    assert found[0]["id"] != found[1]["id"]
    assert found[0]["guid"] != found[1]["guid"]
    for at, files in enumerate((FIRST, OTHER_IMPORT)):
        assert ask(server, "GET", f"/v1/groups/{made}/schemas/schema/{at}")[1] == schema(*files)
        path = f"/v1/groups/{made}/schemas/versions/find"
        assert ask(server, "POST", path, schema(*files))[1]["id"] == at


def test_a_field_is_compared_with_the_type_that_the_import_gives_it(server: Running, made: str) -> None:
    add(server, made, *FIRST)
    status, told = add(server, made, *OTHER_KIND)
    assert (status, told["code"]) == (409, "incompatible")
    unused = file("more.proto", "More", (("old", 1, "int64"),))
    other = file("more.proto", "More", (("old", 1, "string"),))
    for one in (unused, other):
        needs_more = order()
        needs_more.dependency.append("more.proto")
        assert add(server, made, FIRST[0], one, needs_more)[0] == 201, "no field of the file is of a type there"


def test_confluents_api_shows_the_file_and_its_descriptor(server: Running, made: str) -> None:
    add(server, made, *FIRST)
    shown = ask(server, "GET", f"/subjects/{made}/versions/1")[1]
    assert 'import "money.proto";' in shown["schema"]
    assert "references" not in shown
    printed = ask(server, "GET", f"/schemas/ids/{shown['id']}?format=serialized")[1]["schema"]
    assert FileDescriptorProto.FromString(base64.b64decode(printed)).dependency == ["money.proto"]
    assert ask(server, "GET", "/subjects?subjectPrefix=money")[1] == []


def test_confluents_api_gives_the_files_beside_the_text_that_imports_them(server: Running, made: str) -> None:
    add(server, made, *FIRST)
    shown = ask(server, "GET", f"/subjects/{made}/versions/1")[1]
    paths = (f"/schemas/ids/{shown['id']}", f"/schemas/guids/{shown['guid']}", f"/schemas?subjectPrefix={made}")
    answers = [shown, *(ask(server, "GET", path)[1] for path in paths)]
    told = [one["treaty"]["imports"] for one in (*answers[:-1], answers[-1][0])]
    files = [FileDescriptorSet.FromString(base64.b64decode(one["money.proto"])) for one in told]
    assert [one.file[0] for one in files] == [FIRST[0]] * 4
    for path in (f"/subjects/{made}", f"/subjects/{made}/versions"):
        status, refused = ask(server, "POST", path, {"schema": shown["schema"], "schemaType": "PROTOBUF"})
        assert (status, refused["error_code"]) == (422, 42201), "the text alone is no schema"
        assert "the import 'money.proto' leads nowhere" in refused["message"]
    with SchemaRegistryClient({"url": server.base}) as client:
        assert client.get_schema(shown["id"]).schema_str == shown["schema"]


def test_records_with_imported_types_are_read_over_http(server: Running, made: str) -> None:
    add(server, made, *FIRST)
    with connect(server.base) as registry:
        schema_id = registry.version(made).schema_id
        record = b"\0" + schema_id.to_bytes(4, "big") + b"\0" + b"\x0a\x02\x08\x05"
        assert ProtobufDeserializer(registry)(record).price.cents == 5
        plan = make_plan(registry, made)
        table = decode(pa.array([record], pa.binary()), plan)
        assert table["record"].to_pylist() == [{"price": {"cents": 5}}]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((order(),), "money.proto"),
        ((file("money.proto", "Money", (("cents", 0, "int64"),)), order()), "money.proto"),
        ((file("money.proto", "Coin", MONEY), order()), ""),
    ],
)
def test_a_set_that_lacks_what_it_needs_is_refused(
    server: Running, made: str, files: tuple[FileDescriptorProto, ...], said: str
) -> None:
    status, told = add(server, made, *files)
    assert status == 400
    assert said in told["message"]
    assert ask(server, "GET", f"/v1/groups/{made}/schemas")[1] == {"schemas": []}
