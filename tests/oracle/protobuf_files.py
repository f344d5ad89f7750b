"""Protobuf files from a seed, with much in them; nearly all of them are right."""

from treaty.formats.seeded_random import SeededRandom

DIALECTS = ("proto2", "proto3", "2023", "2024")
SCALARS = (
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "fixed64",
    "sfixed32",
    "bool",
    "string",
    "bytes",
    "double",
    "float",
)
KEYS = ("int32", "string", "bool", "uint64", "sint64")
IMPORTS = (
    ("google/protobuf/timestamp.proto", "google.protobuf.Timestamp"),
    ("google/protobuf/any.proto", "google.protobuf.Any"),
    ("google/type/money.proto", "google.type.Money"),
    ("google/type/dayofweek.proto", "google.type.DayOfWeek"),
)
_FEATURES = {
    "file": (
        "field_presence = IMPLICIT",
        "enum_type = CLOSED",
        "repeated_field_encoding = EXPANDED",
        "json_format = ALLOW",
    ),
    "scalar": ("field_presence = IMPLICIT", "field_presence = EXPLICIT", "field_presence = LEGACY_REQUIRED"),
    "repeated": ("repeated_field_encoding = EXPANDED",),
}


class Maker:
    """Makes one valid file, or one that is nearly so."""

    def __init__(self, draw: SeededRandom, dialect: str, below: "Maker | None" = None) -> None:
        """With `below`, the file imports what that one has made, and uses it."""
        self.draw = draw
        self.dialect = dialect
        self.below = below
        self.package = ""
        self.lines: list[str] = []
        self.types: list[str] = []
        self.enums: list[str] = []
        self.serial = 0

    @property
    def editions(self) -> bool:
        return self.dialect[0] == "2"

    def name(self, prefix: str) -> str:
        """A name that no other definition has."""
        self.serial += 1
        return f"{prefix}{self.serial}"

    def put(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def file(self) -> str:
        """The text."""
        draw = self.draw
        self.put(0, f'edition = "{self.dialect}";' if self.editions else f'syntax = "{self.dialect}";')
        if draw.chance(70):
            self.package = "acme." + draw.pick(("orders", "v1", "a.b", "v1.orders"))
            self.put(0, f"package {self.package};")
        if self.below is not None:
            self.base(self.below)
        for path, type_ in IMPORTS:
            if draw.chance(35):
                self.put(0, f'import {draw.pick(("", "", "public "))}"{path}";')
                (self.enums if type_.endswith("Week") else self.types).append(type_)
        custom = draw.chance(50)
        if custom:
            late = "option " if self.dialect == "2024" and draw.chance(30) else ""
            self.put(0, f'import {late}"google/protobuf/descriptor.proto";')
        for option in (
            'java_package = "com.acme"',
            "deprecated = true",
            "optimize_for = SPEED",
            "cc_enable_arenas = false",
        ):
            if draw.chance(20):
                self.put(0, f"option {option};")
        if self.editions and draw.chance(40):
            self.put(0, f"option features.{self.feature('file')};")
        for _ in range(1 + draw.below(2)):
            self.enum(0)
        for _ in range(1 + draw.below(3)):
            self.message(0)
        if custom:
            self.customs()
        if draw.chance(40):
            self.service()
        return "\n".join(self.lines) + "\n"

    def base(self, below: "Maker") -> None:
        """Import another file, and know its types under one of the names that may lead to them."""
        self.put(0, f'import {self.draw.pick(("", "", "public "))}"base.proto";')
        self.serial = 100
        for mine, theirs in ((self.types, below.types), (self.enums, below.enums)):
            for name in theirs:
                full = f"{below.package}.{name}" if below.package and not name.startswith("google") else name
                parts = full.split(".")
                mine.append(self.draw.pick((full, full, f".{full}", ".".join(parts[self.draw.below(len(parts)) :]))))

    def feature(self, kind: str) -> str:
        """A feature, nearly always one that this kind of definition has in this edition."""
        kinds = [kind] if self.draw.chance(95) else list(_FEATURES)
        choices = [one for each in kinds for one in _FEATURES[each]]
        if kind == "file" and self.dialect == "2024":
            choices += ["enforce_naming_style = STYLE_LEGACY", "default_symbol_visibility = EXPORT_ALL"]
            choices += ["default_symbol_visibility = LOCAL_ALL", "default_symbol_visibility = STRICT"]
        return self.draw.pick(choices)

    def enum(self, depth: int, scope: str = "") -> None:
        name = self.name("Kind")
        prefix = name.upper()
        if self.dialect == "2024" and self.draw.chance(30):
            self.put(depth, f"{self.draw.pick(('export', 'local'))} enum {name} {{")
        else:
            self.put(depth, f"enum {name} {{")
        count = 1 + self.draw.below(4)
        alias = self.draw.chance(15)
        if alias:
            self.put(depth + 1, "option allow_alias = true;")
        if self.editions and self.draw.chance(15):
            self.put(depth + 1, "option features.enum_type = CLOSED;")
        if self.draw.chance(15):
            self.put(
                depth + 1, "reserved 20 to 30, -5;" if self.draw.chance(50) else f"reserved {self.reserved('OLD')};"
            )
        for index in range(count):
            bracket = self.draw.pick(("", "", " [deprecated = true]"))
            self.put(depth + 1, f"{prefix}_V{chr(65 + index)} = {index}{bracket};")
        if alias:
            self.put(depth + 1, f"{prefix}_OTHER = 0;")
        self.put(depth, "}")
        self.enums.append(f"{scope}{name}")

    def reserved(self, name: str) -> str:
        return name if self.editions else f'"{name}"'

    def message(self, depth: int, scope: str = "") -> None:
        draw = self.draw
        name = self.name("Part")
        shown = f"{draw.pick(('export', 'local'))} " if self.dialect == "2024" and draw.chance(20) else ""
        self.put(depth, f"{shown}message {name} {{")
        inner = f"{scope}{name}."
        if draw.chance(15):
            self.put(depth + 1, "option deprecated = true;")
        if depth < 2 and draw.chance(40):
            self.message(depth + 1, inner)
        if draw.chance(30):
            self.enum(depth + 1, inner)
        number = 0
        for _ in range(draw.below(6)):
            number += 1 + draw.below(2)
            self.field(depth + 1, number)
        if draw.chance(30):
            self.put(depth + 1, f"oneof {self.name('choice')} {{")
            for _ in range(1 + draw.below(3)):
                number += 1
                self.put(depth + 2, f"{self.type()} {self.name('f')} = {number};")
            self.put(depth + 1, "}")
        if draw.chance(25):
            self.put(depth + 1, f"reserved {number + 10} to {number + 15}, {number + 20};")
        if draw.chance(20):
            self.put(depth + 1, f"reserved {self.reserved('gone')}, {self.reserved('lost')};")
        if self.dialect != "proto3" and draw.chance(25):
            bracket = draw.pick(("", " [verification = UNVERIFIED]"))
            self.put(depth + 1, f"extensions {number + 100} to {draw.pick(('max', str(number + 200)))}{bracket};")
            self.put(depth, "}")
            self.put(depth, f"extend {name} {{")
            self.put(depth + 1, f"{self.label()}{self.type()} {self.name('f')} = {number + 101};")
        self.put(depth, "}")
        self.types.append(f"{scope}{name}")

    def label(self) -> str:
        if self.dialect == "proto2":
            return self.draw.pick(("optional ", "repeated ", "optional "))
        if self.dialect == "proto3":
            return self.draw.pick(("", "repeated ", "optional "))
        return self.draw.pick(("", "repeated ", ""))

    def type(self) -> str:
        draw = self.draw
        if self.types and draw.chance(25):
            return draw.pick(self.types)
        if self.enums and draw.chance(20):
            return draw.pick(self.enums)
        return draw.pick(SCALARS)

    def field(self, depth: int, number: int) -> None:
        draw = self.draw
        name = self.name(draw.pick(("f", "total", "customer_id", "x")))
        if draw.chance(12):
            self.put(depth, f"map<{draw.pick(KEYS)}, {self.type()}> {name} = {number};")
            return
        if self.dialect == "proto2" and draw.chance(8):
            self.put(depth, f"optional group G{name} = {number} {{ optional int32 inner = 1; }}")
            return
        label, type_ = self.label(), self.type()
        options: list[str] = []
        if self.dialect != "proto3" and label in ("optional ", "") and type_ in SCALARS and draw.chance(25):
            options.append(f"default = {self.default(type_)}")
        if draw.chance(10):
            options.append("deprecated = true")
        if draw.chance(10):
            options.append(f'json_name = "n{number}"')
        if label == "repeated " and type_ in SCALARS[:8] and not self.editions and draw.chance(20):
            options.append(f"packed = {draw.pick(('true', 'false'))}")
        if self.editions and draw.chance(15):
            kind = "repeated" if label else "scalar"
            options.append(f"features.{self.feature(kind)}")
        bracket = f" [{', '.join(options)}]" if options else ""
        self.put(depth, f"{label}{type_} {name} = {number}{bracket};")

    def default(self, type_: str) -> str:
        draw = self.draw
        if type_ == "bool":
            return draw.pick(("true", "false"))
        if type_ in ("string", "bytes"):
            return draw.pick(('"a"', '"\\x41\\n"', "'it''s'", '"\\377"', '"ä"'))
        if type_ in ("double", "float"):
            return draw.pick(("1", "1.5", "-2e10", "inf", "-inf", "nan", "0.1", "1e400", "123456789.123456789", "0x10"))
        return draw.pick(("1", "0", "0x7f", "017", "100"))

    def customs(self) -> None:
        """Options of the file's own, and their use."""
        draw = self.draw
        word = "optional " if self.dialect == "proto2" else ""
        held = self.name("Rule")
        self.put(0, f"message {held} {{")
        self.put(1, f"{word}int32 max = 1;")
        self.put(1, f"{word}string text = 2;")
        self.put(1, f"repeated {held} more = 3;")
        self.put(1, "map<string, int32> counts = 4;")
        self.put(0, "}")
        self.put(0, "extend google.protobuf.MessageOptions {")
        rule, number = self.name("rule"), self.name("number")
        self.put(1, f"{word}{held} {rule} = 50001;")
        self.put(1, f"{draw.pick((word, 'repeated '))}{draw.pick(SCALARS[:7])} {number} = 50002;")
        self.put(0, "}")
        self.put(0, f"message {self.name('Used')} {{")
        value = draw.pick(
            (
                '{ max: 5 text: "a" "b" }', "{ max: -1, more { max: 2 } more: <text: 'x'>; }", "{}",
                '{ more: [{ max: 1 }, {}] counts { key: "k" value: 3 } }', "{ max: 0 }",
            )
        )  # fmt: skip
        self.put(1, f"option ({rule}) = {value};" if draw.chance(60) else f"option ({rule}).max = 3;")
        if draw.chance(60):
            self.put(1, f"option ({number}) = {draw.pick(('1', '0', '77'))};")
        self.put(0, "}")

    def service(self) -> None:
        draw = self.draw
        messages = [one for one in self.types if not one.startswith("google")] or ["Missing"]
        self.put(0, f"service {self.name('Shop')} {{")
        for _ in range(1 + draw.below(2)):
            sides = [f"({draw.pick(('', 'stream '))}{draw.pick(messages)})" for _ in range(2)]
            end = draw.pick((";", " { option deprecated = true; }", " { option idempotency_level = IDEMPOTENT; }"))
            self.put(1, f"rpc {self.name('Do')}{sides[0]} returns {sides[1]}{end}")
        self.put(0, "}")


def made(seed: int, dialect: str) -> str:
    """A file of a dialect."""
    return Maker(SeededRandom(seed), dialect).file()


def made_pair(seed: int, dialect: str) -> tuple[str, str]:
    """A file of a dialect, and ``base.proto`` of any dialect, which it imports."""
    draw = SeededRandom(seed)
    base = Maker(draw, draw.pick(DIALECTS))
    below = base.file()
    return Maker(draw, dialect, base).file(), below
