"""Names of Iglu: `SchemaVer` (a version), `IgluKey` (a schema's URI) and `SchemaCriterion` (a pattern of URIs)."""

import re
from dataclasses import dataclass
from typing import Self

from treaty.core.limits import NAME_LENGTH

SELF_DESCRIBING = "http://iglucentral.com/schemas/com.snowplowanalytics.self-desc/schema/jsonschema/1-0-0#"
"""The meta-schema that the text of a self-describing schema names in ``$schema``; it means draft 4."""

_NUMBER = r"(0|[1-9][0-9]*)"
_VERSION = re.compile(rf"([1-9][0-9]*)-{_NUMBER}-{_NUMBER}")
_PARTIAL = re.compile(rf"([1-9][0-9]*|\?)-({_NUMBER[1:-1]}|\?)-({_NUMBER[1:-1]}|\?)")
_PATTERN = re.compile(rf"([1-9][0-9]*|\*)-({_NUMBER[1:-1]}|\*)-({_NUMBER[1:-1]}|\*)")
_HIGHEST = 2**31 - 1
_PATH = re.compile(
    r"(?P<vendor>[A-Za-z0-9_.-]+)/(?P<name>[A-Za-z0-9_-]+)/(?P<format>[A-Za-z0-9_-]+)/(?P<version>[^/]*)"
)


class IgluKeyError(ValueError):
    """A text is no version, URI or pattern of Iglu; `code` is Iglu's word for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code


def _bad_version(text: str, allowed: str) -> IgluKeyError:
    return IgluKeyError("INVALID_SCHEMAVER", f"{text[:100]!r} is no version; allowed is {allowed}")


@dataclass(frozen=True, slots=True, order=True)
class SchemaVer:
    """A version MODEL-REVISION-ADDITION, ordered by its numbers."""

    model: int
    revision: int
    addition: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``1-0-2``. Raises `IgluKeyError`."""
        match = _VERSION.fullmatch(text) if len(text) <= NAME_LENGTH else None
        numbers = [int(part[:11]) for part in match.groups()] if match else []
        if match is None or max(numbers) > _HIGHEST:
            allowed = f"MODEL-REVISION-ADDITION such as 1-0-2: no leading zeros, MODEL from 1, at most {_HIGHEST}"
            raise _bad_version(text, allowed)
        return cls(*numbers)

    def __str__(self) -> str:
        return f"{self.model}-{self.revision}-{self.addition}"


@dataclass(frozen=True, slots=True, order=True)
class IgluKey:
    """The name of one schema: vendor, name, format and version."""

    vendor: str
    name: str
    format: str
    version: SchemaVer

    @classmethod
    def parse(cls, uri: str) -> Self:
        """Read ``iglu:com.acme/click/jsonschema/1-0-0``. Raises `IgluKeyError`."""
        scheme, mark, path = uri.partition(":")
        if scheme != "iglu" or not mark:
            raise _bad_uri(uri)
        return cls._parse(path, uri)

    @classmethod
    def parse_path(cls, path: str) -> Self:
        """Read ``com.acme/click/jsonschema/1-0-0``. Raises `IgluKeyError`."""
        return cls._parse(path, path)

    @classmethod
    def _parse(cls, path: str, original: str) -> Self:
        match = _PATH.fullmatch(path) if len(path) <= NAME_LENGTH else None
        if match is None:
            raise _bad_uri(original)
        return cls(match["vendor"], match["name"], match["format"], SchemaVer.parse(match["version"]))

    @property
    def path(self) -> str:
        """The key without ``iglu:``, as registries have it in their paths."""
        return f"{self.vendor}/{self.name}/{self.format}/{self.version}"

    def __str__(self) -> str:
        return f"iglu:{self.path}"


def _bad_uri(text: str) -> IgluKeyError:
    allowed = "iglu:VENDOR/NAME/FORMAT/VERSION such as iglu:com.acme/click/jsonschema/1-0-0, nothing URL-encoded"
    return IgluKeyError("INVALID_IGLUURI", f"{text[:200]!r} is no URI of a schema; allowed is {allowed}")


@dataclass(frozen=True, slots=True)
class SchemaCriterion:
    """A pattern of schemas: vendor, name and format as they are; each part of the version may be any (None)."""

    vendor: str
    name: str
    format: str
    model: int | None
    revision: int | None
    addition: int | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``iglu:com.acme/click/jsonschema/1-*-*``. Raises `IgluKeyError`."""
        match = _PATH.fullmatch(text.removeprefix("iglu:")) if len(text) <= NAME_LENGTH else None
        if match is None or not text.startswith("iglu:"):
            raise _bad_uri(text)
        parts = _PATTERN.fullmatch(match["version"])
        numbers = [None if part == "*" else int(part[:11]) for part in parts.groups()] if parts else []
        if parts is None or max((number or 0) for number in numbers) > _HIGHEST:
            raise _bad_version(match["version"], "MODEL-REVISION-ADDITION, * for any, MODEL from 1, such as 1-*-*")
        return cls(match["vendor"], match["name"], match["format"], *numbers)

    def matches(self, key: IgluKey) -> bool:
        """Whether a schema is one of the pattern."""
        version = str(key.version)
        return (key.vendor, key.name, key.format) == (self.vendor, self.name, self.format) and self._fits(version)

    def matches_partial(self, path: str, version: str) -> bool:
        """Whether data of ``vendor/name/format`` and a version such as ``1-?-?`` may be of the pattern; an unknown part
        may be any number.
        """
        return path == f"{self.vendor}/{self.name}/{self.format}" and self._fits(version)

    def _fits(self, version: str) -> bool:
        match = _PARTIAL.fullmatch(version)
        parts = (self.model, self.revision, self.addition)
        return match is not None and all(
            want is None or part == "?" or int(part) == want for want, part in zip(parts, match.groups(), strict=True)
        )

    def __str__(self) -> str:
        parts = ("*" if part is None else str(part) for part in (self.model, self.revision, self.addition))
        return f"iglu:{self.vendor}/{self.name}/{self.format}/{'-'.join(parts)}"
