"""The commands about schemas do the same for every format that is here: told by name, by content, and by option."""

import json
from itertools import product
from pathlib import Path

import pytest

from tests.commands import run
from tests.facades.samples import SAMPLES, Sample
from treaty.core.policy import LEVELS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.history import check_compatibility, compare_history
from treaty.formats.registry import find_formats


@pytest.fixture(params=find_formats().names)
def sample(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    one = SAMPLES[request.param]
    monkeypatch.chdir(tmp_path)
    for name in ("old", "fits", "breaks", "broken", "uses"):
        Path(name + one.suffix).write_text(getattr(one, name))
    file = Path("folder", one.name if one.suffix != ".avsc" else f"{one.name}.avsc")
    file.parent.mkdir(parents=True)
    file.write_text(one.used)
    return one


def format_of(sample: Sample) -> str:
    return next(name for name, one in SAMPLES.items() if one == sample)


def test_check(sample: Sample) -> None:
    old, fits, breaks, broken = (f"{name}{sample.suffix}" for name in ("old", "fits", "breaks", "broken"))

    assert run("check", old, fits).exit_code == 0
    assert run("check", old, breaks).exit_code == 1
    assert run("check", old, broken).exit_code == 2
    assert json.loads(run("check", old, breaks, "--json").stdout)["format"] == format_of(sample)
    for reason in json.loads(run("check", old, breaks, "--json").stdout)["olds"][0]["reasons"]:
        assert reason["rule"]
        assert reason["path"]
        assert reason["sentence"]
        assert reason["remedy"]
        assert "{" not in reason["sentence"]


def test_the_content_of_standard_input_tells_the_format(sample: Sample) -> None:
    told = json.loads(run("canonical", "-", "--json", stdin=sample.old).stdout)

    assert told["format"] == format_of(sample)


def test_a_json_file_may_be_of_any_format_that_is_json(sample: Sample) -> None:
    Path("any.json").write_text(sample.old)

    assert json.loads(run("canonical", "any.json", "--json").stdout)["format"] == format_of(sample)


def test_faults_have_a_place(sample: Sample) -> None:
    (fault, *_) = json.loads(run("canonical", f"broken{sample.suffix}", "--json").stdout)["error"]["faults"]

    assert fault["line"] >= 1
    assert fault["column"] >= 1
    assert fault["rule"]
    assert fault["message"]


def test_canonical_is_canonical(sample: Sample) -> None:
    once = run("canonical", f"old{sample.suffix}").stdout
    Path(f"once{sample.suffix}").write_text(once)

    assert run("canonical", f"once{sample.suffix}").stdout == once
    assert run("diff", f"old{sample.suffix}", f"once{sample.suffix}", "--exit-code").exit_code == 0


def test_every_view_and_every_fingerprint_is_printed(sample: Sample) -> None:
    form = find_formats().find(format_of(sample))
    assert form is not None
    for view in form.views:
        assert run("canonical", f"old{sample.suffix}", "--view", view).exit_code == 0
        assert run("canonical", f"old{sample.suffix}", "--view", view, "--normalize").exit_code == 0
    rows = json.loads(run("fingerprint", f"old{sample.suffix}", "--json").stdout)["fingerprints"]

    assert next(iter(rows)) == "GUID"
    assert {name.removesuffix("-LE").removesuffix("-BE") for name in rows} == {"GUID", *form.fingerprints}


def test_a_history_is_judged_as_its_steps_are(sample: Sample) -> None:
    parser, name = FormatEngine(find_formats()), format_of(sample)
    texts = [ResolvedSchema(name, text) for text in (sample.old, sample.fits, sample.breaks)]
    for first, second, new in product(texts, repeat=3):
        told = compare_history(parser, (first, second), new)
        for level, policy in LEVELS.items():
            looked = (first, second) if "all" in {policy.backward.kind, policy.forward.kind} else (second,)
            alone = [check_compatibility(parser, one, new, level).fits for one in looked]
            assert told.fits(level) == all(alone), (first.text, second.text, new.text, level)


def test_diff_and_check_say_the_same(sample: Sample) -> None:
    for name in ("fits", "breaks"):
        words = (f"old{sample.suffix}", f"{name}{sample.suffix}", "--json")
        told = json.loads(run("diff", *words).stdout)
        assert told["levels"]["STRICT"] == json.loads(run("check", *words).stdout)["levels"]
        assert told["diff"]
        assert ("BACKWARD" in told["levels"]["STRICT"]) == (name == "fits")
        if name == "breaks":
            assert any(one["harm"] in {"backward", "both"} for one in told["differences"])


def test_examples_are_valid(sample: Sample) -> None:
    file = f"old{sample.suffix}"
    made = run("example", file, "--count", "25", "--seed", "3").stdout

    assert made == run("example", file, "--count", "25", "--seed", "3").stdout
    assert run("validate", file, "--lines", "-", stdin=made).stdout == f"25 values valid against {file}.\n"
    assert run("validate", file, "-", stdin='{"a":[true]}').exit_code == 1


@pytest.mark.parametrize(
    "value",
    [
        "[" * 500_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        f'{{"a":{"9" * 50_000}}}',
        '{"b":"\\ud800","q":0}',
        "",
        "\0",
    ],
    ids=["brackets", "objects", "digits", "surrogate", "nothing", "zero"],
)
def test_hostile_values_are_refused(sample: Sample, value: str) -> None:
    Path("value.json").write_text(value)
    result = run("validate", f"old{sample.suffix}", "value.json", "--json")
    told = json.loads(result.stdout)

    assert (result.exit_code, told["invalid"]) == (1, 1)
    assert all(fault["line"] >= 1 for fault in told["faults"])


def test_lints(sample: Sample) -> None:
    result = run("lint", "--all", f"old{sample.suffix}")

    assert result.exit_code in {0, 1}
    assert run("lint", "--list").stdout.count(format_of(sample)) >= 5
    assert run("lint", "--all", f"broken{sample.suffix}").exit_code == 2


def test_references_by_name_and_by_folder(sample: Sample) -> None:
    file = f"uses{sample.suffix}"
    path = f"folder/{sample.name}" + (".avsc" if sample.suffix == ".avsc" else "")

    assert run("canonical", file).exit_code == 2
    assert run("canonical", file, "--reference", f"{sample.name}={path}").exit_code == 0
    found = run("fingerprint", file, "--reference-folder", "folder", "--json")
    assert found.exit_code == 0, found.output
    assert [one["name"] for one in json.loads(found.stdout)["references"]] == [sample.name]
