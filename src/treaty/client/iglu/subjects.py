"""A Treaty registry, or another one of Confluent's API, as a registry of Iglu: the subject ``VENDOR/NAME/FORMAT`` has the versions."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from treaty.client.iglu.errors import NOT_FOUND, client_failure, repo_failure
from treaty.client.iglu.registries import (
    REMOTE,
    IgluRegistry,
    ListKey,
    LocalSource,
    RegistryAnswer,
    RegistryQuestion,
    SchemaDocument,
)
from treaty.core.iglu_key import IgluKey, IgluKeyError
from treaty.core.limits import IGLU_FAMILY
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.schemaver import GetPublished
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import Forbidden, NotFound, NotOffered, Refusal, RegistryError, SubjectNotFound, Unavailable
from treaty.core.registry import Registry
from treaty.wire.iglu.documents import canonical_text

_FORMAT = "jsonschema"
_PAGE = 1000


def treaty_registry(
    name: str,
    registry: Registry,
    *,
    context: str = DEFAULT_CONTEXT,
    priority: int = 0,
    vendor_prefixes: Iterable[str] = (),
) -> IgluRegistry:
    """What `treaty.connect` opens, as a registry of class HTTP; the caller closes it.

    A version is found by its label, with what supersedes it; in a subject without labels, or where the registry has
    Confluent's API alone, by the ``self`` of its text. So only JSON Schemas are.
    """

    def ask(question: RegistryQuestion) -> RegistryAnswer:
        form = question.format if isinstance(question, IgluKey) else _FORMAT
        if form != _FORMAT:
            return client_failure(f"schemas of the format {form!r} can't be found by their text; allowed is {_FORMAT}")
        subject = Subject(context, f"{question.vendor}/{question.name}/{form}")
        try:
            document = None if isinstance(question, ListKey) else _read_published(registry, subject, question)
            if document is not None:
                return document
            versions = dict(_read_versions(registry, subject))
        except NotFound:
            return NOT_FOUND
        except Refusal as error:
            return client_failure(f"{type(error).__name__}: {error}")
        except RegistryError as error:
            return repo_failure(f"{type(error).__name__}: {error}")
        if isinstance(question, ListKey):
            keys = sorted(key for key in versions if key.version.model == question.model)
            return SchemaDocument([str(key) for key in keys]) if keys else NOT_FOUND
        return SchemaDocument(versions[question]) if question in versions else NOT_FOUND

    return IgluRegistry(name, LocalSource(ask, blocks=True), priority, tuple(vendor_prefixes), REMOTE)


def _read_published(registry: Registry, subject: Subject, key: IgluKey) -> SchemaDocument | None:
    """The version with a label, as Iglu shows it; None where versions have no labels, or the caller may not read them.

    Raises `NotFound` where there is no such label.
    """
    try:
        published = registry.ask(GetPublished(subject, str(key.version))).answer
    except (SubjectNotFound, Forbidden, NotOffered):
        return None
    return SchemaDocument(msgspec.json.decode(canonical_text(published)))


def _read_versions(registry: Registry, subject: Subject) -> Iterator[tuple[IgluKey, Any]]:
    """The versions of a subject whose text names the subject and a version."""
    after: tuple[str, int] | None = None
    for offset in range(0, IGLU_FAMILY + _PAGE, _PAGE):
        request = ListSchemas(subject, offset=offset, limit=_PAGE, after=after)
        page = registry.ask(request).answer.versions
        for version in page:
            if version.subject == str(subject) and version.format == "JSON":
                value = msgspec.json.decode(version.text)
                key = _read_key(value, subject.name)
                if key is not None:
                    yield key, value
        if len(page) < _PAGE or page[-1].subject != str(subject):
            return
        after = page[-1].subject, page[-1].number
    raise Unavailable(f"{subject} has more versions than the limit IGLU_FAMILY of {IGLU_FAMILY}")


def _read_key(value: Any, path: str) -> IgluKey | None:
    own = value.get("self") if isinstance(value, dict) else None
    if not isinstance(own, dict):
        return None
    try:
        key = IgluKey.parse_path("/".join(str(own.get(name)) for name in ("vendor", "name", "format", "version")))
    except IgluKeyError:
        return None
    return key if f"{key.vendor}/{key.name}/{key.format}" == path else None
