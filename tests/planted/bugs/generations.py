"""Bugs planted where a subject that is made again must inherit nothing, and one without versions must stay itself."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, by_tests

PLACES, REMOVAL = "treaty.core.handlers.schema_ids:", "treaty.core.handlers.uses:"
NAMES = "treaty.core.handlers.drafts.version_names:"
LAWS = "laws/test_generations.py::"

GENERATIONS = (
    Bug(
        "generation: a type counter is inherited",
        "The counter of a type has no generation and stays, so a subject that is made again goes on counting.",
        (
            Edit(PLACES + "new_version", "types_key(request.subject, generation,", "types_key(request.subject, 0,"),
            Edit(REMOVAL + "_counters_of", "for kind in t.KINDS_OF_SUBJECT", "for kind in t.KINDS_OF_SUBJECT[:1]"),
        ),
        by_tests(LAWS + "test_rows_that_a_predecessor_left_by_a_fault_are_nobody_s"),
    ),
    Bug(
        "generation: a name of the predecessor is found",
        "Names have no generation, so that they stay when their subject is removed.",
        (Edit(NAMES + "_name_row", "name = NameKey(*key[:3], *pair)", "name = NameKey(*key[:2], 0, *pair)"),),
        by_tests(LAWS + "test_a_subject_that_is_made_again_begins_anew"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "purge: the counter of encoding ids goes with the subject",
        "A subject that is made again gives encoding ids that payloads of its predecessor have.",
        (
            Edit(
                REMOVAL + "remove_subject",
                "make_tombstone(t.SUBJECT, subject),",
                "make_tombstone(t.SUBJECT, subject), make_tombstone(t.COUNTER, t.encodings_key(subject)),",
            ),
        ),
        by_tests("laws/test_counters.py::test_the_counter_of_encoding_ids_stays_when_its_subject_goes"),
    ),
    Bug(
        "encoding: an id is given twice",
        "The next encoding id is counted from the encodings that are there, so an id of a removed version comes again.",
        (
            Edit(
                "treaty.core.handlers.encodings:_next_encoding",
                "counters = (view.get(COUNTER, encodings_key(subject)), view.get(COUNTER, IDS_SPARED))",
                "counters = [Counter(key.encoding) for key in view.keys(ENCODING) if key[:2] == subject]",
            ),
        ),
        by_tests("laws/test_encodings.py::test_what_payloads_need_goes_by_force_alone"),
        also=by_lives(20, ANY),
    ),
    Bug(
        "encoding: a purge takes what payloads need",
        "A version that has encodings is removed for good like any other one.",
        (Edit(REMOVAL + "refuse_if_encoded", 'key, "needs force", GoingRows()', 'key, "keeps alive", GoingRows()'),),
        by_tests("laws/test_encodings.py::test_no_other_way_takes_what_payloads_need"),
        also=by_lives(50, ANY),
    ),
    Bug(
        "encoding: a subject that is made again shows those of its predecessor",
        "Encodings stay when their versions are removed by force.",
        (Edit(REMOVAL + "remove_versions", "for effect in TAKEN:", "for effect in TAKEN[:1]:"),),
        by_tests("laws/test_encodings.py::test_a_subject_made_anew_has_nothing_of_its_predecessor"),
        also=by_lives(70, ANY),
    ),
    Bug(
        "purge: the counter of ordinals stays",
        "A subject that is removed for good leaves a counter that nobody will ever ask for.",
        (Edit(REMOVAL + "_counters_of", "for kind in t.KINDS_OF_SUBJECT", "for kind in t.KINDS_OF_SUBJECT[1:]"),),
        by_tests("laws/test_counters.py::test_purged_subjects_leave_nothing_but_the_counter_of_ids"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "purge: the counters of a subject's types go with a version",
        "When a version is removed for good the numbers of versions of a type begin anew, though the subject stays.",
        (
            Edit(
                REMOVAL + "remove_versions",
                "return [*rows,",
                "return [*rows, *(make_tombstone(t.COUNTER, key) for one in sorted(going.versions) "
                "for key in view.walk(t.COUNTER_OF_SUBJECT, *subject_span('types', *subject_of_key(one)))),",
            ),
        ),
        by_tests(LAWS + "test_the_numbers_of_a_type_go_on_behind_a_version_that_was_removed"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "generation: the first version makes its subject anew",
        "A registration into a subject without versions goes by another generation than the subject's.",
        (Edit(PLACES + "make_home", "return tuple(rows), there.generation", "return tuple(rows), view.sequence + 1"),),
        by_tests("laws/test_empty_subjects.py::test_the_first_version_keeps_what_the_subject_is"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "generation: rows of another generation are sound",
        "Soundness does not hold the generation of a row against that of its subject.",
        (Edit("treaty.core.invariants:_generation", "there.generation != generation", "there.generation < 0"),),
        by_tests(LAWS + "test_rows_of_another_generation_are_named"),
    ),
)
