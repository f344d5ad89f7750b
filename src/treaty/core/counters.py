"""Keys of counters: what each of them counts, and for how long it stays.

A key is (kind, context, subject, generation, part). Parts that a kind does not need are empty, and the generation is 0.
"""

from treaty.core.names import Subject
from treaty.core.rows import Key

IDS, ENCODINGS, ORDINALS, TYPES = "ids", "encodings", "ordinals", "types"
KINDS_OF_SUBJECT = (ORDINALS, TYPES)
"""Counters of one generation of a subject: they go when it is removed for good."""
KINDS_FOR_EVER = (IDS, ENCODINGS)
"""Counters that never go, so that an id in an old payload never means something else."""
IDS_SPARED: Key = (IDS, "", "", 0, "")
"""Key of the counter that a restore leaves: ids up to it are given in no context, known ones and new ones."""


def ids_key(context: str) -> Key:
    """Return the key of the counter of a context's schema ids."""
    return (IDS, context, "", 0, "")


def encodings_key(subject: Subject) -> Key:
    """Return the key of the counter of a subject's encoding ids, which all its generations share."""
    return (ENCODINGS, *subject, 0, "")


def ordinals_key(subject: Subject, generation: int) -> Key:
    """Return the key of the counter of ordinals of one generation of a subject."""
    return (ORDINALS, *subject, generation, "")


def types_key(subject: Subject, generation: int, format_: str, type_name: str) -> Key:
    """Return the key of the counter of versions of one format and type, in one generation of a subject."""
    return (TYPES, *subject, generation, f"{format_}:{type_name}")
