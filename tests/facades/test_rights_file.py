"""The file of rights: an example that works, and every mistake told with its line and with what to write instead."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.facades.doors import STRING, Provider, basic, door, write_passwords
from treaty.api.auth.authentication import LOOK_SECONDS, open_authentication, refuse_unusable_rights
from treaty.api.auth.settings import read_settings
from treaty.api.auth.watched_file import AuthFileError
from treaty.api.protection import STDERR, ProtectionSettings, open_protection
from treaty.core.access.rights import PERMISSIONS, AccessRule, with_included

EVERYTHING = """
anonymous = true            # who shows nothing is "anonymous"

[basic]
file = "passwords"
realm = "People"
remember = 60

[bearer]
issuer = "https://id.example.org/"
audience = ["treaty", "registry"]
keys = "https://id.example.org/jwks.json"
algorithms = ["RS256", "ES256"]
leeway = 5
principal = "email"
groups = "roles"
ca = "ca.pem"

[certificate]
name = "dns"

[groups]
team = ["user:ada", "cert:*.team.example"]

[[rule]]
who = "group:team"
may = ["register", "delete"]
subjects = ["orders-*", "bills-*"]
contexts = [".", ".staging"]

[[rule]]
who = ["*"]
may = ["read"]
"""


def test_a_file_with_everything(tmp_path: Path) -> None:
    told = read_settings(EVERYTHING.encode(), tmp_path / "rights.toml")
    assert told.basic is not None
    assert told.bearer is not None
    assert told.certificate is not None
    assert (told.basic.file, told.basic.realm, told.basic.remember) == (tmp_path / "passwords", "People", 60)
    assert told.bearer.audience == ("treaty", "registry")
    assert (told.bearer.keys, told.bearer.ca) == ("https://id.example.org/jwks.json", tmp_path / "ca.pem")
    assert (told.bearer.leeway, told.bearer.principal, told.bearer.groups) == (5, "email", "roles")
    assert told.certificate.name == "dns"
    assert told.anonymous
    assert told.rights.rules == (
        AccessRule(
            ("group:team",),
            frozenset({"register", "create", "bump", "read", "delete"}),
            ("orders-*", "bills-*"),
            (".", ".staging"),
        ),
        AccessRule(("*",), frozenset({"read"})),
    )


BASIC = '[basic]\nfile = "p"\n'
BEARER = '[bearer]\nissuer = "i"\naudience = "a"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": no client can authenticate; write a section [basic], [bearer] or [certificate]"),
        ("[basic\n", ", line 1: it is not TOML"),
        (BASIC + "x = [1,\n2\n", ": it is not TOML"),
        ("\nusers = 1\n", ", line 2: the member users is unknown; known: anonymous, api_keys, basic, bearer, certificate, groups, metrics, rule"),
        ('anonymous = "yes"\n', ", line 1: anonymous is neither true nor false; write anonymous = true"),
        ("basic = 1\n", ", line 1: basic is no table; write [basic]"),
        (BASIC + '[[rule]]\nwhoo = "user:a"\nmay = "read"\n', ", line 4: the member whoo in [rule] is unknown; did you mean who?"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmaj = "read"\n', ", line 5: the member maj in [rule] is unknown; did you mean may?"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "read"\nvendor = "com.a"\n', ", line 6: the member vendor in [rule] is unknown; did you mean vendors?"),
        ("annonymous = true\n" + BASIC, ", line 1: the member annonymous is unknown; did you mean anonymous?"),
        ('[basic]\nfiel = "p"\n', ", line 2: the member fiel in [basic] is unknown; did you mean file?"),
        ("[basic]\n", ", line 1: file is missing in [basic]; write file = …"),
        ('[basic]\nfile = ""\n', ", line 2: file is no text"),
        (BASIC + "remember = -1\n", ", line 3: remember is no number of seconds that may be; take 0 to 86400"),
        (BASIC + "remember = true\n", ", line 3: remember is no number"),
        (BASIC + "realm = 'a\"b'\n", ", line 3: realm goes into a header"),
        (BASIC + "secret = 1\n", ", line 3: the member secret in [basic] is unknown; known: file, realm, remember"),
        (BEARER, ", line 1: keys is missing in [bearer]"),
        (BEARER + 'keys = "http://id.example.org/k"\n', ", line 4: keys would be fetched without TLS"),
        (BEARER + 'keys = "k"\nalgorithms = ["HS256"]\n', ", line 5: algorithm 'HS256' is not known here; known: RS256, "),
        (BEARER + 'keys = "k"\nalgorithms = ["none"]\n', ", line 5: algorithm 'none' is not known here"),
        (BEARER + 'keys = "k"\nleeway = 9000\n', ", line 5: leeway is no number of seconds that may be; take 0 to 600"),
        ('[certificate]\nname = "o"\n', ", line 2: name 'o' is no member of a certificate; take one of cn, dns, uri, email"),
        (BASIC + '[groups]\na = ["ada"]\n', ", line 4: 'ada' is no member of a group"),
        (BASIC + "[groups]\na = []\n", ", line 4: a is no list of texts"),
        (BASIC + "[rule]\nwho = 1\n", ": rule is no list of tables; write [[rule]] before each"),
        (BASIC + '[[rule]]\nmay = ["read"]\n', ", line 3: who is missing in [rule]"),
        (BASIC + '[[rule]]\nwho = "user:a"\n', ", line 3: may is missing in [rule]"),
        (
            BASIC + '[[rule]]\nwho = "user:a"\nmay = "read"\n[[rule]]\nwho = "user:a"\nmay = ["write"]\n',
            f", line 8: there is no permission 'write'; take some of {', '.join(PERMISSIONS)}",
        ),
        (BASIC + '[metrics]\nwho = "ada"\n', ", line 4: who 'ada' does not say by which way they come in"),
        (BASIC + '[metrics]\nmay = "read"\n', ", line 3: who is missing in [metrics]"),
        (BASIC + '[[rule]]\nwho = "ada"\nmay = "read"\n', ", line 4: who 'ada' does not say by which way they come in"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "read"\ncontexts = ["team"]\n', ", line 6: 'team' is no context"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "read"\nsubject = ["a"]\n', ", line 6: the member subject"),
        (BASIC + '[groups]\nteam = ["user:a"]\n[[rule]]\nwho = "group:taem"\nmay = "read"\n',
         ", line 6: there is no group 'taem'; known in [groups]: team"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "read"\ntopics = "t"\n',
         ", line 6: topics are for who may register, query, insert or delete; write may = "),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "register"\ntopics = []\n', ", line 6: topics is no list of texts"),
        (BASIC + '[[rule]]\nwho = "user:a"\nmay = "register"\ntopics = "t"\ncontexts = "*"\n',
         ", line 7: contexts say nothing of topics, and the rule has no subjects; write subjects = […]"),
    ],
)  # fmt: skip
def test_every_mistake_says_where_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(AuthFileError) as told:
        read_settings(text.encode(), Path("rights.toml"))
    assert str(told.value).startswith(f"rights.toml{said}")


def test_a_rule_that_names_topics_alone_is_about_no_subject(tmp_path: Path) -> None:
    rule = BASIC + '[[rule]]\nwho = "user:a"\nmay = "register"\ntopics = ["t-*", "u"]\n'
    may = with_included(["register"])
    (alone,) = read_settings(rule.encode(), tmp_path / "r").rights.rules
    assert alone == AccessRule(("user:a",), may, (), (".",), ("t-*", "u"))
    (both,) = read_settings(f'{rule}subjects = "s"\ncontexts = ".x"'.encode(), tmp_path / "r").rights.rules
    assert both == AccessRule(("user:a",), may, ("s",), (".x",), ("t-*", "u"))


def test_a_group_that_is_not_in_the_file_may_be_in_tokens(tmp_path: Path) -> None:
    text = BEARER + 'keys = "k"\ngroups = "roles"\n[[rule]]\nwho = "group:ops"\nmay = "read"\n'
    settings = read_settings(text.encode(), tmp_path / "r")
    assert settings.rights.access("token:x", ("ops",)).rules


@pytest.mark.parametrize("data", [b"\xff", b"a = " + b"[" * 100_000])
def test_hostile_files_are_refused(data: bytes) -> None:
    with pytest.raises(AuthFileError, match=r"not UTF-8|nested too deeply|not TOML"):
        read_settings(data, Path("r"))


def test_files_that_are_not_there_and_certificates_that_nobody_verifies(tmp_path: Path) -> None:
    with pytest.raises(AuthFileError, match=r"nothing: it can't be read \(No such file or directory\)"):
        open_authentication(tmp_path / "nothing")
    file = tmp_path / "rights.toml"
    file.write_text('[basic]\nfile = "nope"\n')
    with pytest.raises(AuthFileError, match="nope: it can't be read"):
        open_authentication(file)
    file.write_text("[certificate]\n")
    with pytest.raises(AuthFileError, match="start the server with --tls-cert and --tls-client-ca"):
        refuse_unusable_rights(file, certificates=False)
    refuse_unusable_rights(file, certificates=True)


def test_an_audit_log_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_protection(ProtectionSettings(audit=tmp_path / "no" / "audit.jsonl")):
            raise AssertionError("it began")

    with pytest.raises(AuthFileError, match=r"the audit log can't be opened \(No such file or directory\)"):
        asyncio.run(run())
    assert ProtectionSettings(audit=STDERR)
    assert not ProtectionSettings()


FIRST = '[basic]\nfile = "p"\n[[rule]]\nwho = "user:ada"\nmay = ["read"]\n'


async def until(condition: object) -> None:
    for _ in range(200):
        if await condition():  # type: ignore[operator]  # a function of a story
            return
        await asyncio.sleep(LOOK_SECONDS / 10)
    raise AssertionError("it never came to be")


def test_rights_are_followed_while_the_server_runs(
    tmp_path: Path, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "rights.toml"
    file.write_text(FIRST)
    write_passwords(tmp_path / "p", ada="secret")
    (tmp_path / "keys").write_text(provider.jwks("k1"))

    async def run() -> None:
        async with door(ProtectionSettings(file)) as it:
            ada, body = basic("ada"), {"schema": STRING}
            assert await it.code("POST", "/subjects/s/versions", ada, body) == 40301
            kept = it.app.protection.authenticator.methods["basic"]  # type: ignore[union-attr]  # there are guards
            file.write_text(FIRST.replace('"read"', '"register"'))

            async def allowed() -> bool:
                return await it.code("POST", "/subjects/s/versions", ada, body) == 200

            await until(allowed)
            assert it.app.protection.authenticator.methods["basic"] is kept  # type: ignore[union-attr]  # an unchanged section stays

            file.write_text("[[rule]]\n")
            await asyncio.sleep(3.5 * LOOK_SECONDS)
            assert await allowed(), "a broken file changes nothing"
            assert "the rights do not change" in caplog.text

            file.write_text(
                f'[bearer]\nissuer = "https://id.example.org/"\naudience = "treaty"\nkeys = "{tmp_path}/keys"\n'
                '[[rule]]\nwho = "token:alice"\nmay = "admin"\ncontexts = "*"\n'
            )

            async def other_way() -> bool:
                return await it.code("GET", "/subjects", provider.bearer()) == 200

            await until(other_way)
            assert await it.code("GET", "/subjects", ada) == 40101, "that way is closed"
            answer = await it.http.get("/subjects")
            assert answer.headers["www-authenticate"] == 'Bearer realm="Treaty"'

    with caplog.at_level(logging.INFO):
        asyncio.run(run())


def test_several_ways_at_once(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "keys").write_text(provider.jwks("k1"))
    write_passwords(tmp_path / "p", ada="secret", alice="secret")
    file = tmp_path / "rights.toml"
    file.write_text(
        '[basic]\nfile = "p"\n[bearer]\nissuer = "https://id.example.org/"\naudience = "treaty"\nkeys = "keys"\n'
        '[[rule]]\nwho = ["token:alice"]\nmay = "register"\n[[rule]]\nwho = "*"\nmay = "read"\n'
    )

    async def run() -> None:
        async with door(ProtectionSettings(file)) as it:
            body = {"schema": STRING}
            assert await it.code("POST", "/subjects/s/versions", provider.bearer(), body) == 200
            assert await it.code("POST", "/subjects/s/versions", basic("alice"), body) == 40301, (
                "a user is not the token"
            )
            assert await it.code("GET", "/subjects", basic("ada")) == 200
            answer = await it.http.get("/subjects")
            assert answer.status_code == 401
            assert answer.headers.get_list("www-authenticate") == [
                'Basic realm="Treaty", charset="UTF-8"', 'Bearer realm="Treaty"',
            ]  # fmt: skip
            twice = await it.http.get("/subjects", headers=[*basic("ada").items(), *provider.bearer().items()])
            assert twice.status_code == 401
            for value in ("", "Basic", "Negotiate abc", "basicx eDp5", "Bearer", "B" * 20_000):
                assert await it.code("GET", "/subjects", {"Authorization": value}) == 40101
            assert (
                await it.code(
                    "GET", "/subjects", {"Authorization": basic("ada")["Authorization"].replace("Basic", "bASIC")}
                )
                == 200
            )

    asyncio.run(run())
