"""Bugs planted in the Iglu resolver: its back-off, its cache, superseding; all found by the model of both algorithms."""

from tests.planted.bug import Bug, Edit, by_tests

ROOM = "treaty.client.iglu."
ALGORITHMS, CACHE, FLOW = ROOM + "algorithms:", ROOM + "cache:", ROOM + "flow:"
HISTORY = ROOM + "errors:LookupHistory."
FEW = "simulation/iglu/test_differential.py::test_resolver_and_model_agree_in_a_few_histories"
FAMILIES = "simulation/iglu/test_differential.py::test_resolver_and_model_agree_about_families"
MORE = "simulation/iglu/test_differential.py::test_resolver_and_model_agree[60]"


def iglu(name: str, does: str, target: str, old: str, new: str, test: str = FEW) -> Bug:
    """A bug in one function of the resolver."""
    return Bug(f"iglu: {name}", does, (Edit(target, old, new),), by_tests(test))


RESOLVED = (
    iglu(
        "a back-off ends one moment too early",
        "A registry is asked again when exactly its back-off has passed.",
        ALGORITHMS + "_current_is_due",
        "now - history.last_attempt > backoff",
        "now - history.last_attempt >= backoff",
    ),
    iglu(
        "the back-off grows without a break",
        "After nine requests the back-off is 60 s as after eight, though the formula has a smaller one there.",
        ALGORITHMS + "backoff",
        "if attempts <= 8:",
        "if attempts <= 9:",
    ),
    iglu(
        "a moment of the next request is told too early",
        "The time from which a registry is asked again is one millisecond before that.",
        ALGORITHMS + "_current_next",
        "backoff(history.attempts) + 1 if",
        "backoff(history.attempts) if",
    ),
    iglu(
        "a broken file is read again",
        "A local registry that fails is asked again after a back-off.",
        ALGORITHMS + "_current_is_due",
        "not registry.is_local and",
        "",
    ),
    iglu(
        "what is not there is never asked for again",
        "NotFound holds after the TTL too.",
        ALGORITHMS + "_current_known",
        "entry.value if fresh else",
        "entry.value if True else",
    ),
    iglu(
        "an expired schema becomes a failure",
        "Where no registry can give an expired schema again, it is forgotten.",
        ALGORITHMS + "_current_store",
        "CacheEntry(now, old.value, result)",
        "CacheEntry(now, result)",
    ),
    iglu(
        "an expired schema stays expired",
        "A schema that could not be fetched again is tried at each look-up, not after another TTL.",
        ALGORITHMS + "_current_store",
        "CacheEntry(now, old.value, result)",
        "CacheEntry(old.stored, old.value, result)",
    ),
    iglu(
        "a stale schema tells failures of long ago",
        "What registries said when the schema expired before is told as if they had said it now.",
        ALGORITHMS + "_current_store",
        "CacheEntry(now, old.value, result)",
        "CacheEntry(now, old.value, merge_failures(old.stale, result))",
        MORE,
    ),
    iglu(
        "a retry does not prolong an entry",
        "Failures that are added to others leave the entry as old as it was.",
        ALGORITHMS + "_current_store",
        "CacheEntry(now, merge_failures(old.value, result))",
        "CacheEntry(old.stored, merge_failures(old.value, result))",
    ),
    iglu(
        "requests are counted twice",
        "Where failures are added to others, the numbers of requests are added instead of the larger one being kept.",
        HISTORY + "merge",
        "max(self.attempts, other.attempts)",
        "self.attempts + other.attempts",
    ),
    iglu(
        "an answer that expired is lost",
        "A registry whose NotFound expired while it was left alone counts as one that can't say.",
        HISTORY + "merge",
        "(other.last or self.last)",
        "other.last",
        MORE,
    ),
    iglu(
        "a fourth request",
        "In seed a registry that fails is asked four times.",
        ALGORITHMS + "_seed_classify",
        ">= SEED_ATTEMPTS",
        "> SEED_ATTEMPTS",
    ),
    iglu(
        "not there after an error is asked again",
        "In seed 404 ends the requests of a registry only when it is the first answer.",
        ALGORITHMS + "_seed_classify",
        "return NOT_FOUND, True",
        "return NOT_FOUND, not history.attempts or history.attempts + 1 >= SEED_ATTEMPTS",
        MORE,
    ),
    iglu("gone is an error", "In seed 410 is retried.", ALGORITHMS + "_seed_classify", "or failure.status == 410", ""),
    iglu(
        "given up for ever",
        "In seed a failure that expired still counts, so that no more requests follow.",
        ALGORITHMS + "_seed_known",
        "or not fresh",
        "",
    ),
    iglu(
        "a document that is no schema is fetched again",
        "In seed such a document is a failure as others are.",
        FLOW + "_traverse",
        '"the document is no JSON Schema"), True',
        '"the document is no JSON Schema"), False',
    ),
    iglu(
        "a schema that is used does not expire",
        "Each hit stores the entry anew, which is the fault of the first clients.",
        FLOW + "_read",
        "return _make_resolved(entry, entry.value), NO_FAILURES",
        "state.cache.put(lookup.kind, lookup.key, CacheEntry(now, entry.value))"
        "; return _make_resolved(entry, entry.value), NO_FAILURES",
    ),
    iglu(
        "registries that are left alone are asked too",
        "When one registry may be asked again, all are.",
        FLOW + "_resolve_locked",
        "_traverse(state, lookup, found, known)",
        "_traverse(state, lookup, ordered, known)",
    ),
    iglu(
        "priority before class",
        "A registry over HTTP of a lower priority is asked before a local one.",
        ROOM + "registries:order_registries",
        "one.class_priority, one.priority",
        "one.priority, one.class_priority",
    ),
    iglu(
        "fresh for one moment too long",
        "An entry is fresh at the age of the TTL.",
        CACHE + "CacheEntry.is_fresh",
        "now - self.stored < ttl",
        "now - self.stored <= ttl",
    ),
    iglu(
        "the oldest entry is evicted",
        "The entry that was stored first goes, not the one that was used least recently.",
        CACHE + "ResolverCache.get",
        "entries.move_to_end(key)",
        "pass",
    ),
    iglu(
        "one entry too many",
        "The cache has one more entry than its size.",
        CACHE + "ResolverCache.put",
        "if len(entries) > self.size:",
        "if len(entries) > self.size + 1:",
    ),
    iglu(
        "a stale family tells failures of long ago",
        "What registries said when a family expired before is told as if they had said it now.",
        ROOM + "lookups:_walk_locked",
        "old.value, error.failures",
        "old.value, merge_failures(old.stale, error.failures)",
        "behaviours/iglu/test_lists.py::test_a_family_of_expired_schemas_says_so_and_tells_the_failures_of_the_last_requests_alone[the family expired alone]",
    ),
    iglu(
        "a family of expired schemas looks fresh",
        "Failures of the registries are told for a family only where it expired itself, not for its schemas.",
        ROOM + "lookups:_walk",
        "merge_failures(stale, found.stale)",
        "stale",
        FAMILIES,
    ),
    iglu(
        "superseding and plain look-ups share an entry",
        "A look-up gets the schema that one of the other kind has left.",
        ROOM + "lookups:schema_lookup",
        '"superseding" if superseding else "schema"',
        '"schema"',
    ),
    iglu(
        "a version supersedes itself",
        "The version that supersedes another one may be the same.",
        ROOM + "lookups:_superseding_version",
        "version <= key.version",
        "version < key.version",
    ),
)
