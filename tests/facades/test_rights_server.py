"""A real server with rights: Confluent's own client with a password, a token and a certificate; workers, audit, warnings."""

import http.client
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests.facades.authority import Authority
from tests.facades.doors import Provider, basic, write_passwords
from tests.real.running import serving
from treaty.cli.security_options import read_security_options

RIGHTS = """
[basic]
file = "passwords"

[bearer]
issuer = "https://id.example.org/"
audience = "treaty"
keys = "keys"

[[rule]]
who = ["user:ada", "token:alice", "cert:client"]
may = ["register", "config"]
subjects = ["orders-*"]

[[rule]]
who = "user:root"
may = "admin"
contexts = "*"
"""


@pytest.fixture
def rights(tmp_path: Path, provider: Provider) -> Path:
    write_passwords(tmp_path / "passwords", ada="secret", root="secret")
    (tmp_path / "keys").write_text(provider.jwks("k1"))
    (tmp_path / "rights.toml").write_text(RIGHTS)
    return tmp_path / "rights.toml"


def client(base: str, **members: object) -> Any:
    return SchemaRegistryClient({"url": base, "max.retries": 0, **members})


def lines(path: Path, count: int) -> list[dict[str, Any]]:
    """The lines of an audit log, once there are as many."""
    for _ in range(100):
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= count:
            break
        time.sleep(0.05)
    return [json.loads(line) for line in found]


def use(it: Any) -> None:
    """What a program does with the client: what it may, and what it may not."""
    orders = it.register_schema("orders-value", Schema('"string"', "AVRO"))
    assert it.get_schema(orders).schema_str == '"string"'
    assert it.get_latest_version("orders-value").schema_id == orders
    assert "orders-value" in it.get_subjects()
    with pytest.raises(SchemaRegistryError) as told:
        it.register_schema("bills-value", Schema('"string"', "AVRO"))
    assert (told.value.http_status_code, told.value.error_code) == (403, 40301)
    with pytest.raises(SchemaRegistryError) as told:
        it.delete_subject("orders-value")
    assert told.value.error_code == 40301


def test_confluents_client_with_a_password_and_with_a_token(tmp_path: Path, rights: Path, provider: Provider) -> None:
    audit = tmp_path / "audit.jsonl"
    with serving(tmp_path, "--log", "memory:", "--auth", str(rights), "--audit", str(audit)) as server:
        with client(server.base, **{"basic.auth.user.info": "ada:secret"}) as it:
            use(it)
        token = {
            "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": provider.token(),
            "bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": "pool-1",
        }  # fmt: skip
        with client(server.base, **token) as it:
            use(it)
        for wrong in ({}, {"basic.auth.user.info": "ada:wrong"}, {**token, "bearer.auth.token": "a.b.c"}):
            with client(server.base, **wrong) as it, pytest.raises(SchemaRegistryError) as told:
                it.get_subjects()
            assert (told.value.http_status_code, told.value.error_code) == (401, 40101)
        found = lines(audit, 6)
        asked = [(one["principal"], one["kind"], one["subject"], one["outcome"]) for one in found]
        assert asked == [
            ("user:ada", "register", "orders-value", "done"),
            ("user:ada", "register", "bills-value", "refused"),
            ("user:ada", "delete-subject", "orders-value", "refused"),
            ("token:alice", "register", "orders-value", "unchanged"),
            ("token:alice", "register", "bills-value", "refused"),
            ("token:alice", "delete-subject", "orders-value", "refused"),
        ]
        assert found[0]["before"] is None
        assert found[0]["after"] == found[3]["after"] == found[3]["before"]
        assert len(found[0]["after"]["guid"]) == 36
        said = server.said.read_text() + audit.read_text()
        assert "secret" not in said
        assert provider.token()[:30] not in said


def test_the_audit_log_tells_of_every_kind_of_change(tmp_path: Path, rights: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    steps: list[tuple[str, str, object]] = [
        ("POST", "/subjects/s/versions", {"schema": '"int"'}),
        ("POST", "/subjects/s/versions", {"schema": '"long"'}),
        ("POST", "/subjects/s/versions", {"schema": '"string"'}),
        ("PUT", "/config/s", {"compatibility": "NONE"}),
        ("PUT", "/config", {"compatibility": "FULL"}),
        ("DELETE", "/config/s", None),
        ("PUT", "/mode/s", {"mode": "READONLY"}),
        ("DELETE", "/mode/s", None),
        ("DELETE", "/subjects/s/versions/1", None),
        ("DELETE", "/subjects/s", None),
        ("DELETE", "/contexts/.x", None),
    ]
    with serving(tmp_path, "--log", "memory:", "--auth", str(rights), "--audit", str(audit)) as server:
        for number, (method, path, body) in enumerate(steps):
            headers = {
                **basic("root"),
                "X-Request-ID": f"r{number}",
                "Treaty-Command": f"c{number}",
                "Content-Type": "application/json",
            }
            data = json.dumps(body).encode() if body is not None else None
            request = urllib.request.Request(server.base + path, data, headers, method=method)
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except urllib.error.HTTPError as told:
                told.close()
        rows = lines(audit, len(steps))
    assert [row["request"] for row in rows] == [f"r{n}" for n in range(len(steps))]
    assert [row["command"] for row in rows] == [f"c{n}" for n in range(len(steps))]
    assert [row["outcome"] for row in rows] == ["done"] * 2 + ["refused"] + ["done"] * 8
    assert [row.get("rule") for row in rows if row["outcome"] == "refused"] == ["TYPE_MISMATCH"]
    first, second, _, config, whole, unset, mode, _, version, subject, context = rows
    assert first["after"] == second["before"] != second["after"]
    assert version["before"]["guid"] == first["after"]["guid"]
    assert (version["after"], subject["after"]) == ({"deleted": [1]}, {"deleted": [2]})
    assert subject["before"]["guid"] == second["after"]["guid"]
    assert (config["before"], config["after"]["level"]) == (None, "NONE")
    assert (whole["context"], whole["before"]["level"], whole["after"]["level"]) == (".", "BACKWARD", "FULL")
    assert unset["before"] == config["after"]
    assert (mode["before"], mode["after"]) == (None, {"mode": "READONLY"})
    assert (context["context"], context["before"]) == (".x", None)
    sequences = [row["sequence"] for row in rows if row["outcome"] == "done"]
    assert sequences[0] >= 1
    assert sequences == sorted(sequences)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", row["time"]) for row in rows)


@pytest.mark.slow
def test_workers_all_follow_the_files_and_write_one_audit_log(tmp_path: Path, rights: Path) -> None:
    audit, log = tmp_path / "audit.jsonl", f"sqlite://{tmp_path / 'log.db'}"
    with serving(tmp_path, "--log", log, "--workers", "3", "--auth", str(rights), "--audit", str(audit)) as server:

        def statuses(password: str) -> set[int]:
            found = set()
            for n in range(30):
                place = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
                place.request(
                    "PUT",
                    "/config/orders-x",
                    json.dumps({"compatibility": ["FULL", "NONE"][n % 2]}),
                    basic("ada", password),
                )
                answer = place.getresponse()
                answer.read()
                found.add(answer.status)
                place.close()
            return found

        assert statuses("secret") == {200}
        assert len(lines(audit, 30)) == 30
        write_passwords(tmp_path / "passwords", ada="other")
        eventually(lambda: statuses("secret") == {401})
        eventually(lambda: statuses("other") == {200})  # a worker that no request met may read the file a moment later
        page = urllib.request.Request(server.base + "/metrics", headers=basic("ada", "other"))

        def counted(pattern: str) -> bool:
            with urllib.request.urlopen(page, timeout=10) as told:
                return re.search(pattern, told.read().decode(), re.MULTILINE) is not None

        eventually(lambda: counted(r"^treaty_credentials_refused_total [1-9]"))  # workers put it there with each beat
        assert counted(r"^treaty_audit_lost_total 0\.0$")


def eventually(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to be")


@contextmanager
def secure(folder: Path, *options: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Run a server with TLS; yields its address."""
    said = folder / "said.txt"
    with said.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "treaty.cli.main", "serve", "--log", "memory:", "--port", "0", *options], stderr=file
        )
    try:
        eventually(lambda: "serving" in said.read_text() or process.poll() is not None)
        found = re.search(r"serving +(https://\S+)", said.read_text())
        assert found, said.read_text()
        time.sleep(0.2)
        yield found[1], process
    finally:
        process.terminate()
        process.wait(30)


def test_a_certificate_says_who_asks(tmp_path: Path, rights: Path) -> None:
    authority = Authority(tmp_path)
    other = Authority(tmp_path, "elsewhere")
    certificate, key = authority.make("server")
    shown = {name: authority.make(name) for name in ("client", "stranger")}
    rights.write_text(RIGHTS + "\n[certificate]\n")
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key), "--tls-client-ca", str(authority.file))
    with secure(tmp_path, "--auth", str(rights), *tls) as (base, _):

        def via(name: str, **members: object) -> Any:
            files = (
                {"ssl.certificate.location": str(shown[name][0]), "ssl.key.location": str(shown[name][1])}
                if name
                else {}
            )
            return client(base, **{"ssl.ca.location": str(authority.file)}, **files, **members)

        with via("client") as it:
            use(it)
        with via("stranger") as it, pytest.raises(SchemaRegistryError) as told:
            it.get_subjects()
        assert told.value.error_code == 40301
        with via("") as it, pytest.raises(SchemaRegistryError) as told:
            it.get_subjects()
        assert told.value.error_code == 40101
        with via("stranger", **{"basic.auth.user.info": "ada:secret"}) as it:
            assert it.get_subjects() == ["orders-value"], "a header says more than a certificate"

        context = ssl.create_default_context(cafile=authority.file)
        host, port = base.removeprefix("https://").split(":")
        for name, wanted in (("client", 200), ("stranger", 403)) * 3:
            context = ssl.create_default_context(cafile=authority.file)
            context.load_cert_chain(*shown[name])
            place = http.client.HTTPSConnection(host, int(port), context=context, timeout=10)
            for _ in range(3):
                place.request("GET", "/schemas/ids/1")
                answer = place.getresponse()
                answer.read()
                assert answer.status == wanted, "the same bytes on another connection are somebody else's"
            place.close()
        context = ssl.create_default_context(cafile=authority.file)
        context.load_cert_chain(*other.make("client"))
        place = http.client.HTTPSConnection(host, int(port), context=context, timeout=10)
        with pytest.raises(OSError, match=r"alert|reset|EOF|closed"):  # TLS 1.3 tells it with the first answer
            asked(place)
        place.close()


def asked(place: http.client.HTTPSConnection) -> int:
    place.request("GET", "/schemas/ids/1")
    return place.getresponse().status


@pytest.mark.slow
def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.make("server")
    with secure(tmp_path, "--tls-cert", str(certificate), "--tls-key", str(key)) as (base, process):
        host, port = base.removeprefix("https://").split(":")

        def shown() -> str:
            return ssl.get_server_certificate((host, int(port)), ca_certs=str(authority.file), timeout=10)

        before = shown()
        assert before.split() == certificate.read_text().split()
        certificate.write_text("half a file")
        time.sleep(6)
        assert shown() == before, "what can't be used changes nothing"
        authority.make("server")
        eventually(lambda: shown() != before)
        assert shown().split() == certificate.read_text().split()
        assert process.poll() is None


def said(*options: str) -> tuple[int, str]:
    """Start a server that should not start, and return its code and what it says."""
    command = [sys.executable, "-m", "treaty.cli.main", "serve", "--log", "memory:", "--port", "0", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def test_what_cannot_be_used_is_told_at_the_start(tmp_path: Path, rights: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.make("server")
    _, wrong_key = authority.make("other")
    rights.write_text(RIGHTS.replace('"register", "config"', '"write"'))
    code, text = said("--auth", str(rights))
    assert (code, text.strip().count("\n")) == (78, 0), text
    assert f"{rights}, line 12: there is no permission 'write'; take some of read, bump, create, register" in text
    assert "there is no such file" in said("--tls-cert", str(tmp_path / "no"))[1]
    assert "give a certificate and its key" in said("--tls-cert", str(certificate), "--tls-key", str(wrong_key))[1]
    assert "--tls-key needs --tls-cert" in said("--tls-key", str(key))[1]
    rights.write_text(RIGHTS + "[certificate]\n")
    assert "start the server with --tls-cert and --tls-client-ca" in said("--auth", str(rights))[1]


@pytest.mark.parametrize(
    ("host", "options", "warned"),
    [
        ("127.0.0.1", {}, ""),
        ("::1", {}, ""),
        ("localhost", {}, ""),
        ("0.0.0.0", {}, "every client that reaches 0.0.0.0 may read, change and delete everything: --auth is not set"),
        ("::", {}, "every client that reaches :: may read, change"),
        ("host.example", {}, "every client that reaches host.example may read, change"),
        ("0.0.0.0", {"read_only": True}, "every client that reaches 0.0.0.0 may read the registry"),
        ("0.0.0.0", {"auth": Path("r")}, "passwords and tokens are sent to 0.0.0.0 unencrypted"),
        ("0.0.0.0", {"auth": Path("r"), "tls_cert": Path("c")}, ""),
        ("0.0.0.0", {"tls_cert": Path("c")}, "every client that reaches 0.0.0.0 may read, change"),
        ("0.0.0.0", {"tls_cert": Path("c"), "tls_client_ca": Path("a")}, ""),
    ],
)
def test_an_open_door_is_told(host: str, options: dict[str, Any], warned: str) -> None:
    given: dict[str, Any] = dict.fromkeys(("auth", "audit", "tls_cert", "tls_key", "tls_client_ca")) | {
        "read_only": False
    }
    found = list(read_security_options(**(given | options)).warnings(host))
    assert len(found) == bool(warned)
    assert all(one.startswith("WARNING: ") and warned in one for one in found)
