"""Bugs planted where events with self-describing JSON are validated and shredded; all found by laws without Spark."""

from tests.planted.bug import Bug, Edit, by_tests

EVENTS = "treaty.arrow.iglu.events:EventValidator."
NAMES = "treaty.arrow.iglu.names:"
LAWS, SHREDDING = "laws/test_self_describing.py::", "laws/test_shredding.py::"
PLAIN = f"{LAWS}test_events_are_judged_as_by_a_plain_pass"


def events(name: str, does: str, target: str, old: str, new: str, test: str) -> Bug:
    """A bug in one function."""
    return Bug(f"events: {name}", does, (Edit(target, old, new),), by_tests(test))


LOADED = (
    events(
        "the parts of an envelope are not validated",
        "An envelope that is valid makes all its parts valid.",
        EVENTS + "_is_good",
        "(not checker.envelope or self._are_valid(data))",
        "True",
        PLAIN,
    ),
    events(
        "a deep value passes",
        "The quick way does not count levels.",
        EVENTS + "_is_good",
        'or text.count(b"{") + text.count(b"[") > self._schemas.depth',
        "",
        f"{LAWS}test_a_value_that_its_schema_allows_at_any_depth_nests_as_deep_as_is_allowed",
    ),
    events(
        "a schema that was not asked for is missing",
        "A schema that the batch's table lacks counts as one that no registry has, so that its events are bad.",
        "treaty.arrow.iglu.events:_make_unresolved",
        '_failure("", SCHEMA_UNAVAILABLE, message',
        '_failure("", SCHEMA_NOT_FOUND, message',
        f"{LAWS}test_a_schema_that_was_not_looked_up_is_unresolved_and_never_bad",
    ),
    events(
        "names with escapes are overlooked",
        "Only names that are written plainly are looked up.",
        NAMES + "find_schema_names",
        "if ESCAPED.search(data):",
        "if False:",
        f"{LAWS}test_names_of_schemas_with_escapes_are_found[\\\\/]",
    ),
    events(
        "a column that is cut out is read from its beginning",
        "The offsets of a slice are taken for those of the whole column.",
        NAMES + "bytes_of",
        "if first else places",
        "if False else places",
        f"{LAWS}test_a_part_of_a_longer_column_is_validated_as_if_it_were_alone",
    ),
    events(
        "an answer that could not be had is kept",
        "What was unavailable is not asked for again.",
        "treaty.plan.iglu.resolution:resolve_schemas",
        "if one.outcome != UNAVAILABLE}",
        "}",
        f"{LAWS}test_schemas_that_a_registry_cannot_give_now_are_asked_again_and_others_are_not",
    ),
    events(
        "a field that a version lacks takes no null",
        "A column that only some versions have is required.",
        "treaty.plan.iglu.columns:_merge_fields",
        "yield replace(one, nullable=True)\n            continue",
        "yield one\n            continue",
        f"{SHREDDING}test_a_field_that_a_later_version_lacks_may_be_null",
    ),
    events(
        "a decimal is rounded",
        "A number with more digits than its column is cut.",
        "treaty.plan.iglu.casts:_cast_decimal",
        "cut != exact or",
        "",
        f"{SHREDDING}test_a_decimal_is_exact_or_refused",
    ),
)
"""Bugs of events on their way into tables."""
