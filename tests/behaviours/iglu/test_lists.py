"""Superseding, lists and families: points 43 to 84 of the checklist, over scripted registries."""

import pytest

from tests.scripted_iglu import ManualClock, ScriptedRegistry, list_key, look_up, make_resolver, uris
from treaty.client.iglu import (
    NOT_FOUND,
    IgluKey,
    IgluNotFoundError,
    IgluUnavailableError,
    LookupHistory,
    RegistryFailure,
    ResolutionError,
    Resolver,
    SchemaDocument,
    SchemaVer,
    client_failure,
    http_registry,
    repo_failure,
)
from treaty.client.iglu.lookups import ends_revision

PATH = "iglu:com.acme/click/jsonschema/"
KEY, NEWER = f"{PATH}1-0-0", f"{PATH}1-0-2"
OLD = SchemaDocument({"$supersededBy": "1-0-2", "type": "string"})
NEW = SchemaDocument({"type": "integer"})
DOWN, REFUSED = repo_failure("down"), client_failure("no")


@pytest.fixture
def superseded() -> tuple[ScriptedRegistry, Resolver]:
    one = ScriptedRegistry("one")
    one.script(KEY, OLD)
    one.script(NEWER, NEW)
    return one, make_resolver(ManualClock(), [one])


def test_point_43_the_superseding_version_is_returned_and_reported(
    superseded: tuple[ScriptedRegistry, Resolver],
) -> None:
    found = superseded[1].lookup(KEY, superseding=True)
    assert (found.document, str(found.superseded_by), str(found.used_key)) == (NEW.value, "1-0-2", NEWER)


def test_point_44_without_the_flag_the_original_is_returned(superseded: tuple[ScriptedRegistry, Resolver]) -> None:
    found = superseded[1].lookup(KEY)
    assert (found.document, found.superseded_by) == (OLD.value, None)


def test_point_45_data_valid_under_the_newer_schema_alone_is_valid(
    superseded: tuple[ScriptedRegistry, Resolver],
) -> None:
    result = superseded[1].validate({"schema": KEY, "data": 7})
    assert (result.outcome, result.used_version) == ("valid", SchemaVer(1, 0, 2))


def test_point_46_the_error_of_invalid_data_names_the_newer_version(
    superseded: tuple[ScriptedRegistry, Resolver],
) -> None:
    result = superseded[1].validate({"schema": KEY, "data": "x"})
    assert result.outcome == "invalid_data"
    assert result.to_json()["supersededBy"] == "1-0-2"


@pytest.mark.parametrize("version", ["1-0", "x", 1, None, "1-0-?"])
def test_point_47_a_malformed_superseding_version_is_an_error_of_the_resolution(version: object) -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, SchemaDocument({"$supersededBy": version}))
    error = look_up(make_resolver(ManualClock(), [one]), KEY, superseding=True).error
    assert isinstance(error, IgluUnavailableError)
    assert [each.kind for each in error.failures["one"].errors] == ["ClientFailure"]


def test_point_48_a_pointer_to_an_absent_version_is_not_found() -> None:
    one = ScriptedRegistry("one")
    one.script(KEY, OLD)
    found = look_up(make_resolver(ManualClock(), [one]), KEY, superseding=True)
    assert found.failures["one"][0] == {NOT_FOUND}


@pytest.mark.parametrize("version", ["1-0-0", "1-0-1"])
def test_point_49_a_pointer_to_a_version_that_is_not_greater_is_a_failure(version: str) -> None:
    one, key = ScriptedRegistry("one"), f"{PATH}1-0-1"
    one.script(key, SchemaDocument({"$supersededBy": version}))
    found = look_up(make_resolver(ManualClock(), [one]), key, superseding=True)
    message = f"Superseding version {version} isn't greater than the version of schema com.acme/click/jsonschema/1-0-1"
    assert found.failures["one"][0] == {client_failure(message)}


def test_the_newer_schema_comes_from_the_registry_that_named_it() -> None:
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two", priority=1)
    one.script(KEY, OLD)
    two.script(NEWER, NEW)
    found = look_up(make_resolver(ManualClock(), [one, two]), KEY, superseding=True)
    assert isinstance(found.error, IgluNotFoundError)
    assert two.calls == [IgluKey.parse(KEY)]


# ---------------------------------------------------------------------------------------------------------- lists


def test_point_50_models_are_cached_separately() -> None:
    one = ScriptedRegistry("one")
    one.script(list_key(KEY), uris("com.acme", "click", "1-0-0"))
    one.script(list_key(f"{PATH}2-0-0"), uris("com.acme", "click", "2-0-0", "2-0-1"))
    resolver = make_resolver(ManualClock(), [one])
    for _ in range(2):
        assert [len(resolver.list_schemas("com.acme", "click", model).schemas) for model in (1, 2)] == [1, 2]
    assert one.count() == 2


def test_point_51_a_cached_list_without_the_schema_is_fetched_again() -> None:
    one = ScriptedRegistry("one")
    one.script(list_key(KEY), uris("com.acme", "click", "1-0-0"), uris("com.acme", "click", "1-0-0", "1-0-1"))
    resolver = make_resolver(ManualClock(), [one])
    assert len(resolver.list_schemas_like(KEY).schemas) == 1
    assert len(resolver.list_schemas_like(f"{PATH}1-0-1").schemas) == 2
    assert one.count() == 2


def test_point_52_the_next_registry_is_asked_if_the_list_lacks_the_schema() -> None:
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two", priority=1)
    one.script(list_key(KEY), uris("com.acme", "click", "1-0-0"))
    two.script(list_key(KEY), uris("com.acme", "click", "1-0-0", "1-0-1"))
    assert make_resolver(ManualClock(), [one, two]).list_schemas_like(f"{PATH}1-0-1").registry == "two"


def test_a_cached_list_that_lacks_the_schema_is_not_returned_when_no_registry_has_a_better_one() -> None:
    one = ScriptedRegistry("one")
    one.script(list_key(KEY), uris("com.acme", "click", "1-0-0"), DOWN)
    resolver = make_resolver(ManualClock(), [one])
    resolver.list_schemas("com.acme", "click", 1)
    with pytest.raises(IgluUnavailableError):
        resolver.list_schemas_like(f"{PATH}1-0-1")
    assert len(resolver.list_schemas("com.acme", "click", 1).schemas) == 1  # and it is still there


WRONG_LISTS = {
    "empty": [],
    "no array": {},
    "no texts": [1],
    "no URI": ["click"],
    "does not begin with MODEL-0-0": [f"{PATH}1-0-1"],
    "two names": [KEY, "iglu:com.acme/view/jsonschema/1-0-1"],
    "two vendors": [KEY, "iglu:com.other/click/jsonschema/1-0-1"],
    "twice": [KEY, KEY],
}


@pytest.mark.parametrize("value", WRONG_LISTS.values(), ids=WRONG_LISTS)
def test_points_55_and_104_a_wrong_list_is_a_failure_of_the_registry(value: object) -> None:
    one = ScriptedRegistry("one")
    one.script(list_key(KEY), SchemaDocument(value))
    with pytest.raises(IgluUnavailableError) as raised:
        make_resolver(ManualClock(), [one]).list_schemas("com.acme", "click", 1)
    assert [each.kind for each in raised.value.failures["one"].errors] == ["RepoFailure"]


# ------------------------------------------------------------------------------------------------------- families

FAMILY = ("1-0-0", "1-1-0", "1-1-1", "1-1-2", "1-2-0", "1-2-1", "1-2-2")


def make_family(*versions: str, name: str = "one") -> ScriptedRegistry:
    found = ScriptedRegistry(name)
    for version in versions:
        found.script(f"{PATH}{version}", SchemaDocument({"title": version}))
    return found


@pytest.mark.parametrize("count", range(1, 8), ids=FAMILY)
def test_points_56_to_62_a_family_is_what_comes_up_to_its_last_schema(count: int) -> None:
    one = make_family(*FAMILY, "1-2-3", "2-0-0")
    family = make_resolver(ManualClock(), [one]).lookup_until(f"{PATH}{FAMILY[count - 1]}")
    assert [str(member.key.version) for member in family.members] == list(FAMILY[:count])
    assert [member.document["title"] for member in family.members] == list(FAMILY[:count])
    assert not {"1-2-3", "2-0-0"} & {str(key.version) for key in one.calls if isinstance(key, IgluKey)}


@pytest.mark.parametrize(
    ("broken", "last"), [("1-2-0", "1-2-2"), ("1-1-0", "1-2-2"), ("1-2-1", "1-2-2"), ("1-1-1", "1-2-2")]
)
def test_points_63_to_66_a_schema_that_cannot_be_had_ends_the_walk_and_is_named(broken: str, last: str) -> None:
    one = make_family(*FAMILY)
    one.script(f"{PATH}{broken}", DOWN)
    with pytest.raises(IgluUnavailableError, match=broken):
        make_resolver(ManualClock(), [one]).lookup_until(f"{PATH}{last}")


def test_an_absent_schema_of_the_target_revision_or_an_addition_0_ends_the_walk() -> None:
    one = make_family("1-0-0", "1-0-1", "1-2-0", "1-2-2")
    resolver = make_resolver(ManualClock(), [one])
    with pytest.raises(IgluNotFoundError, match="1-1-0"):
        resolver.lookup_until(f"{PATH}1-2-0")
    with pytest.raises(IgluNotFoundError, match="1-0-2"):
        resolver.lookup_until(f"{PATH}1-0-3")


def test_point_67_a_model_needs_no_earlier_model() -> None:
    assert len(make_resolver(ManualClock(), [make_family("3-0-0")]).lookup_until(f"{PATH}3-0-0").members) == 1


def test_point_68_members_come_from_several_registries() -> None:
    registries = [make_family("3-0-0"), make_family("3-1-0", name="two")]
    assert len(make_resolver(ManualClock(), registries).lookup_until(f"{PATH}3-1-0").members) == 2


def test_points_69_to_71_a_family_is_cached_for_the_ttl_and_not_without_a_cache() -> None:
    clock, one = ManualClock(), make_family("1-0-0", "1-0-1")
    resolver = make_resolver(clock, [one], cache_ttl=10)
    first = resolver.lookup_until(f"{PATH}1-0-1")
    clock.advance(9_999)
    assert resolver.lookup_until(f"{PATH}1-0-1") == first
    assert one.count() == 2
    clock.advance(1)
    assert resolver.lookup_until(f"{PATH}1-0-1").resolved_at == clock.now
    assert one.count() == 4
    bare = make_resolver(clock, [one], cache_size=0)
    assert [bare.lookup_until(f"{PATH}1-0-1").is_cached for _ in range(2)] == [False, False]
    assert one.count() == 8


def test_point_72_errors_of_a_family_are_stable_within_the_ttl() -> None:
    clock, one = ManualClock(), make_family("1-0-0")
    resolver = make_resolver(clock, [one], cache_ttl=10)
    errors = []
    for _ in range(3):
        with pytest.raises(IgluNotFoundError) as raised:
            resolver.lookup_until(f"{PATH}1-0-1")
        errors.append(raised.value)
        clock.advance(3_000)
    assert errors[0] == errors[1] == errors[2]
    assert one.count() == 2


def test_point_73_a_long_mixed_sequence_stays_consistent() -> None:
    clock, one = ManualClock(), make_family("1-0-0", "1-0-1")
    one.script(f"{PATH}1-0-2", NOT_FOUND, SchemaDocument({"title": "1-0-2"}))
    resolver = make_resolver(clock, [one], cache_ttl=10)
    for step in range(30):
        assert len(resolver.lookup_until(f"{PATH}1-0-1").members) == 2
        assert resolver.lookup(KEY).document == {"title": "1-0-0"}
        if clock.now < 1_700_000_000_000 + 10_000:
            with pytest.raises(IgluNotFoundError):
                resolver.lookup_until(f"{PATH}1-0-2")
        else:
            assert len(resolver.lookup_until(f"{PATH}1-0-2").members) == 3, step
        clock.advance(1_000)


CENTRAL = (http_registry("c1", "http://iglucentral.com"), http_registry("c2", "https://mirror.iglucentral.example"))
CUSTOM = (http_registry("a", "http://a.example"), http_registry("b", "http://notiglucentral.example"))
WALK = {  # by point: the errors by registry, and whether the walk may go to the next revision
    74: ({"a": [NOT_FOUND], "c1": [NOT_FOUND]}, True),
    75: ({"a": [NOT_FOUND], "c1": [DOWN], "c2": [NOT_FOUND]}, True),
    76: ({"a": [DOWN], "c1": [NOT_FOUND]}, False),
    77: ({"a": [REFUSED], "c1": [NOT_FOUND]}, True),
    78: ({"c1": [DOWN], "c2": [DOWN]}, False),
    79: ({"a": [NOT_FOUND], "c1": [REFUSED]}, True),
    80: ({"b": [NOT_FOUND]}, True),
    81: ({"b": [DOWN]}, False),
    82: ({"b": [REFUSED]}, True),
    83: ({"a": [NOT_FOUND], "c1": [DOWN, NOT_FOUND], "c2": [DOWN]}, True),
    84: ({"a": [NOT_FOUND], "c1": [DOWN, REFUSED], "c2": [DOWN]}, True),
}


@pytest.mark.parametrize(("errors", "expected"), WALK.values(), ids=[str(point) for point in WALK])
def test_points_74_to_84_whether_a_revision_ends(errors: dict[str, list[RegistryFailure]], *, expected: bool) -> None:
    failures = {name: LookupHistory(frozenset(found), 1, 0) for name, found in errors.items()}
    assert ends_revision((*CENTRAL, *CUSTOM), ResolutionError(KEY, failures)) is expected


def test_a_family_that_expired_is_kept_while_a_schema_cannot_be_had_and_in_seed_it_is_not() -> None:
    for algorithm in ("current", "seed"):
        clock, one = ManualClock(), make_family("1-0-0")
        one.script(KEY, SchemaDocument({}), DOWN)
        resolver = make_resolver(clock, [one], cache_ttl=10, cache_size=1, algorithm=algorithm)
        resolver.lookup_until(KEY)
        look_up(resolver, f"{PATH}9-0-0")  # evicts the schema, not the family
        clock.advance(10_000)
        if algorithm == "current":
            assert resolver.lookup_until(KEY).stale["one"].errors == {DOWN}
        else:
            with pytest.raises(IgluUnavailableError):
                resolver.lookup_until(KEY)


@pytest.mark.parametrize("cache_size", [1, 10], ids=["the family expired alone", "its schemas too"])
def test_a_family_of_expired_schemas_says_so_and_tells_the_failures_of_the_last_requests_alone(cache_size: int) -> None:
    clock, one = ManualClock(), make_family("1-0-0", "1-0-1")
    for version in ("1-0-0", "1-0-1"):
        one.script(f"{PATH}{version}", SchemaDocument({}), DOWN, REFUSED)
    resolver = make_resolver(clock, [one], cache_ttl=10, cache_size=cache_size)
    assert resolver.lookup_until(f"{PATH}1-0-1").stale == {}
    for failure in (DOWN, REFUSED):
        clock.advance(10_000)
        look_up(resolver, f"{PATH}9-0-0")  # in the small cache nothing is left but the family
        stale = resolver.lookup_until(f"{PATH}1-0-1").stale["one"]
        assert (set(stale.errors), stale.attempts) == ({failure}, 1)
