"""All differences of two schemas, harmful or not, for people: in words, with places in the texts that are shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.core.finding import ExplainedDifference, Finding, LevelResult, TextPlace
from treaty.core.policy import ALL, LEVELS, NONE
from treaty.formats.budget import spend
from treaty.formats.format import Format, HarmlessChange
from treaty.formats.positions import PlaceFinder, as_pointer, translate_pointer
from treaty.formats.rule import POLICIES, CompatibilityRule

FORMAT_CHANGED = CompatibilityRule(
    "FORMAT_CHANGED",
    "Schemas that follow each other have one format.",
    "Incompatible because of different schema type",
    "register it under another subject, or under NONE",
)
"""The one rule above all formats."""

PLAIN = tuple(word for word, level in LEVELS.items() if ALL not in {level.backward, level.forward})
"""Levels without the transitive ones, which are equal for a single earlier schema."""

Compared = Mapping[tuple[str, bool], tuple[Finding, ...]]
"""Findings by policy, and by whether the old schema reads."""


def compare_both_ways(form: Format[Any], old: Any, new: Any) -> Compared:
    """Return the findings of two models of a format in both directions, under every compatibility policy."""
    return {
        (policy, old_reads): form.compare(*((old, new) if old_reads else (new, old)), policy)
        for policy in POLICIES
        for old_reads in (False, True)
    }


def count_by_level(compared: Compared) -> tuple[LevelResult, ...]:
    """Return how many findings each level counts under each policy."""
    return tuple(
        LevelResult(
            level,
            policy,
            len(compared[policy, False]) * (LEVELS[level].backward != NONE)
            + len(compared[policy, True]) * (LEVELS[level].forward != NONE),
        )
        for policy in POLICIES
        for level in PLAIN
    )


def describe_change_of_format(old: str, new: str) -> tuple[ExplainedDifference, tuple[LevelResult, ...]]:
    """Return the one difference of schemas of two formats, and the results of the levels."""
    changed = FORMAT_CHANGED.finding("/", writer=old, reader=new)
    difference = ExplainedDifference(
        changed.rule, "/", FORMAT_CHANGED.harm, changed.sentence, old=old, new=new, remedy=changed.remedy
    )
    refused = (LevelResult(level, policy, int(level != "NONE")) for policy in POLICIES for level in PLAIN)
    return difference, tuple(refused)


def list_differences(form: Format[Any], old: Any, new: Any, compared: Compared) -> list[ExplainedDifference]:
    """Return all differences that the format finds, and every finding of both directions that a level counts.

    A difference that only the old schema cannot read stands for one finding of that direction at its path. Every other
    finding is an entry of its own, in the words of its rule.
    """
    backward, forward = list(compared[POLICIES[0], False]), list(compared[POLICIES[0], True])
    listed = {_key(one, old_reads=False) for one in backward} | {_key(one, old_reads=True) for one in forward}
    listed_differences: list[ExplainedDifference] = []
    for finding in backward if form.differences is None else form.differences(new, old):
        same = next((each for each in backward if (each.rule, each.path) == (finding.rule, finding.path)), None)
        mirrored = None
        if form.differences is not None and not same:
            mirrored = next((each for each in forward if each.path == finding.path), None)
        if same:
            backward = _remove_first(backward, same)
        elif mirrored:
            forward = _remove_first(forward, mirrored)
        harm = "backward" if same else "forward" if mirrored else "none"
        listed_differences.append(explain_finding(finding, old_reads=False, harm=harm))
    listed_differences += [explain_finding(one, old_reads=False) for one in backward]
    listed_differences += [explain_finding(one, old_reads=True) for one in forward]
    return listed_differences + list(_under_other_policies(compared, listed))


def _remove_first(findings: Sequence[Finding], finding: Finding) -> list[Finding]:
    """The findings without the first that is `finding`."""
    at = findings.index(finding)
    return [*findings[:at], *findings[at + 1 :]]


def _key(finding: Finding, *, old_reads: bool) -> tuple[bool, str, str, str]:
    """What makes a finding the same under two policies."""
    return old_reads, finding.rule, finding.path, finding.sentence


def explain_finding(finding: Finding, *, old_reads: bool, harm: str = "", policy: str = "") -> ExplainedDifference:
    """Return a finding as a difference; without `harm` it is that of its direction."""
    reader, writer = ("old", "new") if old_reads else ("new", "old")
    old, new = (finding.reader, finding.writer) if old_reads else (finding.writer, finding.reader)
    direction = harm or ("forward" if old_reads else "backward")
    sentence = finding.message(reader=reader, writer=writer)
    facts = (
        finding.rule,
        finding.path or "/",
        direction,
        sentence,
        finding.detail,
        old,
        new,
        finding.remedy,
        policy,
        reader,
    )
    return ExplainedDifference(*facts)


def _under_other_policies(compared: Compared, listed: set[tuple[bool, str, str, str]]) -> Iterator[ExplainedDifference]:
    """Return the findings that only a stricter policy has, each under the first one that has it."""
    for policy in POLICIES[1:]:
        for old_reads in (False, True):
            for finding in compared[policy, old_reads]:
                key = _key(finding, old_reads=old_reads)
                if key not in listed:
                    listed.add(key)
                    yield explain_finding(finding, old_reads=old_reads, policy=policy)


def list_harmless(
    form: Format[Any], old: Any, new: Any, harmful: Sequence[ExplainedDifference]
) -> list[ExplainedDifference]:
    """Return the harmless differences that the format lists apart, without those that a harmful one is about."""
    if form.harmless is None:
        return []
    paths = {
        side: {path for difference in harmful if difference.reader == side for path in _list_enclosing(difference.path)}
        for side in ("new", "old")
    }
    return [
        _explain_harmless(difference)
        for difference in form.harmless(new, old)
        if difference.reader_path not in paths["new"] and difference.writer_path not in paths["old"]
    ]


def _list_enclosing(path: str) -> Iterator[str]:
    """Return a path, and those of all that hold it but the whole text."""
    pointer = as_pointer(path)
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def _explain_harmless(change: HarmlessChange) -> ExplainedDifference:
    reader = "new" if change.reader_path is not None else "old"
    path = change.reader_path if change.reader_path is not None else change.writer_path
    sentence = change.rule.sentence.replace("{detail}", change.detail)
    return ExplainedDifference(
        change.rule.id, path or "/", "none", sentence, change.detail, change.writer, change.reader, reader=reader
    )


def place_differences(
    form: Format[Any], differences: Sequence[ExplainedDifference], old: str, new: str, sent: str = ""
) -> list[ExplainedDifference]:
    """Return the differences with their places in the two texts, and in the new one as it was sent."""
    spend((len(old) + len(new) + len(sent)) >> 3)
    before, after = PlaceFinder(form, old), PlaceFinder(form, new)
    in_old = _find_places(differences, "old", after, before, before)
    in_new = _find_places(differences, "new", before, after, after)
    in_sent: list[TextPlace | None] = [None] * len(differences)
    if sent:
        in_sent = _find_places(differences, "new", before, after, PlaceFinder(form, sent))
    return [
        replace(difference, old_place=at_old, new_place=at_new, sent_place=at_sent)
        for difference, at_old, at_new, at_sent in zip(differences, in_old, in_new, in_sent, strict=True)
    ]


def _find_places(
    differences: Sequence[ExplainedDifference], side: str, other: PlaceFinder, own: PlaceFinder, text: PlaceFinder
) -> list[TextPlace | None]:
    """Return the places of differences in a text of a side: of their own paths, or of the same parts there."""
    paths = [_path_in(difference, side, other, own) for difference in differences]
    places = text.find([path for path, _ in paths])
    return [
        replace(place, exact=False) if place is not None and not exact else place
        for place, (_, exact) in zip(places, paths, strict=True)
    ]


def _path_in(difference: ExplainedDifference, side: str, other: PlaceFinder, own: PlaceFinder) -> tuple[str, bool]:
    """Return the path of a difference in the text of a side, and whether that is the same part, and not what would hold it."""
    if difference.reader == side or not (own.has_value and other.has_value):
        return difference.path, True
    pointer = as_pointer(difference.path)
    own_pointer = translate_pointer(pointer, other.value, own.value)
    if own_pointer.count("/") == pointer.count("/"):
        return own_pointer, True
    return own_pointer, False
