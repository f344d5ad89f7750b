"""Configurations, the order of registries, and registries of files: points 1 to 18, 53, and 103 to 107 of the checklist."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.iglu import schemas
from treaty.client.iglu import (
    BUILT_IN,
    NOT_FOUND,
    IgluKey,
    IgluKeyError,
    IgluNotFoundError,
    IgluUnavailableError,
    Resolver,
    ResolverConfig,
    ResolverConfigError,
    ResolverOptions,
    SchemaCriterion,
    SchemaVer,
    embedded_registry,
    http_registry,
    load_resolver_config,
    memory_registry,
    read_resolver_config,
)
from treaty.client.iglu.registries import HttpSource, order_registries

KEY, PATH = "iglu:com.acme/click/jsonschema/1-0-0", "schemas/com.acme/click/jsonschema/1-0-0"
CONFIG = "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/"
HTTP = {"http": {"uri": "http://iglucentral.com"}}
EMBEDDED = {"embedded": {"path": "/embed-schemas"}}


def entry(name: str = "r", connection: Any = HTTP, priority: Any = 0, prefixes: Any = ()) -> dict[str, Any]:
    return {"name": name, "priority": priority, "vendorPrefixes": list(prefixes), "connection": connection}


def config(version: str, *repositories: Any, **members: Any) -> dict[str, Any]:
    return {"schema": CONFIG + version, "data": {"cacheSize": 500, "repositories": list(repositories), **members}}


def test_point_1_matching_embedded_then_built_in_then_other_embedded_then_http() -> None:
    with Resolver(
        read_resolver_config(
            config(
                "1-0-0",
                entry("http", HTTP, 1),
                entry("matching late", EMBEDDED, 100, ["com.acme"]),
                entry("other", EMBEDDED, 0, ["de.acme"]),
                entry("matching early", EMBEDDED, 40, ["com.acme"]),
            )
        )
    ) as resolver:
        ordered = [one.name for one in order_registries(resolver.registries, "com.acme")]
    assert ordered == ["matching early", "matching late", BUILT_IN, "other", "http"]


def test_a_matching_http_registry_is_asked_before_an_embedded_one_that_does_not_match() -> None:
    http, local = http_registry("http", "http://h", vendor_prefixes=["com.acme"]), embedded_registry("local", "x")
    assert [one.name for one in order_registries([local, http], "com.acme")] == ["http", "local"]


@pytest.mark.parametrize(
    ("vendor", "raw", "dots"),
    [("com.acme", True, True), ("com.acmecorp", True, False), ("com.acme.web", True, True), ("com", False, False)],
)
def test_point_12_a_prefix_is_raw_and_ends_at_dots_as_an_option(vendor: str, *, raw: bool, dots: bool) -> None:
    one = http_registry("r", "http://h", vendor_prefixes=["com.acme"])
    assert (one.has_vendor(vendor), one.has_vendor(vendor, dots=True)) == (raw, dots)
    every = http_registry("r", "http://h", vendor_prefixes=[""])
    assert every.has_vendor(vendor)
    assert every.has_vendor(vendor, dots=True)


def test_points_2_3_and_8_configurations_1_0_0_and_1_0_2_are_read() -> None:
    first = read_resolver_config(json.dumps(config("1-0-0", entry("a"), entry("b", EMBEDDED, 7, ["com"]))))
    assert (first.cache_size, first.cache_ttl, [one.name for one in first.registries]) == (500, None, ["a", "b"])
    assert (first.registries[1].priority, first.registries[1].vendor_prefixes) == (7, ("com",))
    null = {"http": {"uri": "http://h/api/", "apikey": None}}
    second = read_resolver_config(config("1-0-2", entry("a", null), cacheTtl=10))
    assert (second.cache_ttl, second.registries[0].source) == (10, HttpSource("http://h/api", None))


def test_points_6_and_7_a_key_is_read_and_never_printed() -> None:
    read = read_resolver_config(config("1-0-1", entry("a", {"http": {"uri": "http://h", "apikey": "secret"}})))
    source = read.registries[0].source
    assert isinstance(source, HttpSource)
    assert source.apikey == "secret"
    assert "secret" not in repr(read)


def test_configurations_of_1_0_3_may_switch_the_cache_off_by_a_ttl_of_0() -> None:
    assert not read_resolver_config(config("1-0-3", cacheTtl=0)).has_cache
    assert read_resolver_config(config("1-0-3", cacheTtl=None)).has_cache


WRONG: dict[str, tuple[Any, str, str]] = {
    "4 another schema": (
        {"schema": "iglu:a/b/jsonschema/1-0-0", "data": {}},
        "schema",
        "resolver-config/jsonschema/1-0-*",
    ),
    "4 another model": (config("2-0-0"), "schema", "resolver-config/jsonschema/1-0-*"),
    "4 no URI": ({"schema": "x", "data": {}}, "schema", "1-0-*"),
    "5 equal names": (config("1-0-0", entry("X"), entry("X")), "data.repositories", "'X' encountered 2 times"),
    "the built-in name": (config("1-0-0", entry(BUILT_IN)), "data.repositories", "another name"),
    "9 neither kind": (config("1-0-0", entry("a", {})), "data.repositories[0].connection", "embedded"),
    "9 another kind": (config("1-0-0", entry("a", {"s3": {}})), "data.repositories[0].connection.s3", "embedded, http"),
    "9 both kinds": (config("1-0-0", entry("a", {**HTTP, **EMBEDDED})), "data.repositories[0].connection", "one of"),
    "no data": ({"schema": CONFIG + "1-0-0"}, "the configuration", "data is missing"),
    "no object": ([], "the configuration", "an object"),
    "no JSON": ("{", "the configuration", "not JSON"),
    "a member too many": (config("1-0-0", cacheTTL=1), "data.cacheTTL", "cacheSize, cacheTtl, repositories"),
    "a TTL before 1-0-2": (config("1-0-1", cacheTtl=1), "data.cacheTtl", "from 1-0-2 on"),
    "a TTL of 0 before 1-0-3": (config("1-0-2", cacheTtl=0), "data.cacheTtl", "from 1"),
    "a fractional size": (config("1-0-2", cacheSize=1.5), "data.cacheSize", "a whole number"),
    "a negative size in 1-0-0": (config("1-0-0", cacheSize=-1), "data.cacheSize", "a whole number from 0"),
    "a size that is true": (config("1-0-0", cacheSize=True), "data.cacheSize", "a whole number"),
    "a size past the limit": (config("1-0-0", cacheSize=2_000_000), "data.cacheSize", "IGLU_CACHE"),
    "a key before 1-0-1": (
        config("1-0-0", entry("a", {"http": {"uri": "http://h", "apikey": "k"}})),
        "data.repositories[0].connection.http.apikey",
        "an object with uri",
    ),
    "a key with a line break": (
        config("1-0-1", entry("a", {"http": {"uri": "http://h", "apikey": "k\r\nx: y"}})),
        "data.repositories[0].connection.http.apikey",
        "ASCII",
    ),
    "no name": (config("1-0-0", {"priority": 0}), "data.repositories[0]", "name"),
    "a priority that is text": (config("1-0-0", entry(priority="1")), "data.repositories[0].priority", "whole number"),
    "prefixes that are a text": (
        config("1-0-0", {**entry(), "vendorPrefixes": "com"}),
        "data.repositories[0].vendorPrefixes",
        "an array",
    ),
    "a prefix that is a number": (
        config("1-0-0", entry(prefixes=[1])),
        "data.repositories[0].vendorPrefixes[0]",
        "a text",
    ),
    "an empty path": (
        config("1-0-0", entry(connection={"embedded": {"path": ""}})),
        "data.repositories[0].connection.embedded.path",
        "a folder",
    ),
}
for uri in ("ftp://h", "http://", "h", "http://u:p@h", "http://h?x", "http://h#x", "http://h:99999", "http://a b"):
    wrong = config("1-0-0", entry("a", {"http": {"uri": uri}}))
    WRONG[f"uri {uri}"] = (wrong, "data.repositories[0].connection.http.uri", "http(s)://host")


@pytest.mark.parametrize(("value", "path", "words"), WRONG.values(), ids=WRONG)
def test_points_4_5_and_9_an_error_names_the_member_and_what_is_allowed(value: Any, path: str, words: str) -> None:
    with pytest.raises(ResolverConfigError) as raised:
        read_resolver_config(value)
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert "; allowed is " in message
    assert ":p@" not in message


def test_names_are_unique_among_registries_given_in_code_too() -> None:
    with pytest.raises(ResolverConfigError, match="encountered 2 times"):
        Resolver(ResolverConfig(), registries=[memory_registry("m", {}), memory_registry("m", {})])
    with pytest.raises(ResolverConfigError, match="current or seed"):
        Resolver(ResolverConfig(), options=ResolverOptions(algorithm="newest"))


@pytest.mark.parametrize(
    ("size", "ttl", "expected"),
    [
        (10, 10, True),
        (10, None, True),
        (0, 10, False),
        (0, None, False),
        (10, -10, False),
        (10, 0, False),
        (-1, 1, False),
    ],
)
def test_point_10_there_is_a_cache_if_size_and_ttl_allow_it(size: int, ttl: int | None, *, expected: bool) -> None:
    assert ResolverConfig(size, ttl).has_cache is expected


def test_point_11_a_base_with_or_without_a_slash_gives_one_path() -> None:
    for base in ("http://h/api", "http://h/api/"):
        source = http_registry("r", base).source
        assert isinstance(source, HttpSource)
        assert source.url_of(IgluKey.parse(KEY)) == f"http://h/api/{PATH}"


@pytest.mark.parametrize("version", ["1-0-0", "1-0-1", "1-0-2", "1-0-3"])
def test_the_built_in_registry_has_the_schemas_of_configurations_and_values_as_published(version: str) -> None:
    resolver = Resolver(ResolverConfig())
    for path in (f"com.snowplowanalytics.iglu/resolver-config/jsonschema/{version}", SELF_DESCRIBING):
        assert resolver.lookup(f"iglu:{path}").document == json.loads(schemas()[path])
    assert resolver.validate(config(version, entry())).is_valid


SELF_DESCRIBING = "com.snowplowanalytics.self-desc/instance-iglu-only/jsonschema/1-0-0"


# ---------------------------------------------------------------------------------------------- registries of files


def write_files(folder: Path) -> Path:
    for version in ("1-0-0", "1-2-11", "1-2-0", "2-0-0", "1-0-x"):
        file = folder / "schemas/com.acme/click/jsonschema" / version
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"title": version}))
    (folder / "schemas/com.acme/click/jsonschema/1-0-1").write_text("")
    return folder


def make_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The same files as a folder, in a zip file, below a folder of one, and in a package."""
    folder = write_files(tmp_path / "folder")
    for archive, prefix in (("plain.zip", ""), ("inner.jar", "inner/")):
        with zipfile.ZipFile(tmp_path / archive, "w") as file:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    file.write(path, prefix + path.relative_to(folder).as_posix())
    package = tmp_path / "acme_iglu"
    write_files(package)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    zipped, inner = str(tmp_path / "plain.zip"), f"{tmp_path / 'inner.jar'}!inner"
    return {"folder": str(folder), "zip": zipped, "inner": inner, "package": "package:acme_iglu"}


@pytest.mark.parametrize("kind", ["folder", "zip", "inner", "package"])
def test_points_13_to_18_and_53_schemas_of_files(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_places(tmp_path, monkeypatch)[kind]
    resolver = Resolver(ResolverConfig(), registries=[embedded_registry("files", place), memory_registry("m", {})])
    assert resolver.lookup(KEY).document == {"title": "1-0-0"}  # 16
    with pytest.raises(IgluNotFoundError) as absent:  # 13, 17
        resolver.lookup("iglu:com.acme/click/jsonschema/9-0-0")
    assert {name: one.errors for name, one in absent.value.failures.items()} == dict.fromkeys(
        ("files", "m", BUILT_IN), frozenset({NOT_FOUND})
    )
    with pytest.raises(IgluUnavailableError) as corrupt:  # 14, 15, 18
        resolver.lookup("iglu:com.acme/click/jsonschema/1-0-1")
    said = {name: [str(each) for each in one.errors] for name, one in corrupt.value.failures.items()}
    assert said == {
        "files": ["RepoFailure: ParsingFailure: exhausted input"],
        "m": ["NotFound"],
        BUILT_IN: ["NotFound"],
    }
    listed = [str(one.version) for one in resolver.list_schemas("com.acme", "click", 1).schemas]
    assert listed == ["1-0-0", "1-0-1", "1-2-0", "1-2-11"]  # 53


@pytest.mark.parametrize("place", ["none", "none.zip", "package:no_such_package_of_iglu", "package:json/none!"])
def test_a_place_that_is_not_there_is_a_failure_and_no_missing_schema(place: str, tmp_path: Path) -> None:
    where = place if place.startswith("package:") else str(tmp_path / place)
    resolver = Resolver(ResolverConfig(), registries=[embedded_registry("files", where)])
    error = IgluNotFoundError if place.startswith("package:json") else IgluUnavailableError
    with pytest.raises(error):
        resolver.lookup(KEY)


def test_a_vendor_cannot_leave_the_folder(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder")
    (tmp_path / "folder/click/jsonschema").mkdir(parents=True)
    (tmp_path / "folder/click/jsonschema/1-0-0").write_text("{}")
    resolver = Resolver(ResolverConfig(), registries=[embedded_registry("files", folder)])
    with pytest.raises(IgluNotFoundError):
        resolver.lookup("iglu:../click/jsonschema/1-0-0")


def test_a_file_past_the_limit_is_a_failure(tmp_path: Path) -> None:
    folder = write_files(tmp_path)
    (folder / PATH).write_text(json.dumps("x" * 2_200_000))
    with pytest.raises(IgluUnavailableError, match="IGLU_ANSWER_BYTES"):
        Resolver(ResolverConfig(), registries=[embedded_registry("files", folder)]).lookup(KEY)


def test_relative_paths_begin_at_the_folder_of_the_configuration(tmp_path: Path) -> None:
    write_files(tmp_path / "files")
    file = tmp_path / "resolver.json"
    file.write_text(json.dumps(config("1-0-3", entry("a", {"embedded": {"path": "files"}}))))
    assert load_resolver_config(file).registries[0].name == "a"
    assert Resolver(file).lookup(KEY).registry == "a"
    assert Resolver(str(file)).lookup(KEY).registry == "a"


# ------------------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("iglu:com.acme/click/jsonschema/01-0-0", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/0-0-0", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-0", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-0-0-0", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-?-?", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-0-2147483648", "INVALID_SCHEMAVER"),
        (f"iglu:com.acme/click/jsonschema/1-0-{'9' * 3000}", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-0-١", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/click/jsonschema/1-0-0\n", "INVALID_SCHEMAVER"),
        ("iglu:com.acme/cl.ick/jsonschema/1-0-0", "INVALID_IGLUURI"),
        ("iglu:com.acme/click/jsonschema", "INVALID_IGLUURI"),
        ("iglu:com.acme%2Fclick/jsonschema/1-0-0", "INVALID_IGLUURI"),
        ("iglu:com.acme/cl%69ck/jsonschema/1-0-0", "INVALID_IGLUURI"),
        ("com.acme/click/jsonschema/1-0-0", "INVALID_IGLUURI"),
        ("http:com.acme/click/jsonschema/1-0-0", "INVALID_IGLUURI"),
    ],
)
def test_point_103_what_is_no_uri_of_a_schema_is_refused_with_its_code(uri: str, code: str) -> None:
    with pytest.raises(IgluKeyError) as raised:
        IgluKey.parse(uri)
    assert raised.value.code == code


def test_point_103_a_uri_survives() -> None:
    uri = "iglu:com.acme-corp_x/Click_2-b/avro/10-2147483647-0"
    assert str(IgluKey.parse(uri)) == uri


CRITERIA = [
    ("iglu:a.b/c/jsonschema/1-0-*", "1-0-7", True),
    ("iglu:a.b/c/jsonschema/1-0-*", "1-1-0", False),
    ("iglu:a.b/c/jsonschema/*-*-*", "9-8-7", True),
    ("iglu:a.b/c/jsonschema/*-0-0", "9-0-0", True),
    ("iglu:a.b/c/jsonschema/2-*-1", "2-5-1", True),
    ("iglu:a.b/c/jsonschema/2-*-1", "2-5-2", False),
    ("iglu:a.b/c/jsonschema/1-0-*", "1-?-?", True),
    ("iglu:a.b/c/jsonschema/2-0-*", "1-?-?", False),
]


@pytest.mark.parametrize(("criterion", "version", "expected"), CRITERIA)
def test_point_105_criteria_match_versions_and_partial_ones(criterion: str, version: str, *, expected: bool) -> None:
    found = SchemaCriterion.parse(criterion)
    assert str(found) == criterion
    assert found.matches_partial("a.b/c/jsonschema", version) is expected
    if "?" not in version:
        assert found.matches(IgluKey.parse(f"iglu:a.b/c/jsonschema/{version}")) is expected
        assert not found.matches(IgluKey.parse(f"iglu:a.b/other/jsonschema/{version}"))


@pytest.mark.parametrize(
    "text", ["iglu:a/b/c/0-*-*", "iglu:a/b/c/1-?-*", "iglu:a/b/c/1-*", "a/b/c/1-*-*", "iglu:a/b/1-*-*"]
)
def test_point_105_what_is_no_criterion_is_refused(text: str) -> None:
    with pytest.raises(IgluKeyError):
        SchemaCriterion.parse(text)


def test_point_106_versions_are_ordered_by_their_numbers() -> None:
    ordered = ["1-0-2", "1-0-10", "1-2-0", "1-10-0", "2-0-0", "10-0-0"]
    assert [str(one) for one in sorted(map(SchemaVer.parse, reversed(ordered)))] == ordered
