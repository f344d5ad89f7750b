"""Subjects without a version whose rows somebody puts past all commands, those of Confluent among them."""

import random

from tests.simulation.asker import SUBJECTS
from tests.simulation.members import Site
from treaty.core.state import values
from treaty.core.state.commit import Append, Commit, Position, make_append
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import CONTEXT, SUBJECT, ContextKey


async def put_subject(site: Site, chance: random.Random) -> None:
    """Put a subject that is not there, with the context that it needs; it has no version until somebody registers one."""
    names = chance.sample(SUBJECTS, len(SUBJECTS))
    origin, properties = chance.choice(["confluent", "other"]), chance.choice([(), (("team", "c"),)])

    def subject(base: Position) -> Append:
        state = site.history.states[-1]
        absent = [name for name in names if state.get(SUBJECT, name) is None]
        made = (
            []
            if not absent
            else [
                Row("subject", tuple(absent[0]), values.SubjectValue(base.sequence + 1, origin, properties=properties))
            ]
        )
        if made and state.get(CONTEXT, ContextKey(absent[0].context)) is None:
            made.append(Row("context", (absent[0].context,), values.Context()))
        rows = tuple(map(encode_row, made))
        site.history.by_hand.update((row.table, row.key, row.value) for row in rows)
        site.count["empty subjects"] += bool(rows)
        commit = Commit(base.sequence + 1, rows)
        return make_append(base, chance.randbytes(16), (commit,), site.history.roots_with(rows))

    await site.store.intrude(subject)
