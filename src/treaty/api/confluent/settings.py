"""Config and mode, at every scope."""

from treaty.api.confluent.request_context import RequestContext
from treaty.core import requests as q
from treaty.core.limits import SETTINGS_PAGE
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import InvalidSetting
from treaty.wire.confluent.settings import ConfigBody, ModeBody, config_body, scope_of, set_config_of, setting_body


def _scope(x: RequestContext) -> q.Scope:
    return scope_of(x.values[0] if x.values else None)


async def get_config(x: RequestContext) -> object:
    """The config of a scope; with `defaultToGlobal=true` including what it inherits.

    A policy without a level name is answered as the nearest stricter level; with `Treaty-Details: true` the member `treaty`
    contains the policy itself.
    """
    stored = await x.ask(q.GetConfig(_scope(x), x.query.flag("defaultToGlobal")))
    return config_body(stored.config, details=x.details)


async def put_config(x: RequestContext) -> object:
    """Changes members of the config: null removes a member, absent members stay; answers the whole config.

    Putting back the level that a GET answered leaves the policy as it is; `treaty.policy` sets one that no level names.
    """
    body = await x.body(ConfigBody)
    stored = await x.ask(set_config_of(_scope(x), body))
    return config_body(stored.config, put=True, details=x.details)


async def delete_config(x: RequestContext) -> object:
    """Removes the config of a scope; answers the removed config."""
    return config_body((await x.ask(q.DeleteConfig(_scope(x)))).config, details=x.details)


async def get_mode(x: RequestContext) -> object:
    """The mode of a scope; with `defaultToGlobal=true` the inherited one if it has none."""
    stored = await x.ask(q.GetMode(_scope(x), x.query.flag("defaultToGlobal")))
    return ModeBody(stored.mode)


async def put_mode(x: RequestContext) -> object:
    """Sets the mode of a scope, or removes it with null; answers the request's mode."""
    body = await x.body(ModeBody)
    request = q.SetMode(_scope(x), body.mode.upper() if isinstance(body.mode, str) else None, x.query.flag("force"))
    x.asked = request
    if not isinstance(body.mode, str) and body.mode is not None:
        raise InvalidSetting.of("MODE", "the body names no mode", path="/mode", allowed="a mode, or null")
    await x.ask(request)
    return body


async def delete_mode(x: RequestContext) -> object:
    """Removes the mode of a scope (`recursive=true`: of its subjects too); answers the removed mode."""
    return ModeBody((await x.ask(q.DeleteMode(_scope(x), x.query.flag("recursive")))).mode)


async def list_settings(x: RequestContext) -> object:
    """Configs and modes of contexts, of the registry and of subjects under `subjectPrefix`, in this order.

    Contexts come with the highest id assigned in them. The next page begins after `afterContext` and `afterSubject`.
    """
    prefix, context = x.query.get("subjectPrefix"), x.query.get("afterContext")
    request = q.ListSettings(
        prefix=Subject(EVERYWHERE, "") if prefix is None else subject_of(prefix),
        offset=x.query.offset(),
        limit=x.query.limit(SETTINGS_PAGE),
        after=None if context is None else q.Scope(context, x.query.get("afterSubject")),
    )
    return [setting_body(one) for one in (await x.ask(request)).settings]
