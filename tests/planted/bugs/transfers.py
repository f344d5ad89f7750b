"""Bugs planted in exports, imports and promotions of groups: each loses something on the way, or takes what others have."""

from tests.planted.bug import Bug, Edit, by_tests

REQUESTS, PLAN, IMAGE = (
    f"treaty.client.transfer.{module}:" for module in ("group_requests", "group_plan", "registry_image")
)
IMPORTS = "treaty.core.handlers.groups.imports:"
MOVED = by_tests("laws/test_group_transfers.py::test_random_groups_come_out_of_a_dump_as_they_were")
PROMOTED = by_tests("laws/test_group_transfers.py::test_random_groups_are_promoted_once")
GONE = "laws/test_group_transfers.py::"
REFUSED = "laws/test_group_imports.py::"
FOREIGN = "facades/test_import_sources.py::"


def carried(name: str, does: str, target: str, old: str, new: str) -> Bug:
    """A bug that loses something on the way from one registry to another."""
    return Bug(f"transfer: {name}", does, (Edit(target, old, new),), MOVED)


TRANSFERS = (
    carried("names stay behind", "Further names of versions are not written.", REQUESTS + "import_of", "one.names,", "(),"),
    carried(
        "the policy of the target", "A version has the policy that is in force when it is imported.", REQUESTS + "import_of",
        "one.policy,", "None,",
    ),
    carried("texts without their bytes", "The bytes as sent are lost.", REQUESTS + "draft_of", "one.data,", "None,"),
    carried("encodings stay behind", "A dump has no encodings of visible versions.", IMAGE + "facts_of", "kept.encodings", "()"),
    Bug(
        "transfer: numbers that are gone",
        "Ordinals and encoding ids of what is gone are assigned again in the copy.",
        (Edit(PLAN + "_Planning.add", "if _lacks_numbers(one, self.highest.get(one.subject, HighestNumbers()), versions):", "if versions is None:"),),
        by_tests(GONE + "test_what_is_gone_counts_in_the_copy"),
    ),
    Bug(
        "transfer: removed subjects",
        "A subject that gets the name of a removed one assigns its encoding ids again in the copy.",
        (Edit("treaty.core.handlers.groups.exports:_with_removed", "merge(view.walk(SUBJECT, first, last), named)", "view.walk(SUBJECT, first, last)"),),
        by_tests(GONE + "test_a_removed_subject_has_used_up_its_encoding_ids_in_the_copy"),
    ),
    carried("codecs stay behind", "Codecs are not added.", PLAN + "_Planning._add_codecs", "self.codecs.append((subject_of(one.subject), codec))", "continue"),
    carried(
        "hidden versions stay behind", "Versions that were registered again are not written.", PLAN + "_Planning._add_versions",
        "self.hidden.append(each)", "continue",
    ),
    Bug(
        "promotion: the type of the text",
        "A promoted version has neither the type nor the bytes of its source.",
        (Edit("treaty.client.transfer.promotion:_PromotionRun._request", "replace(draft_of(one), references=references)", "draft"),),
        PROMOTED,
    ),
    Bug(
        "import: an encoding id changes its meaning",
        "An importer gives an encoding id that stands for another version.",
        (Edit(IMPORTS + "import_encoding", "raise _other_encoding(request, f\"ordinal {there.ordinal} with the codec '{there.codec}'\")", "pass"),),
        by_tests(REFUSED + "test_what_others_have_is_given_to_none"),
    ),
    Bug(
        "import: the count of ordinals falls",
        "A version with a low ordinal lowers the count, so that later ones are assigned again.",
        (Edit(IMPORTS + "_version_rows", "max(key.ordinal, highest_of(view, ordinals))", "key.ordinal"),),
        by_tests(REFUSED + "test_counts_only_rise"),
    ),
    Bug(
        "import: in any mode",
        "Whoever may import gives ordinals while others register.",
        (Edit("treaty.core.handlers.groups.import_refusals:refuse_unless_importing", "if mode not in IMPORTING:", "if mode is None:"),),
        by_tests(REFUSED + "test_only_the_mode_of_imports_takes_numbers"),
    ),
    Bug(
        "import: deleted schemas of Pravega",
        "Ids that no list of the source has are not asked for.",
        (Edit("treaty.client.transfer.sources.pravega:_NamespaceReader._probe", "number = absent = 0", "number = absent = known + 1"),),
        by_tests(FOREIGN + "test_what_a_server_does_not_answer_is_reported_and_the_rest_comes_in"),
    ),
    Bug(
        "import: gaps of schema-repo are closed",
        "Schemas are counted anew, whatever their ids are.",
        (Edit("treaty.client.transfer.sources.schemarepo:_ordinals", "zip(known if rising else", "zip(range(len(known)) if rising else"),),
        by_tests(FOREIGN + "test_a_folder_of_files_comes_in_with_gaps_and_names_and_the_rest_is_reported"),
    ),
)  # fmt: skip
