"""Bugs planted in names of versions and in labels of SchemaVer: their order, patches, superseding."""

from tests.planted.bug import Bug, Edit, by_lives, found_by

HANDLERS = "treaty.core.handlers."
NAMES, LABELS = HANDLERS + "drafts.version_names:", HANDLERS + "schemaver.labels:"
LAWS = "1 2 3 4 5 6 root"
"""Whichever law breaks first; an error of the planted code itself is none."""


def label(name: str, does: str, target: str, old: str, new: str, first: int = 0) -> Bug:
    """A bug in a handler of names or labels; any law may break first."""
    return Bug(f"label: {name}", does, (Edit(target, old, new),), by_lives(first, LAWS))


NAMED = (
    label(
        "a given name is given twice",
        "A registration gives its version a name that another live version has.",
        NAMES + "_name_row",
        "raise _name_taken(key, pair, other)",
        "pass",
        0,
    ),
    found_by(
        label(
            "a name goes with the first of its versions",
            "A version that is removed takes a name along that others share.",
            HANDLERS + "uses:_name_of_others",
            "if left else None",
            "if len(left) > 99 else None",
        ),
        "behaviours/test_version_names.py::test_versions_share_a_computed_name_and_the_oldest_live_one_is_found",
        error="VersionNotFound",
    ),
    label(
        "a gap in a model",
        "A label is taken whatever comes before it.",
        LABELS + "gap_before",
        'return "" if wanted in there else f"the version {wanted}"',
        'return ""',
    ),
    label(
        "an addition to a revision that is over",
        "An ADDITION is taken though the next revision is there.",
        LABELS + "overtaken_by",
        'if kind_of(label) != "ADDITION":',
        "if True:",
        56,
    ),
    found_by(
        label(
            "labels compared as texts",
            "Versions are listed by the spelling of their labels, so that 1-0-10 comes before 1-0-2.",
            LABELS + "live_labels",
            "dict(sorted((label, one) for label, one in found if label is not None))",
            "dict(sorted(((label, one) for label, one in found if label is not None), key=lambda pair: str(pair[0])))",
        ),
        "laws/test_labels.py::test_versions_are_listed_by_the_numbers_of_their_labels",
    ),
    label(
        "a patch changes what the old id means",
        "A new text is stored under the id of the former one.",
        HANDLERS + "registration.patches:patch_rows",
        'make_row(VERSION, former, replace(old, state="hidden", revision_of=key.ordinal)),',
        "",
    ),
    label(
        "a patch takes the encodings along",
        "Payloads that were written with the former text are read with the new one.",
        HANDLERS + "registration.patches:patch_rows",
        "replace(value, ordinal=ordinal))",
        "replace(value, schema_id=schema_id))",
        6,
    ),
    found_by(
        label(
            "superseding moves backwards",
            "A version that a later one supersedes is given to an earlier one.",
            HANDLERS + "schemaver.supersession:superseding_rows",
            "if before is None or before <= label:",
            "if True:",
        ),
        "laws/test_labels.py::test_an_earlier_version_takes_nothing_from_a_later_one_that_supersedes",
    ),
    label(
        "a chain of superseding versions is not flat",
        "What a superseded version supersedes stays with it.",
        HANDLERS + "schemaver.supersession:superseding_rows",
        "chosen |= {one.ordinal for target in chosen for one in view.find(SUPERSEDED_BY, (*key[:3], target))}",
        "pass",
        84,
    ),
    label(
        "the policy of labels compares one version",
        "An ADDITION is compared with the first version of its model alone.",
        HANDLERS + "schemaver.label_policy:check_label",
        "_of_model(others, label.model))",
        "dict([*_of_model(others, label.model).items()][:1]))",
        30,
    ),
)
