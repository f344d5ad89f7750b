"""The pages for people, mounted in a server: who looks, which posted form is refused as foreign or no longer valid, logging in and out."""

import base64
import secrets
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl

from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from treaty.api.auth.authentication import RequestAuthenticator
from treaty.api.auth.sessions import COOKIE, PAGES_PREFIX, SESSION_SECONDS, VISIT_COOKIE, SessionCookies
from treaty.api.bodies import compress_response, read_body
from treaty.api.errors import HttpError, as_known
from treaty.api.request_scope import ROUTE, RequestCaller, caller
from treaty.core.refusals import RegistryError, Unauthenticated
from treaty.core.registry import AsyncRegistry
from treaty.web.pages.application import CHANGING, HEADERS, STATIC, PageApplication
from treaty.web.pages.page import (
    FORM_FIELDS,
    QUERY_FIELDS,
    PageError,
    PageRequest,
    PageViewer,
    WebPage,
    local_page,
    show_login,
)

FORM_MEDIA = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class MountedPages:
    """The pages over a registry that asks with the rights of the caller."""

    application: PageApplication
    registry: AsyncRegistry
    sessions: SessionCookies
    authenticator: RequestAuthenticator | None = None
    prefixes: tuple[bytes, ...] = field(default=(PAGES_PREFIX,), init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        http = HttpRequest(scope, receive)
        try:
            response = await self._answer(http)
        except Exception as failure:  # noqa: BLE001 (every failure has its page)
            response = self.error_response(failure, scope)
        vary = response.headers.get("vary", "")
        await compress_response(response, http.headers.get("accept-encoding", ""))
        if vary:
            response.headers["vary"] = vary
        await response(scope, receive, send)

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the page of a failure, also of one outside of the pages, such as missing credentials."""
        http = HttpRequest(scope)
        moved = _lead_to_pages(scope)
        if moved is not None:
            return moved
        failure = as_known(failure, f"{http.method} {scope['raw_path'].decode('latin-1')}", PageError)
        if isinstance(failure, HttpError):
            failure = PageError(failure.status, str(failure))
        assert isinstance(failure, PageError | RegistryError)
        name = _name_of(scope)
        if isinstance(failure, Unauthenticated) and http.method in {"GET", "HEAD"} and self._can_log_in():
            query = scope["query_string"].decode("latin-1")
            next_page = f"{name}?{query}" if query else name
            return self._print_login(show_login(next_page, self._methods(), status=401), http)
        return self.application.print_error(failure, self._viewer(http))

    async def _answer(self, http: HttpRequest) -> Response:
        moved = _lead_to_pages(http.scope)
        if moved is not None:
            return moved
        name = _name_of(http.scope)
        if name.startswith(STATIC):
            http.scope[ROUTE] = "/ui/static/{file}"
            return self.application.static(name.removeprefix(STATIC))
        if http.method not in {"GET", "HEAD", "POST"}:
            raise PageError(405, "pages are asked with GET, forms are sent with POST")
        form = await self._read_form(http) if http.method == "POST" else None
        if name in {"login", "logout"}:
            http.scope[ROUTE] = f"/ui/{name}"
            return await (self._log_in(http, form) if name == "login" else self._log_out(form))
        if self.application.is_page(name):
            http.scope[ROUTE] = f"/ui/{name}"
        query = _read_query(http.scope)
        server = replace(self.application.server, address=_address_of(http))
        request = PageRequest(self.registry, self._viewer(http), server, query, form)
        return await self.application.answer(name, request)

    async def _read_form(self, http: HttpRequest) -> dict[str, str]:
        """Return the members of a form of these pages; raises `PageError` for any other."""
        site = http.headers.get("sec-fetch-site", "same-origin")
        if site not in {"same-origin", "none"}:
            raise PageError(403, "a page of another site sent this form", "open the page here, and send it again")
        if http.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_MEDIA:
            raise PageError(415, f"a form is sent as {FORM_MEDIA}")
        body = await read_body(http)
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FORM_FIELDS, errors="strict")
        except ValueError:
            raise PageError(400, "the form can't be read") from None
        form = dict(pairs)
        token = form.pop("token", "")
        is_valid = (
            self.sessions.is_login_token(token, http.cookies.get(VISIT_COOKIE, ""))
            if _name_of(http.scope) == "login"
            else self.sessions.is_form_token(token, self._principal(http))
        )
        if not is_valid:
            raise PageError(403, "this form is no longer valid", "open the page again, and send it from there")
        return form

    # ------------------------------------------------------------------------------------------------ who looks

    def _principal(self, http: HttpRequest) -> str:
        who = caller()
        if self.authenticator is None or who is None or _name_of(http.scope) == "login":
            return ""
        return who.principal

    def _viewer(self, http: HttpRequest) -> PageViewer:
        who = (caller() if self.authenticator is not None else None) or RequestCaller()
        token = self.sessions.form_token(self._principal(http))
        has_session = self.authenticator is not None and self.sessions.read(http.scope["headers"]) is not None
        return PageViewer(
            who.principal,
            who.access,
            token,
            has_session=has_session and "authorization" not in http.headers,
            can_log_in=self._can_log_in(),
            knows_who=self.authenticator is not None,
        )

    def _methods(self) -> tuple[str, ...]:
        """Return the kinds of credentials that can be typed."""
        methods = self.authenticator.methods if self.authenticator is not None else {}
        return tuple(name for name in ("basic", "bearer") if name in methods)

    def _can_log_in(self) -> bool:
        return bool(self._methods())

    async def _log_in(self, http: HttpRequest, form: dict[str, str] | None) -> Response:
        if self.authenticator is None or not self._can_log_in():
            raise PageError(404, "this server has no names and passwords")
        if form is None:
            return self._print_login(show_login(http.query_params.get("next", ""), self._methods()), http)
        next_page = local_page(form.get("next", ""))
        credentials = f"{form.get('user', '')}:{form.get('password', '')}".encode()
        authorization = b"Basic " + base64.b64encode(credentials)
        if form.get("bearer"):
            authorization = b"Bearer " + form["bearer"].strip().encode()
        client = http.scope.get("client")
        try:
            session = await self.authenticator.open_session(authorization, client[0] if client else "")
        except Unauthenticated as refusal:
            page = show_login(next_page, self._methods(), status=401, user=form.get("user", ""), reason=str(refusal))
            return self._print_login(page, http)
        response = RedirectResponse(next_page or "./", 303, {**HEADERS, **CHANGING})
        self._set_cookie(
            response,
            http,
            self.sessions.issue(session),
            min(SESSION_SECONDS, round(session.end - self.sessions.clock())),
        )
        return response

    def _print_login(self, page: WebPage, http: HttpRequest) -> Response:
        """Return the page for logging in; its form is valid in this browser alone."""
        visit = http.cookies.get(VISIT_COOKIE, "") or secrets.token_urlsafe(16)
        viewer = replace(self._viewer(http), form_token=self.sessions.login_token(visit))
        response = self.application.print_answer(page, viewer)
        secure = http.scope["scheme"] == "https"
        if http.cookies.get(VISIT_COOKIE, "") != visit:
            response.set_cookie(VISIT_COOKIE, visit, path="/", secure=secure, httponly=True, samesite="lax")
        return response

    async def _log_out(self, form: dict[str, str] | None) -> Response:
        if form is None:
            raise PageError(405, "log out with the button")
        response = RedirectResponse("login", 303, {**HEADERS, **CHANGING})
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
        return response

    def _set_cookie(self, response: Response, http: HttpRequest, value: str, seconds: int) -> None:
        secure = http.scope["scheme"] == "https"
        response.set_cookie(COOKIE, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")


def _lead_to_pages(scope: Scope) -> Response | None:
    """Return what leads to Home from where relative addresses would lead astray: the root, a folder below the pages."""
    path: str = scope["raw_path"].decode("latin-1")
    depth = (
        path.removeprefix("/ui/").count("/") if path.startswith("/ui/") and not path.startswith(f"/ui/{STATIC}") else 0
    )
    if path not in {"/", "/ui"} and not depth:
        return None
    to = "../" * depth or "ui/"
    return RedirectResponse(to, 303, {**HEADERS, "cache-control": "no-cache", "vary": "accept"})


def _read_query(scope: Scope) -> dict[str, str]:
    """Return the members of the query of an address; raises `PageError` for more than a page takes."""
    text = scope["query_string"].decode("latin-1")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=QUERY_FIELDS))
    except ValueError:
        message = f"the address has {text.count('&') + 1:,} members, and a page takes {QUERY_FIELDS}"
        raise PageError(400, message, "leave out members that the page does not know") from None


def _name_of(scope: Scope) -> str:
    """Return the address of a page below ``/ui/``."""
    path: str = scope["raw_path"].decode("latin-1")
    return path.removeprefix("/ui/") if path.startswith("/ui/") else ""


def _address_of(http: HttpRequest) -> str:
    """Return the address under which the server was asked, for programs that people copy."""
    host = http.headers.get("host", "") or "localhost"
    return f"{http.scope['scheme']}://{host}"
