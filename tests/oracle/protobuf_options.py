"""Files full of options from a seed: every scalar type with its extremes, in every spelling, on every kind of definition."""

from treaty.formats.seeded_random import SeededRandom

_WHOLE = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), ("-2147483648", "2147483647", "0x7f", "-017")),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), ("-9223372036854775808", "9223372036854775807", "-0x10", "010")),
    **dict.fromkeys(("uint32", "fixed32"), ("4294967295", "0xffffffff", "0777")),
    **dict.fromkeys(("uint64", "fixed64"), ("18446744073709551615", "0xffffffffffffffff", "01")),
}
_FLOAT = (
    *(
        "0.1",
        "0.3",
        "1.5",
        "2",
        "16777217",
        "12345678.9",
        "0.33333334",
        "0.333333343",
        "3.4028235e38",
        "1e39",
        "1.4e-45",
    ),
    *("1e-46", "1.17549435e-38", "9007199254740993", "18446744073709551615", "1e999", "5e-324", "-0.0", "-0.1", "0.0"),
    *(
        "123456789012345678901234567890",
        "1e15",
        "1e16",
        "100000.0",
        "inf",
        "-inf",
        "nan",
        "-nan",
        "-16777217",
        "00.5e1"[1:],
    ),
)
_TEXT = (
    *(
        '"plain"',
        "'single'",
        '"two" "parts"',
        r'"\n\t\"\'\\"',
        r'"\a\b\f\v\0"',
        '""',
        '"ä€😀"',
        r'"\303\244"',
        r'"\u00e4"',
    ),
    *(r'"\U0001f600"', '"tab\there"', r'"\x41\102"', r'"\?"', '"\x7f"', r'"\1772"'),
)
_BYTES = (*_TEXT, r'"\377\000\200"', r'"\xfe1"', r'"a\2009"')
SCALARS = (*_WHOLE, "float", "double", "bool", "string", "bytes")
_HOLDERS = {
    "File": "file",
    "Message": "message",
    "Field": "field",
    "Oneof": "oneof",
    "ExtensionRange": "range",
    "Enum": "enum",
    "EnumValue": "value",
    "Service": "service",
    "Method": "method",
}


def write_options(seed: int, dialect: str) -> str:
    """A file that defines options of all types and sets some of them; nearly always a right one."""
    return _OptionWriter(SeededRandom(seed), dialect).file()


class _OptionWriter:
    def __init__(self, draw: SeededRandom, dialect: str) -> None:
        self.draw = draw
        self.dialect = dialect
        self.label = "optional " if dialect == "proto2" else ""

    def scalar(self, type_: str, *, inside: bool) -> str:
        """A value of a scalar type in one of its spellings; inside a message there are more of them."""
        draw = self.draw
        if type_ in ("float", "double"):
            number = draw.pick(_FLOAT)
            return number if not inside or draw.chance(70) else draw.pick((f"{draw.below(999)}.25", "1E3", number))
        if type_ == "bool":
            return draw.pick(("true", "false", "True", "t", "f", "False", "1", "0") if inside else ("true", "false"))
        if type_ == "string":
            return draw.pick(_TEXT)
        if type_ == "bytes":
            return draw.pick(_BYTES)
        return draw.pick((*_WHOLE[type_], "0", "1", "42"))

    def kind(self, *, inside: bool) -> str:
        return self.draw.pick(("A", "B", "C", "1", "2", "0") if inside else ("A", "B", "C"))

    def members(self, depth: int) -> str:
        """The inside of a message as a value, each field once at most, repeated ones in several ways."""
        draw = self.draw
        parts: list[str] = []
        for type_ in SCALARS:
            if draw.chance(12):
                parts.append(f"s_{type_}: {self.scalar(type_, inside=True)}")
            if draw.chance(6):
                listed = [self.scalar(type_, inside=True) for _ in range(draw.below(4))]
                parts += (
                    [f"r_{type_}: [{', '.join(listed)}]"] if draw.chance(50) else [f"r_{type_}: {x}" for x in listed]
                )
        if draw.chance(25):
            parts.append(f"kind: {self.kind(inside=True)}")
        if draw.chance(20):
            parts.append(f"kinds: [{self.kind(inside=True)}, {self.kind(inside=True)}]")
        for key in ("one", "two", "one"):
            if draw.chance(10):
                parts.append(f'map {{ key: "{key}" value: {self.scalar("float", inside=True)} }}')
        if draw.chance(10):
            parts.append(f"numbers [{{ key: 7 value {{ {self.members(depth + 1)} }} }}, {{ key: -1 }}]")
        if depth < 3:
            parts += self.nested(depth + 1)
        return draw.pick((", ", " ", "; ")).join(self.shuffled(parts))

    def nested(self, depth: int) -> list[str]:
        draw = self.draw
        parts: list[str] = []
        if draw.chance(25):
            parts.append(f"inner {{ {self.members(depth)} }}")
        if draw.chance(15):
            parts.append(f"more: [{{ {self.members(depth)} }}, < {self.members(depth)} >]")
        if draw.chance(20):
            parts.append(f"{draw.pick(('any', 'any:'))} {{ {self.any(depth)} }}")
        if self.dialect != "proto3" and draw.chance(25):
            parts.append(f"{draw.pick(('[acme.ext]', '[ext]'))} {{ {self.members(depth)} }}")
            if draw.chance(50):
                parts.append(f"[acme.ext_float]: {self.scalar('float', inside=True)}")
        if self.dialect == "proto2" and draw.chance(25):
            parts.append(f"Part {{ ratio: {self.scalar('float', inside=True)} }}")
        return parts

    def any(self, depth: int) -> str:
        if self.draw.chance(70):
            return f"[type.googleapis.com/acme.O] {{ {self.members(depth)} }}"
        return r'type_url: "type.googleapis.com/acme.O" value: "\012\001"'

    def shuffled(self, items: list[str]) -> list[str]:
        left = list(items)
        return [left.pop(self.draw.below(len(left))) for _ in items]

    def settings(self, holder: str) -> list[str]:
        """Some options of one kind of definition, without the words around."""
        draw = self.draw
        prefix = holder.lower()
        found = [f"({prefix}_{one}) = {self.scalar(one, inside=False)}" for one in SCALARS if draw.chance(12)]
        for type_ in SCALARS:
            found += [f"(r{prefix}_{type_}) = {self.scalar(type_, inside=False)}" for _ in range(2) if draw.chance(5)]
        if draw.chance(30):
            found.append(f"({draw.pick(('', 'acme.', '.acme.'))}{prefix}_kind) = {self.kind(inside=False)}")
        if draw.chance(45):
            found.append(f"({prefix}_o) = {{ {self.members(0)} }}")
        elif draw.chance(30):
            types = [one for one in SCALARS if draw.chance(15)]
            found += [f"({prefix}_o).s_{one} = {self.scalar(one, inside=False)}" for one in types]
        return self.shuffled(found)

    def statements(self, holder: str) -> str:
        return " ".join(f"option {one};" for one in self.settings(holder))

    def brackets(self, holder: str, *more: str) -> str:
        found = [*more, *self.settings(holder)]
        return f" [{', '.join(found)}]" if found else ""

    def fields(self) -> str:
        """Fields with options; under proto2 with defaults."""
        lines = []
        for number, type_ in enumerate(SCALARS, 1):
            more = []
            if self.dialect != "proto3" and self.draw.chance(60):
                more.append(f"default = {self.scalar(type_, inside=False)}")
            if self.draw.chance(20):
                more.append(f'json_name = "{self.draw.pick((f"f{type_.capitalize()}", f"other{number}"))}"')
            lines.append(f"{self.label}{type_} f_{type_} = {number}{self.brackets('Field', *more)};")
        return " ".join(lines)

    def file(self) -> str:
        head = f'edition = "{self.dialect}";' if self.dialect[0] == "2" else f'syntax = "{self.dialect}";'
        open_ended = self.dialect != "proto3"
        held = " ".join(f"{self.label}{one} s_{one} = {at};" for at, one in enumerate(SCALARS, 1))
        held += " ".join(f"repeated {one} r_{one} = {at};" for at, one in enumerate(SCALARS, 21))
        held += (
            f"{self.label}K kind = 41; repeated K kinds = 42; map<string, float> map = 43; map<sint32, O> numbers = 44;"
            f"{self.label}O inner = 45; repeated O more = 46; {self.label}google.protobuf.Any any = 47;"
        )
        if self.dialect == "proto2":
            held += f"{self.label}group Part = 48 {{ {self.label}float ratio = 1; }}"
        lines = [
            head,
            'package acme; import "google/protobuf/descriptor.proto"; import "google/protobuf/any.proto";',
            self.statements("File"),
            f"enum K {{ A = 0; B = 1; C = 2; }} message O {{ {held} {'extensions 100 to 200;' if open_ended else ''} }}",
        ]
        if open_ended:
            lines.append(f"extend O {{ {self.label}O ext = 100; {self.label}float ext_float = 101; }}")
        for holder in _HOLDERS:
            own = " ".join(f"{self.label}{one} {holder.lower()}_{one} = {at};" for at, one in enumerate(SCALARS, 50001))
            own += " ".join(f"repeated {one} r{holder.lower()}_{one} = {at};" for at, one in enumerate(SCALARS, 50031))
            own += f"{self.label}O {holder.lower()}_o = 50061; {self.label}K {holder.lower()}_kind = 50062;"
            lines.append(f"extend google.protobuf.{holder}Options {{ {own} }}")
        kept = f"extensions 100 to 110, 120{self.brackets('ExtensionRange')};" if open_ended else ""
        choice = f"oneof choice {{ {self.statements('Oneof')} float in_choice = 30{self.brackets('Field')}; }}"
        lines += [
            f"message M {{ {self.statements('Message')} {self.fields()} {choice} {kept} }}",
            f"enum E {{ {self.statements('Enum')} E_ZERO = 0{self.brackets('EnumValue')}; }}",
            f"service S {{ {self.statements('Service')} rpc Ask (M) returns (M) {{ {self.statements('Method')} }} }}",
        ]
        return "\n".join(lines) + "\n"
