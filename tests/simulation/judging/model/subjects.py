"""Names that subjects may have."""

from tests.simulation.judging.model.refusing import No
from treaty.core.limits import NAME_LENGTH
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import InvalidSubject


def is_name(name: str) -> bool:
    """No control characters, no lone surrogates, no reserved word."""
    if name in {"__GLOBAL", "__EMPTY"}:
        return False
    return not any(ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000 for char in name)


def refuse_bad_subject(subject: Subject) -> None:
    strange = subject.context in {"*", ".__GLOBAL"} or subject_of(str(subject)) != subject
    if strange or not is_name(subject.name) or not is_name(subject.context):
        raise No(InvalidSubject, "SUBJECT_NAME", subject=str(subject))
    if len(subject.name) + len(subject.context) > NAME_LENGTH:
        raise No(InvalidSubject, "NAME_LENGTH")
