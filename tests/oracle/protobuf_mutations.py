"""Protobuf files with one or two things changed, so that about half of them are wrong."""

import re
from collections.abc import Callable, Sequence

from tests.oracle.protobuf_files import DIALECTS, SCALARS
from treaty.formats.seeded_random import SeededRandom

_TOKEN = re.compile(r'\s+|[A-Za-z_]\w*|"(?:[^"\\\n]|\\.)*"|[0-9][\w.]*|.', re.ASCII)
_SPARE = (
    "1", "0", "2", "19000", "536870911", "536870912", "2147483648", "-1", "1.5", '"x"', "max", "to", "optional", "required",
    "repeated", "oneof", "map", "message", "enum", "group", "reserved", "extensions", "extend", "option", "import", "export",
    "local", "stream", "string", "int32", "bytes", "true", "false", "inf", "nan", ";", "{", "}", "=", ",", "(", ")", "[", "]",
    "<", ">", ".", "-", "/", "A", "B", "x", "value", "key", "default", "packed", "deprecated", "json_name", "lazy", "jstype",
    "features", "proto2", "weak", "public", "0x1F", "010", "08", "1e3", '"\\n"', '"\\u00e4"', '"\\q"', "'y'",
)  # fmt: skip


def mutated(text: str, seed: int) -> str:
    """The same text with one or two things changed, among its tokens or among its lines."""
    draw = SeededRandom(seed)
    for _ in range(2 if draw.chance(20) else 1):
        text = draw.pick(_MUTATIONS)(text, draw)
    return text


def _joined(tokens: Sequence[str]) -> str:
    return "".join(tokens)


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens = _TOKEN.findall(text)
    return tokens, [at for at, one in enumerate(tokens) if not one.isspace()]


def _replace(text: str, draw: SeededRandom) -> str:
    tokens, places = _tokens(text)
    at = draw.pick(places)
    tokens[at] = draw.pick(_SPARE) if draw.chance(50) else tokens[draw.pick(places)]
    return _joined(tokens)


def _delete(text: str, draw: SeededRandom) -> str:
    tokens, places = _tokens(text)
    tokens[draw.pick(places)] = " "
    return _joined(tokens)


def _insert(text: str, draw: SeededRandom) -> str:
    tokens, places = _tokens(text)
    tokens.insert(draw.pick(places), f" {draw.pick(_SPARE)} ")
    return _joined(tokens)


def _swap(text: str, draw: SeededRandom) -> str:
    tokens, places = _tokens(text)
    one, other = draw.pick(places), draw.pick(places)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return _joined(tokens)


def _number(text: str, draw: SeededRandom) -> str:
    tokens, _ = _tokens(text)
    numbers = [at for at, one in enumerate(tokens) if one[0].isdigit()]
    if numbers:
        spare = ("0", "1", "2", "3", "5", "100", "101", "19500", "536870911", "536870912", "0x2", "02", "4294967296")
        tokens[draw.pick(numbers)] = draw.pick(spare)
    return _joined(tokens)


def _rename(text: str, draw: SeededRandom) -> str:
    tokens, _ = _tokens(text)
    names = [at for at, one in enumerate(tokens) if one[0].isalpha() and any(char.isdigit() for char in one)]
    if names:
        tokens[draw.pick(names)] = tokens[draw.pick(names)]
    return _joined(tokens)


def _retype(text: str, draw: SeededRandom) -> str:
    tokens, _ = _tokens(text)
    types = [at for at, one in enumerate(tokens) if one in SCALARS]
    if types:
        tokens[draw.pick(types)] = draw.pick(SCALARS)
    return _joined(tokens)


def _relabel(text: str, draw: SeededRandom) -> str:
    tokens, _ = _tokens(text)
    labels = [at for at, one in enumerate(tokens) if one in ("optional", "repeated", "required")]
    if labels:
        tokens[draw.pick(labels)] = draw.pick(("optional", "repeated", "required", ""))
    return _joined(tokens)


def _line(text: str, draw: SeededRandom) -> str:
    """Repeat, move, drop or copy a line that is a whole statement."""
    lines = text.splitlines()
    whole = [at for at, one in enumerate(lines) if one.rstrip().endswith(";")]
    if len(whole) < 2:
        return text
    at, other = draw.pick(whole), draw.pick(whole)
    kind = draw.below(3)
    if kind == 0:
        lines.insert(other, lines[at])
    elif kind == 1:
        del lines[at]
    else:
        lines[at] = lines[other]
    return "\n".join(lines) + "\n"


def _dialect(text: str, draw: SeededRandom) -> str:
    first, _, rest = text.partition("\n")
    dialect = draw.pick(DIALECTS)
    return (
        (f'edition = "{dialect}";' if dialect[0] == "2" else f'syntax = "{dialect}";') + f"\n{rest}" if first else text
    )


_MUTATIONS: tuple[Callable[[str, SeededRandom], str], ...] = (
    *(_replace, _delete, _insert, _swap),
    *((_number, _line) * 5),
    *((_retype,) * 8),
    *((_rename, _relabel) * 2),
    _dialect,
)
