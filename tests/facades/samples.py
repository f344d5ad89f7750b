"""A small family of schemas in every format of this package."""

from dataclasses import dataclass

JSON_OLD = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"integer"}}}'
PROTO_OLD = 'syntax = "proto3";\npackage p;\nmessage F {\n  int32 a = 1;\n  string b = 2;\n}\n'


@dataclass(frozen=True)
class Sample:
    """A schema, one that may follow it, one that may not, and one that uses another one by its name."""

    suffix: str
    old: str
    fits: str
    breaks: str
    broken: str
    uses: str
    name: str
    used: str


SAMPLES = {
    "AVRO": Sample(
        ".avsc",
        '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}',
        '{"type":"record","name":"F","fields":[{"name":"a","type":"long"}]}',
        '{"type":"record","name":"F","fields":[{"name":"a","type":"string"}]}',
        '{"type":"record",\n"fields":[]}',
        '{"type":"record","name":"U","fields":[{"name":"m","type":"Money"}]}',
        "Money",
        '{"type":"fixed","name":"Money","size":8}',
    ),
    "JSON": Sample(
        ".schema.json",
        JSON_OLD,
        JSON_OLD.replace("integer", "number"),
        JSON_OLD.replace("integer", "string"),
        '{"$schema":"http://json-schema.org/draft-07/schema#",\n"type":"objekt"}',
        '{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"m":{"$ref":"money.json"}}}',
        "money.json",
        '{"$schema":"http://json-schema.org/draft-07/schema#","type":"integer"}',
    ),
    "PROTOBUF": Sample(
        ".proto",
        PROTO_OLD,
        PROTO_OLD.replace("}", "  bool c = 3;\n}"),
        PROTO_OLD.replace("int32 a", "string a"),
        PROTO_OLD.replace("= 2", "= 1"),
        'syntax = "proto3";\nimport "shop/money.proto";\nmessage U {\n  shop.Money m = 1;\n}\n',
        "shop/money.proto",
        'syntax = "proto3";\npackage shop;\nmessage Money {\n  int64 units = 1;\n}\n',
    ),
}
