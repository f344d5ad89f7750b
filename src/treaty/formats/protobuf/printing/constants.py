"""Values of options as text: strings with Confluent's escapes, messages with one member on a line."""

from collections.abc import Iterable, Sequence

from treaty.formats.protobuf.model import AggregateValue, Constant, IdentifierValue, ProtoOption

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


def quoted(value: bytes) -> str:
    """A string in double quotes; what is no UTF-8 becomes octal escapes, other characters stay as they are."""
    text = value.decode("utf-8", "surrogateescape")
    if text.isalnum():
        return f'"{text}"'
    return f'"{_octal(text.translate(_ESCAPES))}"'


def _octal(text: str) -> str:
    if text.isascii() or text.isprintable():
        return text
    return "".join(f"\\{ord(char) - _BYTE:03o}" if "\udc80" <= char <= "\udcff" else char for char in text)


def number(value: float) -> str:
    """A number with a fraction or exponent, as its shortest decimal text; an infinite one as a number too large."""
    if value == float("inf"):
        return "1e999"
    return repr(value) if value == value else "-nan"  # noqa: PLR0124 - the one value that differs from itself


def constant(value: Constant, pad: str) -> str:
    """A value whose first line stands at the indentation `pad`."""
    match value:
        case bytes():
            return quoted(value)
        case IdentifierValue():
            return value.text
        case float():
            return number(value)
        case int():
            return str(value)
        case AggregateValue():
            inner = f"{pad}  "
            lines = (f"{inner}{name}: {constant(one, inner)}" for name, one in gathered(value))
            return _block("{", lines, pad, "}")
    inner = f"{pad}  "
    return _block("[", (inner + constant(one, inner) for one in value), pad, "]")


def _block(opening: str, lines: Iterable[str], pad: str, closing: str) -> str:
    text = ",\n".join(lines)
    return f"{opening}\n{text}\n{pad}{closing}" if text else f"{opening}\n{pad}{closing}"


def gathered(value: AggregateValue) -> list[tuple[str, Constant]]:
    """The members of a message; those of one name become a list where the first of them stands."""
    members: dict[str, Constant] = {}
    for name, one in value.members:
        if name in members:
            members[name] = (*_listed(members[name]), *_listed(one))
        else:
            members[name] = one
    return list(members.items())


def _listed(value: Constant) -> tuple[Constant, ...]:
    return value if isinstance(value, tuple) else (value,)


def assignment(option: ProtoOption, pad: str) -> str:
    """``name = value`` for an option at the indentation `pad`."""
    return f"{'.'.join(option.name)} = {constant(option.value, pad)}"


def bracketed(options: Sequence[ProtoOption], pad: str) -> str:
    """Options in square brackets after a space, several of them on lines of their own; nothing for none."""
    if not options:
        return ""
    if len(options) == 1:
        return f" [{assignment(options[0], pad)}]"
    inner = f"{pad}  "
    lines = ",\n".join(inner + assignment(option, inner) for option in options)
    return f" [\n{lines}\n{pad}]"
