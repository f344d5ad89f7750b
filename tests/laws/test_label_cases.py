"""What the policy of labels says of a change, as data: a folder has the versions by their labels, `new.json` and the verdict.

A finding is its rule, the version that it is about, and the label that would do. `refused` is for the policy `refuse`; `warn` refuses nothing.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.laws.test_policy_cases import Engine
from tests.laws.toy import Bench
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.groups import ChangeSubject
from treaty.core.messages.schemaver import Publish
from treaty.core.names import Subject
from treaty.core.refusals import Incompatible
from treaty.core.schema import Draft

CASES = sorted((Path(__file__).parents[1] / "cases" / "labels").iterdir())
FAMILY = Subject(".", "com.acme/click/jsonschema")


def bench_of(folder: Path) -> Bench:
    """A registry with the versions of a case, in their order."""
    bench = Bench()
    bench.engine = Engine()
    for label in sorted(SchemaVer.parse(file.stem) for file in folder.glob("*-*-*.json")):
        bench.do(Publish(FAMILY, str(label), Draft((folder / f"{label}.json").read_text("utf-8"), "JSON")))
    return bench


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_label_is_found_to_say_what_changed_or_not(folder: Path) -> None:
    verdict: dict[str, Any] = json.loads((folder / "verdict.json").read_text("utf-8"))
    wish = Publish(FAMILY, verdict["label"], Draft((folder / "new.json").read_text("utf-8"), "JSON"))
    bench = bench_of(folder)
    if bench.commits:
        bench.do(ChangeSubject(FAMILY, label_policy="refuse"))
        assert isinstance(bench.verdict(wish, "asked"), Incompatible) is verdict["refused"]
        bench.do(ChangeSubject(FAMILY, label_policy="warn"))
    told = bench.do(wish).warnings
    assert [[one.rule, one.writer, one.remedy] for one in told] == verdict["findings"]
