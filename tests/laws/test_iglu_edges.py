"""Iglu's resolver at its edges: numbers of configurations, limits, prefixes, formats, and what errors say with a cache and without."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.iglu.loopback import respond, run_registry
from tests.scripted_iglu import START, ManualClock, ScriptedRegistry
from treaty.client.iglu import (
    NOT_FOUND,
    HttpLimits,
    IgluKey,
    IgluNotFoundError,
    IgluRegistry,
    IgluUnavailableError,
    LookupHistory,
    RegistryFailure,
    ResolutionError,
    Resolver,
    ResolverConfig,
    ResolverConfigError,
    ResolverOptions,
    SchemaDocument,
    embedded_registry,
    http_registry,
    memory_registry,
    read_resolver_config,
    repo_failure,
)
from treaty.client.iglu import embedded as embedded_module
from treaty.client.iglu import lookups as lookups_module
from treaty.client.iglu.errors import format_time, make_error, merge_failures, parse_time
from treaty.client.iglu.lookups import read_schema_list
from treaty.client.iglu.registries import HttpSource
from treaty.core.limits import IGLU_CACHE, IGLU_ERRORS, IGLU_FAMILY

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
CONFIG = "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-"
LARGEST = 2**31 - 1

# -------------------------------------------------------------------------------------------------------- configurations


def config(addition: int, *, size: Any = 500, priority: Any = 0, **members: Any) -> dict[str, Any]:
    connection = {"http": {"uri": "http://h"}}
    repository = {"name": "r", "priority": priority, "vendorPrefixes": [], "connection": connection}
    return {"schema": f"{CONFIG}{addition}", "data": {"cacheSize": size, "repositories": [repository], **members}}


@pytest.mark.parametrize("addition", [0, 1, 2, 3, 4, 9])
def test_each_number_of_a_configuration_is_read_up_to_its_edges(addition: int) -> None:
    """Additions that are not known yet are read as the newest."""

    def is_read(**members: Any) -> bool:
        try:
            read_resolver_config(config(addition, **members))
        except ResolverConfigError:
            return False
        return True

    numbers = [
        -LARGEST - 1,
        -LARGEST,
        -1,
        0,
        1,
        IGLU_CACHE,
        IGLU_CACHE + 1,
        LARGEST,
        LARGEST + 1,
        1.5,
        2.0,
        True,
        "1",
        None,
    ]
    whole = {-LARGEST, -1, 0, 1, 2, IGLU_CACHE, IGLU_CACHE + 1, LARGEST}
    read = {name: [one for one in numbers if is_read(**{name: one})] for name in ("priority", "size", "cacheTtl")}
    wholes = [one for one in numbers if type(one) in (int, float) and one in whole]
    assert read["priority"] == wholes
    assert read["size"] == [one for one in wholes if one <= IGLU_CACHE and (addition >= 2 or one >= 0)]
    lowest = 1 if addition == 2 else 0
    assert read["cacheTtl"] == (
        [one for one in [*wholes, None] if one is None or one >= lowest] if addition >= 2 else []
    )


@pytest.mark.parametrize(
    ("uri", "base"),
    [
        ("http://h", "http://h"),
        ("http://h/", "http://h"),
        ("http://h/api//", "http://h/api/"),
        ("HTTP://h/API", "http://h/API"),
        ("https://h:1", "https://h:1"),
        ("http://h:65535/x", "http://h:65535/x"),
        ("http://h:0", ""),
        ("http://h:65536", ""),
        ("http://h/?", "http://h/?"),
        ("http://h/x#y", ""),
        ("http://h/x?y", ""),
    ],
)
def test_a_base_is_an_address_with_a_path(uri: str, base: str) -> None:
    if not base:
        with pytest.raises(ResolverConfigError, match="http"):
            http_registry("r", uri)
        return
    source = http_registry("r", uri).source
    assert isinstance(source, HttpSource)
    assert source.base == base


@pytest.mark.parametrize(("apikey", "header"), [(None, None), ("", None), ("k", "k")])
def test_an_empty_key_is_none(apikey: str | None, header: str | None) -> None:
    source = http_registry("r", "http://h", apikey=apikey).source
    assert isinstance(source, HttpSource)
    assert source.apikey == header


@pytest.mark.parametrize(
    ("prefix", "vendors"),
    [
        ("", {"com", "com.acme", "com.acme.x", "com.acmecorp"}),
        ("com", {"com", "com.acme", "com.acme.x", "com.acmecorp"}),
        ("com.", {"com", "com.acme", "com.acme.x", "com.acmecorp"}),
        ("com.acme", {"com.acme", "com.acme.x"}),
        ("com.acme.", {"com.acme", "com.acme.x"}),
        ("com.acme.x", {"com.acme.x"}),
        ("acme", set()),
    ],
)
def test_with_dots_a_prefix_ends_at_a_dot(prefix: str, vendors: set[str]) -> None:
    registry = memory_registry("r", {}, vendor_prefixes=["other", prefix])
    every = {"com", "com.acme", "com.acme.x", "com.acmecorp"}
    assert {one for one in every if registry.has_vendor(one, dots=True)} == vendors
    assert {one for one in every if registry.has_vendor(one)} == {one for one in every if one.startswith(prefix)}


# ---------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("beyond", [0, 1])
def test_an_answer_may_have_as_many_bytes_as_the_limit(beyond: int) -> None:
    body = b'{"title":"click"}'
    options = ResolverOptions(http=HttpLimits(connect_timeout=5, timeout=5, answer_bytes=len(body) - beyond))
    with run_registry() as server:
        server.replies["/api/schemas/com.acme/click/jsonschema/1-0-0"] = respond(200, body)
        with Resolver(
            ResolverConfig(), registries=[http_registry("r", f"{server.base}/api")], options=options
        ) as resolver:
            if beyond:
                with pytest.raises(IgluUnavailableError, match="an answer of more than"):
                    resolver.lookup(KEY)
            else:
                assert resolver.lookup(KEY).document == {"title": "click"}


def write_schema(root: Path, text: str) -> None:
    file = root / "schemas" / "com.acme" / "click" / "jsonschema" / "1-0-0"
    file.parent.mkdir(parents=True)
    file.write_text(text)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_file_may_have_as_many_bytes_as_the_limit(
    beyond: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"title":"click"}'
    write_schema(tmp_path, text)
    monkeypatch.setattr(embedded_module, "IGLU_ANSWER_BYTES", len(text) - beyond)
    with Resolver(ResolverConfig(), registries=[embedded_registry("r", tmp_path)]) as resolver:
        if beyond:
            with pytest.raises(IgluUnavailableError, match="IGLU_ANSWER_BYTES"):
                resolver.lookup(KEY)
        else:
            assert resolver.lookup(KEY).document == {"title": "click"}


@pytest.mark.parametrize("name", ["x.zip", "x.jar", "x.bin"])
@pytest.mark.parametrize("inner", ["", "a", "a/b", "/a/b/"])
def test_files_lie_in_a_zip_file_of_any_name_at_a_path(name: str, inner: str, tmp_path: Path) -> None:
    """A name that does not end as such files do needs the mark before the path in it."""
    folder = inner.strip("/")
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr(f"{folder + '/' if folder else ''}schemas/com.acme/click/jsonschema/1-0-0", '{"title":"x"}')
    places = [f"{name}!{inner}", *([name] if not inner and name != "x.bin" else [])]
    for place in places:
        with Resolver(ResolverConfig(), registries=[embedded_registry("r", place, folder=tmp_path)]) as resolver:
            assert resolver.lookup(KEY).document == {"title": "x"}


def uris(count: int) -> list[str]:
    return [f"iglu:com.acme/click/jsonschema/1-0-{number}" for number in range(count)]


def test_a_list_has_as_many_schemas_as_the_limit() -> None:
    whole = read_schema_list(uris(IGLU_FAMILY))
    assert isinstance(whole, tuple)
    assert len(whole) == IGLU_FAMILY
    failure = read_schema_list(uris(IGLU_FAMILY + 1))
    assert isinstance(failure, RegistryFailure)
    assert "IGLU_FAMILY" in failure.message


@pytest.mark.parametrize("cache_size", [0, 10])
def test_a_family_has_as_many_schemas_as_the_limit(cache_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups_module, "IGLU_FAMILY", 3)
    registry = memory_registry("r", {IgluKey.parse(one): {"title": one} for one in uris(5)})
    with Resolver(ResolverConfig(cache_size), registries=[registry]) as resolver:
        assert [str(one.key) for one in resolver.lookup_until(uris(3)[-1]).members] == uris(3)
        with pytest.raises(ResolutionError, match="IGLU_FAMILY"):
            resolver.lookup_until(uris(4)[-1])


# --------------------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("cache_size", [0, 10])
@pytest.mark.parametrize("format_", ["jsonschema", "avro", "x"])
def test_families_and_superseding_versions_have_the_format_of_the_key(format_: str, cache_size: int) -> None:
    """The same versions are there in another format, with other documents."""
    schemas: dict[IgluKey | str, Any] = {}
    for kind in ("jsonschema", "avro", "x"):
        for addition in range(3):
            newer = {"$supersededBy": "1-0-2"} if addition == 1 else {}
            schemas[f"iglu:com.acme/click/{kind}/1-0-{addition}"] = {"title": f"{kind} {addition}", **newer}
    with Resolver(ResolverConfig(cache_size), registries=[memory_registry("r", schemas)]) as resolver:
        family = resolver.lookup_until(f"iglu:com.acme/click/{format_}/1-0-2").members
        assert [one.document["title"] for one in family] == [f"{format_} {number}" for number in range(3)]
        superseding = resolver.lookup(f"iglu:com.acme/click/{format_}/1-0-1", superseding=True)
        assert (superseding.document["title"], str(superseding.used_key)) == (
            f"{format_} 2",
            f"iglu:com.acme/click/{format_}/1-0-2",
        )


# ---------------------------------------------------------------------------------------------------------------- errors

FAILURES = {
    "missing": NOT_FOUND,
    "gone": RegistryFailure("ClientFailure", "gone", 410),
    "refused": RegistryFailure("ClientFailure", "no", 403),
    "down": repo_failure("down"),
}


@pytest.mark.parametrize("algorithm", ["current", "seed"])
@pytest.mark.parametrize("cache_size", [0, 10])
def test_the_first_error_is_the_same_with_a_cache_and_without(algorithm: str, cache_size: int) -> None:
    """A schema is nowhere if all registries say so; the older algorithm takes 410 for that too. Without a cache registries are asked at once again."""
    for first, failure in FAILURES.items():
        for second, other in FAILURES.items():
            clock = ManualClock()
            scripted = {"a": ScriptedRegistry("a"), "b": ScriptedRegistry("b")}
            scripted["a"].script(KEY, failure)
            scripted["b"].script(KEY, other)
            registries = [one.registry for one in scripted.values()]
            options = ResolverOptions(algorithm=algorithm, clock=clock)
            missing = {"missing"} if algorithm == "current" else {"missing", "gone"}
            resolver = Resolver(ResolverConfig(cache_size), registries=registries, options=options)
            with resolver, pytest.raises(ResolutionError) as raised:
                resolver.lookup(KEY)
            expected = IgluNotFoundError if {first, second} <= missing else IgluUnavailableError
            assert type(raised.value) is expected, (first, second)
            if not cache_size:
                assert {*raised.value.next_attempts.values()} == {START}


def history(*errors: RegistryFailure, attempts: int = 1, last: RegistryFailure | None = None) -> LookupHistory:
    return LookupHistory(frozenset(errors), attempts, START, last=last)


def test_histories_of_either_side_stay_when_both_are_merged() -> None:
    old = {"a": history(NOT_FOUND), "b": history(FAILURES["down"], attempts=2)}
    new = {"b": history(NOT_FOUND, attempts=3), "c": history(FAILURES["refused"])}
    merged = merge_failures(old, new)
    assert merged == {"a": old["a"], "b": history(NOT_FOUND, FAILURES["down"], attempts=3), "c": new["c"]}


def test_a_final_history_stays_final_without_what_is_missing() -> None:
    for is_final in (True, False):
        added = LookupHistory().add(NOT_FOUND, START, is_final=is_final).forget_missing()
        assert (added.is_final, added.errors, added.last, added.attempts) == (is_final, frozenset(), None, 1)


def test_as_many_distinct_failures_are_remembered_as_the_limit() -> None:
    remembered = LookupHistory()
    for number in range(IGLU_ERRORS + 2):
        remembered = remembered.add(repo_failure(f"{number:05}"), START)
        assert len(remembered.errors) == min(number + 1, IGLU_ERRORS)
        assert remembered.attempts == number + 1


@pytest.mark.parametrize(
    ("histories", "is_missing"),
    [
        ({}, True),
        ({"a": history(NOT_FOUND)}, True),
        ({"a": history(NOT_FOUND), "b": history(FAILURES["down"])}, False),
        ({"a": history(FAILURES["down"])}, False),
        ({"a": history(NOT_FOUND, FAILURES["down"])}, False),
        ({"a": history(NOT_FOUND, FAILURES["down"], last=NOT_FOUND)}, True),
        ({"a": history(NOT_FOUND, last=FAILURES["down"])}, False),
    ],
)
def test_a_schema_is_nowhere_where_each_registry_says_so_last(
    histories: dict[str, LookupHistory], *, is_missing: bool
) -> None:
    error = make_error("x", histories, dict.fromkeys(histories, START))
    assert type(error) is (IgluNotFoundError if is_missing else IgluUnavailableError)
    copied = pickle.loads(pickle.dumps(error))
    assert (copied, copied.next_attempts, str(copied)) == (error, error.next_attempts, str(error))


@pytest.mark.parametrize("milliseconds", [0, 1, 9, 10, 99, 100, 999, 1000, START, START + 7, START + 70, START + 700])
def test_a_time_comes_back_from_its_text(milliseconds: int) -> None:
    assert parse_time(format_time(milliseconds)) == milliseconds


# ------------------------------------------------------------------------------------------------------------ validators


def test_a_schema_and_the_one_that_supersedes_it_have_validators_of_their_own() -> None:
    """They were resolved at one time, and the value names the same schema."""
    clock, registry = ManualClock(), ScriptedRegistry("r")
    newer = IgluKey.parse("iglu:com.acme/click/jsonschema/1-0-1")
    registry.script(KEY, SchemaDocument({"type": "string", "$supersededBy": "1-0-1"}))
    registry.script(newer, SchemaDocument({"type": "integer"}), SchemaDocument({"type": "integer"}))
    options = ResolverOptions(clock=clock)
    with Resolver(ResolverConfig(), registries=[registry.registry], options=options) as resolver:
        for _ in range(2):
            assert resolver.validate({"schema": KEY, "data": 5}).outcome == "valid"
            assert resolver.validate({"schema": KEY, "data": "x"}).outcome == "invalid_data"
            assert resolver.validate({"schema": str(newer), "data": 5}).superseded_by is None


@pytest.mark.parametrize("data", [None, 0, "", [], {}, False])
def test_data_that_is_nothing_is_data(data: Any) -> None:
    registry = memory_registry("r", {KEY: {}})
    with Resolver(ResolverConfig(), registries=[registry]) as resolver:
        assert resolver.validate({"schema": KEY, "data": data}).outcome == "valid"
        assert resolver.validate({"schema": KEY}).outcome == "malformed"


def test_a_value_that_no_schema_was_found_for_was_validated_with_no_version() -> None:
    registries: list[IgluRegistry] = [memory_registry("r", {KEY: {"type": "string"}})]
    with Resolver(ResolverConfig(), registries=registries) as resolver:
        used = {key: resolver.validate({"schema": key, "data": 5}).used_version for key in (KEY, uris(2)[-1])}
    assert [str(one) for one in used.values()] == ["1-0-0", "None"]
