"""The table of API keys, and which subjects are private."""

from typing import NamedTuple

from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.table import Index, Table


class ApiKeyDigest(NamedTuple):
    """Key of an API key: the SHA-256 of its text, in hex. The text itself is stored nowhere."""

    sha256: str


def _subject_private(key: Subject, value: values.SubjectValue) -> tuple[Subject, ...]:
    return (key,) if value.private else ()


SUBJECT_PRIVATE = Index("subject.private", Subject, _subject_private, (0, 1), ordered=True, by_value=True)
"""The private subjects, in order."""
API_KEY = Table("api_key", ApiKeyDigest, values.ApiKey, ordered=True)
