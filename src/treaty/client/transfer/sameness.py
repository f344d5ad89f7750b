"""Whether two versions are the same schema, though one of them has no guid or another layout."""

from dataclasses import dataclass, field

from treaty.client.transfer.registry_image import Place, RegistryImage
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.schema import guid
from treaty.core.schema_engine import ParsedSchema, ParseSchema, ResolvedReference, ResolvedSchema, bind_imports
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats


class SchemaEquality:
    """Compares versions of a source with those of a target. Texts are parsed only where they differ, each once."""

    def __init__(self, source: RegistryImage, target: RegistryImage) -> None:
        """Keep both sides; nothing is parsed yet."""
        parser = FormatEngine(find_formats())
        self._source = _Side(_by_place(source), parser)
        self._target = _Side(_by_place(target), parser)

    def differs(self, target_version: VersionFound, version: VersionFound) -> bool:
        """Compare a version of the target (`target_version`) with one of the source.

        They are the same if their guids or their contents are. Else the guids of their canonical texts decide: a source
        may come without guids, or with other spaces in its texts than the target. Metadata and rules of the source
        don't count where the target has neither these nor a guid: it may be a server that knows none of them.
        """
        if target_version.format != version.format:
            return True
        if target_version.guid and target_version.guid == version.guid:
            return False
        full = bool(target_version.guid or target_version.metadata or target_version.rules)
        if _content(target_version, full=full) == _content(version, full=full):
            return False
        return self._source.guid(version, full=full) not in {
            target_version.guid,
            self._target.guid(target_version, full=full),
        }


def _by_place(image: RegistryImage) -> dict[Place, VersionFound]:
    return {(one.subject, one.number): one for one in image.versions}


def _content(version: VersionFound, *, full: bool) -> tuple[object, ...]:
    return (version.text, version.references, *((version.metadata, version.rules, version.imports) if full else ()))


@dataclass(slots=True)
class _Side:
    """The versions of one side, and what was computed of them."""

    versions: dict[Place, VersionFound]
    parser: FormatEngine
    canonical: dict[Place, str] = field(default_factory=dict)
    meanings: dict[Place, ResolvedSchema | None] = field(default_factory=dict)
    """Of versions that others refer to."""

    def guid(self, version: VersionFound, *, full: bool) -> str:
        """The guid of the canonical text, the references and, if `full`, of metadata and rules."""
        place = (version.subject, version.number)
        if place not in self.canonical:
            self.canonical[place] = self._canonical(version)
        beside = (version.metadata, version.rules) if full else (None, None)
        return guid(self.canonical[place], version.references, *beside, imports=version.imports if full else ())

    def _canonical(self, version: VersionFound) -> str:
        """The canonical text; the text as it is where it can't be parsed, or where a reference leads nowhere."""
        meaning = self._resolve(version, 0)
        if meaning is None:
            return version.text
        answer = self.parser.answer(ParseSchema(meaning, strict=False, normalize=False))
        return answer.canonical if isinstance(answer, ParsedSchema) else version.text

    def _resolve(self, version: VersionFound, depth: int) -> ResolvedSchema | None:
        """A text with those that it refers to; None where one is missing, in a circle, or too many links away."""
        if depth > REFERENCE_DEPTH:
            return None
        home, bindings = subject_of(version.subject), []
        for reference in version.references:
            place = (str(home.sibling(reference.subject)), reference.version)
            if place not in self.meanings:
                self.meanings[place] = None
                referenced = self.versions.get(place)
                self.meanings[place] = self._resolve(referenced, depth + 1) if referenced else None
            meaning = self.meanings[place]
            if meaning is None:
                return None
            bindings.append(ResolvedReference(reference.name, *place, meaning))
        return ResolvedSchema(version.format, version.text, (*bindings, *bind_imports(version.format, version.imports)))
