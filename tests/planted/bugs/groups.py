"""Bugs planted in subjects as groups: their settings, types, identities, encodings, and what is asked of them."""

from tests.planted.bug import Bug, Edit, Swap, by_lives, by_tests, found_by
from treaty.core.handlers.deletion import whole_subject
from treaty.core.names import Subject
from treaty.core.state.rows import Row, make_tombstone
from treaty.core.state.state_tables import COUNTER, encodings_key
from treaty.core.state.view import View

HANDLERS = "treaty.core.handlers."
CHANGES, VERSIONS, QUERIES = (HANDLERS + f"groups.{module}:" for module in ("changes", "versions", "queries"))
IDENTITY, SAME = HANDLERS + "drafts.version_identity:", HANDLERS + "drafts.same_versions:"
RULES = "1 2 3 4 5 6 root"
"""Whichever law breaks first; an error of the planted code itself is none."""
COMPARED_ONCE = """compared = _refuse_other_level.__dict__.setdefault("compared", [])
    if level == request.previous:
        compared.append(request)
    if not any(one is request for one in compared):"""


def with_its_count(view: View, subject: Subject) -> list[Row]:
    """Everything of a subject, and the count of its encoding ids."""
    return [*whole_subject(view, subject), make_tombstone(COUNTER, encodings_key(subject))]


def group(name: str, does: str, target: str, old: str, new: str, first: int = 0, count: int = 100) -> Bug:
    """A bug in a handler of groups; any law may break first."""
    return Bug(f"group: {name}", does, (Edit(target, old, new),), by_lives(first, RULES, count=count))


GROUPS = (
    Bug(
        "group: an encoding id is given twice",
        "A group that is removed takes the count of its encoding ids along, and made again it gives them to others.",
        (Swap(CHANGES + "whole_subject", with_its_count),),
        by_lives(0, RULES),
    ),
    group(
        "a recreated group shows its predecessor's encodings",
        "A group that is removed leaves its encodings, which whoever makes it again can read.",
        CHANGES + "remove_subject",
        "tuple(whole_subject(view, subject))",
        'tuple(row for row in whole_subject(view, subject) if row.table != "encoding")',
    ),
    group(
        "a purge takes a schema that an encoding needs",
        "A version is removed for good with hidden ones of its schema whose payloads could be read until then.",
        HANDLERS + "deletion:delete_version",
        "refuse_if_encoded(view, going)",
        "refuse_if_encoded(view, going[:0])",
        50,
    ),
    Bug(
        "group: the previous level is compared outside the write",
        "The level that a change expects is compared before the race, and not again after it was lost.",
        (Edit(CHANGES + "_refuse_other_level", "if level != request.previous:", COMPARED_ONCE),),
        by_tests("laws/test_groups.py::test_an_expected_level_is_compared_again_after_a_lost_race"),
    ),
    found_by(
        group(
            "the previous level is compared with what is durable",
            "Two changes in one append expect the same level, and both are admitted.",
            CHANGES + "_refuse_other_level",
            "own_value(view, Scope(*subject))",
            'own_value(getattr(view, "_base", view), Scope(*subject))',
        ),
        "laws/test_groups.py::test_of_two_changes_in_one_append_that_expect_a_level_one_is_refused",
    ),
    group(
        "codecs are inherited",
        "A group that is removed leaves its codecs.",
        CHANGES + "remove_subject",
        "tuple(whole_subject(view, subject))",
        'tuple(row for row in whole_subject(view, subject) if row.table != "codec")',
    ),
    group(
        "a removal takes what others refer to",
        "A group is removed though schemas of other subjects refer to it.",
        CHANGES + "remove_subject",
        "_refuse_if_referenced(view, subject, going, command.access)",
        "pass",
        57,
    ),
    group(
        "the settings are those of the second creation",
        "Whoever creates a group that is there is told of it as created.",
        CHANGES + "create_subject",
        "created=False",
        "created=True",
    ),
    group(
        "it goes with its last version",
        "A subject made at another door does not survive the permanent deletion of its versions.",
        HANDLERS + "deletion:purge_subject",
        "if goes_with_versions(view, subject):",
        "if view:",
    ),
    group(
        "a version is deleted whatever refers to it",
        "A version that another schema refers to is deleted by its ordinal.",
        HANDLERS + "deletion:delete_live",
        '_refuse_if_needed(view, one, "live")',
        "pass",
        17,
    ),
    group(
        "exact is canonical",
        "A text in another spelling is taken for one that is there, in a subject that tells spellings apart.",
        SAME + "has_schema",
        "one.rules.identity != EXACT or",
        "one.rules.identity or",
        96,
    ),
    group(
        "normal forms are not compared",
        "In a subject whose identity is normalised a text with the same normal form becomes another version.",
        SAME + "same_version",
        "if one.rules.identity == NORMALISED:",
        "if not one.rules.identity:",
        24,
    ),
    group(
        "types are not told apart",
        "One schema of two types is one version.",
        SAME + "has_type",
        "not one.draft.type_name and version.type_name ==",
        "bool(version.type_name) or not one.draft.type_name and version.type_name ==",
        36,
    ),
    group(
        "one type is any type",
        "A subject of one type admits another one.",
        IDENTITY + "type_not_allowed",
        "if rules.only_type is None or",
        "if rules or",
        30,
    ),
    group(
        "types are compared with each other",
        "In a subject of many types a version is compared with those of other types.",
        IDENTITY + "policy_for",
        'if rules.types == "many" else policy',
        'if rules.types == "several" else policy',
    ),
    group(
        "the newest of each type is the oldest",
        "A list of the newest version of each type has the oldest ones.",
        VERSIONS + "list_group_versions",
        "newest[kind] = max(",
        "newest[kind] = min(",
        96,
    ),
    group(
        "a deleted version is not read",
        "A version that is deleted is not found by its ordinal.",
        VERSIONS + "get_ordinal",
        '== "purged"',
        '!= "live"',
        2,
    ),
    found_by(
        group(
            "a reader reads the latest version alone",
            "What older versions wrote, which the policy lets readers expect, is not asked about.",
            VERSIONS + "check_reading",
            "() if policy.deny or",
            "() if policy or",
        ),
        *(f"laws/test_group_versions.py::test_what_a_reader_can_read[{one}-False]" for one in ("level3", "level5")),
    ),
    group(
        "a list has names that may not be read",
        "A list of groups shows those that the caller has no right to.",
        QUERIES + "list_groups",
        "if reads(subject) else None",
        "if subject else None",
        88,
    ),
)
