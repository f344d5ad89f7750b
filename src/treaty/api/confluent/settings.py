"""Config and mode, at every scope."""

from treaty.api.confluent.exchange import Exchange
from treaty.core import requests as q
from treaty.core.refusals import InvalidSetting
from treaty.wire.confluent.settings import ConfigBody, ModeBody, config_body, scope_of, set_config_of


def _scope(x: Exchange) -> q.Scope:
    return scope_of(x.values[0] if x.values else None)


async def get_config(x: Exchange) -> object:
    """``GET /config`` and ``GET /config/{subject}``."""
    stored = await x.ask(q.GetConfig(_scope(x), x.query.flag("defaultToGlobal")))
    return config_body(stored.config)


async def put_config(x: Exchange) -> object:
    """``PUT /config`` and ``PUT /config/{subject}``: answers the whole config in the request's words."""
    body = await x.body(ConfigBody)
    stored = await x.ask(set_config_of(_scope(x), body))
    return config_body(stored.config, put=True)


async def delete_config(x: Exchange) -> object:
    """``DELETE /config`` and ``DELETE /config/{subject}``: answers what it was."""
    return config_body((await x.ask(q.DeleteConfig(_scope(x)))).config)


async def get_mode(x: Exchange) -> object:
    """``GET /mode`` and ``GET /mode/{subject}``."""
    stored = await x.ask(q.GetMode(_scope(x), x.query.flag("defaultToGlobal")))
    return ModeBody(stored.mode)


async def put_mode(x: Exchange) -> object:
    """``PUT /mode`` and ``PUT /mode/{subject}``: answers what was put; null clears it."""
    body = await x.body(ModeBody)
    request = q.SetMode(_scope(x), body.mode.upper() if isinstance(body.mode, str) else None, x.query.flag("force"))
    x.asked = request
    if not isinstance(body.mode, str) and body.mode is not None:
        raise InvalidSetting.of("MODE", "the body names no mode", path="/mode", allowed="a mode, or null")
    await x.ask(request)
    return body


async def delete_mode(x: Exchange) -> object:
    """``DELETE /mode`` and ``DELETE /mode/{subject}``: answers what it was."""
    return ModeBody((await x.ask(q.DeleteMode(_scope(x), x.query.flag("recursive")))).mode)
