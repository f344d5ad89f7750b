"""Operations that change sources and types of the metastore, and those of planners and runners."""

from typing import Any

from treaty.core.access import source_permissions as permissions
from treaty.core.access import statement_permissions
from treaty.core.access.script_permissions import of_script
from treaty.core.handlers.metastore import (
    changes,
    creation,
    drops,
    kept_files,
    planners,
    planning_jobs,
    restoration,
    runners,
    scripts,
    types,
)
from treaty.core.handlers.metastore.places import deleted_topics, destinations
from treaty.core.messages.metastore import deleted_topics as t
from treaty.core.messages.metastore import kept_files as k
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import scripts as batch
from treaty.core.messages.metastore import sources as m
from treaty.core.operations import REGISTER_LIMITS, Operation, is_always

_SOURCE_LIMITS = ("NAME_LENGTH", "STATEMENT_BYTES", "SOURCES", "SOURCE_COLUMNS", "SOURCE_PROPERTIES", "TYPE_DEPTH")

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "create-source", m.CreateSource, m.SourceStored, creation.create_source, permissions.importable(statement_permissions.of_create_source),
        (*_SOURCE_LIMITS, "BODY_READS", "INCARNATIONS", "ONCE_QUERIES", *REGISTER_LIMITS), writes=True, answer_name="source-stored",
        is_idempotent=lambda request: request.if_not_exists,
        query_before=lambda request: m.DescribeSource(request.definition.name),
    ),
    Operation(
        "change-source", m.ChangeSource, m.SourceStored, changes.change_source, statement_permissions.of_change_source,
        (*_SOURCE_LIMITS, *REGISTER_LIMITS), writes=True, answer_name="source-stored",
        query_before=lambda request: m.DescribeSource(request.name),
    ),
    Operation(
        "set-source-state", m.SetSourceState, m.SourceStored, changes.set_state, permissions.of_source("pause"),
        writes=True, answer_name="source-stored", is_idempotent=is_always,
        query_before=lambda request: m.DescribeSource(request.name),
    ),
    Operation(
        "drop-source", m.DropSource, m.SourcesDropped, drops.drop_source, permissions.importable(permissions.of_source("delete")),
        ("CLOSURE", "TOPICS_DELETED", "DROP_GRACE"), writes=True, answer_name="sources-dropped", query_before=lambda request: m.DescribeSource(request.name),
    ),
    Operation(
        "undrop-source", m.UndropSource, m.SourceStored, restoration.undrop_source, permissions.of_source("register"),
        ("SOURCES", "DROP_GRACE", "FORMER_GENERATIONS"), writes=True, answer_name="source-stored",
    ),
    Operation(
        "create-type", m.CreateType, m.TypeStored, types.create_type, permissions.importable(permissions.of_source("register")),
        ("NAME_LENGTH", "TYPES", "TYPE_DEPTH"), writes=True, answer_name="type-stored",
        is_idempotent=lambda request: request.if_not_exists,
    ),
    Operation(
        "drop-type", m.DropType, m.TypeDropped, types.drop_type, permissions.importable(permissions.of_source("delete")), writes=True,
        answer_name="type-dropped", is_idempotent=lambda request: request.if_exists,
    ),
    Operation(
        "run-script", batch.RunScript, batch.ScriptDone, scripts.run_script, of_script,
        (*_SOURCE_LIMITS, "SCRIPT_STATEMENTS", "COMMIT_BYTES", "TYPES", "CLOSURE", *REGISTER_LIMITS), writes=True, answer_name="script-done",
    ),
    Operation("preview-script", batch.PreviewScript, batch.ScriptPreview, scripts.preview_script, of_script, ("SCRIPT_STATEMENTS",)),
    Operation(
        "request-plan", p.RequestPlan, p.PlanOutcome, planning_jobs.request_plan, statement_permissions.of_request_plan,
        ("NAME_LENGTH", "STATEMENT_BYTES", "SOURCES", "SOURCE_PROPERTIES", "PLANNING_WAITING", "PLANNING_SECONDS"), writes=True,
        answer_name=p.PLAN_OUTCOME,
    ),
    Operation(
        "take-planning-job", p.TakePlanningJob, p.PlanningJobTaken, planners.take_planning_job, permissions.of_source("plan"),
        ("PLANNER_NAME", "PLANNER_SILENT_SECONDS"), writes=True, answer_name="planning-job-taken",
    ),
    Operation(
        "finish-planning-job", p.FinishPlanningJob, p.PlanOutcome, planners.finish_planning_job, permissions.of_source("plan"),
        (*_SOURCE_LIMITS, "BODY_READS", "INCARNATIONS", "ONCE_QUERIES", "PLANNING_ATTEMPTS", *REGISTER_LIMITS), writes=True, answer_name=p.PLAN_OUTCOME,
    ),
    Operation(
        "withdraw-plan", p.WithdrawPlan, p.PlanOutcome, planning_jobs.withdraw_plan, permissions.of_source("register"), writes=True,
        answer_name=p.PLAN_OUTCOME, is_idempotent=is_always,
    ),
    Operation(
        "get-plan", p.GetPlan, p.PlanOutcome, planning_jobs.get_plan, permissions.of_source("register"), ("LONG_POLL_SECONDS",),
        waits=lambda request, answer: request.wait if answer.state == "waiting" else 0,
    ),
    Operation(
        "list-planning-jobs", p.ListPlanningJobs, p.PlanningJobs, planners.list_planning_jobs, permissions.any_source("plan"),
        ("PLANNING_PAGE", "PLANNING_CHARACTERS", "LONG_POLL_SECONDS"), waits=lambda request, answer: 0 if answer.jobs else request.wait,
    ),
    Operation(
        "acquire-runner", r.AcquireRunner, r.RunnerLease, runners.acquire_runner, permissions.any_source("plan"),
        ("RUNNERS", "RUNNER_NAME", "RUNNER_ADDRESS"), writes=True, answer_name="runner-lease",
    ),
    Operation(
        "release-runner", r.ReleaseRunner, r.RunnerReleased, runners.release_runner, permissions.any_source("plan"),
        ("ASSIGNED_PARTS",), writes=True, answer_name="runner-released",
    ),
    Operation(
        "assign-queries", r.AssignQueries, r.QueriesAssigned, runners.assign_queries, statement_permissions.of_assign_queries,
        ("ASSIGNED_PARTS",), writes=True, answer_name="queries-assigned", is_idempotent=is_always,
    ),
    Operation(
        "list-kept-files", k.ListKeptFiles, k.KeptFiles, kept_files.list_kept_files, permissions.any_source("plan"),
        ("KEPT_FILES", "DROP_GRACE", "CLOCK_MARGIN"), pauses=True,
    ),
    Operation("get-destination", m.GetDestination, m.SourceFound, destinations.get_destination, permissions.of_source("insert")),
    Operation(
        "lease-topics", t.LeaseTopics, t.TopicsLeased, deleted_topics.lease_topics, statement_permissions.of_lease_topics,
        ("PLANNER_NAME", "NAME_LENGTH", "TOPICS_DELETED", "TOPIC_LEASES"), writes=True, answer_name="topics-leased",
    ),
    Operation(
        "list-deleted-topics", t.ListDeletedTopics, t.DeletedTopics, deleted_topics.list_deleted_topics, permissions.any_source("read"),
        ("TOPICS_DELETED",),
    ),
)  # fmt: skip
