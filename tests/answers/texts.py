"""Values, rows and refusals as short lines of text, without the code that Treaty prints them with: what is at its default is left out."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from treaty.core.access.permissions import Required
from treaty.core.finding import LevelResult
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.differences import ChangeLevel
from treaty.core.names import Subject
from treaty.core.refusals import Incompatible, InvalidSchema, Refusal
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.values import Content

LABEL = 14
"""Characters of a value that tell a request from others."""
LONGEST = 160
"""Characters of a text that is printed whole; of a longer one the beginning, the length and a digest are."""
ITEMS, NEEDS = 60, 10
"""Items of a list, and permissions, that are printed whole; of more the first, the count and a digest are."""
USUAL = {"changed": 1_700_000_500_000, "changed_by": "user:ann"}
"""What most changed rows have: their members alone are printed."""
FACTS = ("path", "subject", "version", "old", "new", "allowed", "details")
"""Members of the reason of a refusal, in the order in which they are printed behind rule and message."""
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_MARK = re.compile("«[0-9a-f]{5,}»")
_WORD = re.compile(r'(?<!\\)"(?!(?:None|True|False|true|false|null)")([A-Za-z][A-Za-z0-9_-]*)"')
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
QUOTED, LINE = 36, 60
"""Characters from which a quoted text, and a line, is written once where a record has it several times."""


def print_value(value: Any) -> str:
    """A value as text: a dataclass by its name and the members that are not at their defaults."""
    if isinstance(value, str):
        return json.dumps(_shorten(value), ensure_ascii=not value.isprintable())
    if isinstance(value, bytes):
        return f"b{json.dumps(_shorten(value.decode('latin-1')))}"
    if isinstance(value, Subject):
        return f"<{print_value(':'.join(value) if value.context != '.' else value.name)[1:-1]}>"
    if isinstance(value, EntryRefusal):
        return f"({' | '.join(print_refusal(value.error))})"  # type: ignore[arg-type]  # batches refuse by refusals alone
    if isinstance(value, LevelResult | ChangeLevel):  # there are 21 of the ones, and seven of the others
        return ":".join(str(getattr(value, member.name)) for member in fields(value))
    if is_dataclass(value):
        return f"{type(value).__name__}({', '.join(_members(value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(print_value, value)))}}}"
    if isinstance(value, tuple | list):
        return _print_items([*map(print_value, value)])
    return repr(value)


def _print_items(items: list[str]) -> str:
    if len(items) <= ITEMS:
        return f"[{', '.join(items)}]"
    digest = hashlib.sha256("\n".join(items).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"[{', '.join(items[:3])}, … ({len(items)} items, {digest})]"


def _members(value: Any) -> Iterator[str]:
    for member in fields(value):
        own = getattr(value, member.name)
        default = member.default_factory() if member.default_factory is not MISSING else member.default
        if default is MISSING or own != default or type(own) is not type(default):
            yield f"{member.name}={print_value(own)}"


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{text[:60]}… ({len(text)} characters, {digest})"


def print_answer(answer: Any) -> Iterator[str]:
    """An answer as text; where it is a list of dataclasses each of them has a line."""
    for member in fields(answer):
        items = getattr(answer, member.name)
        if isinstance(items, tuple) and len(items) > 1 and is_dataclass(items[0]):
            rest = [text for text in _members(answer) if not text.startswith(f"{member.name}=")]
            yield f"{type(answer).__name__}({', '.join([f'{member.name}={len(items)}', *rest])})"
            yield from (f"  {print_value(item)}" for item in items)
            return
    yield print_value(answer)


def shorten_line(line: str) -> str:
    """A line of which the beginning and the end tell most; of a long one what is between is a digest."""
    digest = hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return line if len(line) <= LINE * 2 else f"{line[:LINE]}…{digest}…{line[-LINE // 2 :]}"


def print_change(value: Any, default: Any, nested: tuple[str, ...] = ()) -> str:
    """The members in which a request differs from another one of its class; of a long value the beginning and a digest.

    Of members in `nested` their own members are.
    """
    changes = [*_changes(value, default, nested)]
    room = LABEL if len(changes) == 1 else LABEL // 3
    return " ".join(f"{name}={_label(print_value(own), room)}" for name, own in changes) or "the default"


def _changes(value: Any, default: Any, nested: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for member in fields(value):
        own, usual = getattr(value, member.name), getattr(default, member.name)
        if own == usual:
            continue
        if member.name in nested and type(own) is type(usual):
            yield from ((f".{name}", part) for name, part in _changes(own, usual, nested))
        else:
            yield member.name, own


def _label(text: str, room: int) -> str:
    return (
        text
        if len(text) <= room + 6
        else f"{text[:room]}…{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}"
    )


def print_refusal(refusal: Refusal) -> Iterator[str]:
    """The class and the facts of a refusal, then a line for each fault or finding."""
    reason = refusal.reason
    facts = [f"{name}={print_value(value)}" for name in FACTS if (value := getattr(reason, name))]
    yield f"{type(refusal).__name__} {reason.rule} {print_value(reason.message)} {' '.join(facts)}".rstrip()
    further = refusal.faults if isinstance(refusal, InvalidSchema) else ()
    for each in refusal.findings if isinstance(refusal, Incompatible) else further:
        yield f"  {print_value(each)}"


def print_row(row: Row) -> str:
    """A row in the form in which it is stored; a deletion begins with a minus. Of bytes, which follow from the request, a digest is."""
    encoded = encode_row(row)
    text = encoded.value
    if text is None:
        return f"- {encoded.table} {encoded.key}"
    if isinstance(row.value, Content):
        return (
            f"+ {encoded.table} {encoded.key} {len(row.value.data)} bytes {hashlib.sha256(row.value.data).hexdigest()}"
        )
    return f"+ {encoded.table} {encoded.key} {text if len(text) <= 8 * LONGEST else _shorten(text)}"


def print_changed_row(row: Row, before: str, name: str) -> str:
    """A row by the members in which it differs from another one, `before`, that is called `name`."""
    encoded = encode_row(row)
    assert encoded.value is not None
    changes = " ".join(_row_changes("", json.loads(before), json.loads(encoded.value)))
    return f"~ {encoded.table} {encoded.key} {name} {changes or 'as it is'}"


def _row_changes(path: str, before: Any, after: Any) -> Iterator[str]:
    if before == after:
        return
    if after == USUAL.get(path):
        yield path
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            place = f"{path}.{name}" if path else name
            if name not in after:
                yield f"-{place}"
            else:
                yield from _row_changes(place, before.get(name), after[name])
    elif isinstance(before, list) and isinstance(after, list):
        items = [f"#{before.index(item)}" if item in before else _print_json(item) for item in after]
        yield f"{path}=[{', '.join(items)}]"
    else:
        yield f"{path}={_print_json(after)}"


def _print_json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    if len(text) <= 90:
        return text
    begin = text[:48].replace('"', "")
    return f"{begin}…{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def print_needs(required: Required) -> str:
    """The permissions that a request needs, each with its resource and its path in the request."""
    needs = [*_needs(required)]
    return ", ".join(needs if len(needs) <= NEEDS else [f"{len(needs)} things", *needs[:2]]) or "nothing"


def _needs(required: Required) -> Iterable[str]:
    for need in required:
        resource, rule = need.kind.describe(need.name), need.kind.describe_rule(need.name)
        words = " or ".join(need.permissions)
        yield f"{words} on {_shorten(resource)}{f' at {need.path}' if need.path else ''}{rule}"


# ------------------------------------------------------------------------------------------------------- repeated texts


def shorten(text: str) -> str:
    """A record with marks in the places of what it has several times, and without the ends of digests and the quotes of words.

    A long line is written once, behind its mark, and is the mark alone later. Long quoted texts are marks everywhere; what they stand for
    is at the end.
    """
    text = _WORD.sub(r"\1", _DIGEST.sub(lambda match: f"{match[0][:8]}…", text))
    counts, marks = Counter(_QUOTED.findall(text)), dict[str, str]()

    def mark_quoted(match: re.Match[str]) -> str:
        return _mark(match[0], marks) if len(match[0]) >= QUOTED and counts[match[0]] > 1 else match[0]

    lines = _QUOTED.sub(mark_quoted, text).splitlines()
    legend, repeated, known = (
        [f"{mark} {meaning}" for mark, meaning in sorted(marks.items())],
        Counter(lines),
        set[str](),
    )
    for at, line in enumerate(lines):
        if len(line) >= LINE and repeated[line] > 1 and not line.startswith("#"):
            lines[at] = _mark(line, marks) + (f" {line}" if line not in known else "")
            known.add(line)
    return "\n".join([*lines, *(["", "# texts", *legend] if legend else [])]) + "\n"


def pack(text: str) -> str:
    """A text with marks in the places of its long quoted texts that it has several times, which `unpack` gives back."""
    counts, marks = Counter(_QUOTED.findall(text)), dict[str, str]()
    packed = _QUOTED.sub(
        lambda match: _mark(match[0], marks) if len(match[0]) >= QUOTED and counts[match[0]] > 1 else match[0], text
    )
    return packed + "".join(["# texts\n", *(f"{mark} {meaning}\n" for mark, meaning in sorted(marks.items()))])


def unpack(packed: str) -> str:
    """The text that `pack` was given."""
    text, _, legend = packed.rpartition("# texts\n")
    marks = dict(line.split(" ", 1) for line in legend.splitlines())
    return _MARK.sub(lambda match: marks.get(match[0], match[0]), text)


def _mark(text: str, marks: dict[str, str]) -> str:
    """The mark of a text: five digits of its digest, and more where another text has these."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    mark = next(mark for size in range(5, 65) if marks.get(mark := f"«{digest[:size]}»", text) == text)
    marks[mark] = text
    return mark
