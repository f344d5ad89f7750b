"""Endpoints of config and mode at every scope: read, set, deleted and listed."""

from dataclasses import dataclass, replace

from treaty.api.confluent.exchange import ConfluentExchange
from treaty.api.confluent.parameters import PAGE, PREFIX, RESOLVED
from treaty.api.dialects.description import ApiAnswer, ApiOperation, ApiParameter, Endpoint, Table, flag
from treaty.core.limits import SETTINGS_PAGE
from treaty.core.messages.settings import DeleteConfig, DeleteMode, GetConfig, GetMode, ListSettings, Scope, SetMode
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.refusals import InvalidSetting
from treaty.wire.confluent.settings import (
    ConfigBody,
    ModeBody,
    SettingBody,
    config_body,
    scope_of,
    set_config_of,
    setting_body,
)


def _scope(x: ConfluentExchange) -> Scope:
    return scope_of(x.values[0] if x.values else None)


async def get_config(x: ConfluentExchange) -> object:
    """The config of a scope; with `defaultToGlobal=true` including what it inherits.

    A policy without a level name is answered as the nearest stricter level; with `Treaty-Details: true` the member `treaty`
    contains the policy itself.
    """
    stored = await x.registry.ask(GetConfig(_scope(x), x.query.flag("defaultToGlobal")))
    return config_body(stored.config, details=x.details)


async def put_config(x: ConfluentExchange) -> object:
    """Changes members of the config: null removes a member, absent members stay; answers the whole config.

    Putting back the level that a GET answered leaves the policy as it is; `treaty.policy` sets one that no level names.
    """
    body = await x.body(ConfigBody)
    stored = await x.registry.ask(set_config_of(_scope(x), body))
    return config_body(stored.config, put=True, details=x.details)


async def delete_config(x: ConfluentExchange) -> object:
    """Removes the config of a scope; answers the removed config."""
    return config_body((await x.registry.ask(DeleteConfig(_scope(x)))).config, details=x.details)


async def get_mode(x: ConfluentExchange) -> object:
    """The mode of a scope; with `defaultToGlobal=true` the inherited one if it has none."""
    stored = await x.registry.ask(GetMode(_scope(x), x.query.flag("defaultToGlobal")))
    return ModeBody(stored.mode)


async def put_mode(x: ConfluentExchange) -> object:
    """Sets the mode of a scope, or removes it with null; answers the request's mode."""
    body = await x.body(ModeBody)
    request = SetMode(_scope(x), body.mode.upper() if isinstance(body.mode, str) else None, x.query.flag("force"))
    x.registry.question = request
    if not isinstance(body.mode, str) and body.mode is not None:
        raise InvalidSetting.of("MODE", "the body names no mode", path="/mode", allowed="a mode, or null")
    await x.registry.ask(request)
    return body


async def delete_mode(x: ConfluentExchange) -> object:
    """Removes the mode of a scope (`recursive=true`: of its subjects too); answers the removed mode."""
    return ModeBody((await x.registry.ask(DeleteMode(_scope(x), x.query.flag("recursive")))).mode)


async def list_settings(x: ConfluentExchange) -> object:
    """Configs and modes of contexts, of the registry and of subjects under `subjectPrefix`, in this order.

    Contexts come with the highest id assigned in them. The next page begins after `afterContext` and `afterSubject`.
    """
    prefix, context = x.query.get("subjectPrefix"), x.query.get("afterContext")
    request = ListSettings(
        prefix=Subject(EVERYWHERE, "") if prefix is None else subject_of(prefix),
        offset=x.query.offset(),
        limit=x.query.limit(SETTINGS_PAGE),
        after=None if context is None else Scope(context, x.query.get("afterSubject")),
    )
    return [setting_body(setting) for setting in (await x.registry.ask(request)).settings]


_SCOPE = ApiParameter(
    "subject", "A subject, a context (`:.context:`), or the whole registry (`:.__GLOBAL:`)", example="orders-value"
)
_CONFIG = ApiAnswer("The config", ConfigBody, example={"compatibilityLevel": "BACKWARD"})
_PUT_CONFIG = ApiAnswer("The whole config, its level as `compatibility`", ConfigBody, example={"compatibility": "FULL"})
_MODE = ApiAnswer("The mode", ModeBody, needed=("mode",), example={"mode": "READWRITE"})
_PUT_MODE = ApiAnswer(
    "The mode of the request",
    schema={"type": "object", "properties": {"mode": {"type": ["string", "null"]}}, "additionalProperties": False},
    example={"mode": "READONLY"},
)


@dataclass(frozen=True, slots=True)
class _SettingRoutes:
    """What the routes of config and of mode differ in; at every scope both are read, put and deleted alike."""

    group: str
    endpoints: tuple[Endpoint, Endpoint, Endpoint]
    """Those of GET, PUT and DELETE."""
    stored: ApiAnswer
    changed: ApiAnswer
    """The answer to PUT."""
    sent: type
    put_errors: tuple[int, ...]
    put_query: tuple[ApiParameter, ...] = ()
    delete_query: tuple[ApiParameter, ...] = ()

    def operations(self, path: tuple[ApiParameter, ...], *unset: int) -> dict[str, ApiOperation]:
        """The operations of one path; `unset` are the codes of a GET that finds nothing there."""
        read, put, delete = self.endpoints
        removed = replace(self.stored, says=f"The removed {self.group}", needed=())
        return {
            "GET": ApiOperation(read, self.group, self.stored, path, (RESOLVED,), errors=unset),
            "PUT": ApiOperation(
                put,
                self.group,
                self.changed,
                path,
                self.put_query,
                self.sent,
                self.changed.example,
                self.put_errors,
                writes=True,
            ),
            "DELETE": ApiOperation(
                delete, self.group, removed, path, self.delete_query, errors=(40401, 42205, 42208), writes=True
            ),
        }


_CONFIG_ROUTES = _SettingRoutes(
    "config",
    (get_config, put_config, delete_config),
    _CONFIG,
    _PUT_CONFIG,
    ConfigBody,
    (42203, 42205, 42208, 42209, 42210),
)
_MODE_ROUTES = _SettingRoutes(
    "mode",
    (get_mode, put_mode, delete_mode),
    _MODE,
    _PUT_MODE,
    ModeBody,
    (42204, 42205, 42206, 42208),
    put_query=(flag("force", "Enter IMPORT although the scope has subjects"),),
    delete_query=(flag("recursive", "Remove the modes of the context's subjects too"),),
)
ROUTES: Table = {
    "/config": _CONFIG_ROUTES.operations(()),
    "/config/{}": _CONFIG_ROUTES.operations((_SCOPE,), 40408),
    "/mode": _MODE_ROUTES.operations(()),
    "/mode/{}": _MODE_ROUTES.operations((_SCOPE,), 40409),
    "/treaty/settings": {
        "GET": ApiOperation(
            list_settings,
            "config",
            ApiAnswer("Configs and modes", list[SettingBody], example=[{"context": ".", "mode": "READWRITE"}]),
            query=(
                PREFIX,
                *PAGE,
                ApiParameter("afterContext", "Begin after this context; replaces `offset`", example="."),
                ApiParameter("afterSubject", "Begin after this subject of `afterContext`", example="orders-value"),
            ),
        )
    },
}
