"""`treaty iglu load`: a description that can't be used is refused with the key, the value and what is allowed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.cli.main import group

GOOD = """
resolver = "resolver.json"
checkpoint = "checkpoint"
[source.files]
path = "in"
[good]
place = "good"
[bad]
place = "bad"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('resolver = "resolver.json"', "", "resolver is missing"),
        (
            "",
            "",
            "resolver.json cannot be read: No such file or directory; give the file of a resolver's configuration",
        ),
        ('checkpoint = "checkpoint"', "", "checkpoint is missing"),
        ('checkpoint = "checkpoint"', 'checkpoint = "c"\nbad_rows = "other"', "allowed are failures, snowplow"),
        ('checkpoint = "checkpoint"', 'checkpoint = "c"\nkeep = ["value"]', "value is named by columns and by keep"),
        ('checkpoint = "checkpoint"', 'checkpoint = "c"\nsubject = "s"', "subject: unknown key"),
        ('[bad]\nplace = "bad"', "", "bad is missing"),
        (
            'resolver = "resolver.json"',
            'registries = ["${NO_SUCH_PLACE}"]',
            "the environment variable NO_SUCH_PLACE is not set",
        ),
        ("[good]", "[good", "is not valid TOML"),
    ],
)
def test_a_description_that_cannot_be_used_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "events.toml"
    file.write_text(GOOD.replace(old, new, 1))
    found = CliRunner().invoke(group, ["iglu", "load", str(file)])
    assert found.exit_code == 2
    assert said in found.output
