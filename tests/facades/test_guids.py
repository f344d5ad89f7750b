"""Guids over HTTP are those of the recipe, for every format, whatever way a schema is spelt."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.running import Running, serving

DATA = Path(__file__).parents[1] / "conformance" / "data" / "guid-vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))

FLIGHT = next(vector["text"] for vector in VECTORS if vector["case"] == "avro record")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        used = [one for vector in VECTORS for one in vector["references"]]
        for schema_id, one in enumerate(used, 1000):  # imported, because the recipe hashes the number of a reference
            where = one["subject"]
            text = FLIGHT if one["name"] == "org.treaty.Flight" else FLIGHT.replace("Flight", one["name"])
            put(running, f"/mode/{where}", {"mode": "IMPORT"}, "PUT")
            body = {"schema": text, "version": one["version"], "id": schema_id}
            put(running, f"/subjects/{where}/versions", body)
        yield running


def put(server: Running, path: str, body: object, method: str = "POST") -> Any:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(server.base + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def kind(text: str) -> str:
    if text.startswith("syntax"):
        return "PROTOBUF"
    return "JSON" if '"type":"object"' in text else "AVRO"


def spelt(text: str) -> str:
    """The same schema as a person would write it."""
    if kind(text) == "PROTOBUF":
        return "// Made by hand.\n" + text.replace("\n\n", "\n").replace("  ", "\t")
    return json.dumps(json.loads(text), indent=2, ensure_ascii=True)


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["case"]) for vector in VECTORS])
@pytest.mark.parametrize("write", [str, spelt], ids=["as printed", "as written"])
def test_a_schema_has_the_guid_of_the_recipe(server: Running, vector: dict[str, Any], write: Any) -> None:
    subject = f"{vector['case']} {write.__name__}".replace(" ", "%20")
    body = {name: vector[name] for name in ("references", "metadata", "ruleSet")}
    made = put(
        server,
        f"/subjects/{subject}/versions",
        {**body, "schemaType": kind(vector["text"]), "schema": write(vector["text"])},
    )

    assert made["guid"] == vector["guid"]
    assert made["schema"] == vector["text"]
    assert server.get(f"/schemas/guids/{vector['guid']}")["schema"] == vector["text"]
