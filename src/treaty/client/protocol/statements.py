"""Statements of SQL as text for a server, which parses them and carries them out. Nothing of the metastore is loaded here."""

import re
import time
import uuid
from collections.abc import Callable, Mapping

import msgspec

from treaty.client.effects import Conversation, NoResponse, SendRequest, TokenCache, WaitSeconds
from treaty.client.protocol.delivery import LATER, NoResponseError, asked_pause, run_within, send_authenticated
from treaty.client.protocol.http_transport import HttpTransport
from treaty.client.settings import ClientSettings
from treaty.core.refusals import NotOffered, RegistryError, Unavailable
from treaty.wire.http_response import COMMAND, RETRY, HttpResponse
from treaty.wire.statements import (
    MEDIA,
    PATH,
    MetastoreErrorBody,
    StatementResultBody,
    StatementResultsBody,
    StatementsBody,
)

STATEMENTS_SECONDS = 600.0
"""Seconds that a server may take for a script: a query waits for its planner."""
_RECORDS = re.compile(r"\b(insert|update|delete)\b", re.IGNORECASE)


class ScriptRefusedError(RegistryError):
    """A server has answered a script with an error; `body` has its code, sentence, remedy, and the results before it."""

    def __init__(self, status: int, body: MetastoreErrorBody) -> None:
        """Set the status of HTTP and the body."""
        super().__init__(body.message)
        self.status = status
        self.body = body


class UnknownOutcomeError(RegistryError):
    """A script was sent, no answer came, and it is not sent again, since its records could be written twice."""


class StatementClient:
    """Sends scripts to the nodes of a registry, and keeps its connections and its token of access."""

    def __init__(self, settings: ClientSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """Send nothing yet."""
        self._settings = settings
        self._transport = HttpTransport(settings)
        self._tokens = TokenCache()
        self._clock = clock

    def run(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None, atomic: bool = False
    ) -> tuple[StatementResultBody, ...]:
        """Return the results of all statements of a text, which are one commit with `atomic`.

        Raises `ScriptRefusedError` for the first statement that is refused, with the results before it, `NoResponseError` where no
        node answers, and `UnknownOutcomeError` where INSERT, UPDATE or DELETE may have been carried out. A script is one
        command: sent again after a lost answer it changes nothing twice.
        """
        body = StatementsBody(sql, dry_run, dict(variables or {}), atomic=atomic)
        answer = self._transport.run(self._send(body, uuid.uuid4().hex))
        return tuple(answer.results)

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def _send(self, script: StatementsBody, command_id: str) -> Conversation[StatementResultsBody]:
        settings, data = self._settings, msgspec.json.encode(script)
        headers = {**dict(settings.headers), "Accept": MEDIA, "Content-Type": MEDIA, COMMAND: command_id}
        failure: RegistryError = NoResponseError("no node was asked")
        for round_number in range(settings.rounds):
            for url in settings.urls:
                send = SendRequest("POST", url + PATH, headers, data, STATEMENTS_SECONDS, settings.connect_timeout)
                deadline = self._clock() + STATEMENTS_SECONDS
                authenticated = send_authenticated(send, settings.credentials, self._tokens, self._clock)
                event = yield from run_within(deadline, self._clock, authenticated)
                answer = read_answer(event, url)
                if isinstance(answer, StatementResultsBody):
                    return answer
                failure = answer
                if isinstance(event, NoResponse) and event.was_sent:
                    headers[RETRY] = "true"
                    if _RECORDS.search(script.sql):
                        raise UnknownOutcomeError(
                            f"{failure}; the statements may have been carried out: look before you send them again"
                        )
                elif isinstance(event, HttpResponse) and event.status not in {502, 503, 504, *LATER}:
                    raise failure
            if isinstance(failure, ScriptRefusedError):
                raise failure  # a server that has read the script has waited for its log itself
            if round_number + 1 < settings.rounds:
                pause = min(settings.pause * 2**round_number, settings.max_pause)
                yield WaitSeconds(asked_pause(event) or pause)
        raise failure


def read_answer(event: HttpResponse | NoResponse, url: str) -> StatementResultsBody | RegistryError:
    """Return the results in an answer, or its error."""
    if isinstance(event, NoResponse):
        return NoResponseError(f"{url}: {event.message}")
    try:
        if 200 <= event.status < 300:
            return msgspec.json.decode(event.body, type=StatementResultsBody)
        return ScriptRefusedError(event.status, msgspec.json.decode(event.body, type=MetastoreErrorBody))
    except (msgspec.MsgspecError, RecursionError):
        if event.status in {404, 405}:
            return NotOffered(f"{url} has no metastore: status {event.status} for {PATH}")
        return Unavailable(f"{url}: status {event.status} with a body that is not a metastore's")
