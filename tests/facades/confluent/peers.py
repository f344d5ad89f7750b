"""Who a conversation is held with: the ASGI application without a socket, or a process that serves."""

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.facades.confluent.form import V1, Answer, Conversation, FormError, Names, Turn, difference
from tests.facades.doors import write_passwords
from tests.real.running import Running, serving, start
from treaty.api.application import ServerApplication, build_application
from treaty.api.protection import ProtectionSettings, open_protection
from treaty.assemble import open_node
from treaty.assemble.server import ServerOptions
from treaty.core.limits import IGLU_BODY_BYTES, IGLU_DEPTH
from treaty.wire import native
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.iglu.documents import IgluSettings

Lines = list[tuple[str, str]]
"""Headers as lines; one name may have several."""
Ask = Callable[[str, str, Lines, bytes], Answer]


def hold(conversation: Conversation, ask: Ask) -> None:
    """Say everything in turn, and compare what comes back; everything that is wrong is told together."""
    names = Names.of(conversation)
    wrong = list(filter(None, (_said(turn, names, ask) for turn in conversation.turns)))
    assert not wrong, "\n\n".join([conversation.name, *wrong])


def _said(turn: Turn, names: Names, ask: Ask) -> str:
    """Take one turn; return what is wrong with the answer, if something is."""
    target = names.inside(turn.target)
    body = _body(turn, names)
    given = ask(turn.method, target, _lines(turn, names, labelled=bool(body)), body)
    wrong = _told_difference(turn, given, names) or _body_difference(turn, given, names)
    if given.status != turn.status:
        wrong = f"expected status {turn.status}"
    shown = f"line {turn.line}: {turn.method} {target} gave {given.status} {given.body[:4000]!r} {dict(given.headers)}"
    return wrong and f"{shown}\n{wrong}"


def _lines(turn: Turn, names: Names, *, labelled: bool) -> Lines:
    """The headers of a request: a list of values has a line for each, null takes off the label of the body."""
    headers: dict[str, Any] = {"Content-Type": V1} if labelled else {}
    headers |= turn.members.get("headers", {})
    listed = [(name, value if isinstance(value, list) else [value]) for name, value in headers.items()]
    return [(name, names.filled(value)) for name, values in listed for value in values if value is not None]


def _body(turn: Turn, names: Names) -> bytes:
    if "raw" in turn.members:
        return str(names.filled(turn.members["raw"])).encode("utf-8", "surrogateescape")
    if "send" not in turn.members:
        return b""
    return json.dumps(names.filled(turn.members["send"])).encode()


def _told_difference(turn: Turn, given: Answer, names: Names) -> str:
    """Compare headers; null stands for one that may not be there."""
    for name, expected in turn.members.get("told", {}).items():
        got = given.headers.get(name.lower())
        wrong = f"it has {got!r}" if expected is None and got is not None else ""
        if expected is not None:
            wrong = difference(expected, got, names)
        if wrong:
            return f"header {name}: {wrong}"
    return ""


def _body_difference(turn: Turn, given: Answer, names: Names) -> str:
    members = turn.members
    if turn.method == "HEAD" or turn.status == 204:
        return f"expected no body, got {given.body!r}" if given.body else ""
    if "error" in members:
        code, message = members["error"]
        typed = {"error": "..."} if turn.target == native.PATH else {}
        return difference({"error_code": code, "message": message, **typed}, _json(given), names)
    if "text" in members:
        return difference(members["text"], given.body.decode(), names)
    if "answer" in members:
        return difference(members["answer"], _json(given), names)
    raise FormError(f"line {turn.line} says nothing of the body: answer, error or text")


def _json(given: Answer) -> Any:
    try:
        return json.loads(given.body)
    except ValueError:
        return f"no JSON: {given.body!r}"


# ------------------------------------------------------------------------------------------------ without a socket


def hold_with_application(conversation: Conversation, folder: Path) -> None:
    """Hold a conversation with an application of its own, over a log in memory."""
    _write_files(conversation, folder)
    with asyncio.Runner() as runner:
        context = _opened(_protection(conversation, folder), _manner(conversation, folder))
        app = runner.run(context.__aenter__())
        try:
            hold(conversation, lambda *asked: runner.run(_asked(app, *asked)))
        finally:
            runner.run(context.__aexit__(None, None, None))


@asynccontextmanager
async def _opened(protection: ProtectionSettings, manner: ServerOptions) -> AsyncIterator[ServerApplication]:
    opened = open_node("memory:", metadata_keys=manner.metadata_keys)
    async with open_protection(protection) as guards, opened as node:
        yield build_application(node, protection=guards, incompatible=manner.incompatible, iglu=manner.iglu)


def _protection(conversation: Conversation, folder: Path) -> ProtectionSettings:
    """The options that change what is answered, as the command line would understand them."""
    given = _options(conversation, folder)
    auth = Path(given[given.index("--auth") + 1]) if "--auth" in given else None
    known = {"--auth", "--read-only", "--incompatible-code", "--metadata-key-file"}
    known |= {"--iglu-patches", "--iglu-body-bytes", "--iglu-depth"}
    unknown = {one for one in given if one.startswith("--")} - known
    if unknown:
        raise FormError(f"{conversation.name}: nobody here knows {', '.join(sorted(unknown))}")
    return ProtectionSettings(auth, read_only="--read-only" in given)


def _manner(conversation: Conversation, folder: Path) -> ServerOptions:
    given = _options(conversation, folder)
    code = int(given[given.index("--incompatible-code") + 1]) if "--incompatible-code" in given else INCOMPATIBLE
    keys = Path(given[given.index("--metadata-key-file") + 1]) if "--metadata-key-file" in given else None
    numbers = [
        int(given[given.index(one) + 1]) if one in given else None for one in ("--iglu-body-bytes", "--iglu-depth")
    ]
    iglu = IgluSettings(numbers[0] or IGLU_BODY_BYTES, numbers[1] or IGLU_DEPTH, "--iglu-patches" in given)
    return ServerOptions(code, keys, iglu=iglu)


def _options(conversation: Conversation, folder: Path) -> list[str]:
    return [option.replace("{folder}", str(folder)) for option in conversation.heading.get("options", [])]


def _write_files(conversation: Conversation, folder: Path) -> None:
    for name, lines in conversation.heading.get("files", {}).items():
        (folder / name).write_text("\n".join(lines) + "\n")
    if "passwords" in conversation.heading:
        write_passwords(folder / "passwords", **conversation.heading["passwords"])


async def _asked(app: ServerApplication, method: str, target: str, headers: Lines, body: bytes) -> Answer:
    """Ask an ASGI application as a server would."""
    path, _, query = target.partition("?")
    sent = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    length = [(b"content-length", str(len(body)).encode())] if body else []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), *sent, *length],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    told: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    send: Callable[[Any], Awaitable[None]] = _keeper(told)
    await app.dispatcher(scope, receive, send)
    begin, *rest = told
    shown = {name.decode().lower(): value.decode("latin-1") for name, value in begin["headers"]}
    # A server sends no body after HEAD, whatever the application gives it.
    sent_back = b"" if method == "HEAD" else b"".join(part.get("body", b"") for part in rest)
    return Answer(begin["status"], shown, sent_back)


def _keeper(told: list[Any]) -> Callable[[Any], Awaitable[None]]:
    async def send(message: Any) -> None:
        told.append(message)

    return send


# -------------------------------------------------------------------------------------------------- with a process


def hold_with_process(conversation: Conversation, folder: Path) -> None:
    """Hold a conversation with a process of its own."""
    _write_files(conversation, folder)
    with serving(folder, "--log", "memory:", *_options(conversation, folder)) as server:
        hold(conversation, asking(server))


def asking(server: Running) -> Ask:
    """Ask a process, over a connection for each request; headers are sent as they are, and no others."""

    def ask(method: str, target: str, headers: Lines, body: bytes) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())
        finally:
            connection.close()

    return ask


@dataclass
class Shared:
    """A process for many conversations. What one leaves behind is cleared away, all but the ids that it used up."""

    folder: Path
    server: Running | None = None
    clean: bool = field(default=True)

    def hold(self, conversation: Conversation) -> None:
        """Hold a conversation; a process that could not be cleared is replaced by a new one."""
        if self.server is None or not self.clean:
            self.stop()
            self.server = start(self.folder, "--log", "memory:")
        self.clean = False
        hold(conversation, asking(self.server))
        self.clean = self._cleared(conversation, asking(self.server))

    def stop(self) -> None:
        """End the process."""
        if self.server is not None:
            self.server.stop()
            self.server = None

    def _cleared(self, conversation: Conversation, ask: Ask) -> bool:
        """Forget settings, associations, then subjects (those that refer to others before them), then contexts."""

        def told(method: str, target: str) -> Any:
            answer = ask(method, target, [], b"")
            return json.loads(answer.body) if answer.body else None

        put = [turn.target.partition("?")[0] for turn in conversation.turns if turn.method == "PUT"]
        for target in (*put, "/config", "/mode", "/config/:.__GLOBAL:", "/mode/:.__GLOBAL:"):
            told("DELETE", target)
        for one in told("GET", "/associations/resources/-/-"):
            told("DELETE", f"/associations/resources/{quote(one['resourceId'], safe='')}?cascadeLifecycle=true")
        for _ in range(10):
            for subject in told("GET", "/subjects?deleted=true"):
                told("DELETE", f"/subjects/{quote(subject, safe='')}")
                told("DELETE", f"/subjects/{quote(subject, safe='')}?permanent=true")
        for context in told("GET", "/contexts")[1:]:
            told("DELETE", f"/contexts/{quote(context, safe='')}")
        return (told("GET", "/subjects?deleted=true"), told("GET", "/contexts")) == ([], ["."])
