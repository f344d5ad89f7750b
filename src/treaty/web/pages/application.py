"""The application of the pages: which page answers, and the headers of every answer."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from treaty.core.messages.settings import GetConfig, Scope
from treaty.core.names import EVERYWHERE
from treaty.core.refusals import OutcomeUnknown, Refusal, RegistryError, Unauthenticated, Unavailable
from treaty.core.registry import CallOptions
from treaty.web.pages import (
    compare,
    deletion,
    graph,
    home,
    operator,
    schema,
    search,
    sources,
    subject,
    subjects,
    trial,
    writes,
)
from treaty.web.pages.assets import static_files
from treaty.web.pages.page import PageError, PageMoved, PageRequest, PageViewer, RawText, ServerFacts, WebPage
from treaty.web.pages.templates import environment
from treaty.wire.confluent.errors import error_body, status_of

Answer = WebPage | PageMoved | RawText
ShowPage = Callable[[PageRequest], Awaitable[Answer]]

PAGES: Mapping[str, ShowPage] = {
    "": home.show_home,
    "subjects": subjects.show_subjects,
    "subject": subject.show_subject,
    "schema": schema.show_schema,
    "raw": schema.show_raw,
    "sources": sources.show_sources,
    "source": sources.show_source,
    "queries": sources.show_queries,
    "types": sources.show_types,
    "type": sources.show_type,
    "search": search.show_search,
    "compare": compare.show_comparison,
    "try": trial.show_trial,
    "try-sql": trial.show_sql,
    "graph": graph.show_graph,
    "register": writes.show_registration,
    "policy": writes.show_policy,
    "delete": deletion.show_deletion,
    "pause": writes.show_pause,
    "changes": home.show_changes,
    "node": operator.show_node,
    "limits": operator.show_limits,
}
"""Pages by the last part of their address, below ``/ui/``."""
FORMS: Mapping[str, ShowPage] = {
    "try": trial.try_text,
    "try-sql": trial.show_sql,
    "register": writes.register,
    "policy": writes.set_policy,
    "delete": deletion.delete,
    "pause": writes.pause,
}
"""What answers a form that is sent to the address of a page."""
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy: nothing is loaded from elsewhere, and no script and no style stands inside a page."""
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
LOOK_SECONDS = 3.0
"""Seconds in which a page looks for what was written last; all that it asks afterwards is answered from memory."""
CHANGING = {"cache-control": "private, no-cache", "vary": "cookie, authorization, accept-encoding"}
LASTING = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
STATIC = "static/"
"""What the addresses of files begin with."""
MENU = (
    ("", "Home"), ("subjects", "Subjects"), ("search", "Search"), ("compare", "Compare"), ("try", "Try a change"),
    ("graph", "Graph"), ("sources", "Sources"), ("queries", "Queries"),
)  # fmt: skip
"""Entries of the menu: the name of a page and the words for it."""


@dataclass(frozen=True, slots=True)
class PageApplication:
    """All pages of a server."""

    server: ServerFacts

    def is_page(self, name: str) -> bool:
        """Return whether there is a page or a form at this address."""
        return name in PAGES or name in FORMS

    async def answer(self, name: str, request: PageRequest) -> Response:
        """Answer a request for a page, or for a form where one was sent; raises what the registry raises, and `PageError`."""
        show = (PAGES if request.form is None else FORMS).get(name)
        if show is None and name in {*PAGES, *FORMS}:
            raise PageError(405, "this page does not take that", "open it from the menu")
        if show is None:
            raise PageError(404, f"there is no page {name[:100]!r} here", "begin with Home")
        with suppress(RegistryError):  # a node that can't reach its log shows what it knows, and Home says so
            await request.registry.ask(GetConfig(Scope(EVERYWHERE)), CallOptions("latest", timeout=LOOK_SECONDS))
        return self.print_answer(await show(request), request.viewer, request.server)

    def static(self, name: str) -> Response:
        """Answer with a file; raises `PageError`."""
        file = static_files().get(name)
        if file is None:
            raise PageError(404, "there is no such file")
        return Response(file.body, 200, {**HEADERS, **LASTING}, file.media)

    def print_answer(self, answer: Answer, viewer: PageViewer, server: ServerFacts | None = None) -> Response:
        """Return the response for a page."""
        if isinstance(answer, PageMoved):
            return RedirectResponse(answer.to, 303, {**HEADERS, **CHANGING})
        if isinstance(answer, RawText):
            body = answer.text.encode("utf-8", "backslashreplace")
            return Response(body, 200, {**HEADERS, **CHANGING}, "text/plain; charset=utf-8")
        text = (
            environment()
            .get_template(answer.template)
            .render(
                title=answer.title,
                section=answer.section,
                menu=[entry for entry in MENU if entry[0] in PAGES],
                pages=PAGES.keys() | FORMS.keys(),
                viewer=viewer,
                server=server or self.server,
                **answer.values,
            )
        )
        body = text.encode("utf-8", "backslashreplace")
        return Response(body, answer.status, {**HEADERS, **CHANGING}, "text/html; charset=utf-8")

    def print_error(self, failure: Exception, viewer: PageViewer) -> Response:
        """Return the page of an error."""
        status, rule, message, remedy, findings = (
            500,
            "",
            "something went wrong; the log of the server says what",
            "",
            (),
        )
        if isinstance(failure, PageError):
            status, message, remedy = failure.status, str(failure), failure.remedy
        elif isinstance(failure, RegistryError):
            status, message = status_of(error_body(failure).error_code), str(failure)
        if isinstance(failure, Refusal):
            rule, remedy, findings = failure.reason.rule, failure.reason.allowed, getattr(failure, "findings", ())
        if isinstance(failure, Unauthenticated):
            message, remedy = "This registry asks who you are.", "Log in, or ask who runs it for an account."
        values = {
            "status": status,
            "rule": rule,
            "message": message,
            "remedy": remedy,
            "findings": findings,
            "headline": HEADLINES.get(status, "That did not work"),
            "is_unknown": isinstance(failure, OutcomeUnknown),
        }
        response = self.print_answer(WebPage("error.html", str(values["headline"]), values, status=status), viewer)
        if isinstance(failure, Unavailable):
            response.headers["retry-after"] = "1"
        return response


HEADLINES: Mapping[int, str] = {
    400: "The request is not valid",
    401: "Please log in",
    403: "You may not see this",
    404: "Not found",
    405: "Not possible here",
    409: "The change was refused",
    422: "The request is not valid",
    503: "Not available now",
}
