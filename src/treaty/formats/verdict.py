"""A verdict on two texts: may the new one follow the old one, and if not, why, in words for a person."""

from dataclasses import dataclass

from treaty.core.finding import Fault, Finding
from treaty.core.grammar import Answer, Compare, Compared, Invalid, Parse
from treaty.core.meaning import Meaning
from treaty.core.policy import LEVELS
from treaty.formats.answer import Parser


@dataclass(frozen=True, slots=True)
class Reason:
    """One finding said for a person.

    `direction` is ``backward`` (the new schema reads old data) or ``forward`` (the old schema reads new data).
    `path` leads into the schema that reads; `old` and `new` are what stands there in the two schemas.
    """

    direction: str
    rule: str
    path: str
    sentence: str
    detail: str
    old: str
    new: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out. `faults` of the two texts come first: a text that is not valid is not compared."""

    level: str
    old_faults: tuple[Fault, ...] = ()
    new_faults: tuple[Fault, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the new schema may follow the old one under the level."""
        return not (self.old_faults or self.new_faults or self.reasons)


def verdict(parser: Parser, old: Meaning, new: Meaning, level: str) -> Verdict:
    """Judge `new` after `old` under one of Confluent's levels, ``NONE`` to ``FULL_TRANSITIVE``.

    The new text is read as strictly as a registration reads it, the old one as stored. Raises `KeyError` for a level
    that does not exist.
    """
    policy = LEVELS[level]
    old_faults = _faults(parser.answer(Parse(old, strict=False)))
    new_faults = _faults(parser.answer(Parse(new)))
    if old_faults or new_faults:
        return Verdict(level, old_faults, new_faults)
    if old.format != new.format:
        return Verdict(level, reasons=() if level == "NONE" else (_other_format(old, new),))
    reasons: list[Reason] = []
    if policy.backward:
        answer = parser.answer(Compare(reader=new, writer=old))
        reasons += [_backward(found) for found in _findings(answer)]
    if policy.forward:
        answer = parser.answer(Compare(reader=old, writer=new))
        reasons += [_forward(found) for found in _findings(answer)]
    return Verdict(level, reasons=tuple(reasons))


def _faults(answer: Answer) -> tuple[Fault, ...]:
    return answer.faults if isinstance(answer, Invalid) else ()


def _findings(answer: Answer) -> tuple[Finding, ...]:
    return answer.findings if isinstance(answer, Compared) else ()


def _backward(found: Finding) -> Reason:
    said = found.told(reader="new", writer="old")
    return Reason("backward", found.rule, found.path, said, found.detail, found.writer, found.reader, found.remedy)


def _forward(found: Finding) -> Reason:
    said = found.told(reader="old", writer="new")
    return Reason("forward", found.rule, found.path, said, found.detail, found.reader, found.writer, found.remedy)


def _other_format(old: Meaning, new: Meaning) -> Reason:
    sentence = "Incompatible because of different schema type"
    remedy = "register it under another subject, or under NONE"
    return Reason("backward", "FORMAT_CHANGED", "/", sentence, "", old.format, new.format, remedy)
