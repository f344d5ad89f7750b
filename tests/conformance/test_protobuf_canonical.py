"""Canonical texts of Protobuf schemas: recorded for hand-made ones, and the same to protoc as what was printed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.oracle.protobuf_files import DIALECTS, made
from tests.oracle.protobuf_pairs import pair
from tests.oracle.protobuf_same import arranged
from tests.oracle.protoc import SITE, Protoc
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.files import serialize_descriptor
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.protobuf.printer.normal_form import to_normal_form
from treaty.formats.protobuf.printer.plain import strip_extensions
from treaty.formats.protobuf.printer.text import print_file

CASES = Path(__file__).parents[1] / "cases" / "protobuf" / "canonical"
FOLDERS = sorted(path.parent for path in CASES.glob("*/schema.proto"))
INSTALLED = sorted(SITE.glob("google/**/*.proto"))
SHOWN: dict[str, Callable[[ProtoSchema], str]] = {
    "canonical": lambda schema: print_file(schema.file),
    "normal": lambda schema: print_file(to_normal_form(schema)),
}
VIEWS: dict[str, Callable[[ProtoSchema], str]] = {
    **SHOWN,
    "plain": lambda schema: print_file(strip_extensions(schema.file)),
}


def model(written: str, other: str = "", *, strict: bool = True) -> ProtoSchema:
    bound = (ResolvedReference("other.proto", "other", 1, ResolvedSchema("PROTOBUF", other)),) if other else ()
    return parse_schema(ResolvedSchema("PROTOBUF", written, bound), strict)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_schema_is_printed_as_recorded(folder: Path, view: str) -> None:
    printed = VIEWS[view](model((folder / "schema.proto").read_text("utf-8")))

    assert printed == (folder / f"{view}.proto").read_text("utf-8")
    assert VIEWS[view](model(printed, strict=view != "plain")) == printed


def texts(single: int, pairs: int) -> Iterator[tuple[str, str, str]]:
    """Texts by name, with the text of another file that some of them import; so many of each dialect, and pairs."""
    for path in INSTALLED:
        yield str(path.relative_to(SITE)), path.read_text("utf-8"), ""
    for dialect in DIALECTS:
        for seed in range(single):
            yield f"{dialect} {seed}", made(seed, dialect), ""
    for seed in range(pairs):
        for written, other in pair(seed):
            yield f"pair {seed}", written, other


@pytest.mark.slow
@pytest.mark.parametrize(("single", "pairs"), [(40, 50), pytest.param(600, 800, marks=pytest.mark.soak)])
def test_protoc_makes_the_same_of_a_text_and_of_its_canonical_and_normal_text(
    single: int, pairs: int, figure: Callable[[str], None]
) -> None:
    asked = refused = 0
    with Protoc() as protoc:
        for name, written, other in texts(single, pairs):
            try:
                schema = model(written, other)
            except InvalidSchemaError:
                refused += 1
                continue
            others = {"other.proto": other} if other else {}
            before = protoc.ask(written, others)
            assert before.descriptor is not None, (name, before.messages)
            for view, show in SHOWN.items():
                after = protoc.ask(show(schema), others)
                assert after.descriptor is not None, (name, view, after.messages)
                alike = [
                    arranged(one.descriptor.SerializeToString(), schema, renamed=view == "normal")
                    for one in (before, after)
                    if one.descriptor is not None
                ]
                assert alike[0] == alike[1], (name, view)
            asked += 1
    figure(f"{asked} texts, of which {len(INSTALLED)} installed; {refused} are no schemas")
    drawn = single * len(DIALECTS) + pairs * 2
    assert refused < 0.12 * drawn
    assert asked + refused == len(INSTALLED) + drawn


def test_an_installed_file_keeps_its_meaning(figure: Callable[[str], None]) -> None:
    for path in INSTALLED:
        schema = model(path.read_text("utf-8"))
        printed = print_file(schema.file)
        again = model(printed)
        assert print_file(again.file) == printed, path
        assert arranged(serialize_descriptor(again), schema) == arranged(serialize_descriptor(schema), schema), path
        shown = print_file(to_normal_form(schema))
        assert print_file(to_normal_form(model(shown))) == shown, path
    figure(f"{len(INSTALLED)} files")
