"""All cases by name, and their text; `remake` writes it."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.csv_format import offer
from tests.plan_records import (
    avro_seeds,
    avro_tables,
    derive_tables,
    document_tables,
    encode_tables,
    iglu_tables,
    message_tables,
    mixed_tables,
    name_tables,
    word_tables,
)
from tests.plan_records.record import PlanRecord
from tests.record_files import compare
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig

PlanCase = Callable[[PlanRecord], None]
FOLDER = Path(__file__).parents[1] / "cases" / "plans"
ROOMS: Mapping[str, Mapping[str, PlanCase]] = {
    "avro": avro_tables.CASES,
    "derive": derive_tables.CASES,
    "document": document_tables.CASES,
    "encode": encode_tables.CASES,
    "iglu": iglu_tables.CASES,
    "message": message_tables.CASES,
    "mixed": mixed_tables.CASES,
    "seeded": avro_seeds.CASES,
    "words": {**word_tables.CASES, **name_tables.CASES},
}
"""By room, which is the beginning of a file's name."""
CASES: Mapping[str, PlanCase] = {
    f"{room}-{name}": case for room, cases in ROOMS.items() for name, case in cases.items()
}
REMAKE = "python -m tests.plan_records"


def list_names(room: str) -> list[str]:
    """The names of the cases of a room."""
    return [f"{room}-{name}" for name in ROOMS[room]]


def check_record(name: str) -> None:
    """Fail where a case is answered in another way than is recorded."""
    compare(file_of(name), text_of(name), f"{REMAKE} {name}")


@contextmanager
def with_lines() -> Iterator[None]:
    """The format CSV of tests is known, as that of an installed package."""
    with TemporaryDirectory() as folder:
        offer(Path(folder))
        sys.path.append(folder)
        try:
            yield
        finally:
            sys.path.remove(folder)


def text_of(name: str) -> str:
    """What plans answer in a case."""
    with with_lines() if "csv" in name else nullcontext(), connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        case = PlanRecord(registry)
        CASES[name](case)
    return case.text()


def file_of(name: str) -> Path:
    """The file with the recorded answers of a case."""
    return FOLDER / f"{name}.txt"
