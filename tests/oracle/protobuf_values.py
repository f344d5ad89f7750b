"""Values, names and declarations in options, as protoc takes them or not: small files, each with one of them."""

HEAD = (
    'syntax = "proto2"; package p.q; import "google/protobuf/descriptor.proto"; import "google/protobuf/any.proto"; '
    "message O { optional float f = 1; optional double d = 2; optional int32 i = 3; optional uint32 u = 4; "
    "optional bool b = 5; optional E e = 6; repeated float r = 7; optional google.protobuf.Any any = 8; "
    "optional string s = 9; optional sint64 si = 10; optional fixed64 fx = 11; optional bytes by = 12; "
    "optional O o = 13; optional group Gr = 14 { optional float f = 1; } extensions 100 to 200; } "
    "enum E { A = 0; B = -1; nan = 3; inf = 4; } "
    "extend google.protobuf.MessageOptions { optional O mo = 50001; optional float mf = 50002; "
    "optional double md = 50003; optional int32 mi = 50004; optional uint64 mu = 50005; optional bool mb = 50006; "
    "optional E me = 50007; optional string ms = 50008; } "
    "extend O { optional int32 ext = 100; optional O exo = 101; } "
)
"""What every file begins with."""
_WORDS = (
    *(
        "-Infinity",
        "-INF",
        "-infinity",
        "-Nan",
        "- infinity",
        "-inf",
        "-nan",
        "inf",
        "nan",
        "INF",
        "Infinity",
        "infinity",
    ),
    *(
        "NaN",
        "-iNf",
        "+1",
        "+inf",
        "true",
        "false",
        "True",
        "t",
        "f",
        "False",
        "TRUE",
        "F",
        "A",
        "B",
        "x",
        "-x",
        "-true",
    ),
    *("-A", "{}", "[]", "[1]", "[1,2]", "[1,]", "<>"),
)
_NUMBERS = (
    *(
        "0x10",
        "010",
        "007",
        "00",
        "-0x10",
        "-010",
        "-00",
        "0",
        "-0",
        "0.0",
        "-0.0",
        "0X1F",
        "0xg",
        "08",
        "09.5",
        "00.5",
    ),
    *("01e2", "1f", "1.5f", "1.5F", "1e5", "1E+5", "1.", "1.f", ".5", ".5f", "-.5", "1e", "1e400", "-1e400", "1e-400"),
    *("18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809"),
    *("9223372036854775808", "0xffffffffffffffff", "0x10000000000000000", "-0x8000000000000000", "4294967295"),
    *("4294967296", "-1", "2147483648", "1", "2", "3", "-3", "- 5", "-/*c*/5", "- -5", "--5", "0b1", "1_000", "0o7"),
    *("123456789012345678901234567890", "0.1e-400", "0x", "-0x", "0777777777777777777777777", "1.5.5", "1..5", "..5"),
)
_STRINGS = ("'a'", "\"a\" 'b'", "'\\400'", "'\\377'", "'\\xg'", "'\\u00e4'")
_EXTENSIONS = (
    *("p.q.ext", ".p.q.ext", "ext", "q.ext", ".ext", " p . q . ext ", "p..q.ext", "p.q.ext.", "p/q.ext", "-p.q.ext"),
    *("p.q-ext", "p.q.e xt", "p.q.exo", "", "x", "p.q/*c*/.ext", "p.q.\n ext", "1ext", "p.1", "p.q.ext, p.q.ext"),
    "type.googleapis.com/p.q.O",
)
_ADDRESSES = (
    *("type.googleapis.com/p.q.O", "type.googleprod.com/p.q.O", "/p.q.O", "type.googleapis.com/.p.q.O"),
    *("type.googleapis.com/O", "type.googleapis.com /p.q.O", "type.googleapis.com/ p.q.O", "example.com/p.q.O"),
    *("type. googleapis.com/p.q.O", "type.googleapis.com//p.q.O", "type.googleapis.com/p.q.X", "p.q.O"),
    *("type.googleapis.com/p.q.O/", "type-x.googleapis.com/p.q.O", "type.googleapis.com/p.q.E"),
    *("TYPE.googleapis.com/p.q.O", "type.googleapis.com/x/p.q.O", "type.googleapis.com/p.q-O"),
    *("type.googleapis.com/p.q.1", "type.googleapis.com/p..q.O", "type.google-apis.com/p.q.O"),
)
_DECLARED = (
    *(
        ".a",
        ".1a",
        "a",
        ".",
        "..a",
        ".a.",
        ".a..b",
        ".a.1",
        ".a b",
        ".ä",
        ".a-b",
        "enum",
        "message",
        "group",
        "int32",
        "",
    ),
    *(".a.b", ".A_b9", "E", "float", "Int32", "1", ".$", " .a", ".a/b"),
)


def list_values() -> list[str]:
    """Every value at every place: as an option, as a member of one, as a part of one, as a default."""
    found: list[str] = []
    for value in (*_WORDS, *_NUMBERS, *_STRINGS):
        for name in ("f", "d", "i", "u", "b", "e", "r", "s", "si", "fx", "by", "o", "Gr"):
            found.append(f"option (mo) = {{ {name}: {value} }};")
        found += (f"option (mo) = {{ r: [{value}, 1] }};", f"option (mo) = {{ o {{ f: {value} }} }};")
        for name in ("mf", "md", "mi", "mu", "mb", "me", "ms", "mo"):
            found.append(f"option ({name}) = {value};")
        found += (f"option (mo).f = {value};", f"option (mo).e = {value};")
        for type_ in ("float", "double", "int32", "uint64", "bool", "E", "string", "bytes"):
            found.append(f"optional {type_} z = 1 [default = {value}];")
    return [f"{HEAD} message M {{ {one} }}" for one in found]


def list_names() -> list[str]:
    """Names of extensions, addresses of types, and what is declared about extensions."""
    found = [f"message M {{ option (mo) = {{ [{name}]: 1 }}; }}" for name in _EXTENSIONS]
    for name in _ADDRESSES:
        for value in (
            f"any {{ [{name}] {{ f: 1 }} }}",
            f"any: {{ [{name}]: {{}} [{name}]: {{}} }}",
            f"any {{ [{name}]: 1 }}",
        ):
            found.append(f"message M {{ option (mo) = {{ {value} }}; }}")
    for name in _DECLARED:
        for said in (
            f'full_name: "{name}" type: ".b"',
            f'full_name: ".b" type: "{name}"',
            f'full_name: "{name}" type: "{name}" reserved: true',
        ):
            found.append(f"message M {{ extensions 4 to 10 [declaration = {{ number: 5 {said} }}]; }}")
        for said in (f'full_name: ".p.q.x" type: "{name}"', f'full_name: "{name}" type: ".p.q.E"'):
            body = f"extensions 4 to 10 [declaration = {{ number: 5 {said} }}];"
            found.append(f"message M {{ {body} }} extend M {{ optional E x = 5; }}")
    return [HEAD + one for one in found]
