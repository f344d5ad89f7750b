"""Programs that read and write with a schema, for people to copy: Python, Spark, Confluent's client, curl."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from treaty.core.names import subject_of


@dataclass(frozen=True, slots=True)
class CodeSnippet:
    """A program: its title, and its text."""

    title: str
    text: str


def list_snippets(address: str, subject: str, number: int, schema_id: int, format_: str) -> Sequence[CodeSnippet]:
    """Return programs for a version of a subject at a registry with this address."""
    where, name = address.rstrip("/"), subject_of(subject).name
    topic = name.removesuffix("-value").removesuffix("-key")
    path = f"{where}/subjects/{quote(subject, safe='')}/versions/{number}"
    return (
        CodeSnippet("curl", f"curl {shlex.quote(path)}\ncurl {shlex.quote(f'{where}/schemas/ids/{schema_id}')}"),
        CodeSnippet("Command line", _command_line(where, subject, number, format_)),
        CodeSnippet("Python", _python(where, subject, number)),
        CodeSnippet("Spark", _spark(where, subject, topic)),
        CodeSnippet("Confluent's client", _confluent(where, subject, number)),
    )


def _command_line(where: str, subject: str, number: int, format_: str) -> str:
    suffix = {"AVRO": ".avsc", "JSON": ".json", "PROTOBUF": ".proto"}.get(format_, ".txt")
    return (
        f"export TREATY_REGISTRY={shlex.quote(where)}\n"
        f"treaty schema get {shlex.quote(subject)} {number}\n"
        f"treaty check changed{suffix} --subject {shlex.quote(subject)}"
    )


def _python(where: str, subject: str, number: int) -> str:
    return (
        "import treaty\n\n"
        f"with treaty.connect({where!r}) as registry:\n"
        f"    version = registry.version({subject!r}, {number})\n"
        "    print(version.schema_id, version.text)"
    )


def _spark(where: str, subject: str, topic: str) -> str:
    return (
        "from treaty.spark import from_registry, session\n\n"
        "with session(kafka=True) as spark:\n"
        '    source = spark.read.format("kafka").option("kafka.bootstrap.servers", "localhost:9092")\n'
        f'    records = source.option("subscribe", {topic!r}).load().select("value")\n'
        f"    from_registry(records, {where!r}, {subject!r}, flatten=True).show()"
    )


def _confluent(where: str, subject: str, number: int) -> str:
    return (
        "from confluent_kafka.schema_registry import SchemaRegistryClient\n\n"
        f'client = SchemaRegistryClient({{"url": {where!r}}})\n'
        f"version = client.get_version({subject!r}, {number})\n"
        "print(version.schema_id, version.schema.schema_str)"
    )
