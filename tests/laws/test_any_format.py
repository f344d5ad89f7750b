"""A registration that names no format: the subject says it, and where the subject takes every format the text does."""

import pytest

from tests.instruction_counts import count_instructions
from tests.laws.grouped import add, get
from tests.laws.toy import Bench
from treaty.core.messages.groups import (
    ANY_FORMAT,
    FORMAT,
    SCHEMA_REPO,
    TEXT_FORMAT,
    CreateSubject,
    DeleteOrdinal,
    GroupSettings,
)
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, Incompatible, InvalidSchema, NotPermitted, SubjectNotFound
from treaty.core.schema import Draft

S = Subject(".", "s")
LIST, PROSE = '["a"]', "not a list"


def group(origin: str = SCHEMA_REPO, *properties: tuple[str, str], **policy: object) -> Bench:
    """A bench that reads AVRO as it reads toys, with a subject."""
    bench = Bench()
    bench.engine.formats = ("TOY", "AVRO")
    chosen = Config(**({"level": "NONE"} | policy))  # type: ignore[arg-type]
    bench.do(CreateSubject(S, GroupSettings(origin, identity="exact", policy=chosen, properties=properties)))
    return bench


def register(bench: Bench, text: str) -> VersionFound:
    return bench.do(
        Register(S, Draft(text, ANY_FORMAT), create_with=SubjectCreation(SCHEMA_REPO), require_subject=True)
    ).version


def test_a_text_is_avro_where_it_can_be_read_so() -> None:
    bench = group()
    assert [register(bench, text).format for text in (LIST, PROSE, '["b"]')] == ["AVRO", TEXT_FORMAT, "AVRO"]
    assert register(bench, PROSE).ordinal == 1, "again"


@pytest.mark.parametrize("named", ["AVRO", "TOY", "PLAIN"])
def test_the_subject_says_the_format(named: str) -> None:
    bench = group(SCHEMA_REPO, (FORMAT, named))
    assert register(bench, LIST).format == named
    if named == "PLAIN":
        assert register(bench, PROSE).format == named
        return
    with pytest.raises(InvalidSchema):
        register(bench, PROSE)


def test_the_format_of_a_subject_of_another_dialect_is_the_only_one_that_it_ever_had() -> None:
    bench = group("pravega")
    add(bench, Draft(LIST, "TOY"))
    assert register(bench, '["b"]').format == "TOY"
    with pytest.raises(InvalidSchema):
        register(bench, PROSE)
    add(bench, Draft(PROSE, "OTHER"))
    bench.do(DeleteOrdinal(S, 2))
    assert get(bench).format == "TOY"
    assert register(bench, '["c"]').format == "AVRO", "there was another one"


def test_a_refusal_is_that_of_avro_where_no_opaque_text_is_taken() -> None:
    bench = group(validators=("NAME_SHORT",))
    with pytest.raises(InvalidSchema, match="type AVRO"):
        register(bench, PROSE)
    with pytest.raises(InvalidSchema, match="demand more"):
        register(bench, '["much_too_long"]')
    bench.do(SetMode(Scope(*S), "READONLY"))
    with pytest.raises(NotPermitted):
        register(bench, PROSE)


def test_a_comparing_policy_refuses_a_text_by_name() -> None:
    bench = group()
    register(bench, PROSE)
    bench.do(SetConfig(Scope(*S), Config(level="BACKWARD")))
    with pytest.raises(Incompatible) as refused:
        register(bench, "other prose")
    assert refused.value.findings[0].rule == "FORMAT_OPAQUE"


def test_no_subject_and_no_such_format_are_refused_as_ever() -> None:
    bench = group()
    with pytest.raises(SubjectNotFound):
        bench.do(Register(Subject(".", "none"), Draft(LIST, ANY_FORMAT), require_subject=True))
    named = group(SCHEMA_REPO, (FORMAT, "AVRO"))
    with pytest.raises(FormatNotAllowed):
        named.do(Register(S, Draft(LIST, "TOY")))


def test_many_types_make_no_work_for_the_format_of_a_subject() -> None:
    def work(types: int) -> int:
        bench = group("pravega", types=types)
        return count_instructions(lambda: get(bench), "core")

    def group(origin: str, *, types: int) -> Bench:
        bench = Bench()
        bench.do(CreateSubject(S, GroupSettings(origin, types="many", policy=Config(level="NONE"))))
        for number in range(types):
            add(bench, Draft(f'["a{number}"]', "TOY", type_name=f"T{number}"))
        return bench

    assert work(40) < 1.1 * work(4)
