"""Bugs planted where events with self-describing JSON are validated and shredded; all found by laws without Spark."""

from tests.planted.bug import Bug, Edit, by_tests

STRICT = "treaty.arrow.iglu.strict_events:StrictEvents."
NAMES = "treaty.arrow.iglu.names:"
STRICT_LAWS = "laws/test_strict_types.py::"
LAWS, SHREDDING = "laws/test_self_describing.py::", "laws/test_shredding.py::"
PLAIN = f"{LAWS}test_events_are_judged_as_by_a_plain_pass"


def events(name: str, does: str, target: str, old: str, new: str, test: str) -> Bug:
    """A bug in one function."""
    return Bug(f"events: {name}", does, (Edit(target, old, new),), by_tests(test))


LOADED = (
    events(
        "parts that no type can check are not validated",
        "A part whose schema has no strict type is good as soon as it is JSON.",
        STRICT + "_type_of",
        "if not is_strict:",
        "if False:",
        f"{LAWS}test_parts_whose_schemas_no_type_can_check_are_validated[array-no type can check it]",
    ),
    events(
        "a deep value passes",
        "The quick way does not count levels.",
        STRICT + "_make_check",
        "is_flat and",
        "",
        f"{LAWS}test_a_value_that_its_schema_allows_at_any_depth_nests_as_deep_as_is_allowed",
    ),
    events(
        "a value that does not name its schema is good",
        "The type of the one schema that is known stands alone, so that it takes values that name none.",
        "treaty.arrow.iglu.strict_events:_any_of",
        "(_NOTHING, *kinds)",
        "(*kinds,) or (_NOTHING,)",
        f"{LAWS}test_values_are_bad_for_what_they_lack_though_good_ones_came_before",
    ),
    events(
        "an envelope may hold more parts than its schema allows",
        "The quick way does not count parts.",
        STRICT + "_make_decoder",
        "max_length=one.most",
        "max_length=None",
        f"{LAWS}test_values_are_bad_for_what_they_lack_though_good_ones_came_before",
    ),
    events(
        "a bound that is excluded is taken",
        "The type of a number takes the bound itself where the schema excludes it.",
        "treaty.formats.jsonschema.data.strict_type:_number",
        '"gt" if',
        '"ge" if',
        f"{STRICT_LAWS}test_a_bound_is_part_of_the_range_or_not",
    ),
    events(
        "members that no one named are taken",
        "The type of an object takes more members than its schema names.",
        "treaty.formats.jsonschema.data.strict_type:_object",
        "forbid_unknown_fields=True",
        "forbid_unknown_fields=False",
        f"{STRICT_LAWS}test_what_the_type_of_a_schema_takes_is_valid",
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
        "if has_escapes",
        "if False",
        f"{LAWS}test_names_of_schemas_with_escapes_are_found[\\\\/]",
    ),
    events(
        "a column that is cut out is read from its beginning",
        "The offsets of a slice are taken for those of the whole column.",
        NAMES + "bytes_of",
        "plain.offset : plain.offset + len(plain) + 1",
        ": len(plain) + 1",
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
