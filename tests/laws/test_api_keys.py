"""What API keys and rules of vendors allow, and who may read what is private."""

from pathlib import Path

import pytest

from treaty.api.auth.settings import read_settings
from treaty.api.auth.watched_file import AuthFileError
from treaty.core.access.api_key_rules import rule_of_key, super_rule
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule, Rights, with_included
from treaty.core.messages.api_keys import ApiKeyFound, KeyAction
from treaty.core.names import EVERYWHERE, Subject

OWN, BELOW = Subject(".", "com.acme/a/jsonschema"), Subject(".", "com.acme.sub/a/jsonschema")
LIKE, OTHER = Subject(".", "com.acmecorp/a/jsonschema"), Subject(".x", "com.acme/a/jsonschema")
ALLOWED: dict[KeyAction, tuple[set[str], set[str]]] = {
    "READ": ({"read"}, {"read"}),
    "BUMP": ({"read", "bump"}, set()),
    "CREATE": ({"read", "bump", "create"}, set()),
    "CREATE_VENDOR": ({"read", "bump", "create"}, {"read", "bump", "create"}),
}


@pytest.mark.parametrize("action", ALLOWED)
def test_a_key_allows_its_action_on_its_vendor(action: KeyAction) -> None:
    access = Access((rule_of_key(ApiKeyFound("0" * 64, "com.acme", action)),))
    own, below = ALLOWED[action]
    for permission in PERMISSIONS:
        for private in (False, True):
            assert access.may(permission, OWN, private=private) is (permission in own)
            assert access.may(permission, BELOW, private=private) is (permission in below)
        assert not access.may(permission, LIKE)
        assert not access.may(permission, OTHER)


def test_a_super_key_allows_everything() -> None:
    access = Access((super_rule("0" * 64),))
    assert access.sees_private
    assert access.may_whole("admin", EVERYWHERE)
    assert access.may_vendor("admin", "com.acme")


@pytest.mark.parametrize(
    ("subjects", "private", "counts"),
    [
        (("*",), False, False),
        (("*",), True, True),
        (("*/jsonschema",), False, False),
        (("?om.acme/*",), False, False),
        (("com.*",), False, True),
        (("com.acme/*",), False, True),
        (("com.acme/a/jsonschema",), False, True),
    ],
)
def test_a_pattern_counts_for_private_subjects_if_it_names_a_vendor(
    subjects: tuple[str, ...], private: object, counts: object
) -> None:
    access = Access((AccessRule(("user:a",), with_included(("read",)), subjects, (".",), private=bool(private)),))
    assert access.may("read", OWN)
    assert access.may("read", OWN, private=True) is counts


def test_rules_name_vendors_and_super_keys() -> None:
    text = f'[api_keys]\nsuper = "{"a" * 64}"\n[[rule]]\nwho = "anonymous"\nmay = "bump"\nvendors = ["com.acme"]\n'
    settings = read_settings(text.encode(), Path("rights.toml"))
    assert settings.super_keys == {"a" * 64}
    assert settings.rights.rules[0].subjects == ("com.acme/*", "com.acme.*/*")
    both = read_settings(f'{text}subjects = "x"\nprivate = true\n'.encode(), Path("rights.toml")).rights.rules[0]
    assert both.subjects == ("x", "com.acme/*", "com.acme.*/*")
    assert both.private


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('[api_keys]\nsuper = "key"\n', "64 hex digits"),
        ('anonymous = true\n[[rule]]\nwho = "*"\nmay = "read"\nvendors = "com.*"\n', "is no vendor"),
        ('anonymous = true\n[[rule]]\nwho = "*"\nmay = "read"\nprivate = "yes"\n', "neither true nor false"),
    ],
)
def test_mistakes_are_described(wrong: str, said: str) -> None:
    with pytest.raises(AuthFileError, match=said):
        read_settings(wrong.encode(), Path("rights.toml"))


def test_rights_of_no_more_principals_are_remembered_than_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.core.access.rights.CREDENTIALS_KNOWN", 3)
    rights = Rights((AccessRule(("*",), with_included(["read"]), ("open-*",)),))
    for number in range(8):
        assert rights.access(f"user:{number}").may("read", Subject(".", "open-a"))
        assert 1 <= len(rights.accesses) <= 3
