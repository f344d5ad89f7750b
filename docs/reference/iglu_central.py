"""The page `iglu-central.md`: what Treaty's comparison says of the consecutive versions of Iglu Central."""

import json
import lzma
from collections import Counter
from pathlib import Path

from treaty.core.iglu_key import IgluKey
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.wire.iglu.families import VersionStep, list_steps, make_comparison

ARCHIVE = Path(__file__).parents[2] / "tests" / "conformance" / "data" / "iglu-central" / "jsonschema.json.xz"

_HEAD = """# Iglu Central, step by step

The {count} pairs of consecutive versions inside a model of Iglu Central (r183, 660 JSON Schemas): the label of the step, what `treaty iglu lint` says of
it, and the rules that were broken, with their paths. `fits` of an ADDITION means that the new version is proven to read everything that is valid by
the old one. `not proven` means that something may not be read any more, or that the comparison finds no proof; it is a warning, never a refusal.
`ADDITION would do` means that a REVISION reads everything too.

{summary}

| schema | step | label | result | findings |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    texts = {IgluKey.parse_path(path): text for path, text in json.loads(lzma.decompress(ARCHIVE.read_bytes())).items()}
    steps = list(list_steps(texts, make_comparison(FormatEngine(find_formats())), in_model=True))
    counts = Counter((step.label, step.result) for step in steps)
    told = "\n".join(f"- {label}: {many} {result}" for (label, result), many in sorted(counts.items()))
    return _HEAD.format(count=len(steps), summary=told) + "".join(map(_row, steps))


def _row(step: VersionStep) -> str:
    rules = "<br>".join(f"`{one.rule}` at `{one.path or '#'}`" for one in step.findings[:5])
    more = f"<br>and {len(step.findings) - 5} more" if len(step.findings) > 5 else ""
    name = f"{step.new.vendor}/{step.new.name}"
    return f"| {name} | {step.old.version} → {step.new.version} | {step.label} | {step.result} | {rules}{more} |\n"
