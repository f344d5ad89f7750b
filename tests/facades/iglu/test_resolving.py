"""Treaty's own resolver against the server: schemas, lists, families, superseding, and keys of private schemas."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
import urllib3

from tests.real.running import Running, serving
from treaty.client.iglu import IgluNotFoundError, Resolver, http_registry
from treaty.wire.iglu.api_keys import digest_of

pytestmark = pytest.mark.slow
SUPER = "10000000-0000-4000-8000-000000000001"
CONFIG = {
    "schema": "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-2",
    "data": {"cacheSize": 0, "cacheTtl": 1, "repositories": []},
}
FAMILY = "com.acme/click/jsonschema"


def put(server: Running, version: str, **members: object) -> None:
    body = json.dumps({"type": "object", "properties": {"a": {"type": "string"}}, **members})
    target = f"{server.base}/api/schemas/{FAMILY}/{version}"
    answer = urllib3.request("PUT", target, body=body, headers={"apikey": SUPER})
    assert answer.status == 201, answer.data


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    rights = tmp_path / "rights.toml"
    rights.write_text(f'anonymous = true\n[api_keys]\nsuper = ["{digest_of(UUID(SUPER))}"]\n')
    with serving(tmp_path, "--log", "memory:", "--auth", str(rights)) as running:
        yield running


def resolver(server: Running, apikey: str | None) -> Resolver:
    return Resolver(CONFIG, registries=[http_registry("own", f"{server.base}/api", apikey=apikey)])


def test_schemas_of_a_server_are_resolved_and_validate_values(server: Running) -> None:
    put(server, "1-0-0")
    put(server, "1-0-1", properties={"a": {"type": ["string", "integer"]}}, **{"$supersedes": ["1-0-0"]})
    put(server, "1-0-2", properties={"a": {"type": ["string", "integer"]}, "b": {"type": "null"}})
    with resolver(server, SUPER) as found, resolver(server, None) as stranger:
        first = f"iglu:{FAMILY}/1-0-0"
        assert found.lookup(first).document["properties"] == {"a": {"type": "string"}}
        assert str(found.lookup(first, superseding=True).superseded_by) == "1-0-1"
        assert [str(one) for one in found.list_schemas_like(first).schemas] == [
            f"iglu:{FAMILY}/1-0-{one}" for one in range(3)
        ]
        assert len(found.lookup_until(f"iglu:{FAMILY}/1-0-2").members) == 3
        assert found.validate({"schema": first, "data": {"a": 7}}).outcome == "valid"
        assert found.validate({"schema": first, "data": {"a": None}}).outcome == "invalid_data"
        with pytest.raises(IgluNotFoundError):
            stranger.lookup(first)
        with pytest.raises(IgluNotFoundError):
            found.lookup("iglu:com.acme/none/jsonschema/1-0-0")
