"""A format of its own, as a package would offer it: texts of words, told apart by words that are SHOUTED."""

from dataclasses import replace
from pathlib import Path

from treaty.core.finding import Diagnostic, Finding
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import Format, InvalidSchemaError, ReferenceName, SchemaTexts
from treaty.formats.rule import CompatibilityRule, LintRule

GONE = CompatibilityRule("WORD_GONE", "Words stay.", "The word {detail} is gone from the {reader} schema", "keep it")
CAME = CompatibilityRule(
    "WORD_CAME", "Words may come.", "The word {detail} came with the {reader} schema", "nothing", harm="none"
)
MOVED = CompatibilityRule(
    "WORD_MOVED", "Words may move.", "The word {detail} has moved in the {reader} schema", "any", harm="none"
)


def parse(meaning: ResolvedSchema, strict: bool) -> tuple[str, ...]:  # noqa: FBT001 - the signature of `Format.parse`
    """The words; a question mark is a fault."""
    for number, line in enumerate(meaning.text.split("\n"), 1):
        if "?" in line:
            fault = Diagnostic("QUESTION", "", "a schema asks nothing", "a full stop", number, line.index("?") + 1)
            raise InvalidSchemaError((fault,))
    return tuple(meaning.text.split())


def gone(reader: tuple[str, ...], writer: tuple[str, ...]) -> tuple[Finding, ...]:
    """Words that the reader no longer has."""
    return tuple(GONE.finding(f"/{word}", word, writer=word, reader="") for word in writer if word not in reader)


def differences(reader: tuple[str, ...], writer: tuple[str, ...]) -> tuple[Finding, ...]:
    """Words that are gone, words that came, and words that stand where another one stood."""
    came = (CAME.finding(f"/{word}", word, writer="", reader=word) for word in reader if word not in writer)
    both = zip(reader, writer, strict=False)
    moved = (MOVED.finding(f"/{new}", new, writer=old, reader=new) for new, old in both if new != old and new in writer)
    return (*gone(reader, writer), *came, *moved)


def loud(model: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """Words in capitals; the second one first, because lints promise no order."""
    faults = [
        Diagnostic("LOUD", f"/{at}", f"{word} is loud", word.lower(), 1, at + 1)
        for at, word in enumerate(model)
        if word.isupper()
    ]
    return tuple(reversed(faults))


def check(model: tuple[str, ...], text: str) -> tuple[Diagnostic, ...]:
    """A value is a word of the schema, as a JSON string."""
    return (
        () if text.strip().strip('"') in model else (Diagnostic("NOT_A_WORD", "", f"{text} is none", "a word", 1, 1),)
    )


def example(model: tuple[str, ...], seed: int) -> str:
    """One of the words."""
    if not model:
        raise ValueError("there is no word")
    return f'"{model[seed % len(model)]}"'


FORMAT = Format(
    name="SHOUT",
    parse=parse,
    show=lambda model, normalize: SchemaTexts("\n".join(sorted(model) if normalize else model), " ".join(model), ""),
    references=lambda text: tuple(ReferenceName(word[1:], "") for word in text.split() if word.startswith("@")),
    compare=lambda reader, writer, policy: gone(reader, writer) if policy == "STRICT" else (),
    views={"upper": lambda model: " ".join(model).upper()},
    fingerprints={"CRC-64-AVRO": lambda model: bytes([0, 1, 2, 3, 4, 5, 6, len(model)])},
    rules={rule.id: rule for rule in (GONE, CAME, MOVED)},
    lints={
        "LOUD": LintRule("LOUD", "Words are not shouted.", loud),
        "SHORT": LintRule("SHORT", "There are few words.", lambda model: tuple(_long(model))),
    },
    check=check,
    example=example,
    suffixes=(".shout",),
    differences=differences,
)


def _long(model: tuple[str, ...]) -> list[Diagnostic]:
    fault = Diagnostic("SHORT", "", "there are too many words", "three")
    return [replace(fault, message=f"there are {len(model)} words")] if len(model) > 3 else []


def offer(folder: Path) -> None:
    """Write what an installed package has, so that a program with this folder on its path knows the format."""
    info = folder / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[treaty.formats]\nSHOUT = tests.facades.shouting:FORMAT\n", "utf-8")
