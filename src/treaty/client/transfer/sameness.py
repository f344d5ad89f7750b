"""Whether two versions are the same schema, though one of them has no guid or another layout."""

from dataclasses import dataclass, field

from treaty.client.transfer.registry_image import Place, RegistryImage
from treaty.core.answers import VersionFound
from treaty.core.identity import guid
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.names import subject_of
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

    def differs(self, there: VersionFound, one: VersionFound) -> bool:
        """Compare a version of the target (`there`) with one of the source.

        They are the same if their guids or their contents are. Else the guids of their canonical texts decide: a source
        may come without guids, or with other spaces in its texts than the target. Metadata and rules of the source
        don't count where the target has neither these nor a guid: it may be a server that knows none of them.
        """
        if there.format != one.format:
            return True
        if there.guid and there.guid == one.guid:
            return False
        full = bool(there.guid or there.metadata or there.rules)
        if _content(there, full=full) == _content(one, full=full):
            return False
        return self._source.guid(one, full=full) not in {there.guid, self._target.guid(there, full=full)}


def _by_place(image: RegistryImage) -> dict[Place, VersionFound]:
    return {(one.subject, one.number): one for one in image.versions}


def _content(one: VersionFound, *, full: bool) -> tuple[object, ...]:
    return (one.text, one.references, *((one.metadata, one.rules, one.imports) if full else ()))


@dataclass(slots=True)
class _Side:
    """The versions of one side, and what was computed of them."""

    versions: dict[Place, VersionFound]
    parser: FormatEngine
    canonical: dict[Place, str] = field(default_factory=dict)
    meanings: dict[Place, ResolvedSchema | None] = field(default_factory=dict)
    """Of versions that others refer to."""

    def guid(self, one: VersionFound, *, full: bool) -> str:
        """The guid of the canonical text, the references and, if `full`, of metadata and rules."""
        place = (one.subject, one.number)
        if place not in self.canonical:
            self.canonical[place] = self._canonical(one)
        beside = (one.metadata, one.rules) if full else (None, None)
        return guid(self.canonical[place], one.references, *beside, imports=one.imports if full else ())

    def _canonical(self, one: VersionFound) -> str:
        """The canonical text; the text as it is where it can't be parsed, or where a reference leads nowhere."""
        meaning = self._resolve(one, 0)
        if meaning is None:
            return one.text
        answer = self.parser.answer(ParseSchema(meaning, strict=False, normalize=False))
        return answer.canonical if isinstance(answer, ParsedSchema) else one.text

    def _resolve(self, one: VersionFound, depth: int) -> ResolvedSchema | None:
        """A text with those that it refers to; None where one is missing, in a circle, or too many links away."""
        if depth > REFERENCE_DEPTH:
            return None
        home, bindings = subject_of(one.subject), []
        for reference in one.references:
            place = (str(home.sibling(reference.subject)), reference.version)
            if place not in self.meanings:
                self.meanings[place] = None
                found = self.versions.get(place)
                self.meanings[place] = self._resolve(found, depth + 1) if found else None
            meaning = self.meanings[place]
            if meaning is None:
                return None
            bindings.append(ResolvedReference(reference.name, *place, meaning))
        return ResolvedSchema(one.format, one.text, (*bindings, *bind_imports(one.format, one.imports)))
