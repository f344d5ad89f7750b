"""What holds for the rows of any commit, checked without the law that decided it."""

from typing import Any

from tests.simulation.judging.broken import Broken
from tests.simulation.texts import answer
from treaty.core import values
from treaty.core.commit import Commit
from treaty.core.grammar import Compare, Compared
from treaty.core.law.references import meaning_of
from treaty.core.requests import Derive, Register, Request
from treaty.core.rows import Key, decode_row
from treaty.core.view import View

Meant = dict[tuple[str, int], str]
"""Every schema id ever given, and the schema that it means."""


def check_rows(meant: Meant, before: View, after: View, commit: Commit, request: Request[Any]) -> None:
    """Ids keep their meaning, counters go up, versions fit those that they are compared with."""
    rows = [decode_row(one) for one in commit.rows]
    given = isinstance(request, Register) and request.schema_id >= 0  # the importer says the id
    for row in rows:
        if isinstance(row.value, values.Schema):
            if given:
                meant.pop((str(row.key[0]), int(row.key[1])), None)
            key = (str(row.key[0]), int(row.key[1]))
            told = f"{row.value.guid} {row.value.references}"
            if meant.setdefault(key, told) != told:
                raise Broken("4", f"id {key} meant {meant[key]} and now {told}")
    for row in rows:
        if isinstance(row.value, values.Counter):
            old = before.get("counter", row.key)
            if isinstance(old, values.Counter) and old.highest + (not given) > row.value.highest:
                raise Broken("4", f"counter {row.key} went from {old.highest} to {row.value.highest}")
        if isinstance(row.value, values.Version) and before.get("version", row.key) is None:
            _check_admission(before, after, row.key, row.value, request)


def _check_admission(before: View, after: View, key: Key, new: values.Version, request: Request[Any]) -> None:
    """A version that is neither forced nor imported fits those that its policy compares it with."""
    stay = (k for k in before.find("version.subject", key[:2]) if after.get("version", k) is not None)
    others = [(int(k[2]), before.get("version", k)) for k in stay]
    live = [one for _, one in sorted(others) if isinstance(one, values.Version) and one.state == "live"]
    numbered = isinstance(request, (Register, Derive)) and request.number > 0
    if any(one.schema_id == new.schema_id for one in live) and not new.imported and not numbered:
        raise Broken("5", f"schema {new.schema_id} became a version of {key[:2]} twice")
    if new.forced or new.imported or new.policy is None or new.policy.partition:
        return
    compared = sorted(live, key=lambda one: one.number)[-1:] if new.policy.range == "latest" else live
    for old in compared:
        _check_pair(after, str(key[0]), new, old)


def _check_pair(view: View, context: str, new: values.Version, old: values.Version) -> None:
    policy = new.policy
    assert policy is not None
    newer, older = (view.get("schema", (context, one.schema_id)) for one in (new, old))
    assert isinstance(newer, values.Schema)
    assert isinstance(older, values.Schema)
    if (newer.format != older.format and (policy.backward or policy.forward)) or policy.deny:
        raise Broken("5", f"version {new.number} passed a policy that forbids it: {policy}")
    a, b = meaning_of(view, context, newer), meaning_of(view, context, older)
    for wanted, question in ((policy.backward, Compare(a, b)), (policy.forward, Compare(b, a))):
        told = answer(question) if wanted else Compared()
        if not isinstance(told, Compared) or told.findings:
            raise Broken("5", f"version {new.number} does not fit version {old.number} under {policy}")
