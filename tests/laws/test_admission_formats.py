"""The matrix of policies over the real formats: what the law admits is what a format's own comparison allows."""

import itertools
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest

from tests.laws.toy import Bench, S
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion
from treaty.core.policy import LEVELS, STRICTNESS, Level, VersionRange
from treaty.core.refusals import Incompatible, Refusal
from treaty.core.schema import Draft
from treaty.core.schema_engine import Answer, Question, ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.history import check_compatibility
from treaty.formats.registry import find_formats

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = {"AVRO": "avro", "JSON": "jsonschema", "PROTOBUF": "protobuf"}
FORMATS = [name for name in find_formats().names if name in FOLDERS]
PAIRS = 6
"""Pairs of each kind that are tried for every format."""


class Real:
    """The engine of the installed formats, answering at once."""

    formats = find_formats().names
    validators: frozenset[str] = frozenset()
    id_schemes: ClassVar[dict[str, str]] = {}
    parser = FormatEngine(find_formats())

    def ask(self, question: Question) -> Answer:
        return self.parser.answer(question)


@dataclass(frozen=True)
class Pair:
    """Two texts of a case, and whether each reads what the other writes."""

    name: str
    old: str
    new: str


@cache
def pairs(format_: str) -> tuple[Pair, ...]:
    """Pairs that fit both ways, one way, the other way, and not at all."""
    kinds: dict[tuple[bool, bool], list[Pair]] = {}
    for folder in sorted((CASES / FOLDERS[format_]).iterdir()):
        told = folder / "verdict.json"
        if not told.is_file():
            continue
        verdicts = json.loads(told.read_text("utf-8"))
        texts = {path.name.partition(".")[0]: path for path in folder.iterdir()}
        if set(texts) != {"old", "new", "verdict"} or verdicts.get("references"):
            continue
        pair = Pair(folder.name, texts["old"].read_text("utf-8"), texts["new"].read_text("utf-8"))
        if not _plain(format_, pair):
            continue
        kinds.setdefault((not verdicts["backward"], not verdicts["forward"]), []).append(pair)
    return tuple(itertools.chain.from_iterable(each[:PAIRS] for each in kinds.values()))


def _plain(format_: str, pair: Pair) -> bool:
    """Whether both are valid and print differently: what prints alike is one schema, and always admitted."""
    forms = Real.parser
    shown = []
    for text in (pair.old, pair.new):
        try:
            form, model = forms.model(ResolvedSchema(format_, text), strict=True)
        except ValueError:
            return False
        shown.append(form.show(model, False).canonical)
    return shown[0] != shown[1]


def bench(format_: str, pair: Pair, config: Config) -> Bench:
    """A subject with the old text, and a config."""
    new_bench = Bench()
    new_bench.engine = Real()
    new_bench.do(Register(S, Draft(pair.old, format_)))
    new_bench.do(SetConfig(Scope(*S), config))
    return new_bench


def fits(format_: str, pair: Pair, level: str, strictness: str) -> bool:
    old, new = (ResolvedSchema(format_, text) for text in (pair.old, pair.new))
    return check_compatibility(Real.parser, old, new, level, strictness).fits


@pytest.mark.parametrize("format_", FORMATS)
def test_there_are_pairs_of_every_kind(format_: str) -> None:
    seen = {
        (fits(format_, pair, "BACKWARD", "STRICT"), fits(format_, pair, "FORWARD", "STRICT")) for pair in pairs(format_)
    }

    assert {(True, True), (True, False), (False, True), (False, False)} <= seen


@pytest.mark.parametrize("strictness", STRICTNESS)
@pytest.mark.parametrize("format_", FORMATS)
def test_every_level_admits_what_the_comparison_allows(format_: str, strictness: str) -> None:
    for pair in pairs(format_):
        draft = Draft(pair.new, format_)
        for level in LEVELS:
            filled_bench = bench(format_, pair, Config(level=level, policy=strictness))
            expected = fits(format_, pair, level, strictness)
            answer = filled_bench.do(Check(S, draft))
            assert answer.compatible is expected, f"{pair.name} under {level} {strictness}: {answer}"
            assert filled_bench.do(Check(S, draft, 1)) == answer
            registered = filled_bench.verdict(Register(S, draft))
            assert isinstance(registered, Refusal) is not expected, pair.name
            if isinstance(registered, Incompatible):
                assert registered.reason.details == answer.messages


def type_of(format_: str, text: str) -> str:
    form, model = Real.parser.model(ResolvedSchema(format_, text), strict=True)
    return form.show(model, False).type_name


@pytest.mark.parametrize("strictness", STRICTNESS)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_range_from_an_ordinal_on_multiplies_with_it(format_: str, strictness: str) -> None:
    for pair in pairs(format_):
        filled_bench, new = bench(format_, pair, Config(policy=strictness)), Draft(pair.new, format_)
        filled_bench.do(Register(S, new, force=ForceReason("me", "a version that goes again")))
        filled_bench.do(SetConfig(Scope(*S), Config(exact_level=Level(backward=VersionRange("till", 0)))))
        assert filled_bench.do(Check(S, new)).compatible is fits(format_, pair, "BACKWARD", strictness), pair.name

        filled_bench.do(SetConfig(Scope(*S), Config(exact_level=Level(backward=VersionRange("till", 1)))))
        filled_bench.do(DeleteVersion(S, 2))
        assert filled_bench.do(Check(S, new)).compatible, f"{pair.name}: the version that is left is older"


@pytest.mark.parametrize("format_", FORMATS)
def test_a_partition_by_type_multiplies_with_it(format_: str) -> None:
    for pair in pairs(format_):
        filled_bench = bench(format_, pair, Config(level="BACKWARD", partition="type"))
        same = type_of(format_, pair.old) == type_of(format_, pair.new)
        expected = not same or fits(format_, pair, "BACKWARD", "STRICT")
        assert filled_bench.do(Check(S, Draft(pair.new, format_))).compatible is expected, pair.name


@pytest.mark.parametrize("format_", FORMATS)
def test_denial_refuses_what_would_fit_and_force_goes_past_it(format_: str) -> None:
    pair = next(candidate for candidate in pairs(format_) if fits(format_, candidate, "FULL", "STRICT"))
    filled_bench = bench(format_, pair, Config(exact_level=Level(deny=True)))

    with pytest.raises(Incompatible, match="refuses every change"):
        filled_bench.do(Register(S, Draft(pair.new, format_)))
    assert filled_bench.do(Register(S, Draft(pair.old, format_))).version.number == 1
    assert filled_bench.do(Register(S, Draft(pair.new, format_), force=ForceReason("me", "agreed"))).version.number == 2


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(FORMATS, 2)))
def test_another_format_fits_only_where_nothing_is_asked(old: str, new: str) -> None:
    filled_bench = bench(old, pairs(old)[0], Config(level="BACKWARD"))
    draft = Draft(pairs(new)[0].new, new)

    assert filled_bench.do(Check(S, draft)).messages[0] == "Incompatible because of different schema type"
    filled_bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    assert filled_bench.do(Check(S, draft, 1)).compatible
    assert filled_bench.do(Register(S, draft)).version.format == new
