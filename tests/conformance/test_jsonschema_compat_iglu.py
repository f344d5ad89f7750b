"""Families of real schemas: the verdict on every two versions that follow each other, and what their labels promise.

SchemaVer is MODEL-REVISION-ADDITION. A new ADDITION promises to be compatible with all history, a new MODEL to break it;
a new REVISION promises nothing. Contradictions are listed in data/iglu-labels.json with their reason.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.iglu import families
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.compare.compatibility import compare
from treaty.formats.jsonschema.parser import parse_schema

LISTED = json.loads((Path(__file__).parent / "data" / "iglu-labels.json").read_text("utf-8"))

Version = tuple[int, int, int]


def label(old: Version, new: Version) -> str:
    if old[0] != new[0]:
        return "MODEL"
    return "REVISION" if old[1] != new[1] else "ADDITION"


def judged() -> Iterator[tuple[str, Version, Version, dict[str, list[str]]]]:
    """Every pair of versions that follow each other, with the rules that each policy refuses it by."""
    for name, versions in sorted(families().items()):
        documents = [(version, parse_schema(ResolvedSchema("JSON", text), strict=False)) for version, text in versions]
        for (before, old), (after, new) in pairwise(documents):
            rules = {
                policy: sorted({one.rule for one in compare(new, old, policy)}) for policy in ("STRICT", "LENIENT")
            }
            yield name, before, after, rules


def contradicts(promise: str, rules: dict[str, list[str]]) -> bool:
    """Whether one of the policies says otherwise than a label promises."""
    if promise == "ADDITION":
        return bool(rules["STRICT"] or rules["LENIENT"])
    return promise == "MODEL" and not (rules["STRICT"] and rules["LENIENT"])


def test_verdicts_are_what_labels_promise_but_for_those_listed(figure: Callable[[str], None]) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    found: list[dict[str, Any]] = []
    for name, old, new, rules in judged():
        promise = label(old, new)
        for policy, broken in rules.items():
            counts[promise, policy, "broken" if broken else "compatible"] += 1
        if contradicts(promise, rules):
            versions = {"old": "-".join(map(str, old)), "new": "-".join(map(str, new))}
            row = {"schema": name, **versions, "label": promise}
            found.append({**row, "strict": rules["STRICT"], "lenient": rules["LENIENT"]})

    for (promise, policy, verdict), count in sorted(counts.items()):
        figure(f"{promise} under {policy}: {count} {verdict}")
    figure(f"{len(found)} of {sum(counts.values()) // 2} pairs contradict their label under one policy")
    assert [{**row, "why": listed["why"]} for row, listed in zip(found, LISTED["pairs"], strict=True)] == LISTED[
        "pairs"
    ]
    assert {row["why"] for row in LISTED["pairs"]} == set(LISTED["why"])
    assert sum(counts.values()) // 2 == 141
