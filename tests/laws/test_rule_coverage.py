"""What a rule is about, said in several ways: of some, of every, of a whole context, of a vendor, of a group."""

from itertools import product

import pytest

from treaty.core.access.rights import Access, AccessRule, Permission, Rights, TopicPart
from treaty.core.names import DEFAULT_CONTEXT, Subject

READ: frozenset[Permission] = frozenset({"read"})
NAMES = ("s", "k", "other", "com.acme/click", "com.acme/view", "com.acme.sub/click", "com.acmes/click")
"""Names of subjects and keys of sources: each pattern below covers some of them, and `*` alone covers all."""
CONTEXTS = ((".",), (".x",), ("*",), (".", ".x"))
SUBJECTS = ((), ("*",), ("s",), ("?",), ("com.acme/*",), ("com.acme/*", "com.acme.*/*"), ("*/click",), ("*", "s"))


def access_of(
    subjects: tuple[str, ...] = ("*",),
    contexts: tuple[str, ...] = (".",),
    topics: tuple[str, ...] | None = None,
    sources: tuple[str, ...] | None = None,
    *,
    private: bool = False,
) -> Access:
    return Access((AccessRule(("*",), READ, subjects, contexts, topics, private, sources),))


@pytest.mark.parametrize("subjects", SUBJECTS)
@pytest.mark.parametrize("contexts", CONTEXTS)
def test_what_holds_of_some_or_of_all_follows_from_what_holds_of_each(
    subjects: tuple[str, ...], contexts: tuple[str, ...]
) -> None:
    for private in (False, True):
        access = access_of(subjects, contexts, private=private)
        readable = {
            (context, name): access.may("read", Subject(context, name))
            for context, name in product((".", ".x", ".y"), NAMES)
        }
        for context in (".", ".x", ".y"):
            inside = [readable[context, name] for name in NAMES]
            assert access.enters(context) == any(inside)
            assert access.may_whole("read", context) == all(inside)
        assert access.may_whole("read", "*") == access.sees_all == all(readable.values())
        assert access.may_somewhere("read") == any(readable.values())
        for name in NAMES:
            assert access.may_somewhere("read", name) == any(readable[context, name] for context in (".", ".x", ".y"))
        seen = [access.may("read", Subject(".", name), private=True) for name in NAMES]
        assert access.sees_private == (all(seen) and contexts == ("*",))
        vendor = [access.may("read", Subject(".", name), private=True) for name in NAMES[3:6]]
        if "." in contexts:
            assert access.may_vendor("read", "com.acme") == all(vendor)
        assert not access.may_somewhere("mode")


@pytest.mark.parametrize("pattern", ["*", "?", "*/click", "?om.acme/*"])
def test_a_pattern_that_names_no_vendor_is_for_private_subjects_only_where_the_rule_says_so(pattern: str) -> None:
    covered = [name for name in NAMES if access_of((pattern,)).may("read", Subject(".", name))]
    assert covered
    for private in (False, True):
        access = access_of((pattern,), private=private)
        assert [access.may("read", Subject(".", name), private=True) for name in covered] == [private] * len(covered)
    assert access_of(("s", "*")).may("read", Subject(".", "s"), private=True)


@pytest.mark.parametrize("sources", [None, (), ("k",), ("*",), ("k", "o*")])
@pytest.mark.parametrize("subjects", SUBJECTS)
@pytest.mark.parametrize("contexts", CONTEXTS)
def test_a_rule_is_about_some_source_or_every_one_by_those_that_it_covers(
    sources: tuple[str, ...] | None, subjects: tuple[str, ...], contexts: tuple[str, ...]
) -> None:
    access = access_of(subjects, contexts, sources=sources)
    covered = [access.may_source("read", key) for key in NAMES]
    patterns = sources if sources is not None else subjects if {DEFAULT_CONTEXT, "*"} & {*contexts} else ()
    plain = access_of(patterns)
    assert covered == [plain.may("read", Subject(".", key)) for key in NAMES]
    assert access.may_some_source("read") == any(covered)
    assert access.may_every_source("read") == all(covered)
    assert not access.may_some_source("query")


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_topics_and_folders_are_covered_by_their_patterns_or_by_the_usual_subject(contexts: tuple[str, ...]) -> None:
    """A topic by that of the default context, or of the context with the name of its namespace; a folder by the default one."""
    parts = [TopicPart("t", namespace, kind) for namespace in ("x", "") for kind in ("key", "value")]
    usual, named = access_of(("t-value",), contexts), access_of(("t-value",), contexts, ("t", "path:t"))
    for part in parts:
        is_inside = bool({DEFAULT_CONTEXT, "*", f".{part.namespace}"} & {*contexts})
        assert usual.may_associate("read", part) == (is_inside and part.kind == "value")
        assert named.may_associate("read", part)
        assert not access_of(("*",), ("*",), ("u",)).may_associate("read", part)
    assert usual.may_path("read", "t") == bool({DEFAULT_CONTEXT, "*"} & {*contexts})
    assert named.may_path("read", "t")
    assert not access_of(("*",), ("*",), ("t", "path:u")).may_path("read", "t")


@pytest.mark.parametrize("own", [(), ("user:ada",), ("user:a*",), ("user:bob",)])
@pytest.mark.parametrize("token", [(), ("b",), ("a", "c")])
def test_a_principal_is_in_the_groups_of_the_file_and_in_those_of_its_token(
    own: tuple[str, ...], token: tuple[str, ...]
) -> None:
    rules = tuple(AccessRule((f"group:{name}",), READ, (name,)) for name in "abc")
    rights = Rights((*rules, AccessRule(("user:ada",), READ, ("d",))), {"a": frozenset(own)})
    groups = {*token} | ({"a"} if own and own != ("user:bob",) else set())
    for _ in range(2):
        access = rights.access("user:ada", token)
        assert {name for name in "abcd" if access.may("read", Subject(".", name))} == groups | {"d"}
