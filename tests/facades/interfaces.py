"""The APIs over one registry as records of functions with the same shape: what each can say of a subject and its versions.

An id is what the API calls a version; `first` is the id of the version with the ordinal 0.
"""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from treaty.core.messages import groups as g
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.policy import word_of
from treaty.core.schema import Draft
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import MEDIA, PATH, ask_bytes, read_answer

FORMATS = {"AVRO": "Avro", "JSON": "Json", "PROTOBUF": "Protobuf"}
TEXT = {"content-type": "text/plain"}


@dataclass(frozen=True)
class Said:
    """An answer: its status, and what it says (an id, a text, ids in ascending order, a result); None after an error."""

    status: int
    value: Any = None
    schema_id: int | None = None


Speak = Callable[..., Awaitable[Said]]


@dataclass(frozen=True)
class Interface:
    """What an API can say; what it has no word for is not in `words`."""

    name: str
    first: int
    incompatible: int
    """The status of an incompatible schema."""
    words: dict[str, Speak] = field(default_factory=dict)

    def says(self, word: str) -> bool:
        return word in self.words

    async def __call__(self, word: str, http: httpx2.AsyncClient, *values: Any) -> Said:
        return await self.words[word](http, *values)


def said(answer: httpx2.Response, read: Callable[[httpx2.Response], Any], schema_id: str = "") -> Said:
    if answer.status_code >= 300:
        return Said(answer.status_code)
    return Said(answer.status_code, read(answer), answer.json()[schema_id] if schema_id else None)


def body_of(text: str, format_: str) -> dict[str, str]:
    return {"schema": text, "schemaType": format_}


# -------------------------------------------------------------------------------------------------------- Confluent


async def confluent_create(http: httpx2.AsyncClient, subject: str) -> Said:
    return said(await http.put(f"/config/{subject}", json={"compatibility": "BACKWARD"}), lambda it: None)


async def confluent_register(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    answer = await http.post(f"/subjects/{subject}/versions", json=body_of(text, format_))
    return said(answer, lambda it: it.json()["version"], "id")


async def confluent_get(http: httpx2.AsyncClient, subject: str, id_: int, query: str = "") -> Said:
    answer = await http.get(f"/subjects/{subject}/versions/{id_}{query}")
    return said(answer, lambda it: it.json()["schema"], "id")


async def confluent_get_any(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return await confluent_get(http, subject, id_, "?deleted=true")


async def confluent_latest(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/subjects/{subject}/versions/latest")
    return said(answer, lambda it: it.json()["schema"], "id")


async def confluent_list(http: httpx2.AsyncClient, subject: str) -> Said:
    return said(await http.get(f"/subjects/{subject}/versions"), lambda it: it.json())


async def confluent_find(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    answer = await http.post(f"/subjects/{subject}", json=body_of(text, format_))
    return said(answer, lambda it: it.json()["version"], "id")


async def confluent_check(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    answer = await http.post(f"/compatibility/subjects/{subject}/versions", json=body_of(text, "AVRO"))
    return said(answer, lambda it: it.json()["is_compatible"])


async def confluent_delete(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return said(await http.delete(f"/subjects/{subject}/versions/{id_}"), lambda it: None)


async def confluent_level(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/config/{subject}?defaultToGlobal=true")
    return said(answer, lambda it: it.json()["compatibilityLevel"])


CONFLUENT = Interface(
    "confluent",
    1,
    409,
    {
        "create": confluent_create,
        "register": confluent_register,
        "get": confluent_get_any,
        "latest": confluent_latest,
        "list": confluent_list,
        "find": confluent_find,
        "check": confluent_check,
        "delete": confluent_delete,
        "level": confluent_level,
    },
)

# ---------------------------------------------------------------------------------------------------------- Pravega


def pravega_schema(text: str, format_: str = "AVRO") -> dict[str, Any]:
    word = FORMATS[format_]
    return {
        "type": "shop.Order",
        "serializationFormat": {"serializationFormat": word, "fullTypeName": word},
        "schemaData": base64.b64encode(text.encode()).decode(),
        "properties": {},
    }


def bytes_of(schema: dict[str, Any]) -> str:
    return base64.b64decode(schema["schemaData"]).decode()


def pravega_versions(answer: httpx2.Response) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = answer.json()["schemas"]
    return listed


async def pravega_create(http: httpx2.AsyncClient, subject: str) -> Said:
    settings = {
        "serializationFormat": {"serializationFormat": "Any", "fullTypeName": "Any"},
        "compatibility": {"policy": "Backward"},
        "allowMultipleTypes": True,
        "properties": {},
    }
    answer = await http.post("/v1/groups", json={"groupName": subject, "groupProperties": settings})
    return said(answer, lambda it: None)


async def pravega_register(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    answer = await http.post(f"/v1/groups/{subject}/schemas", json=pravega_schema(text, format_))
    return said(answer, lambda it: it.json()["id"])


async def pravega_get(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return said(await http.get(f"/v1/groups/{subject}/schemas/schema/{id_}"), lambda it: bytes_of(it.json()))


async def pravega_latest(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/v1/groups/{subject}/schemas")
    read = said(answer, lambda it: [bytes_of(one["schemaInfo"]) for one in pravega_versions(it)])
    return read if read.value is None else Said(read.status if read.value else 404, "".join(read.value[-1:]) or None)


async def pravega_list(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/v1/groups/{subject}/schemas/versions")
    return said(answer, lambda it: [one["versionInfo"]["id"] for one in pravega_versions(it)])


async def pravega_find(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    answer = await http.post(f"/v1/groups/{subject}/schemas/versions/find", json=pravega_schema(text, format_))
    return said(answer, lambda it: it.json()["id"])


async def pravega_check(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    asked = {"schemaInfo": pravega_schema(text)}
    answer = await http.post(f"/v1/groups/{subject}/schemas/versions/validate", json=asked)
    return said(answer, lambda it: it.json()["valid"])


async def pravega_delete(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return said(await http.delete(f"/v1/groups/{subject}/schemas/schema/{id_}"), lambda it: None)


async def pravega_level(http: httpx2.AsyncClient, subject: str) -> Said:
    return said(await http.get(f"/v1/groups/{subject}"), lambda it: it.json()["compatibility"]["policy"].upper())


PRAVEGA = Interface(
    "pravega",
    0,
    409,
    {
        "create": pravega_create,
        "register": pravega_register,
        "get": pravega_get,
        "latest": pravega_latest,
        "list": pravega_list,
        "find": pravega_find,
        "check": pravega_check,
        "delete": pravega_delete,
        "level": pravega_level,
    },
)

# ------------------------------------------------------------------------------------------ schema-repo and AVRO-1124


async def repo_create(http: httpx2.AsyncClient, subject: str) -> Said:
    """Create a subject; a level has no word there, so it is in the config before."""
    await confluent_create(http, subject)
    return said(await http.put(f"/schema-repo/{subject}"), lambda it: None)


async def repo_register(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    answer = await http.put(f"/schema-repo/{subject}/register", content=text.encode(), headers=TEXT)
    return said(answer, lambda it: int(it.text))


async def repo_get(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return said(await http.get(f"/schema-repo/{subject}/id/{id_}"), lambda it: it.text)


async def repo_latest(http: httpx2.AsyncClient, subject: str) -> Said:
    return said(await http.get(f"/schema-repo/{subject}/latest"), lambda it: it.text.partition("\t")[2])


async def repo_list(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/schema-repo/{subject}/all", headers={"accept": "application/json"})
    return said(answer, lambda it: [int(one["id"]) for one in reversed(it.json())])


async def repo_find(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    answer = await http.post(f"/schema-repo/{subject}/schema", content=text.encode(), headers=TEXT)
    return said(answer, lambda it: int(it.text))


SCHEMA_REPO = Interface(
    "schema-repo",
    0,
    403,
    {
        "create": repo_create,
        "register": repo_register,
        "get": repo_get,
        "latest": repo_latest,
        "list": repo_list,
        "find": repo_find,
    },
)


async def proposal_register(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    form = {"schema": text, "compatibility_model": "BACKWARD"}
    return said(await http.post(f"/avro-1124/schemas/{subject}", data=form), lambda it: int(it.text))


async def proposal_get(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return said(await http.get(f"/avro-1124/schemas/{subject}/{id_}"), lambda it: it.text)


async def proposal_latest(http: httpx2.AsyncClient, subject: str) -> Said:
    return said(await http.get(f"/avro-1124/schemas/{subject}/latest"), lambda it: it.text)


async def proposal_list(http: httpx2.AsyncClient, subject: str) -> Said:
    answer = await http.get(f"/avro-1124/schemas/{subject}")
    return said(answer, lambda it: [int(one) for one in it.text.split()])


AVRO_1124 = Interface(
    "avro-1124",
    1,
    403,
    {"register": proposal_register, "get": proposal_get, "latest": proposal_latest, "list": proposal_list},
)

# ----------------------------------------------------------------------------------------------------------- Treaty


async def ask(
    http: httpx2.AsyncClient, request: Request[Any], value: Callable[[Any], Any], *, schema_id: bool = False
) -> Said:
    """Ask the native API; `value` takes what is said from the answer, or from its version."""
    sent = await http.post(PATH, content=ask_bytes(request), headers={"content-type": MEDIA})
    if sent.status_code >= 300:
        return Said(sent.status_code)
    answer = read_answer(request, HttpResponse(sent.status_code, sent.headers.get, sent.content)).answer
    version = answer.version if isinstance(answer, RegisteredVersion) else answer
    return Said(sent.status_code, value(version), version.schema_id if schema_id else None)


async def treaty_create(http: httpx2.AsyncClient, subject: str) -> Said:
    settings = g.GroupSettings("treaty", policy=Config(level="BACKWARD"))
    return await ask(http, g.CreateSubject(subject_of(subject), settings), lambda it: None)


async def treaty_register(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    return await ask(http, Register(subject_of(subject), Draft(text, format_)), lambda it: it.ordinal, schema_id=True)


async def treaty_get(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return await ask(http, g.GetOrdinal(subject_of(subject), id_), lambda it: it.text, schema_id=True)


async def treaty_latest(http: httpx2.AsyncClient, subject: str) -> Said:
    return await ask(http, GetVersion(subject_of(subject), LATEST), lambda it: it.text, schema_id=True)


async def treaty_list(http: httpx2.AsyncClient, subject: str) -> Said:
    return await ask(http, g.ListGroupVersions(subject_of(subject)), lambda it: [one.ordinal for one in it.versions])


async def treaty_find(http: httpx2.AsyncClient, subject: str, text: str, format_: str = "AVRO") -> Said:
    return await ask(
        http, g.FindSameVersion(subject_of(subject), Draft(text, format_)), lambda it: it.ordinal, schema_id=True
    )


async def treaty_check(http: httpx2.AsyncClient, subject: str, text: str) -> Said:
    return await ask(http, Check(subject_of(subject), Draft(text)), lambda it: it.compatible)


async def treaty_delete(http: httpx2.AsyncClient, subject: str, id_: int) -> Said:
    return await ask(http, g.DeleteOrdinal(subject_of(subject), id_), lambda it: None)


async def treaty_level(http: httpx2.AsyncClient, subject: str) -> Said:
    return await ask(http, g.GetSubject(subject_of(subject)), lambda it: word_of(it.level))


TREATY = Interface(
    "treaty",
    0,
    409,
    {
        "create": treaty_create,
        "register": treaty_register,
        "get": treaty_get,
        "latest": treaty_latest,
        "list": treaty_list,
        "find": treaty_find,
        "check": treaty_check,
        "delete": treaty_delete,
        "level": treaty_level,
    },
)
INTERFACES = (CONFLUENT, PRAVEGA, SCHEMA_REPO, AVRO_1124, TREATY)
