"""The tables of SchemaVer: which version supersedes which, and drafts."""

from typing import NamedTuple

from treaty.core.state import values
from treaty.core.state.table import Index, Table


class SupersededKey(NamedTuple):
    """Key of a version that is superseded."""

    context: str
    subject: str
    generation: int
    ordinal: int


class DraftKey(NamedTuple):
    """Key of a draft: its subject's name, whether there is such a subject or not, and its number."""

    context: str
    subject: str
    number: int


def _superseded_by(key: SupersededKey, value: values.SupersededVersion) -> tuple[tuple[str, str, int, int], ...]:
    return ((key.context, key.subject, key.generation, value.ordinal),)


SUPERSEDED_BY = Index("superseded.by", SupersededKey, _superseded_by, (0, 1, 2, None))
"""By (context, subject, generation, ordinal) of the version that supersedes."""
SUPERSEDED = Table("superseded", SupersededKey, values.SupersededVersion, (SUPERSEDED_BY,))
DRAFT = Table("draft", DraftKey, values.StoredDraft, ordered=True, counted=lambda key, _: key[:1])
"""Counted by (context)."""
