"""What must not hurt the real server: huge, deep, odd and wrong input has its documented error, and nothing is lost."""

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real.running import Running, serving

HUGE = "x" * 1_000_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        assert ask(running, "POST", "/subjects/kept/versions", {"schema": '"string"'})[0] == 200
        yield running
        assert running.get("/subjects/kept/versions/1")["schema"] == '"string"'
        assert "Traceback" not in running.said.read_text()


def ask(server: Running, method: str, target: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, target, data)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def nested(depth: int) -> str:
    return '{"type":"array","items":' * depth + '"int"' + "}" * depth


def wide(fields: int) -> str:
    members = [{"name": f"f{number}", "type": "int"} for number in range(fields)]
    return json.dumps({"type": "record", "name": "Wide", "fields": members})


@pytest.mark.parametrize(
    ("schema", "codes"),
    [
        (nested(5_000), {42201}),
        ("[" * 100_000, {42201}),
        ('{"type":' * 100_000, {42201}),
        (json.dumps({"type": "record", "name": HUGE, "fields": []}), None),
        (json.dumps({"type": "record", "name": "R", "fields": [{"name": HUGE, "type": "int"}]}), None),
        (json.dumps({"type": "enum", "name": "E", "symbols": [HUGE]}), None),
        (f'"{"x" * 2_000_000}"', {42209}),
        (wide(40_000), {42209}),
        ("\u0000", {42201}),
        ("null", {42201}),
        ("[]", None),
        ("[[]]", {42201}),
        ("1e999", {42201}),
        ("9" * 10_000, {42201}),
        ('{"type":"record","name":"a","name":"b","fields":[]}', None),
        ('{"type":"fixed","name":"F","size":99999999999999999999}', {42201}),
        ('{"type":"fixed","name":"F","size":-1}', {42201}),
        ('{"type":"record","name":"R","fields":{}}', {42201}),
        ('{"type":{"type":{"type":"nothing"}}}', {42201}),
        ('["int","int"]', {42201}),
        ("{}", {42201}),
        ("\ufeff{}", {42201}),
    ],
    ids=range(22),
)
def test_schemas(server: Running, schema: str, codes: set[int] | None) -> None:
    """`codes` None: valid or not, as long as it is one of the two."""
    for target in ("/subjects/hostile/versions", "/subjects/kept", "/compatibility/subjects/kept/versions"):
        status, told = ask(server, "POST", target, {"schema": schema})
        if codes is None:
            assert status in {200, 404, 409, 422}, told
        elif target == "/subjects/kept":
            assert told["error_code"] in codes | {40403}, told
        else:
            assert told["error_code"] in codes, told
        assert status < 300 or len(json.dumps(told)) < 80_000


@pytest.mark.parametrize(
    ("method", "target", "body", "code"),
    [
        ("POST", f"/subjects/{'s' * 5_000}/versions", {"schema": '"int"'}, 42208),
        ("POST", "/subjects/%00/versions", {"schema": '"int"'}, 42208),
        ("POST", "/subjects/%EF%BF%BD%7F/versions", {"schema": '"int"'}, 42208),
        ("GET", f"/subjects/{'s' * 5_000}/versions", None, 40401),
        ("GET", "/schemas/ids/-5", None, 40403),
        ("GET", "/schemas/ids/0", None, 40403),
        ("GET", "/schemas/ids/2147483647", None, 40403),
        ("GET", "/schemas/ids/2147483648", None, 404),
        ("GET", f"/schemas/guids/{'0' * 5_000}", None, 40403),
        ("GET", "/subjects/kept/versions/99999999999999999999", None, 42202),
        ("GET", f"/subjects/kept/versions/{'9' * 5_000}", None, 42202),
        ("GET", "/treaty/outcome/nobody", None, 40450),
        ("POST", "/subjects/fresh/versions", {"schema": '"int"', "version": 2**40}, 400),
        ("POST", "/subjects/fresh/versions", {"schema": '"int"', "version": 10**30}, 400),
        ("POST", "/subjects/kept/versions", {"schema": '"int"', "id": 2**40}, 400),
        ("POST", "/subjects/kept/versions", {"schema": '"int"', "schemaType": HUGE}, 42201),
        ("POST", "/subjects/kept/versions", {"schema": '"int"', "references": [None]}, 42201),
        (
            "POST",
            "/subjects/kept/versions",
            {"schema": '"int"', "references": [{"name": "n", "subject": "kept", "version": 1}] * 201},
            42209,
        ),
        ("POST", "/subjects/kept/versions", {"schema": '"int"', "references": [{"name": "n", "subject": "kept", "version": 10**30}]}, 400),
        ("POST", "/subjects/kept/versions", {"schema": '"int"', "ruleSet": {"domainRules": [{"name": "1", "type": "T"}]}}, 42210),
        ("PUT", "/config/kept", {"compatibility": HUGE}, 42203),
        ("PUT", "/mode/kept", {"mode": HUGE}, 42204),
        ("PUT", f"/config/{'s' * 5_000}", {"compatibility": "NONE"}, 42208),
        ("DELETE", "/contexts/nobody", None, None),
        ("DELETE", "/subjects/nobody?permanent=true", None, 40401),
    ],
    ids=range(25),
)  # fmt: skip
def test_names_and_numbers(server: Running, method: str, target: str, body: Any, code: int | None) -> None:
    if code is None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request(method, target)
        assert connection.getresponse().status in {204, 404}
        connection.close()
        return
    status, told = ask(server, method, target, body)
    assert told["error_code"] == code, str(told)[:500]
    assert status == (code // 100 if code > 999 else code)
    assert len(json.dumps(told)) < 80_000


def test_a_name_of_a_megabyte_is_refused_before_it_is_read(server: Running) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(f"GET /subjects/{HUGE}/versions HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            answer = connection.recv(65_536)
        except ConnectionError:  # the server hung up while the name was still coming
            answer = b"HTTP/1.1 431"
    assert answer.startswith(b"HTTP/1.1 431")
    assert server.get("/subjects/kept/versions") == [1]


def test_a_chain_of_references_longer_than_allowed_is_refused(server: Running) -> None:
    first = json.dumps({"type": "record", "name": "R0", "fields": []})
    assert ask(server, "POST", "/subjects/chain-0/versions", {"schema": first})[0] == 200
    codes = []
    for number in range(1, 40):
        text = json.dumps({"type": "record", "name": f"R{number}", "fields": [{"name": "f", "type": f"R{number - 1}"}]})
        reference = {"name": f"R{number - 1}", "subject": f"chain-{number - 1}", "version": 1}
        status, told = ask(
            server, "POST", f"/subjects/chain-{number}/versions", {"schema": text, "references": [reference]}
        )
        if status != 200:
            codes.append(told["error_code"])
            break
    assert codes == [42209]
    for number in reversed(range(40)):
        ask(server, "DELETE", f"/subjects/chain-{number}")


def test_a_command_sent_again_with_its_id_is_the_same_command(server: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    body = json.dumps({"schema": json.dumps({"type": "record", "name": "Once", "fields": []})})
    answers = []
    for _ in range(2):
        connection.request("POST", "/subjects/once/versions", body, {"Treaty-Command": "once-1"})
        answer = connection.getresponse()
        answers.append((answer.status, json.loads(answer.read()), answer.getheader("Treaty-Position")))
    assert answers[0] == answers[1]
    connection.request("GET", "/treaty/outcome/once-1")
    told = json.loads(connection.getresponse().read())
    assert (told["command"], told["sequence"]) == ("once-1", int(str(answers[0][2]).split(".")[1]))
    connection.request("GET", "/subjects", headers={"Treaty-Position": "ffff.1.ffff"})
    refused = connection.getresponse()
    assert refused.status in {400, 503}
    refused.read()
    connection.request("DELETE", "/subjects/once")
    connection.getresponse().read()
    connection.close()
