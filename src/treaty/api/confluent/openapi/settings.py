"""Descriptions of the routes of configs and modes."""

from treaty.api.confluent.openapi.parts import (
    PAGE,
    PREFIX,
    RESOLVED,
    ApiAnswer,
    ApiOperation,
    ApiParameter,
    Table,
    flag,
)
from treaty.wire.confluent.settings import ConfigBody, ModeBody, SettingBody

_SCOPE = ApiParameter(
    "subject", "A subject, a context (`:.context:`), or the whole registry (`:.__GLOBAL:`)", example="orders-value"
)
_CONFIG = ApiAnswer("The config", ConfigBody, example={"compatibilityLevel": "BACKWARD"})
_PUT_CONFIG = ApiAnswer("The whole config, its level as `compatibility`", ConfigBody, example={"compatibility": "FULL"})
_MODE = ApiAnswer("The mode", ModeBody, needed=("mode",), example={"mode": "READWRITE"})
_PUT_MODE = ApiAnswer(
    "The mode of the request",
    whole={"type": "object", "properties": {"mode": {"type": ["string", "null"]}}, "additionalProperties": False},
    example={"mode": "READONLY"},
)


def _config(path: tuple[ApiParameter, ...], *unset: int) -> dict[str, ApiOperation]:
    return {
        "GET": ApiOperation("config", _CONFIG, path, (RESOLVED,), errors=unset),
        "PUT": ApiOperation(
            "config",
            _PUT_CONFIG,
            path,
            sent=ConfigBody,
            sent_example={"compatibility": "FULL"},
            errors=(42203, 42205, 42208, 42209, 42210),
            writes=True,
        ),
        "DELETE": ApiOperation(
            "config",
            ApiAnswer("The removed config", ConfigBody, example=_CONFIG.example),
            path,
            errors=(40401, 42205, 42208),
            writes=True,
        ),
    }


def _mode(path: tuple[ApiParameter, ...], *unset: int) -> dict[str, ApiOperation]:
    force = flag("force", "Enter IMPORT although the scope has subjects")
    below = flag("recursive", "Remove the modes of the context's subjects too")
    return {
        "GET": ApiOperation("mode", _MODE, path, (RESOLVED,), errors=unset),
        "PUT": ApiOperation(
            "mode", _PUT_MODE, path, (force,), ModeBody, {"mode": "READONLY"}, (42204, 42205, 42206, 42208), writes=True
        ),
        "DELETE": ApiOperation(
            "mode",
            ApiAnswer("The removed mode", ModeBody, example=_MODE.example),
            path,
            (below,),
            errors=(40401, 42205, 42208),
            writes=True,
        ),
    }


TABLE: Table = {
    "/config": _config(()),
    "/config/{}": _config((_SCOPE,), 40408),
    "/mode": _mode(()),
    "/mode/{}": _mode((_SCOPE,), 40409),
    "/treaty/settings": {
        "GET": ApiOperation(
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
