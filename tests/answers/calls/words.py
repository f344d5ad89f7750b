"""Calls of functions on names, URLs, levels, findings, drafts and refusals."""

from collections.abc import Iterator
from itertools import product

from tests.answers.calls.printing import each, print_call
from tests.answers.tables import values as v
from tests.answers.tables.labels import LABELS
from tests.answers.tables.settings import LEVELS_ASKED
from treaty.core import finding as f
from treaty.core import iglu_key, kafka, names, policy, refusals, schema, urls
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.search import parse_terms
from treaty.core.names import Subject

TEXTS = (
    "",
    ".",
    "*",
    "a",
    ":.",
    ":.far",
    ":.far:",
    ":.far:a",
    ":.:a",
    ":*:",
    ":*:a",
    ":a:b",
    ".far",
    "far:",
    "__GLOBAL",
    "__EMPTY",
    "a\x1f",
    "a\x7f",
    "\x9f",
    "a\u200b",
    "a\ufeff",
    "\u061c",
    "ä",
    "\ud800",
)
URIS = ("iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/click/jsonschema/1-*-*", "com.acme/click/jsonschema/1-0-2", "iglu:com.acme/click/jsonschema/*-*-*", "iglu:a/b/c/0-0-0", "iglu:a/b/c", "iglu:a/b/c/1-0-0/d",
        "http:a/b/c/1-0-0", "iglu", "iglu:a b/c/d/1-0-0", "iglu:a/b/c/1-2-2147483648", "iglu:a/b/c/*-1-2", "iglu:a/b/c/2-0-2147483647", f"iglu:{v.LONG}/b/c/1-0-0", "")  # fmt: skip
KAFKA = (
    "kafka://a:1/t",
    "kafka://a",
    "kafka://a:1,b:2/t/",
    "kafka://a, b:3/t",
    "kafka:///t",
    "kafka://u:p@a/t",
    "kafka://a/t?x=1",
    "kafka://a/t/u",
    "a:1/t",
    "",
    "kafka://:9",
    "kafka://a:x/t",
    "kafka://[::1]/t",
    "kafka://[::1]:5/t",
    "kafka://,/t",
)
SETTINGS = (
    "",
    "a=b",
    "a: b\n# c\n! d\n\nx y",
    "a b=c",
    "=x",
    "a=b\\\nc",
    'sasl.jaas.config=x username="u" password="p\\"q";',
    'sasl.jaas.config=username="u"',
    "ssl.truststore.location=/x",
    "ssl.keystore.location=/x.p12",
    "ssl.keystore.location=/x.jks",
    "ssl.truststore.password=x",
    "no setting here at all=",
)
URLS = (
    "http://a",
    "http://u:p@a:1/x",
    "http://a:x",
    "http://[a",
    "http://a:99999",
    "a",
    "",
    "u:p@a",
    "postgresql://u:p@a:1,b:2/d",
    "http://a@b,c://d@e@f",
    "http://ä",
)
VALIDATORS = (
    "documentation",
    "documentation(type,field)",
    "documentation( type , ,x )",
    "a b",
    "",
    "1a",
    "policy:x(1,2)",
    "lint:A.b-c",
    "a(",
    "a()",
    "a(b)c",
    " a ",
    "a,b(c,d),e",
    "a(b,c),d",
    "policy:a,policy:b(1),policy:a",
    "x" * 200,
)
VERSION_TEXTS = (*LABELS, "1-?-?", "?-?-?", "2-?-0", "1-0-2")
PROPERTIES = (None, "confluent:version", "0", "7")


def call_names() -> Iterator[str]:
    yield from each(names.subject_of, [*TEXTS, *((text, ".far") for text in TEXTS[:12])])
    yield from each(names.context_of, TEXTS)
    yield from each(names.is_subject_name, TEXTS)
    yield from each(names.is_visible, TEXTS)
    subjects = [Subject(*pair) for pair in product((".", ".far", "*"), ("", "a"))]
    yield from (print_call(str, subject) for subject in subjects)
    yield from (print_call(subject.sibling, text) for subject in subjects[:3] for text in TEXTS[4:12])


def call_iglu_keys() -> Iterator[str]:
    yield from each(iglu_key.SchemaVer.parse, LABELS)
    yield from each(iglu_key.IgluKey.parse, URIS)
    yield from each(iglu_key.IgluKey.parse_path, URIS[:8])
    yield from each(iglu_key.SchemaCriterion.parse, URIS)
    patterns = [
        iglu_key.SchemaCriterion("a", "b", "c", *parts)
        for parts in ((1, None, None), (None, 0, None), (1, 0, 2), (None, None, None), (0, 0, 0))
    ]
    keys = [
        iglu_key.IgluKey("a", "b", "c", iglu_key.SchemaVer(*numbers)) for numbers in ((1, 0, 2), (2, 0, 0), (1, 1, 2))
    ] + [iglu_key.IgluKey("a", "x", "c", iglu_key.SchemaVer(1, 0, 2))]
    for pattern in patterns:
        yield print_call(str, pattern)
        yield from (print_call(pattern.matches, key) for key in keys)
        yield from (
            print_call(pattern.matches_partial, *pair) for pair in product(("a/b/c", "a/b"), VERSION_TEXTS[-6:])
        )
    yield from (print_call(str, key) for key in keys)


def call_urls() -> Iterator[str]:
    yield from each(urls.hide_credentials, URLS)
    yield from each(urls.split_url, URLS)
    yield from each(urls.split_server_url, URLS)


def call_kafka() -> Iterator[str]:
    yield from each(
        kafka.parse_kafka_url,
        [*KAFKA, *((text, (("bootstrap.servers", "z:7"), ("b", "1"), ("a", "2"), ("a", "3"))) for text in KAFKA)],
    )
    yield from (print_call(kafka.read_properties, text, "f") for text in SETTINGS)
    cluster = kafka.KafkaCluster("a:1", (("x", "y"),))
    yield print_call(cluster.client_settings, {"z": 1})
    yield print_call(repr, cluster)
    last = kafka.LastBrokerError()
    for name in ("", "_ALL_BROKERS_DOWN", "_RESOLVE", "_ALL_BROKERS_DOWN", "_AUTHENTICATION", "_ALL_BROKERS_DOWN"):
        if name:
            last(BrokerError(name, f"it is {name}"))
        for code in (
            "_TRANSPORT",
            "_SSL",
            "UNKNOWN_TOPIC_OR_PART",
            "TOPIC_AUTHORIZATION_FAILED",
            "_INVALID_ARG",
            "NOT_CONTROLLER",
            "_TIMED_OUT",
            name,
        ):
            error = BrokerError(code, f"{code} came")
            yield f"{name} then {code}: {kafka.describe_error(error, 'a:1', last, '--kafka')} {kafka.describe_error(error, 'a:1', None, '-k')} {kafka.is_retriable(error)}"


class BrokerError:
    """An error as the library of Kafka has it: a name, a text, and whether a retry helps."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def name(self) -> str:
        return self._name

    def str(self) -> str:
        return self._text

    def retriable(self) -> bool:
        return self._name.endswith("N")


def call_policies() -> Iterator[str]:
    yield from each(policy.word_of, LEVELS_ASKED)
    yield from each(policy.in_words, LEVELS_ASKED)
    yield from each(policy.nameless_level, LEVELS_ASKED)
    yield from each(
        policy.built_in_level,
        [
            (name, ordinals)
            for name in ("FULL", "DenyAll", "BackwardTill", "BackwardTillAndForwardTill", "ForwardTill", "x")
            for ordinals in ((), ("1",), ("1", "2"), ("x",), ("٣",), ("-1",))
        ],
    )
    yield from each(
        policy.exact_level, [(word, exact) for word in (None, "FULL", "x") for exact in (None, LEVELS_ASKED[1])]
    )
    yield from each(
        policy.partition_of, [(group, partition) for group in (None, "", "g") for partition in (None, "", "type")]
    )
    yield from each(policy.group_of, [None, "", "type", "property:", "property:a"])
    yield from each(policy.parse_validator, VALIDATORS)
    yield from each(policy.name_of_validator, VALIDATORS)
    yield from each(policy.split_validators, VALIDATORS)
    yield print_call(policy.named_policies, None)
    yield print_call(policy.named_policies, ("policy:a", "b", "policy:b(1)", " policy:a(2)"))


def call_findings() -> Iterator[str]:
    one = f.Finding("RULE", "/a", "the {reader} lacks what the {writer} has", "detail", "1", "2", "a remedy")
    other = f.Finding("OTHER", "", "{writer} {reader}")
    yield from each(
        f.shorten_text, [(text, limit) for text in ("", "a" * 30, "a" * 31, "a" * 100) for limit in (30, 31, 99, 100)]
    )
    yield from (
        print_call(str, fault)
        for fault in (
            f.Diagnostic("R", "", "m"),
            f.Diagnostic("R", "/a", "m", "e", 3, 4),
            f.Diagnostic("R", "", "m", "", 1),
        )
    )
    for level, sentence, sides in product(
        ("BACKWARD", "FULL", "FULL_TRANSITIVE", "FORWARD"),
        ("", "Another."),
        (((), ()), ((one,), ()), ((), (other,)), ((one, other), (one,))),
    ):
        yield print_call(
            f.list_messages,
            f.FailedVersion(3, "x" * (10_239 + len(sides[0])), *sides, sentence=sentence),
            level=level,
            validate_fields=bool(sides[1]),
        )
    yield from (
        print_call(f.format_finding, one, form, reader="R", writer="W")
        for form in (f.FINDING_FORM, "{rule} {path} {remedy} {writer} {reader} {x}")
    )
    yield from (print_call(f.format_old_text, "t" * size) for size in (1, 10_240, 10_241))
    yield from each(f.format_list, [((),), (("a", "b"),)])


def call_drafts() -> Iterator[str]:
    yield from each(schema.encode_base64, [b"", b"a", b"\0" * 196_608, b"\1" * 196_609])
    yield from each(schema.decode_base64, ["", "YQ==", "YQ", "Y Q==", "ä", "YQ==YQ==", "=", "Y" * 4])
    opaque = (b"", b"a", b"\xff", b"data:;base64,", b"data:;base64,YQ==", b"data:", b"a\0", b"\xed\xa0\x80")
    yield from each(schema.opaque_text, opaque)
    codes = (
        "",
        "a",
        "data:;base64,",
        "data:;base64,YQ==",
        "data:;base64,/w==",
        "data:;base64,YQ",
        "data:;base64,!!",
        "\ud800",
        "data:;base64,ZGF0YTo7YmFzZTY0LA==",
    )
    for function in (schema.needs_coding, schema.opaque_size, schema.opaque_bytes):
        yield from each(function, codes)
    yield from each(schema.refuse_many_references, [0, 200, 201])
    yield from each(schema.lookup_digest, [("AVRO", "a"), ("JSON", "a"), ("AVRO", "\ud800")])
    yield from each(schema.plain_lookup_digest, [("AVRO", "a"), ("ECHO", "a"), ("ECHO", "data:;base64,YQ==")])
    extras = [(data, rules) for data in v.METADATA[::2] for rules in v.RULES[1:3]]
    versions = [schema.Metadata(properties=(("confluent:version", number),)) for number in ("1", "2", "x", "01", "")]
    pairs = [
        *((one, other, 1) for one in extras[:4] for other in extras[:5]),
        *(
            ((one, None), (other, None), number)
            for one in [None, *versions]
            for other in [None, *versions]
            for number in (1, 2)
        ),
    ]
    yield from each(schema.has_same_extras, pairs)
    yield from (
        print_call(schema.guid, draft.format, draft.text, draft.references, draft.metadata, draft.rules, draft.imports)
        for draft in (*v.DRAFTS[:20], *(schema.Draft("a", metadata=one, rules=other) for one, other in extras))
    )
    yield from (
        f"{data!r} {data.sealed} {data.get('owner')} {data.get('x')}"
        for data in (
            *filter(None, v.METADATA),
            schema.Metadata(properties=(("a", "treaty-sealed:x"),), sensitive=("a",)),
            schema.Metadata(properties=(("a", "treaty-sealed:x"),)),
        )
    )


def call_refusals() -> Iterator[str]:
    for size, count in ((1, 1), (4_096, 1), (4_097, 1), (65_537, 2), (262_144, 2), (262_145, 2), (70_000, 9)):
        reason = refusals.Reason("r" * size, "m" * size, "p" * size, details=("d" * size,) * count)
        yield f"{size}: {[len(text) for text in (reason.rule, reason.message, reason.path, *reason.details)]} {reason.message[-40:]}"
    errors = [
        *(
            kind(refusals.Reason("R", "m", subject="s"))
            for kind in (
                refusals.NotFound,
                refusals.TooLarge,
                refusals.Incompatible,
                refusals.InvalidSchema,
                refusals.Forbidden,
                refusals.SchemaPinned,
            )
        ),
        refusals.Unavailable("u"),
        refusals.NotOffered("n"),
        refusals.OutcomeUnknown("o"),
    ]
    for error in errors:
        entry = EntryRefusal.by(error)
        yield f"{type(error).__name__}: {refusals.error_tag(error)} {entry.kind} {entry.reason.rule} {entry.reason.message} {type(entry.error).__name__} {entry.error}"
    yield from (
        print_call(lambda *facts: str(refusals.SchemaNotFound.not_registered(*facts).with_remedy(" Do it.")), *facts)
        for facts in (("s",), ("s", "AVRO"), ("s", "AVRO", "T"), ("s", "", "T"))
    )
    yield from each(
        parse_terms, ["a", "b:c", 'doc:"a b" c', "State:LIVE", "kind:x", "x" * 4_097, "*", '"', "a:", "type:* a"]
    )


CALLS = {
    "names": call_names, "iglu-keys": call_iglu_keys, "urls": call_urls, "kafka": call_kafka, "policies": call_policies, "findings": call_findings,
    "drafts": call_drafts, "refusals": call_refusals,
}  # fmt: skip
