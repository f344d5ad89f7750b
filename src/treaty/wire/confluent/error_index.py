"""Meaning, cause and remedy of each error code, for the OpenAPI document and the index of errors."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error code in words. `is_own` marks a code that Confluent's registry does not have."""

    meaning: str
    cause: str
    remedy: str
    is_own: bool = False


ERROR_CODES: Mapping[int, ErrorCode] = {
    400: ErrorCode(
        "The request is malformed.",
        "A path, query parameter, header or body cannot be read, or a member has the wrong type.",
        "Compare the request with the OpenAPI document at `/docs`; the message names the member.",
    ),
    404: ErrorCode(
        "The path does not exist.",
        "The base URL is wrong, a segment is missing, or the feature is one that Treaty does not serve.",
        "Check the URL; `/docs` lists all paths.",
    ),
    405: ErrorCode(
        "The path does not have this method.",
        "For example a POST to a path that only answers GET, or an empty path segment.",
        "Use a method of the `Allow` header.",
    ),
    406: ErrorCode(
        "The server produces none of the accepted media types.",
        "The `Accept` header names other types than JSON.",
        "Send `Accept: application/vnd.schemaregistry.v1+json`, `application/json` or `*/*`.",
    ),
    413: ErrorCode(
        "The body exceeds `REQUEST_BYTES`.",
        "The request has more bytes than the server reads.",
        "Send a smaller schema, or split a batch.",
    ),
    415: ErrorCode(
        "The server does not read this media type.",
        "The `Content-Type` header is not a type of JSON.",
        "Send `Content-Type: application/vnd.schemaregistry.v1+json` or `application/json`.",
    ),
    421: ErrorCode(
        "The server does not answer for this host name.",
        "A server on a loopback address without `--auth` received a `Host` that is neither local nor allowed.",
        "Start the server with `--allowed-host NAME`.",
        is_own=True,
    ),
    429: ErrorCode(
        "The client has too many requests in flight.",
        "The limit `IN_FLIGHT_EACH` of one principal or address is reached.",
        "Retry after `Retry-After`; behind a proxy use `--trusted-proxy`.",
    ),
    500: ErrorCode(
        "Internal error.",
        "A bug of the server.",
        "Look up the `X-Request-ID` in the server's log, and report the traceback.",
    ),
    503: ErrorCode(
        "Temporarily unavailable; nothing was written.",
        "The log is unreachable or read-only, a queue is full, or a node is starting.",
        "Retry after `Retry-After`; `/readyz` and `/status` have the reason.",
    ),
    504: ErrorCode(
        "The result is unknown.",
        "The request timed out while its change was being written.",
        "Retry with the same `Treaty-Command`, or ask `/treaty/outcome/{command}`.",
        is_own=True,
    ),
    40101: ErrorCode(
        "The request is not authenticated.",
        "No credentials, or a wrong password, an expired token or an unknown certificate.",
        "Send valid credentials; see the `WWW-Authenticate` header.",
    ),
    40301: ErrorCode(
        "The caller lacks a permission.",
        "No rule of the server's file of rights allows the request; the message names the permission and the subject.",
        "Add a rule, or use another principal.",
    ),
    40401: ErrorCode(
        "The subject does not exist.",
        "A misspelt name, another context, a soft-deleted subject, or one that the caller may not read.",
        "List the subjects; `deleted=true` includes soft-deleted ones.",
    ),
    40402: ErrorCode(
        "The subject does not have this version.",
        "The number was never assigned, or the version is deleted.",
        "List the versions; `deleted=true` includes soft-deleted ones.",
    ),
    40403: ErrorCode(
        "The schema does not exist.",
        "The id or guid is unknown in this context, no readable subject uses it, or no version equals the posted schema.",
        "Check the context of the id; register the schema.",
    ),
    40404: ErrorCode(
        "The subject is soft-deleted already.",
        "A second soft delete of the same subject.",
        "Delete it with `permanent=true`, or register a new version to bring it back.",
    ),
    40405: ErrorCode(
        "The subject must be soft-deleted first.",
        "A delete with `permanent=true` of a live subject.",
        "Delete the subject once without `permanent`, then with it.",
    ),
    40406: ErrorCode(
        "The version is soft-deleted already.",
        "A second soft delete of the same version.",
        "Delete it with `permanent=true`, or register the schema again to bring it back.",
    ),
    40407: ErrorCode(
        "The version must be soft-deleted first.",
        "A delete with `permanent=true` of a live version.",
        "Delete the version once without `permanent`, then with it.",
    ),
    40408: ErrorCode(
        "The subject has no config of its own.",
        "A GET of the config of a subject that only inherits one.",
        "Ask with `defaultToGlobal=true`.",
    ),
    40409: ErrorCode(
        "The subject has no mode of its own.",
        "A GET of the mode of a subject that only inherits one.",
        "Ask with `defaultToGlobal=true`.",
    ),
    40410: ErrorCode(
        "The association does not exist.",
        "The resource is not bound to a subject, or not with this kind.",
        "List the associations of the resource.",
    ),
    40451: ErrorCode(
        "The codec does not exist.",
        "The subject has no codec of this name, so no encoding can be assigned with it.",
        "Add the codec to the subject first, or ask for an encoding without a codec.",
    ),
    40452: ErrorCode(
        "The encoding does not exist.",
        "No version and codec of the subject have this encoding id, or the version was removed with `force`.",
        "Read the payload with the subject that it was written for.",
    ),
    40450: ErrorCode(
        "The outcome of the command is unknown.",
        "The command was never executed, belongs to another principal, or is older than `OUTCOMES` commits.",
        "Read the state, and send the command again if it is missing.",
        is_own=True,
    ),
    40901: ErrorCode(
        "The schema is incompatible.",
        "It breaks the compatibility policy of its subject; the message lists every finding.",
        "Follow the remedy of each finding (`treaty check`), or change the level; `--incompatible-code 409` answers 409 instead.",
    ),
    40902: ErrorCode(
        "Too many associations.",
        "The limit `ASSOCIATIONS_PER_SUBJECT` or `ASSOCIATIONS_PER_RESOURCE` is reached.",
        "Delete associations, use another subject, or split the request.",
    ),
    40903: ErrorCode(
        "The resource is associated already.",
        "Another id, subject or lifecycle is bound for this kind.",
        "Update the association with PUT, or delete it first.",
    ),
    40904: ErrorCode(
        "The subject has an association.",
        "A delete of the subject, or a new strong association, while other associations exist.",
        "Delete the associations first.",
    ),
    40905: ErrorCode(
        "The subject has a strong association.",
        "Another resource owns the subject.",
        "Use another subject, or make the strong association WEAK.",
    ),
    40907: ErrorCode(
        "The subject has no live version.",
        "An association needs a version, and the last one may not be deleted while it exists.",
        "Register a schema, or delete the association first.",
    ),
    40908: ErrorCode(
        "The association is frozen.",
        "A change or delete of an association with `frozen`.",
        "Set `frozen` to false in the change; to delete it, use `cascadeLifecycle=true`.",
    ),
    40950: ErrorCode(
        "The state is not the expected one.",
        "The request has a condition (`treaty.expected`, or a version given with the schema) that does not hold.",
        "Read the current state and decide again.",
        is_own=True,
    ),
    40952: ErrorCode(
        "The codec has other properties.",
        "The subject has a codec of this name; its properties never change, because payloads depend on them.",
        "Use the same properties, or add the codec under another name.",
    ),
    40953: ErrorCode(
        "The version has encodings.",
        "Payloads carry encoding ids of the version and could not be read without it.",
        "Keep it soft-deleted, or remove its encodings too with `force=true`.",
    ),
    40954: ErrorCode(
        "The subject takes another format.",
        "The property `treaty.format` of the subject names one format, and the schema is of another; or versions of another "
        "format are there when the property is set.",
        "Use a schema of that format, or another subject.",
        is_own=True,
    ),
    40956: ErrorCode(
        "The subject has versions of another type.",
        "The subject was created for versions of one type, and the schema is of another type than its live versions.",
        "Use a schema of that type, or another subject.",
        is_own=True,
    ),
    40957: ErrorCode(
        "Another version of the subject has this name.",
        "A registration gave its version a name, and a live version, or one of another schema, has it.",
        "Use another name.",
        is_own=True,
    ),
    40955: ErrorCode(
        "The level is not the expected one.",
        "A change of a subject's policy named the level that it replaces, and another one is in force.",
        "Read the level in force and decide again.",
        is_own=True,
    ),
    40951: ErrorCode(
        "The request conflicts with the current state.",
        "For example a name that another version of the subject has, or a command id that was used for another request.",
        "The message names the conflict; read the current state and decide again.",
        is_own=True,
    ),
    42201: ErrorCode(
        "The schema is not valid.",
        "The text breaks a rule of its format or a validator, or a reference does not resolve; the message has line and column.",
        "Correct the text; `treaty canonical FILE` lists all problems.",
    ),
    42202: ErrorCode(
        "The version is not valid.",
        "Neither a number from 1 to 2147483647 nor `latest` nor -1.",
        "Send a valid version.",
    ),
    42203: ErrorCode(
        "The compatibility level or another setting is not valid.",
        "A misspelt level, or a policy that does not exist.",
        "Send one of the values in the message.",
    ),
    42204: ErrorCode(
        "The mode is not valid.",
        "A misspelt mode, or FORWARD for a subject or context.",
        "Send READWRITE, READONLY or IMPORT; FORWARD only for the whole registry.",
    ),
    42205: ErrorCode(
        "The operation is not permitted.",
        "The mode forbids it (READONLY, or an id outside of IMPORT), the server is read-only, or the log is sealed.",
        "Change the mode, or write to the server that the message names.",
    ),
    42206: ErrorCode(
        "A schema is referenced.",
        "A delete of a version to which another schema refers; the mode IMPORT deletes soft-deleted versions.",
        "Delete the referring versions first; `/referencedby` lists them.",
    ),
    42208: ErrorCode(
        "The name of the subject is not valid.",
        "An empty or reserved name, or invisible characters.",
        "Use visible characters; `:.context:name` selects a context.",
    ),
    42209: ErrorCode(
        "A limit is exceeded.",
        "The message names the limit and the value.",
        "Make the schema or the request smaller; see the page of limits.",
    ),
    42210: ErrorCode(
        "The rule set is not valid.",
        "A rule of a data contract has a wrong kind, mode, name or action.",
        "Correct the rule that the message names.",
    ),
    42211: ErrorCode(
        "The context is not empty.",
        "A delete of a context that has subjects, soft-deleted ones included.",
        "Hard-delete its subjects first.",
    ),
    42212: ErrorCode(
        "The request about associations is not valid.",
        "A missing or contradictory member.",
        "Correct the member that the message names.",
    ),
}
