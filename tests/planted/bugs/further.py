"""More planted bugs, of the kinds that matter most: rules, rights, answers from memory, limits, appends, restores."""

from tests.planted.bug import ANY, Bug, Edit, by_lives, by_tests

WRONG = "behaviours/logs/test_append.py::test_an_append_on_anything_but_the_tip_is_a_conflict_and_leaves_nothing"

FURTHER = (
    Bug(
        "number: a deleted version's is given again",
        "The next number is one more than the highest of the versions that live.",
        (Edit("treaty.core.handlers.versions:highest_number", '"all"', '"live"'),),
        by_tests(
            "behaviours/test_registry_deletes.py"
            "::test_a_schema_that_comes_back_after_hiding_has_its_id_and_a_new_number[memory]"
        ),
    ),
    Bug(
        "mode: an import begins where versions live",
        "A scope with live versions goes into import mode without force, which takes them away.",
        (
            Edit(
                "treaty.core.handlers.settings_changes:_empty_scope",
                'version.state == "live"',
                'version.state == "none"',
            ),
        ),
        by_tests("laws/test_settings.py::test_import_wants_an_empty_scope_and_purges_what_was_deleted"),
    ),
    Bug(
        "config: a change forgets the rest",
        "Members that a change of config leaves out go back to their defaults.",
        (Edit("treaty.core.handlers.settings:merge_config", "new = old or UNSET", "new = UNSET"),),
        by_tests("behaviours/test_registry_settings.py::test_a_change_of_config_keeps_the_rest[memory]"),
    ),
    Bug(
        "reference: of a version outside the subject is passed over",
        "A version goes though another subject refers to it, as if it was inside the subject that goes.",
        (
            Edit(
                "treaty.core.handlers.uses:_referring_versions",
                "if subject_of_key(user) not in going.subjects",
                "if subject_of_key(user) == subject_of_key(key)",
            ),
        ),
        by_tests("laws/test_decide.py::test_what_is_referred_to_stays"),
    ),
    Bug(
        "rights: an alias gives those of its target",
        "Rights are asked for the name in the request, and not for the subject that it leads to.",
        (
            Edit(
                "treaty.core.decide:resolve_alias",
                "refuse_unless_allowed(access, command.principal, request)",
                "refuse_unless_allowed(access, command.principal, command.request)",
            ),
        ),
        by_tests(
            "facades/test_rights_aliases.py::test_a_right_to_what_an_alias_leads_to_is_enough",
            "facades/test_rights_aliases.py::test_who_has_some_right_there_hears_which_one_is_missing",
        ),
    ),
    Bug(
        "rights: an alias may lead to a subject of others",
        "Who may change the config of a name lets it stand for any subject, so that requests of others land there.",
        (Edit("treaty.core.access.permissions:of_set_config", "if not alias:", "if not alias or alias:"),),
        by_tests(
            "facades/test_rights_aliases.py::test_who_names_an_alias_may_change_the_config_of_its_target",
            "laws/test_rights.py::test_who_names_an_alias_may_change_the_config_of_its_target",
        ),
    ),
    Bug(
        "rights: the target of an alias is read in the default context",
        "A name without a context, set at a subject of another context, is taken for one of the default context.",
        (
            Edit(
                "treaty.core.access.permissions:of_set_config",
                'Subject(request.scope.context, request.scope.name or "").sibling(alias)',
                'Subject(".", request.scope.name or "").sibling(alias)',
            ),
        ),
        by_tests(
            "laws/test_rights.py::test_who_names_an_alias_may_change_the_config_of_its_target[scope3-victim-target3]"
        ),
    ),
    Bug(
        "rights: a topic is bound by who may register the subject",
        "Clients of a topic take the schemas that somebody registers who has no right to the topic.",
        (
            Edit(
                "treaty.core.access.permissions:of_associate",
                'found.append(on_topic("register", request.resource, wish.kind, "/resourceName"))',
                "pass",
            ),
        ),
        by_tests("facades/test_rights_topics.py::test_a_right_to_a_subject_binds_no_topic_of_others"),
        also=by_lives(0, ANY),
    ),
    Bug(
        "rights: a topic is parted by who may register the subject",
        "Clients of a topic lose the subject that its owner has bound it to.",
        (
            Edit(
                "treaty.core.handlers.association_changes:_refuse_unfit",
                'on_subject("register", subject), parted',
                'on_subject("register", subject)',
            ),
        ),
        by_tests("facades/test_rights_topics.py::test_parting_needs_the_topic_too"),
    ),
    Bug(
        "rights: a rule that names topics covers subjects too",
        "A rule about topics alone gives its rights to all subjects of the default context.",
        (Edit("treaty.api.auth.settings:_rule", "() if (topics or vendors) and not named else", ""),),
        by_tests("facades/test_rights_topics.py::test_a_rule_names_the_topics_that_may_be_bound"),
    ),
    Bug(
        "rights: whose context it is, has all topics",
        "A rule for another context covers the topics of every namespace.",
        (
            Edit(
                "treaty.core.access.rights:AccessRule.covers_topic",
                'contexts = (DEFAULT_CONTEXT, f".{topic.namespace}")',
                "contexts = self.contexts",
            ),
        ),
        by_tests(
            "facades/test_rights_topics.py::test_a_right_to_a_subject_binds_no_topic_of_others",
            "laws/test_rights.py::test_a_topic_is_bound_by_who_may_name_it_or_register_its_usual_subject",
        ),
    ),
    Bug(
        "rights: the policy is chosen by who may register",
        "A registration that names the policy of its new subject needs no right to the config.",
        (
            Edit(
                "treaty.core.access.permissions:of_register",
                '("/treaty/createWith/policy",) * chosen',
                '("/treaty/createWith/policy",) * (not request)',
            ),
        ),
        by_tests("facades/test_rights_members.py::test_who_may_only_register_does_not_choose_the_policy"),
    ),
    Bug(
        "strict: a read joins an append that is on its way",
        "A strict read is answered when an append has landed that was sent before it came.",
        (
            Edit(
                "treaty.node.barriers:ReadBarriers.wait",
                "key = self._follower.next_barrier, taken",
                "key = self._follower.begun, taken",
            ),
        ),
        by_tests(
            "behaviours/nodes/test_strict.py::test_who_comes_while_an_append_is_on_its_way_waits_for_the_next_one",
            error="Stuck: no end",  # the test waits for the next append, which nobody wants
        ),
    ),
    Bug(
        "state file: one of another release is taken",
        "A node stands on a state file that another release of Treaty has written.",
        (Edit("treaty.node.segment.statefile:_head", 'head.get("release") != RELEASE', "head is None"),),
        by_tests("behaviours/nodes/test_state_file.py::test_a_file_of_another_release_is_left_aside[RELEASE]"),
    ),
    Bug(
        "hot: answers are shared by all rights",
        "What somebody may read is kept for everybody who asks in the same words.",
        (Edit("treaty.api.response_cache:ResponseCache.keep", "(request.rights, *variant)", "variant"),),
        by_tests("facades/test_rights_hot.py::test_who_has_the_same_rights_shares_answers_and_nobody_else_gets_them"),
    ),
    Bug(
        "limit: a commit of any size is sent",
        "A command whose commit is larger than the limit is not refused, and holds up the others.",
        (Edit("treaty.node.batch:_add_commit", "if size > COMMIT_BYTES:", "if size < 0:"),),
        by_tests("behaviours/nodes/test_writing.py::test_a_commit_that_can_never_fit_is_refused_by_name"),
    ),
    Bug(
        "sqlite: an append is not held against the tip",
        "An append that was decided on another history takes the next place.",
        (Edit("treaty.log.sqlite.connection:SqliteConnection._is_next", "append.parent != tip.digest or", ""),),
        by_tests(f"{WRONG}[sqlite-another digest]"),
    ),
    Bug(
        "postgresql: an append is not held against the tip",
        "An append that was decided on another history takes the next place.",
        (
            Edit(
                "treaty.log.postgres.log:PostgresLog._write",
                "fetchrow( WRITE,",
                'fetchrow(WRITE.replace("and new.parent = coalesce(tip.digest, new.none)", ""),',
            ),
        ),
        by_tests(f"{WRONG}[postgres-another digest]"),
    ),
    Bug(
        "restore: goes on where another one was cut off",
        "The rest of a dump is written behind the beginning of another one.",
        (
            Edit(
                "treaty.log.maintenance.restore:_begin_restore",
                "mark.digest, mark.gap, ):",
                "mark.digest, mark.gap, ) and found is None:",
            ),
        ),
        by_tests("behaviours/logs/test_care.py::test_a_restore_that_was_cut_off_goes_through_the_second_time[sqlite]"),
    ),
    Bug(
        "config: gaps are filled from the context",
        "What a subject's config leaves out is taken from its context instead of the root.",
        (
            Edit(
                "treaty.core.handlers.settings:config_in_force",
                "root = own_value(view, ROOT) or UNSET",
                "root = own_value(view, Scope(scope.context)) or UNSET",
            ),
        ),
        by_tests(
            "laws/test_settings.py::test_a_subject_takes_what_its_config_leaves_out_from_the_root_and_not_from_its_context"
        ),
    ),
    Bug(
        "mode: the one of a context is passed over",
        "A subject without a mode of its own has the one of everywhere.",
        (
            Edit(
                "treaty.core.handlers.settings:mode_in_force",
                "own = own_mode(view, Scope(scope.context))",
                "own = None",
            ),
        ),
        by_tests("laws/test_settings.py::test_mode_chain"),
    ),
)
