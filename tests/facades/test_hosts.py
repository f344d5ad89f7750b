"""Web pages that ask a registry: under names that are not its own, from other sites, and what headers keep them from."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from tests.facades.twin import Fixed
from treaty.api.application import build_application
from treaty.api.network.hosts import AllowedHosts, host_of
from treaty.api.protection import ProtectionSettings
from treaty.assemble.secret_files import list_warnings
from treaty.cli.main import group
from treaty.cli.security_options import read_security_options
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import SetMode
from treaty.core.messages.versions import DeleteSubject

CHANGE = {"schema": '"string"'}


def client(hosts: AllowedHosts) -> tuple[TestClient, Fixed]:
    member = Fixed()
    return TestClient(build_application(member, hosts=hosts).dispatcher, raise_server_exceptions=False), member


def guarded(*names: str) -> tuple[TestClient, Fixed]:
    return client(AllowedHosts(frozenset(names), is_guarded=True))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8081", 200),
        ("localhost.", 200),
        ("127.0.0.1:8081", 200),
        ("127.9.9.9", 200),
        ("[::1]:8081", 200),
        ("registry.example:9", 200),
        ("attacker.example", 421),
        ("attacker.example:8081", 421),
        ("localhost.attacker.example", 421),
        ("127.0.0.1.attacker.example", 421),
        ("attacker.example#localhost", 421),
        ("localhost@attacker.example", 421),
        ("10.0.0.1:8081", 421),
        ("[::2]", 421),
        ("", 421),
    ],
)
def test_a_server_of_one_machine_answers_under_its_own_names_alone(host: str, status: int) -> None:
    http, member = guarded("registry.example")
    for method, path in (("GET", "/subjects"), ("POST", "/subjects/s/versions"), ("GET", "/metrics"), ("GET", "/docs")):
        answer = http.request(method, path, headers={"Host": host}, json=CHANGE if method == "POST" else None)
        assert answer.status_code == status, (method, path)
    if status == 421:
        assert member.asked == []
        assert answer.json()["error_code"] == 421
        assert "--allowed-host" in answer.json()["message"]


def test_two_hosts_are_refused() -> None:
    http, member = guarded()
    answer = http.get("/subjects", headers=[("Host", "localhost"), ("Host", "localhost")])
    assert (answer.status_code, member.asked) == (421, [])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://127.0.0.1:8081", "Sec-Fetch-Site": "cross-site"}, 200),
        ({"Origin": "https://registry.example", "Sec-Fetch-Site": "cross-site"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Origin": "http://localhost.attacker.example"}, 403),
        ({"Origin": "http://localhost@attacker.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_a_foreign_page_changes_nothing(method: str, headers: dict[str, str], status: int) -> None:
    """As a page sends it: no content type, so that its browser asks nobody before."""
    http, member = guarded("registry.example")
    path, kind = {
        "POST": ("/subjects/s/versions", Register),
        "DELETE": ("/subjects/s", DeleteSubject),
        "PUT": ("/mode/s", SetMode),
    }[method]
    body = {"POST": b'{"schema": "\\"string\\""}', "DELETE": b"", "PUT": b'{"mode": "IMPORT"}'}[method]
    answer = http.request(method, path, headers={"Host": "localhost", **headers}, content=body)
    assert answer.status_code == status, answer.text
    assert [type(one) for one in member.asked] == ([kind] if status == 200 else [])
    read = http.get("/subjects", headers={"Host": "localhost", **headers})
    assert read.status_code == 200, "what a page may not read its browser keeps from it"
    assert "access-control-allow-origin" not in read.headers


def test_a_refusal_names_a_host_to_allow_only_where_there_is_one() -> None:
    http, _ = guarded()
    told = http.delete("/subjects/s", headers={"Host": "localhost", "Origin": "http://ui.example:90"}).json()["message"]
    assert told.endswith("start the server with --allowed-host ui.example if it may")
    told = http.delete("/subjects/s", headers={"Host": "localhost", "Origin": "null"}).json()["message"]
    assert "--allowed-host" not in told


def test_every_server_refuses_changes_that_a_browser_marks_as_another_sites() -> None:
    http, member = client(AllowedHosts(frozenset({"ui.example"})))
    for headers, status in (
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://attacker.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://ui.example"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://registry.example"}, 200),
        ({"Origin": "https://registry.example"}, 200),
        ({}, 200),
    ):
        answer = http.post("/subjects/s/versions", headers=headers, json=CHANGE)
        assert answer.status_code == status, headers
    assert len(member.asked) == 4
    assert (
        "the page of 'https://attacker.example' may change nothing here"
        in http.post(
            "/subjects/s", headers={"Sec-Fetch-Site": "cross-site", "Origin": "https://attacker.example"}, json=CHANGE
        ).text
    )


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("H:1", "h"),
        ("[::1]:1", "::1"),
        ("::1", "::1"),
        (" h ", "h"),
        ("h.", "h"),
        ("", ""),
        ("[", ""),
        (":1", ""),
        ("h:1.evil", "h:1.evil"),
        ("[::1].evil", "[::1].evil"),
    ],
)
def test_the_host_of_a_header(text: str, host: str) -> None:
    assert host_of(text) == host


# -------------------------------------------------------------------------------------------------------- headers


def test_no_answer_is_taken_for_something_else_and_no_page_frames_ours() -> None:
    http, _ = client(AllowedHosts())
    for path in (
        "/subjects",
        "/nowhere",
        "/healthz",
        "/status",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/schemas/ids/7",
    ):
        answer = http.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert "x-xss-protection" not in answer.headers
    assert http.post("/treaty/v1/ask", json={}).headers["x-content-type-options"] == "nosniff"
    page = http.get("/docs").headers
    assert (page["referrer-policy"], page["x-frame-options"]) == ("no-referrer", "DENY")
    for word in ("default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"):
        assert word in page["content-security-policy"]


# -------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--allowed-host", "https://h", "--allowed-host 'https://h' is not a host; give only its name or address"),
        ("--allowed-host", "", "is not a host"),
        (
            "--trusted-proxy",
            "proxy.local",
            "--trusted-proxy 'proxy.local' is no address of a proxy; write an address or",
        ),
    ],
)
def test_what_is_no_host_or_proxy_is_refused(option: str, value: str, words: str) -> None:
    ended = CliRunner().invoke(group, ["serve", "--log", "memory:", "--port", "0", option, value])
    assert ended.exit_code == 2
    assert words in " ".join(ended.stderr.split())


def test_workers_are_given_what_the_server_was_given() -> None:
    none = {"auth": None, "audit": None, "read_only": False, "tls_cert": None, "tls_key": None, "tls_client_ca": None}
    given = read_security_options(**none, allowed_hosts=("a", "b"), trusted_proxies=("10.0.0.0/8", "::1"))  # type: ignore[arg-type]
    flags = [
        "--allowed-host",
        "a",
        "--allowed-host",
        "b",
        "--trusted-proxy",
        "10.0.0.0/8",
        "--trusted-proxy",
        "::1/128",
    ]
    assert list(given.flags()) == flags


# ---------------------------------------------------------------------------------------------------- secret files


def test_secrets_that_others_may_read_are_warned_of(tmp_path: Path) -> None:
    rights, passwords, keys = (tmp_path / name for name in ("rights.toml", "passwords", "keys"))
    rights.write_text('[basic]\nfile = "passwords"\n')
    for file in (passwords, keys):
        file.write_text("")

    def warned(modes: tuple[int, int, int]) -> list[str]:
        for file, mode in zip((rights, passwords, keys), modes, strict=True):
            file.chmod(mode)
        return list(list_warnings(ProtectionSettings(rights), None, keys))

    assert warned((0o644, 0o600, 0o440)) == []
    found = warned((0o664, 0o644, 0o604))
    assert found == [
        f"WARNING: other users of this machine may read or change keys of metadata in {keys} (mode 0604): chmod 600 {keys}",
        f"WARNING: other users of this machine may change the rights in {rights} (mode 0664): chmod 600 {rights}",
        f"WARNING: other users of this machine may read or change the passwords in {passwords} (mode 0644): chmod 600 {passwords}",
    ]
    assert list(list_warnings(ProtectionSettings(), None, tmp_path / "none")) == []
    settings = tmp_path / "kafka.properties"
    settings.write_text("sasl.password=secret\n")
    for mode, count in ((0o640, 0), (0o644, 1)):
        settings.chmod(mode)
        assert len([*list_warnings(ProtectionSettings(), None, None, [settings])]) == count
