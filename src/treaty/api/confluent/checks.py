"""Compatibility checks that change nothing."""

from treaty.api.confluent.exchange import Exchange
from treaty.api.confluent.query import version_of
from treaty.core import requests as q
from treaty.core.answers import CompatibilityResult
from treaty.core.refusals import InvalidSchema
from treaty.wire.confluent.drafts import DraftBody, draft_of
from treaty.wire.confluent.versions import checked_body


async def check(x: Exchange) -> object:
    """Tests the posted schema against the policy of the subject; nothing is written. `verbose=true` adds the reasons.

    An invalid schema is answered with an error; with `verbose=true` and without details it is answered as incompatible.
    """
    version = version_of(x.values[1], x.subject) if len(x.values) > 1 else None
    draft = draft_of(await x.body(DraftBody))
    verbose = x.query.flag("verbose")
    try:
        checked = await x.ask(q.Check(x.subject, draft, version, x.query.flag("normalize") or None))
    except InvalidSchema as invalid:
        if not verbose or x.details:
            raise
        checked = CompatibilityResult(compatible=False, messages=(invalid.reason.message,))
    return checked_body(checked, verbose=verbose, details=x.details)
