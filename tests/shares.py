"""Tests of which `make test` runs a share: one parameter in so many, drawn by the seed of the run. `make soak` runs the rest.

What is left out carries the marks `soak` and `rest`. A test is here when all of its parameters together cost seconds, and
they are alike, or differ in a log, a format, a kind of table, an operation or a planted bug of which others are run. A file is here
(`FILE_SHARES`) whose tests walk one dear path with other data, such as a stream of Spark or a process of a server, while
behaviours and laws show the same without it. The seed is the same in each run unless somebody names another, so what is left out
is found by the soak alone. Commands of pages are never here. Of the programs for Spark on pages one in twelve is run, and of a test with
the number of a requirement some parameters, never none.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

from tests.slow import CASES, SLOW, WHOLE, name_of

SHARES = {
    "behaviours/test_every_operation::test_any_request_goes_through_every_door": 3,
    "behaviours/test_failover::test_a_write_whose_answer_is_lost_is_done_once": 3,
    "behaviours/test_listings::test_more_settings_than_a_page_has": 7,
    "behaviours/test_registry_formats::test_a_chain_of_references_has_a_limit": 4,
    "behaviours/test_registry_formats::test_shared_references_cost_what_they_are": 4,
    "behaviours/test_registry_names::test_a_name_that_no_subject_may_have_is_refused": 3,
    "behaviours/test_registry_names::test_any_other_name_goes_there_and_back": 4,
    "behaviours/test_registry_names::test_no_alias_has_a_name_that_looks_like_another_one": 3,
    "behaviours/test_serializers::test_any_top_level_type_goes_there_and_back": 3,
    "behaviours/test_serializers::test_each_kind_of_damage_has_its_code": 3,
    "behaviours/test_small_documents::test_a_small_payload_takes_little": 24,
    "behaviours/test_small_packed_payloads::test_a_small_packed_payload_takes_little": 4,
    "behaviours/test_small_payloads::test_a_small_avro_payload_takes_little": 24,
    "behaviours/test_transfer::test_a_dump_goes_in_and_comes_out_the_same": 3,
    "behaviours/test_transfer::test_an_import_that_was_cut_off_goes_on": 3,
    "behaviours/test_transfer::test_what_is_exported_imported_and_exported_again_is_the_same_line_by_line": 3,
    "behaviours/test_transfer_layouts::test_a_second_import_finds_all_there": 3,
    "behaviours/test_worlds::test_an_irregular_registry_is_the_same_through_every_door": 3,
    "confluent/test_conversations::test_with_a_process": 12,
    "confluent/test_conversations::test_with_a_process_of_its_own": 16,
    "conformance/test_avro_limits::test_what_is_large_and_legal_gets_advice_columns_and_values": 8,
    "conformance/test_avro_limits::test_what_is_large_and_legal_is_read_printed_and_compared": 4,
    "conformance/test_jsonschema_compat::test_a_branch_that_is_there_twice_lets_no_value_through": 5,
    "conformance/test_jsonschema_compat::test_choices_of_references_and_aliases_break_no_value": 5,
    "conformance/test_jsonschema_compat::test_what_is_called_compatible_breaks_no_value": 5,
    "conformance/test_jsonschema_compat_limits::test_hostile_pairs_are_judged": 4,
    "conformance/test_jsonschema_limits::test_a_bomb_among_stored_schemas_is_refused_or_read": 4,
    "conformance/test_jsonschema_limits::test_a_bomb_is_refused_by_name": 6,
    "conformance/test_jsonschema_limits::test_what_is_hostile_and_legal_is_handled_or_refused_by_name": 16,
    "conformance/test_protobuf_data::test_what_is_large_is_handled_in_all_ways": 8,
    "conformance/test_protobuf_limits::test_a_bomb_is_refused_by_name": 8,
    "conformance/test_protobuf_limits::test_a_mangled_descriptor_is_refused_or_can_be_shown": 4,
    "conformance/test_protobuf_limits::test_the_references_of_a_hostile_text_can_be_asked_for": 4,
    "conformance/test_protobuf_limits::test_what_is_large_but_right_is_read": 4,
    "docs/test_spark_programs::test_a_program_of_a_page_prints_what_the_page_says": 24,
    "docs/test_spark_programs::test_an_example_runs_and_shows_what_it_is_for": 4,
    "facades/test_check_git_command::test_the_hook_of_pre_commit_judges_the_staged_files": 3,
    "facades/test_check_git_command::test_what_git_does_not_know_is_told": 3,
    "facades/test_check_registry_command::test_the_policy_in_force_decides": 3,
    "facades/test_confluent_python::test_subjects_with_any_name": 3,
    "facades/test_github_action::test_inputs_are_arguments_and_never_commands": 3,
    "facades/test_guids::test_a_schema_has_the_guid_of_the_recipe": 8,
    "facades/test_hostile::test_names_and_numbers": 3,
    "facades/test_hostile::test_schemas": 7,
    "facades/test_import_sources::test_only_what_is_left_out_is_called_so_and_namespaces_without_groups_are_named": 3,
    "facades/test_program_command::test_standard_input_is_a_file_and_json_is_json": 3,
    "facades/test_pytest_plugin::test_programs_never_load_pytest": 4,
    "facades/test_rights_matrix::test_every_operation_needs_of_every_role_what_the_model_says": 4,
    "facades/test_schemathesis::test_every_answer_is_described": 12,
    "iglu/test_conversations::test_with_a_process": 3,
    "iglu/test_validation_bounds::test_what_is_said_about_a_value_is_bounded_by_characters": 4,
    "kafka/test_any::test_the_laws_hold": 30,
    "laws/test_admission::test_every_level_under_every_strictness": 4,
    "laws/test_admission_formats::test_every_level_admits_what_the_comparison_allows": 4,
    "laws/test_avro_logical_reading::test_a_value_is_read_as_it_was_meant_or_not_at_all": 3,
    "laws/test_avro_unions_large::test_planning_for_twice_the_branches_takes_twice_the_work": 4,
    "laws/test_codec::test_requests_and_answers_of_every_operation_travel_exactly": 6,
    "laws/test_costs::test_other_versions_of_a_subject_cost_nothing": 4,
    "laws/test_engines_agree::test_engines_give_the_same_rows_and_codes": 3,
    "laws/test_index_check::test_a_mark_that_a_state_file_has_too_many_is_found": 4,
    "laws/test_index_check::test_a_mark_that_a_state_file_lacks_is_found": 4,
    "laws/test_index_check::test_an_order_of_a_state_file_that_differs_is_found": 4,
    "laws/test_listings::test_pages_of_settings": 4,
    "laws/test_pauses::test_they_pause_and_come_to_the_same": 4,
    "laws/test_peer_words::test_every_kind_of_answer_travels_exactly": 4,
    "laws/test_peer_words::test_every_kind_of_command_travels_exactly": 4,
    "laws/test_plans_over_time::test_a_plan_that_is_extended_keeps_what_was_asked_of_it": 4,
    "laws/test_plans_over_time::test_what_a_plan_reads_is_read_alike_ever_after": 3,
    "laws/test_policy_cases::test_ranges_are_held_against_ordinals": 3,
    "laws/test_projects::test_a_folder_is_applied_exported_and_applied_again": 3,
    "laws/test_protobuf_options::test_a_text_and_its_descriptor_print_alike": 4,
    "laws/test_search_readers::test_a_search_costs_the_same_however_many_subjects_have_one_schema": 4,
    "laws/test_search_readers::test_few_subjects_are_there_though_very_many_have_the_same_schema": 4,
    "laws/test_statement_fuzz::test_work_is_linear": 3,
    "laws/test_step_budgets::test_choices_grow": 4,
    "laws/test_step_budgets::test_hostile_work_ends_where_its_budget_is_spent": 4,
    "logs/test_append::test_a_log_that_was_closed_keeps_no_thread_and_no_file_open": 3,
    "logs/test_append::test_nothing_is_lost_among_writers_who_try_again": 6,
    "logs/test_cancellation::test_of_two_logs_with_one_past_one_gives_ids": 6,
    "logs/test_care::test_a_log_is_packed_while_others_use_it": 3,
    "logs/test_compressed::test_a_text_that_is_damaged_is_told_by_name_and_all_others_are_read": 3,
    "logs/test_read::test_what_lies_before_the_horizon_is_read_anew_and_what_lies_after_is_not": 3,
    "logs/test_tampers::test_a_node_that_is_given_a_changed_row_with_later_ones_keeps_what_it_had": 3,
    "logs/test_tampers::test_a_node_that_starts_on_changed_rows_writes_nothing_until_they_are_accepted": 3,
    "logs/test_tampers::test_what_was_changed_by_hand_is_seen_and_its_table_named": 3,
    "nodes/test_state_file::test_damage_inside_is_found_and_everything_is_read_from_the_log": 4,
    "nodes/test_state_hand::test_a_head_that_the_log_does_not_know_is_dropped_and_said": 3,
    "nodes/test_state_start::test_a_fold_in_which_a_bit_was_changed_with_its_checksum_makes_nobody_wrong": 4,
    "nodes/test_state_start::test_a_fold_that_is_not_whole_is_left_aside_and_replaced": 3,
    "owner/test_owner::test_the_laws_hold": 6,
    "pages/test_hostile_pages::test_a_hostile_schema_is_shown_and_does_nothing": 4,
    "pages/test_snippets::test_a_program_of_a_schema_page_runs": 4,
    "planted/test_planted_bugs::test_a_planted_bug_is_found": 180,
    "planted/test_planted_bugs::test_the_simulation_finds_it_too": 16,
    "pravega/test_conversations::test_in_a_namespace_of_a_process": 3,
    "races/test_races::test_a_race_ends_well_in_every_interleaving": 8,
    "races/test_runner_races::test_a_race_of_runners_ends_well_in_every_interleaving": 6,
    "real/test_change_matrix::test_a_change_is_what_its_plans_say": 8,
    "real/test_confluent_exchange::test_each_side_reads_what_the_other_wrote": 3,
    "real/test_confluent_exchange::test_payloads_are_the_same_to_the_byte": 6,
    "real/test_confluent_exchange::test_their_asyncio_producer_and_consumer": 3,
    "real/test_disk::test_a_file_damaged_under_a_living_server_is_told_and_restored": 2,
    "real/test_event_pipelines::test_each_event_is_in_one_table_once_though_batches_are_cut_off": 2,
    "real/test_exercises::test_an_exercise_gives_the_rows_that_it_expects": 45,
    "real/test_java_http_client::test_javas_client_is_answered_by_every_dialect": 2,
    "real/test_lakes::test_a_batch_that_comes_twice_is_written_once": 3,
    "real/test_lakes::test_a_table_grows_in_breadth_and_width_and_old_rows_stay": 3,
    "real/test_lakes::test_a_table_that_must_not_grow_does_not": 3,
    "real/test_lakes::test_writers_at_one_time_lose_neither_rows_nor_columns": 3,
    "real/test_leftover_files::test_a_folder_of_checkpoints_that_is_not_the_runners_is_refused": 5,
    "real/test_linear::test_servers_are_killed_and_no_answer_was_a_lie": 2,
    "real/test_local_tables::test_a_table_is_read_without_spark_as_spark_reads_it": 2,
    "real/test_newer_rows::test_r39_a_row_of_a_newer_version_makes_servers_read_only_and_they_say_so": 8,
    "real/test_pipeline_commands::test_a_source_that_can_not_be_read_is_said_before_anything_runs": 3,
    "real/test_pipeline_kills::test_a_driver_that_is_killed_loses_no_row_and_writes_none_twice": 3,
    "real/test_pravega_exchange::test_every_reader_reads_what_every_writer_wrote": 6,
    "real/test_produce_consume::test_a_broker_that_asks_for_a_password": 2,
    "real/test_produce_consume::test_what_cannot_be_done_is_told": 3,
    "real/test_query_bodies::test_a_body_has_its_plan": 30,
    "real/test_query_bodies::test_what_is_too_large_is_refused": 16,
    "real/test_query_swaps::test_a_compatible_body_continues_as_if_it_had_always_been": 50,
    "real/test_query_takeovers::test_a_takeover_that_is_killed_loses_and_doubles_nothing": 3,
    "real/test_races::test_of_mutually_incompatible_schemas_one_wins_and_the_others_are_told_why": 3,
    "real/test_registry_topic::test_a_compacted_topic_comes_over_and_goes_back": 3,
    "real/test_registry_topic::test_what_cannot_be_used_is_told": 3,
    "real/test_renamed_bodies::test_a_body_by_other_names_is_planned_as_the_same_query": 12,
    "real/test_runner_iceberg::test_a_runner_that_wakes_brings_no_row_of_an_earlier_batch_back": 3,
    "real/test_runner_kafka_kills::test_sinks_are_what_a_model_says_whatever_was_killed": 2,
    "real/test_spark_damage::test_500_bad_rows_are_each_classified_and_no_neighbour_is_touched": 3,
    "real/test_spark_encode::test_each_bad_row_is_told_and_no_neighbour_is_touched": 3,
    "real/test_spark_encode::test_what_is_read_is_what_was_written": 3,
    "real/test_spark_events::test_parts_of_all_validated_columns_are_shredded": 3,
    "real/test_spark_kafka::test_schemas_named_in_headers_of_kafka": 3,
    "real/test_spark_method_size::test_no_method_is_too_large_to_be_compiled": 24,
    "real/test_spark_method_size::test_no_method_is_too_large_where_fields_alone_are_taken": 8,
    "real/test_spark_pravega::test_what_serializers_wrote_is_decoded_and_new_encodings_are_learned": 2,
    "real/test_spark_pravega::test_what_spark_encodes_readers_of_the_group_read": 3,
    "real/test_spark_wide_records::test_a_text_that_is_none_is_found_wherever_it_stands": 4,
    "real/test_stream_signals::test_a_command_with_a_stream_ends_without_a_traceback": 3,
    "real/test_table_sinks::test_a_table_gets_a_record_whose_fields_have_any_names": 2,
    "real/test_table_sinks::test_a_table_has_the_columns_of_all_queries_that_filled_it": 2,
    "simulation/test_model::test_what_an_operation_needs_is_what_the_model_says": 3,
    "simulation/test_tampers::test_a_row_that_breaks_a_law_is_found": 12,
    "tests/test_costs::test_a_longer_text_costs_in_proportion": 3,
    "tests/test_small_payloads::test_a_small_thrift_payload_takes_little": 8,
}
"""One of how many parameters of a test is run."""

FILE_SHARES = {
    "behaviours/test_transfer": 4,
    "conformance/test_avro_java": 4,
    "conformance/test_avro_limits": 4,
    "conformance/test_jsonschema_compat_limits": 4,
    "conformance/test_protobuf_canonical": 4,
    "conformance/test_protobuf_descriptor_answers": 4,
    "conformance/test_protobuf_protoc": 4,
    "docs/test_client_howto": 2,
    "docs/test_howto": 2,
    "docs/test_iglu_pages": 3,
    "facades/test_check_git_command": 6,
    "facades/test_check_registry_command": 3,
    "facades/test_confluent_python": 4,
    "facades/test_confluent_python_async": 3,
    "facades/test_confluent_python_json": 2,
    "facades/test_confluent_python_protobuf": 3,
    "facades/test_import_sources": 2,
    "facades/test_native": 4,
    "facades/test_peer_servers": 3,
    "facades/test_program_command": 4,
    "facades/test_pytest_plugin": 2,
    "facades/test_rights_server": 4,
    "facades/test_streams": 4,
    "facades/test_transfer_commands": 4,
    "iglu/test_server_commands": 4,
    "laws/test_costs": 3,
    "laws/test_step_budgets": 2,
    "nodes/test_state_file": 2,
    "pages/test_chromium": 4,
    "real/test_compared_topics": 2,
    "real/test_confluent_associations": 3,
    "real/test_disk": 2,
    "real/test_event_pipelines": 6,
    "real/test_headless": 6,
    "real/test_kafka_neighbours": 3,
    "real/test_keyed": 6,
    "real/test_ksqldb_topic": 2,
    "real/test_lakes": 6,
    "real/test_large_content": 2,
    "real/test_leftover_files": 6,
    "real/test_log_backup": 4,
    "real/test_log_kafka_care": 3,
    "real/test_log_kafka_owner": 3,
    "real/test_log_postgres": 3,
    "real/test_log_processes": 2,
    "real/test_once_sinks": 2,
    "real/test_operations": 2,
    "real/test_pipeline_restarts": 2,
    "real/test_pipelines": 6,
    "real/test_pool": 2,
    "real/test_postgres_durability": 2,
    "real/test_postgres_faults": 3,
    "real/test_produce_consume": 2,
    "real/test_query_comparison": 4,
    "real/test_query_takeovers": 12,
    "real/test_races": 3,
    "real/test_registry_topic": 2,
    "real/test_runner_iceberg": 3,
    "real/test_runner_once": 8,
    "real/test_schemarepo_server": 3,
    "real/test_server": 3,
    "real/test_server_connections": 3,
    "real/test_spark_arrow": 2,
    "real/test_spark_batches": 3,
    "real/test_spark_damaged_bytes": 3,
    "real/test_spark_decode": 4,
    "real/test_spark_doorways": 3,
    "real/test_spark_encode": 2,
    "real/test_spark_encode_losses": 2,
    "real/test_spark_events": 3,
    "real/test_spark_formats": 2,
    "real/test_spark_framings": 3,
    "real/test_spark_functions": 2,
    "real/test_spark_history": 4,
    "real/test_spark_names": 12,
    "real/test_spark_pairs": 3,
    "real/test_spark_pravega": 2,
    "real/test_spark_source": 6,
    "real/test_spark_stream": 3,
    "real/test_spark_types": 2,
    "real/test_spark_wide_records": 2,
    "real/test_table_sinks": 2,
    "real/test_workers": 3,
    "small/test_exhaustive": 2,
}
"""One of how many tests of a file is run, beside those that have a share of their own or run always."""

ALWAYS = {
    "pages/test_chromium::test_some_pages_in_a_browser",
    "real/test_log_postgres::test_a_registry_on_it_is_a_registry",
    "real/test_pipelines::test_topics_become_tables_that_grow_and_what_is_bad_comes_back",
    "real/test_query_comparison::test_rows_that_differ_are_counted_and_shown_and_nothing_is_written",
    "real/test_runner_once::test_what_is_there_is_worked_off_once_and_more_after_it",
    "real/test_spark_damaged_bytes::test_damaged_bytes_are_the_same_rows_to_every_engine",
    "real/test_spark_stream::test_a_crash_after_any_step_neither_loses_nor_repeats_a_row",
    "real/test_workers::test_a_hot_read_is_never_older_than_the_token_that_comes_with_it",
}
"""Tests that run though their file has a share: an issue asks for them in each run, or all others of the file build on them."""

WHOLE_IN_SOAK = {
    "behaviours/test_transfer::test_a_dump_of_many_schemas_goes_in_and_comes_out_the_same": "behaviours/test_transfer::test_a_dump_goes_in_and_comes_out_the_same",
    "conformance/test_jsonschema_compat_limits::test_hostile_pairs_take_less_than_100_megabytes": "conformance/test_jsonschema_compat_limits::test_hostile_pairs_are_judged",
    "conformance/test_protobuf_wire::test_without_a_rule_something_breaks": "conformance/test_protobuf_wire::test_what_fits_is_read_without_loss",
    "laws/test_avro_unions_large::test_a_union_of_3000_branches_is_read": "laws/test_avro_unions_large::test_planning_for_twice_the_branches_takes_twice_the_work",
    "laws/test_step_budgets::test_choices_of_1000_events_grow_in_two_million_steps": "laws/test_step_budgets::test_choices_grow",
    "real/test_bad_replays::test_rows_of_a_schema_that_came_late_are_appended_once": "real/test_pipeline_commands::test_commands_plan_run_tell_and_replay",
    "real/test_change_matrix::test_an_old_checkpoint_is_continued_or_not_touched": "real/test_query_swaps::test_a_compatible_body_continues_as_if_it_had_always_been",
    "real/test_compared_snapshots::test_snapshots_are_compared_as_batches_and_as_streams": "real/test_query_comparison::test_rows_that_differ_are_counted_and_shown_and_nothing_is_written",
    "real/test_empty_topics::test_queries_over_topics_without_a_record_run_and_take_the_first_one": "real/test_runner::test_r31_queries_run_from_rows_alone_and_follow_statements",
    "real/test_group_races::test_of_those_who_race_one_is_right_everywhere": "real/test_linear::test_servers_are_killed_and_no_answer_was_a_lie",
    "real/test_kafka_away::test_a_broker_that_went_away_and_came_back": "real/test_linear::test_servers_are_killed_and_no_answer_was_a_lie",
    "real/test_pipelines::test_a_batch_that_was_cut_off_begins_with_the_plan_of_the_batch_before": "real/test_pipeline_kills::test_a_driver_that_is_killed_loses_no_row_and_writes_none_twice",
    "real/test_query_takeovers::test_a_query_that_fails_is_replaced_by_one_that_begins_behind_its_last_batch": "real/test_query_takeovers::test_a_takeover_that_is_killed_loses_and_doubles_nothing",
    "real/test_query_takeovers::test_all_rows_are_made_again_beside_the_table_and_put_in_its_place": "real/test_query_takeovers::test_a_takeover_that_is_killed_loses_and_doubles_nothing",
    "real/test_query_takeovers::test_queries_that_were_replaced_before_they_ran_leave_no_trace": "real/test_query_takeovers::test_a_takeover_that_is_killed_loses_and_doubles_nothing",
    "real/test_races::test_the_same_new_schema_posted_by_all_gets_one_id_and_one_version": "real/test_races::test_of_mutually_incompatible_schemas_one_wins_and_the_others_are_told_why",
    "real/test_runner_kafka::test_topics_are_read_and_written_with_all_schema_ids_and_bad_rows_are_kept": "real/test_runner_kafka_kills::test_sinks_are_what_a_model_says_whatever_was_killed",
    "real/test_spark_kafka::test_a_topic_becomes_a_table_and_the_table_a_topic": "docs/test_kafka::test_the_page",
    "real/test_spark_kafka::test_holes_of_compaction_and_of_transactions_are_passed_over": "real/test_runner_kafka_kills::test_sinks_are_what_a_model_says_whatever_was_killed",
    "real/test_spark_names::test_a_new_table_is_the_one_that_was_filled_while_the_versions_came": "real/test_pipelines::test_topics_become_tables_that_grow_and_what_is_bad_comes_back",
    "real/test_spark_stream::test_a_registry_that_is_away_fails_the_batch_and_makes_no_bad_row": "real/test_spark_stream::test_a_crash_after_any_step_neither_loses_nor_repeats_a_row",
    "real/test_spark_unfit_values::test_both_engines_name_the_same_value": "real/test_spark_engines_agree::test_rows_and_codes_are_those_of_arrow",
}
"""Dear tests that the soak alone runs, each with the test of every run that walks the same path with less."""

NUMBERED = re.compile(r"test_r\d+_")
"""How tests begin that show a requirement by its number."""

REST = (pytest.mark.soak, pytest.mark.rest)
"""Marks of a parameter that stands for many: most of the seeds of a test that has some in `make test`."""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """What is known to be slow is marked, before tests are chosen by their marks."""
    if name_of(item.path, item.name) in SLOW:
        item.add_marker(pytest.mark.slow)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        type=int,
        metavar="N",
        nargs="?",
        const=CASES,
        help=f"of each test run N of its parameters at most, or {CASES}",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark what is left out, before tests are chosen by their marks; what is over `--cases` is no part of the run at all."""
    seed, most = config.getoption("randomly_seed", "default"), config.option.cases
    groups: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("soak") is None:
            groups[name_of(item.path, item.name)].append(item)
    for name in groups.keys() & WHOLE_IN_SOAK.keys():
        _mark_as_rest(groups.pop(name))
    for name in groups.keys() & SHARES.keys():
        _leave_out(groups[name], SHARES[name], f"{name} {seed}")
    for file, found in _by_file(groups).items():
        _leave_out(found, FILE_SHARES[file], f"{file} {seed}")
    if most:
        bounded = {name: found for name, found in groups.items() if name.partition("::")[2] not in WHOLE}
        over = {one for name, found in bounded.items() for one in _over(found, most, f"{name} {seed}")}
        config.hook.pytest_deselected(items=[item for item in items if item in over])
        items[:] = [item for item in items if item not in over]


def _by_file(groups: Mapping[str, list[pytest.Item]]) -> Mapping[str, list[pytest.Item]]:
    """The tests of which the share of their file says which are run."""
    found: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for name, items in groups.items():
        file, _, test = name.partition("::")
        if file in FILE_SHARES and name not in SHARES.keys() | ALWAYS and not NUMBERED.match(test):
            found[file] += items
    return found


def _leave_out(items: list[pytest.Item], of: int, seed: str) -> None:
    """Mark all but one in so many."""
    _mark_as_rest(_rest(items, of, seed))


def _mark_as_rest(items: Iterable[pytest.Item]) -> None:
    for item in items:
        for mark in REST:
            item.add_marker(mark)


def _rest(items: list[pytest.Item], of: int, seed: str) -> Iterable[pytest.Item]:
    """All but one item in so many, and all but one of fewer."""
    first = random.Random(seed).randrange(min(of, len(items)))
    for place, item in enumerate(sorted(items, key=lambda one: one.nodeid)):
        if place % of != first:
            yield item


def _over(items: list[pytest.Item], most: int, seed: str) -> Iterable[pytest.Item]:
    """All but so many items."""
    return random.Random(seed).sample(sorted(items, key=lambda one: one.nodeid), max(0, len(items) - most))
