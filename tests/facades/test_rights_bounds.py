"""Bounds of what the file of rights, passwords, tokens, certificates and cookies may hold: the last value that is taken, and the next one."""

import asyncio
import http.server
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import Clock, Provider, basic, hashed, settings, shown
from treaty.api.auth import keys
from treaty.api.auth.basic import BasicSettings
from treaty.api.auth.basic import basic as open_basic
from treaty.api.auth.bearer import bearer
from treaty.api.auth.certificate import CertificateSettings, certificate
from treaty.api.auth.method import AuthenticatedPrincipal, RequestCredentials
from treaty.api.auth.passwords import BCRYPT_BYTES, password_line, read_passwords
from treaty.api.auth.sessions import SessionClaims, SessionCookies
from treaty.api.auth.settings import read_settings
from treaty.api.auth.watched_file import AuthFileError, WatchedFile
from treaty.core.access.rights import PERMISSIONS
from treaty.core.limits import PRINCIPAL_GROUPS, PRINCIPAL_LENGTH, RIGHTS_BYTES

RULE = '[[rule]]\nwho = "*"\n'
BASIC = '[basic]\nfile = "p"\n'
BEARER = '[bearer]\nissuer = "i"\naudience = "a"\n'


def takes(text: str) -> bool:
    """Whether a file of rights is taken."""
    try:
        read_settings(f"anonymous = true\n{text}".encode(), Path("rights.toml"))
    except AuthFileError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize(
    ("section", "member", "most"), [(BASIC, "remember", 86_400), (BEARER + 'keys = "k"\n', "leeway", 600)]
)
def test_a_number_of_seconds_is_taken_within_its_bounds(section: str, member: str, most: int) -> None:
    fits = [word for word in ("-1", "0", "0.5", "1", f"{most}", f"{most + 1}", "true", "false", "nan", '"5"', "[5]")
             if takes(f"{section}{member} = {word}\n")]  # fmt: skip
    assert fits == ["0", "0.5", "1", f"{most}"]


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_topics_are_for_permissions_on_topics(permission: str) -> None:
    on_topics = permission in {"register", "query", "insert", "delete", "admin"}
    assert takes(f'{RULE}may = "{permission}"\n')
    assert takes(f'{RULE}may = "{permission}"\ntopics = "t"\n') is on_topics
    assert takes(f'{RULE}may = ["read", "{permission}"]\ntopics = "t"\n') is on_topics


@pytest.mark.parametrize("with_subjects", [False, True])
@pytest.mark.parametrize("with_contexts", [False, True])
def test_contexts_beside_topics_need_subjects(*, with_subjects: bool, with_contexts: bool) -> None:
    more = ('subjects = "s"\n' if with_subjects else "") + ('contexts = "."\n' if with_contexts else "")
    assert takes(f'{RULE}may = "register"\ntopics = "t"\n{more}') is (with_subjects or not with_contexts)


def test_a_context_begins_with_a_dot_unless_it_is_all_of_them() -> None:
    words = (".", ".x", "*", ".*", "x", "", "**", "x.y")
    assert [word for word in words if takes(f'{RULE}may = "read"\ncontexts = ["{word}"]\n')] == [".", ".x", "*", ".*"]
    assert not takes(f'{RULE}may = "read"\ncontexts = [".", "x"]\n')


@pytest.mark.parametrize("path", ["", "/", "/keys?a=b"])
@pytest.mark.parametrize(
    ("place", "fits"),
    [("http://localhost", True), ("http://127.0.0.1", True), ("http://[::1]", True), ("http://localhost:80", True), ("http://[::1]:80", True),
     ("http://127.0.0.2", False), ("http://id.example", False), ("http://localhost.example", False), ("https://id.example", True)],
)  # fmt: skip
def test_keys_come_without_tls_from_this_machine_alone(place: str, path: str, *, fits: bool) -> None:
    assert takes(f'{BEARER}keys = "{place}{path}"\n') is fits


@pytest.mark.parametrize(
    ("ca", "file"), [("", None), ('ca = "ca.pem"\n', Path("/etc/ca.pem")), ('ca = "/a/ca.pem"\n', Path("/a/ca.pem"))]
)
def test_the_authority_of_keys_is_a_file_beside_that_of_rights(ca: str, file: Path | None) -> None:
    content = read_settings(f'{BEARER}keys = "https://id"\n{ca}'.encode(), Path("/etc/rights.toml"))
    assert content.bearer is not None
    assert content.bearer.ca == file


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_file_is_read_up_to_its_limit(tmp_path: Path, more: int) -> None:
    file = tmp_path / "rights"
    file.write_bytes(b"#" * (RIGHTS_BYTES + more))
    if more > 0:
        with pytest.raises(AuthFileError, match="RIGHTS_BYTES"):
            WatchedFile(file).read()
    else:
        assert len(WatchedFile(file).read()) == RIGHTS_BYTES + more


# --------------------------------------------------------------------------------------------------------------- passwords


@pytest.mark.parametrize(
    "password", ["a" * BCRYPT_BYTES, "ü" * (BCRYPT_BYTES // 2), "a:b", ":", "a" * (BCRYPT_BYTES + 1), "ü" * 37, ""]
)
def test_a_password_is_taken_as_a_whole_or_refused(tmp_path: Path, password: str) -> None:
    """Up to the bytes that bcrypt reads, with colons of its own; one with more is refused and not cut."""
    fits = 0 < len(password.encode()) <= BCRYPT_BYTES
    try:
        line = password_line("ada", password, 4)
    except ValueError:
        line = f"ada:{hashed(password.encode()[:BCRYPT_BYTES].decode('utf-8', 'ignore') or 'a')}"
        assert not fits
    else:
        assert fits
    (tmp_path / "p").write_text(line)

    async def run() -> bool:
        method = open_basic(BasicSettings(tmp_path / "p"), Clock())
        try:
            header = basic("ada", password)["Authorization"].encode()
            return isinstance(await method.check(RequestCredentials(header)), AuthenticatedPrincipal)
        finally:
            method.close()

    assert asyncio.run(run()) is fits


HASH = "$2b$04$" + "a" * 53


@pytest.mark.parametrize(
    ("lines", "fits"),
    [("", True), (f"a:{HASH}", True), (f"a:{HASH}\nb:{HASH}", True), (f"a:{HASH}\na:{HASH}", False), (f"a:{HASH}\nb:{HASH}\na:{HASH}", False),
     (f"a:{HASH}\nA:{HASH}", True), (f"{'a' * PRINCIPAL_LENGTH}:{HASH}", True), (f"{'a' * (PRINCIPAL_LENGTH + 1)}:{HASH}", False),
     (f"#a:{HASH}\na:{HASH}", True), (f":{HASH}", False), (HASH, False), (f"a:{HASH.replace('04', '03')}", False)],
)  # fmt: skip
def test_a_file_of_passwords_has_one_line_for_each_user(lines: str, *, fits: bool) -> None:
    if fits:
        assert len(read_passwords(lines.encode(), Path("p")).hashes) == lines.count(":") - lines.count("#")
    else:
        with pytest.raises(AuthFileError):
            read_passwords(lines.encode(), Path("p"))


# ------------------------------------------------------------------------------------------------- tokens and certificates


@pytest.fixture
def admits(tmp_path: Path, provider: Provider) -> Callable[..., bool]:
    """Whether a token with these claims is taken."""
    (tmp_path / "keys.json").write_text(provider.jwks("k1"))

    def check(headers: dict[str, Any] | None = None, **claims: Any) -> bool:
        async def run() -> bool:
            method = bearer(settings(tmp_path / "keys.json", groups="roles"), Clock())
            return isinstance(
                await method.check(shown(provider.token(headers=headers, **claims))), AuthenticatedPrincipal
            )

        return asyncio.run(run())

    return check


@pytest.mark.parametrize("more", [0, 1])
def test_names_and_groups_of_a_token_are_taken_up_to_their_limits(admits: Callable[..., bool], more: int) -> None:
    fits = more == 0
    assert admits(sub="a" * (PRINCIPAL_LENGTH + more)) is fits
    assert admits(roles=["a" * (PRINCIPAL_LENGTH + more)]) is fits
    assert admits(roles=[f"g{at}" for at in range(PRINCIPAL_GROUPS + more)]) is fits
    assert admits(roles=" ".join(f"g{at}" for at in range(PRINCIPAL_GROUPS + more))) is fits


@pytest.mark.parametrize(
    ("headers", "fits"),
    [({}, True), ({"typ": "at+jwt"}, True), ({"x": "y"}, True), ({"crit": ["x"], "x": "y"}, False), ({"crit": []}, False), ({"kid": "other"}, False)],
)  # fmt: skip
def test_a_token_may_have_further_headers_but_none_that_is_critical(
    admits: Callable[..., bool], headers: dict[str, Any], *, fits: bool
) -> None:
    assert admits(headers) is fits


@pytest.mark.parametrize("kind", ["cn", "dns", "uri", "email"])
@pytest.mark.parametrize(
    ("names", "fits"),
    [((), False), (("a",), True), (("a", "b"), False), (("a", "a"), False), (("",), False), (("a\n",), False),
     (("a" * PRINCIPAL_LENGTH,), True), (("a" * (PRINCIPAL_LENGTH + 1),), False)],
)  # fmt: skip
def test_a_certificate_has_one_name_of_the_kind_that_counts(kind: Any, names: tuple[str, ...], *, fits: bool) -> None:
    words = {"dns": "DNS", "uri": "URI", "email": "email"}
    other = ("commonName", "other") if kind != "cn" else ("organizationName", "other")
    peer_certificate: dict[str, object] = {
        "subject": ((other,), *(((("commonName", name),)) for name in names if kind == "cn")),
        "subjectAltName": (("IP Address", "other"), *((words[kind], name) for name in names if kind != "cn")),
        "notAfter": time.strftime("%b %d %H:%M:%S %Y GMT", time.gmtime(time.time() + 100)),
    }
    clock = Clock()

    async def run() -> object:
        return await certificate(CertificateSettings(kind), clock).check(RequestCredentials(b"", peer_certificate))

    verdict = asyncio.run(run())
    assert isinstance(verdict, AuthenticatedPrincipal) is fits
    if isinstance(verdict, AuthenticatedPrincipal):
        assert verdict.principal == f"cert:{names[0]}"
        assert 90 < verdict.until - clock() <= 100


# ---------------------------------------------------------------------------------------------------- addresses and cookies


@pytest.mark.parametrize(
    ("path", "target"), [("", "/"), ("/", "/"), ("/a/b", "/a/b"), ("/a?b=c&d", "/a?b=c&d"), ("?b=c", "/?b=c")]
)
def test_keys_are_fetched_at_the_whole_address(path: str, target: str) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.path.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert keys.fetch(f"http://127.0.0.1:{server.server_port}{path}") == target.encode()
        thread.join()


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("in_one_header", [True, False])
def test_the_session_that_is_signed_and_lasts_counts_among_several_cookies(place: int, *, in_one_header: bool) -> None:
    """A browser sends those of several paths, and those that another server of this host has set."""
    clock = Clock()
    good, foreign = SessionCookies(b"k" * 32, clock), SessionCookies(b"f" * 32, clock)
    session = SessionClaims("user:a", ("g",), "s", clock.now + 10)
    over = SessionClaims("user:b", (), "s", clock.now)
    values = [foreign.issue(session), good.issue(over), "x", "."]
    values.insert(place, good.issue(session))
    pairs = [f"treaty_session={value}" for value in values]
    headers = ["; ".join(pairs)] if in_one_header else pairs
    assert good.read([(b"cookie", header.encode()) for header in headers]) == session
    clock.now += 10
    assert good.read([(b"cookie", header.encode()) for header in headers]) is None
