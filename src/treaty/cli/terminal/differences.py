"""Arguments that name stored schemas, and the output of the differences of two schemas."""

import re
from collections.abc import Sequence
from pathlib import Path

from treaty.cli.terminal import screen
from treaty.cli.terminal.source import STDIN
from treaty.core.finding import ExplainedDifference

GUID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""A guid, with or without dashes."""
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
"""Colours of the lines of a unified diff, by their first character."""
HARM = {
    "backward": "the new schema cannot read old data",
    "forward": "the old schema cannot read new data",
    "both": "neither can read the other's data",
    "none": "none",
}


def is_stored(word: str) -> bool:
    """Return whether an argument is a version or a guid of a registry, and no file."""
    if word == STDIN or Path(word).exists():
        return False
    return bool(GUID.fullmatch(word)) or bool(re.search(r".@(latest|-1|\d+)$", word))


def difference_members(difference: ExplainedDifference) -> dict[str, str]:
    """Return a difference as members of a JSON object."""
    facts = {
        "rule": difference.rule,
        "path": difference.path,
        "harm": difference.harm,
        "sentence": difference.sentence,
        "detail": difference.detail,
        "old": difference.old,
        "new": difference.new,
        "remedy": difference.remedy,
    }
    return facts | ({"policy": difference.policy} if difference.policy else {})


def say_differences(differences: Sequence[ExplainedDifference]) -> None:
    """Print differences by number, with their facts."""
    for number, difference in enumerate(differences, 1):
        screen.say(f"{number}. {difference.sentence}", bold=True)
        facts = difference_members(difference)
        harm = (
            f"{HARM[difference.harm]}, as policy {difference.policy} compares"
            if difference.policy
            else HARM[difference.harm]
        )
        facts = {name: facts[name] for name in ("rule", "path", "old", "new") if facts[name]}
        screen.say_facts(facts | {"harm": harm} | _position(difference))


def _position(difference: ExplainedDifference) -> dict[str, str]:
    """Return the lines of a difference that has places, in the texts as they are printed."""
    places = (("old", difference.old_place), ("new", difference.new_place))
    words = [f"{side} {place.line}" for side, place in places if place is not None and place.exact]
    return {"line": ", ".join(words)} if words else {}
