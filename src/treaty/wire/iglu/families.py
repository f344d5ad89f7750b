"""Checks of the versions of one schema together, with their severities: no gaps, and labels that say what changed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from treaty.core.finding import Finding
from treaty.core.iglu_key import IgluKey, SchemaVer
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError
from treaty.wire.iglu.lint import LintFinding

Label = Literal["ADDITION", "REVISION", "MODEL"]
CompareTexts = Callable[[str, str], tuple[Finding, ...]]
"""Compares a new text with an old one: why the new one can't read what is valid by the old one."""
GAP, LABEL = "versionGap", "labelChange"
"""Names of the checks."""


@dataclass(frozen=True, slots=True)
class VersionStep:
    """Two consecutive versions: the label of the step, and what keeps the new one from reading data of the old one."""

    old: IgluKey
    new: IgluKey
    label: Label
    findings: tuple[Finding, ...]

    @property
    def result(self) -> str:
        """What the findings say about the label, in a few words."""
        if self.label == "ADDITION":
            return "not proven" if self.findings else "fits"
        return "fits" if self.findings else "ADDITION would do"


def make_comparison(engine: FormatEngine) -> CompareTexts:
    """Return a comparison by the rules of JSON Schema."""

    def compare(new: str, old: str) -> tuple[Finding, ...]:
        form, reader = engine.model(ResolvedSchema("JSON", new), strict=False)
        _, writer = engine.model(ResolvedSchema("JSON", old), strict=False)
        return tuple(form.compare(reader, writer, "STRICT"))

    return compare


def label_of(old: SchemaVer, new: SchemaVer) -> Label:
    """Return which part of the version changed."""
    if old.model != new.model:
        return "MODEL"
    return "ADDITION" if old.revision == new.revision else "REVISION"


def list_steps(texts: Mapping[IgluKey, str], compare: CompareTexts, *, in_model: bool = False) -> Iterator[VersionStep]:
    """Yield the consecutive versions of every family, compared; with `in_model` those inside a model alone."""
    for old, new in pairwise(sorted(texts)):
        if _family(old) != _family(new) or (in_model and old.version.model != new.version.model):
            continue
        try:
            findings = compare(texts[new], texts[old])
        except InvalidSchemaError:
            continue  # other checks say what is wrong with a text
        yield VersionStep(old, new, label_of(old.version, new.version), findings)


def find_gaps(keys: Sequence[IgluKey]) -> Iterator[tuple[IgluKey, LintFinding]]:
    """Yield versions without the one that has to be there before them."""
    for _, members in groupby(sorted(keys), _family):
        versions: list[SchemaVer] = []
        for key in members:
            predecessor = _predecessor(key.version, versions)
            if predecessor is not None and predecessor not in versions:
                message = f"{predecessor} is missing, which comes before {key.version}"
                yield key, LintFinding(GAP, "ERROR", "/self/version", message)
            versions.append(key.version)


def find_wrong_labels(texts: Mapping[IgluKey, str], compare: CompareTexts) -> Iterator[tuple[IgluKey, LintFinding]]:
    """Yield versions whose label says less, or more, than what changed."""
    for step in list_steps(texts, compare):
        if step.label == "ADDITION" and step.findings:
            first = step.findings[0]
            sentence = first.message(reader=str(step.new.version), writer=str(step.old.version))
            model = 1 + max(key.version.model for key in texts if _family(key) == _family(step.new))
            why = f"{first.rule} at {first.path or '/'}: {sentence}"
            message = (
                f"{step.new.version} must read all data of {step.old.version}, but does not: {why}; call it {model}-0-0"
            )
            yield step.new, LintFinding(LABEL, "WARNING", "/self/version", message)
        elif step.label != "ADDITION" and not step.findings:
            message = f"{step.new.version} reads all data of {step.old.version}; ADDITION would do"
            yield step.new, LintFinding(LABEL, "INFO", "/self/version", message)


def check_path(key: IgluKey, document: object) -> LintFinding | None:
    """Return the finding for a schema whose `self` is not its path."""
    own = document.get("self") if isinstance(document, Mapping) else None
    path_members = {"vendor": key.vendor, "name": key.name, "format": key.format, "version": str(key.version)}
    if own == path_members:
        return None
    return LintFinding("pathMismatch", "ERROR", "/self", f"self is {json.dumps(own)[:200]}, and the path says {key}")


def _family(key: IgluKey) -> tuple[str, str, str]:
    return key.vendor, key.name, key.format


def _predecessor(version: SchemaVer, versions: Sequence[SchemaVer]) -> SchemaVer | None:
    """Return a version that has to be there: of a model its first, of the first model nothing."""
    if version.addition:
        return SchemaVer(version.model, version.revision, version.addition - 1)
    if version.revision:
        lower = [one for one in versions if (one.model, one.revision) == (version.model, version.revision - 1)]
        return None if lower else SchemaVer(version.model, version.revision - 1, 0)
    if version.model > 1:
        return None if any(one.model == version.model - 1 for one in versions) else SchemaVer(version.model - 1, 0, 0)
    return None
