"""What all tests share: repeatable hypothesis runs, an environment without settings of this machine, and figures."""

import gc
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling

from tests.together import Together

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytest_plugins = ["tests.costs", "tests.shares"]

settings.register_profile(
    "repeatable",
    derandomize=True,  # the same examples in every run; `make soak` looks further
    deadline=None,  # no verdict hangs on how busy the machine is
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=12)
settings.register_profile("share", settings.get_profile("repeatable"), max_examples=30)
settings.register_profile("long", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.load_profile("repeatable")

SLOW = {
    "behaviours/test_neighbours", "conformance/test_jsonschema_meta", "docs/test_client_howto", "docs/test_howto",
    "docs/test_operate", "facades/test_check_git_command", "facades/test_confluent_python_async",
    "facades/test_confluent_python_json", "facades/test_confluent_python_protobuf", "facades/test_guids",
    "facades/test_peer_servers", "facades/test_pytest_plugin", "facades/test_rights_server", "house/test_doorway",
    "house/test_house", "kafka/test_any_harm", "laws/test_spark_plan_pairs", "owner/test_owner_harm",
    "planted/test_planted_bugs", "real/test_aliases_server", "real/test_confluent_associations", "real/test_log_backup",
    "real/test_log_growth", "real/test_log_processes", "real/test_operations", "real/test_secrets_server",
    "real/test_server", "real/test_server_connections", "real/test_workers", "simulation/test_planted",
    "test_a_bomb_is_refused_by_name", "test_a_chain_of_references_has_a_limit",
    "test_a_copy_with_a_changed_row_is_refused_and_its_table_named", "test_a_deep_chain_of_messages_needs_no_stack",
    "test_a_derived_schema_holds_the_frame_and_is_derived_once", "test_a_descriptor_says_what_its_text_says",
    "test_a_dump_goes_in_and_comes_out_the_same", "test_a_file_that_can_not_be_used_is_left_aside",
    "test_a_flipped_bit_in_any_column_is_noticed_before_anything_is_served_from_it",
    "test_a_fold_in_which_a_bit_was_changed_with_its_checksum_makes_nobody_wrong",
    "test_a_fold_that_is_not_whole_is_left_aside_and_replaced",
    "test_a_frame_with_more_columns_makes_a_compatible_version",
    "test_a_head_that_the_log_does_not_know_is_dropped_and_said", "test_a_log_is_packed_while_others_use_it",
    "test_a_mangled_descriptor_is_refused_or_can_be_shown", "test_a_password_and_a_token",
    "test_a_peer_that_does_not_read_is_waited_for", "test_a_planted_bug_is_found",
    "test_a_program_that_forgets_to_close_ends_quietly", "test_a_progress_bar_is_for_people_alone",
    "test_a_range_from_an_ordinal_on_multiplies_with_it", "test_a_seed_replays_exactly_under_any_hash_seed",
    "test_a_segment_takes_few_entries_from_either_end_of_a_long_order",
    "test_a_state_that_does_not_add_up_is_accepted_by_hand",
    "test_a_table_that_was_changed_is_named_and_the_row_beside_a_copy",
    "test_a_text_that_is_damaged_is_told_by_name_and_all_others_are_read",
    "test_a_transitive_policy_compares_with_every_live_version_and_with_no_other",
    "test_a_value_is_read_as_it_was_meant_or_not_at_all", "test_advice_about_real_schemas_has_a_place",
    "test_all_versions_are_listed", "test_an_import_that_was_cut_off_goes_on",
    "test_an_import_that_was_killed_is_run_again", "test_any_request_goes_through_every_door",
    "test_bash_completes_commands_options_and_subjects", "test_bash_ends_words_at_colons", "test_choices_grow",
    "test_choices_of_1000_events_grow_in_two_million_steps", "test_colours_are_for_people_alone",
    "test_contexts_and_bodies_need_what_the_model_says",
    "test_damage_inside_is_found_and_everything_is_read_from_the_log",
    "test_each_plan_has_a_tail_of_its_own_and_each_process_another",
    "test_every_format_is_asked_there_and_judged_there", "test_every_level_admits_what_the_comparison_allows",
    "test_every_level_under_every_strictness", "test_every_one_has_values_and_the_plain_library_agrees",
    "test_every_spelling_of_a_subject_needs_the_same", "test_every_state_is_right",
    "test_every_version_of_a_random_history_is_read_as_fastavro_reads_it",
    "test_fastavro_reads_what_is_called_compatible", "test_generated_files_get_the_verdict_of_protoc",
    "test_help_needs_none_of_the_extras", "test_hostile_pairs_are_judged",
    "test_hostile_pairs_take_less_than_100_megabytes", "test_hostile_work_ends_where_its_budget_is_spent",
    "test_it_needs_no_spark", "test_large_unions_that_meet_are_compared_in_bounded_time",
    "test_little_of_a_dump_is_in_memory", "test_lives_that_have_found_something_go_well",
    "test_long_orders_are_walked_alike_from_anywhere", "test_many_threads_share_one_client",
    "test_messages_are_read_in_columns_alone", "test_more_settings_than_a_page_has",
    "test_most_schemas_that_have_a_value_get_one", "test_names_lead_through_imports_where_protoc_finds_them",
    "test_no_large_choice_is_compatible_that_breaks_a_value", "test_nothing_is_lost_among_writers_who_try_again",
    "test_nothing_that_comes_late_changes_a_beginning", "test_one_who_asks_for_too_much_keeps_nobody_else_waiting",
    "test_pieces_of_one_option_become_one_in_near_linear_time",
    "test_rows_are_refused_one_by_one_as_fastavro_refuses_them", "test_shared_references_cost_what_they_are",
    "test_space_is_given_back", "test_standard_input_is_a_file_and_json_is_json",
    "test_the_judge_catches_what_the_established_rules_alone_let_pass", "test_the_policy_in_force_decides",
    "test_the_references_of_a_hostile_text_can_be_asked_for", "test_too_large_a_comparison_is_refused_and_says_so",
    "test_treaty_finds_in_pairs_what_java_found", "test_what_is_called_compatible_breaks_no_value",
    "test_what_is_compatible_is_read", "test_what_is_exported_imported_and_exported_again_is_the_same_line_by_line",
    "test_what_is_large_and_legal_gets_advice_columns_and_values",
    "test_what_is_large_and_legal_is_read_printed_and_compared", "test_what_is_large_but_right_is_read",
    "test_what_is_large_is_handled_in_all_ways", "test_what_is_resolved_at_once_is_what_the_slow_way_resolves",
    "test_what_is_written_in_columns_is_what_the_runtime_writes",
    "test_what_lies_before_the_horizon_is_read_anew_and_what_lies_after_is_not",
    "test_whatever_happens_associations_stay_sound", "test_whatever_is_asked_has_an_answer_or_a_refusal",
    "test_with_a_process", "test_with_a_process_of_its_own", "test_without_a_rule_something_breaks",
    "test_without_the_library_a_command_says_what_to_install", "test_zsh_and_fish_are_told_subjects",
    "upgrade/test_upgrade",
}  # fmt: skip
"""Files and tests that take seconds: they count as marked with `slow`, and so are no part of `make quick`. The house rules are
among them, because `make check` has them."""
LONG = {
    "test_the_laws_hold",
    "test_the_laws_hold_in_a_few_lives",
    "test_the_laws_hold_in_the_first_lives",
    "test_code",
    "test_libraries_live_in_their_rooms",
}
"""Tests that take seconds and are part of `make quick`: they follow those that are slow."""
YOUNG = 50_000
"""Objects that are made before garbage is looked for: among ten thousand tests each look takes long, and finds little."""
gc.set_threshold(YOUNG)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=4_000, help="simulated lives of each log in the soak")
    parser.addoption("--first-seed", type=int, default=150, help="the seed of the first of them")


def pytest_collection_finish() -> None:
    """What was made until now stays: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """What is known to be slow is marked, before tests are chosen by their marks."""
    if SLOW & {f"{item.path.parent.name}/{item.path.stem}", item.name.partition("[")[0]}:
        item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first, so that no worker is left alone with one at the end.

    Spark's bridge leaves its sockets to the garbage collector, which may come to them in any later test.
    """
    items.sort(key=lambda item: (item.get_closest_marker("slow") is None, item.name.partition("[")[0] not in LONG))
    for item in items:
        if item.get_closest_marker("jvm"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Tests with a JVM go to workers file by file; all others as pytest-xdist does it."""
    return None if "not jvm" in config.option.markexpr else Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """JVMs of Spark, those of programs that a test runs too, share an archive of classes."""
    if item.get_closest_marker("jvm") and "spark" in f"{item.path} {item.fixturenames}":  # type: ignore[attr-defined] # functions have it
        from tests.servers.archive import environment  # noqa: PLC0415 (asks Spark where its jars are)

        os.environ.update(environment())


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person who runs the tests do not reach them."""
    for name in [name for name in os.environ if name.startswith("TREATY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Tells a figure that a person wants to read at the end of the run."""
    return lambda text: record_property("figure", text)


@pytest.fixture(scope="session")
def kafka() -> Iterator["Kafka"]:
    """The broker that all tests of this process share."""
    from tests.servers.kafka import Kafka  # noqa: PLC0415 (loads Kafka's client, which few tests need)

    broker = Kafka()
    yield broker
    broker.stop()


@pytest.fixture
def topic(kafka: "Kafka", request: pytest.FixtureRequest) -> str:
    """A topic of one partition that is the test's alone."""
    return kafka.topic(f"{re.sub(r'[^A-Za-z0-9.-]+', '-', request.node.name)[:60]}-{uuid4().hex[:8]}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print all figures, those of other processes included."""
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    told = [(report.nodeid, text) for report in reports for name, text in report.user_properties if name == "figure"]
    if told:
        terminalreporter.section("figures")
        for nodeid, text in sorted(told):
            terminalreporter.line(f"{nodeid.rsplit('::', 1)[-1]}: {text}")
