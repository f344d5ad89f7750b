"""All cases by name, and their text; `remake` writes it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.plan_records import avro_tables
from tests.plan_records.record import PlanRecord
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig

PlanCase = Callable[[PlanRecord], None]
FOLDER = Path(__file__).parents[1] / "cases" / "plans"
ROOMS: Mapping[str, Mapping[str, PlanCase]] = {"avro": avro_tables.CASES}
"""By room, which is the beginning of a file's name."""
CASES: Mapping[str, PlanCase] = {f"{room}-{name}": case for room, cases in ROOMS.items() for name, case in cases.items()}


def text_of(name: str) -> str:
    """What plans answer in a case."""
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        case = PlanRecord(registry)
        CASES[name](case)
    return case.text()


def file_of(name: str) -> Path:
    """The file with the recorded answers of a case."""
    return FOLDER / f"{name}.txt"
