"""Values of options as text: strings with Confluent's escapes, messages with one member on a line."""

from collections.abc import Iterable, Sequence

from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    IdentifierValue,
    MinusZero,
    ProtoOption,
    RadixMinusZero,
)

_ESCAPES = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        "'": r"\'",
        '"': r"\"",
        "\0": r"\000",
    }
)
_BYTE = 0xDC00  # the surrogate with which Python stands in for a byte that is no UTF-8, less the byte


def quote_bytes(value: bytes) -> str:
    """A string in double quotes; what is no UTF-8 becomes octal escapes, other characters stay as they are."""
    text = value.decode("utf-8", "surrogateescape")
    if text.isalnum():
        return f'"{text}"'
    return f'"{_octal(text.translate(_ESCAPES))}"'


def _octal(text: str) -> str:
    if text.isascii() or text.isprintable():
        return text
    return "".join(f"\\{ord(char) - _BYTE:03o}" if "\udc80" <= char <= "\udcff" else char for char in text)


def print_number(value: float) -> str:
    """A number with a fraction or exponent, as its shortest decimal text; an infinite one as a number too large."""
    if value == float("inf"):
        return "1e999"
    return repr(value) if value == value else "-nan"  # noqa: PLR0124 - the one value that differs from itself


def print_constant(value: Constant, pad: str) -> str:
    """A value whose first line stands at the indentation `pad`."""
    match value:
        case bytes():
            return quote_bytes(value)
        case IdentifierValue():
            return value.text
        case float():
            return print_number(value)
        case MinusZero() | RadixMinusZero():
            return "-0"
        case int():
            return str(value)
        case AggregateValue():
            inner = f"{pad}  "
            lines = (f"{inner}{name}: {print_constant(one, inner)}" for name, one in merge_members(value))
            return _block("{", lines, pad, "}")
    inner = f"{pad}  "
    return _block("[", (inner + print_constant(one, inner) for one in value), pad, "]")


def _block(opening: str, lines: Iterable[str], pad: str, closing: str) -> str:
    text = ",\n".join(lines)
    return f"{opening}\n{text}\n{pad}{closing}" if text else f"{opening}\n{pad}{closing}"


def merge_members(value: AggregateValue) -> list[tuple[str, Constant]]:
    """The members of a message; those of one name become a list where the first of them stands."""
    members: dict[str, Constant] = {}
    for name, constant in value.members:
        if name in members:
            members[name] = (*_to_tuple(members[name]), *_to_tuple(constant))
        else:
            members[name] = constant
    return list(members.items())


def _to_tuple(value: Constant) -> tuple[Constant, ...]:
    return value if isinstance(value, tuple) else (value,)


def print_assignment(option: ProtoOption, pad: str) -> str:
    """``name = value`` for an option at the indentation `pad`."""
    return f"{'.'.join(option.name)} = {print_constant(option.value, pad)}"


def print_brackets(options: Sequence[ProtoOption], pad: str) -> str:
    """Options in square brackets after a space, several of them on lines of their own; nothing for none."""
    if not options:
        return ""
    if len(options) == 1:
        return f" [{print_assignment(options[0], pad)}]"
    inner = f"{pad}  "
    lines = ",\n".join(inner + print_assignment(option, inner) for option in options)
    return f" [\n{lines}\n{pad}]"
