"""protoc is asked about real, hand-made and thousands of generated files: the same verdict, the same descriptor."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.oracle.protobuf_files import DIALECTS, made, made_pair
from tests.oracle.protobuf_mutations import mutated
from tests.oracle.protobuf_treaty import DIFFERENCES, difference, hand_made, judged, lacks_options
from tests.oracle.protoc import BUNDLED, RENAMED, SITE, Protoc
from treaty.core.finding import Diagnostic
from treaty.formats.protobuf.well_known import PATHS

CASES = [(name, row) for name, row in hand_made() if "unasked" not in row]
SHARE = range(1_200)
WHOLE = range(1_200, 21_200)
PAIRS = range(400)
MORE_PAIRS = range(400, 5_400)
NAMES = {there: path for path, there in RENAMED.items()}


@pytest.fixture(scope="module")
def protoc() -> Iterator[Protoc]:
    with Protoc() as running:
        yield running


def real_files() -> list[tuple[str, Path]]:
    """The files of googleapis-common-protos and those that protoc brings, by import path."""
    found = [(str(one.relative_to(SITE)), one) for one in sorted((SITE / "google").rglob("*.proto"))]
    found += [(str(one.relative_to(BUNDLED)), one) for one in sorted(BUNDLED.rglob("*.proto"))]
    return [(NAMES.get(name, name), path) for name, path in found]


def test_every_real_file_has_the_descriptor_that_protoc_makes(protoc: Protoc, figure: Callable[[str], None]) -> None:
    files = real_files()
    for name, path in files:
        text = path.read_text("utf-8")
        assert difference(protoc.ask(text, name=name), judged(text), name) == "", name

    assert len(files) >= 70
    figure(f"protobuf: {len(files)} real files, the same descriptors as protoc")


def test_every_real_file_is_known_without_a_reference() -> None:
    assert {name for name, _ in real_files()} <= PATHS


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in CASES])
def test_a_hand_made_file_gets_the_verdict_of_protoc_or_a_named_difference(
    protoc: Protoc, row: dict[str, object]
) -> None:
    text, others = str(row["text"]), dict(row.get("references") or {})  # type: ignore[call-overload]  # rows are JSON
    ours = judged(text, others)
    told = difference(protoc.ask(text, others), ours)

    assert (told != "") == ("difference" in row), told
    if told:
        assert row["difference"] in DIFFERENCES


def compared(protoc: Protoc, seeds: range) -> tuple[Counter[str], Counter[str]]:
    """Verdicts and rules of a mutated file for each seed; raises at the first difference."""
    verdicts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for seed in seeds:
        text = mutated(made(seed, DIALECTS[seed % len(DIALECTS)]), seed)
        said, ours = protoc.ask(text), judged(text)
        told = difference(said, ours)
        without = lacks_options(said) and not isinstance(ours, Diagnostic)
        assert told == "" or without, f"seed {seed}: {told}\n{text}"
        if said.crashed:
            verdicts["protoc crashed"] += 1
        elif without:
            verdicts["accepted with an unknown option"] += 1
        elif isinstance(ours, Diagnostic):
            verdicts["refused"] += 1
            rules[ours.rule] += 1
        else:
            verdicts["accepted"] += 1
    return verdicts, rules


def told(verdicts: Counter[str], rules: Counter[str]) -> str:
    return f"protobuf: {dict(verdicts)} of generated files as protoc says, {len(rules)} rules broken"


def test_generated_files_get_the_verdict_of_protoc(protoc: Protoc, figure: Callable[[str], None]) -> None:
    verdicts, rules = compared(protoc, SHARE)

    figure(told(verdicts, rules))
    assert verdicts["accepted"] >= 0.3 * len(SHARE)
    assert verdicts["refused"] >= 0.3 * len(SHARE)
    assert verdicts["protoc crashed"] <= 0.01 * len(SHARE)
    assert len(rules) >= 25


def linked(protoc: Protoc, seeds: range) -> Counter[str]:
    """Verdicts on files that import a generated one; raises at the first difference."""
    verdicts: Counter[str] = Counter()
    for seed in seeds:
        text, base = made_pair(seed, DIALECTS[seed % len(DIALECTS)])
        text = mutated(text, seed) if seed % 3 == 0 else text
        if isinstance(judged(base), Diagnostic):
            continue
        said, ours = protoc.ask(text, {"base.proto": base}), judged(text, {"base.proto": base})
        told = difference(said, ours)
        without = lacks_options(said) and not isinstance(ours, Diagnostic)
        assert told == "" or without, f"seed {seed}: {told}\n{text}\n{base}"
        verdicts["refused" if isinstance(ours, Diagnostic) else "accepted"] += 1
    return verdicts


def test_names_lead_through_imports_where_protoc_finds_them(protoc: Protoc, figure: Callable[[str], None]) -> None:
    verdicts = linked(protoc, PAIRS)

    figure(f"protobuf: {dict(verdicts)} of generated files with an import as protoc says")
    assert min(verdicts.values()) >= 0.3 * len(PAIRS)


@pytest.mark.soak
def test_many_more_generated_files_get_the_verdict_of_protoc(protoc: Protoc, figure: Callable[[str], None]) -> None:
    figure(told(*compared(protoc, WHOLE)))
    figure(f"protobuf: {dict(linked(protoc, MORE_PAIRS))} of generated files with an import as protoc says")
