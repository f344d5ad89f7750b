"""A registry on a dictionary: enough of the law for tests of those who only read."""

from typing import Any, cast

from treaty.core.answers import Numbers, SchemaFound, Uses, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import SchemaNotFound, SubjectNotFound, Unavailable, VersionNotFound
from treaty.core.registry import CALL, A, Call, Reply, Token
from treaty.core.requests import LATEST, GetSchema, GetVersion, ListVersions, Request, UsesOf
from treaty.core.schema import Reference


class Shelf:
    """Versions by subject; an id is given to each new text. `down` makes it unreachable."""

    def __init__(self) -> None:
        self.subjects: dict[str, list[VersionFound]] = {}
        self.ids: dict[str, int] = {}
        self.down = 0
        self.asked = 0

    def put(self, subject: str, text: str, references: tuple[Reference, ...] = (), first: int = 1) -> int:
        schema_id = self.ids.setdefault(text, first + len(self.ids))
        versions = self.subjects.setdefault(subject, [])
        number = len(versions) + 1
        versions.append(VersionFound(subject, number, number - 1, schema_id, "", "AVRO", text, references))
        return schema_id

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:  # noqa: ARG002
        self.asked += 1
        if self.down:
            self.down -= 1
            raise Unavailable("the shelf is away")
        return Reply(cast("A", self._answer(request)), Token("", 0, ""))

    def _answer(self, request: Any) -> Any:
        match request:
            case ListVersions(subject):
                return Numbers(tuple(one.number for one in self._versions(subject)))
            case GetVersion(subject, number):
                versions = self._versions(subject)
                if number == LATEST:
                    return versions[-1]
                if not 1 <= number <= len(versions):
                    raise VersionNotFound.of("VERSION_NOT_FOUND", f"no version {number}")
                return versions[number - 1]
            case GetSchema(schema_id):
                found = self._uses(schema_id)
                if not found:
                    raise SchemaNotFound.of("SCHEMA_NOT_FOUND", f"no id {schema_id}")
                one = found[0]
                return SchemaFound(
                    schema_id, "", "AVRO", one.text, one.references, subject=one.subject, number=one.number
                )
            case UsesOf(schema_id):
                return Uses(tuple((one.subject, one.number) for one in self._uses(schema_id)))
        raise AssertionError(request)

    def _versions(self, subject: Subject) -> list[VersionFound]:
        if str(subject) not in self.subjects:
            raise SubjectNotFound.of("SUBJECT_NOT_FOUND", f"no subject {subject}")
        return self.subjects[str(subject)]

    def _uses(self, schema_id: int) -> list[VersionFound]:
        return [one for versions in self.subjects.values() for one in versions if one.schema_id == schema_id]

    def close(self) -> None:
        pass
