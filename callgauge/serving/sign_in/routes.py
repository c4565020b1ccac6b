"""Routes for the sign-in page, its forms, and the sign-out."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.access_log import AccessLog
from callgauge.serving.clients import ClientAddresses
from callgauge.serving.identity import User
from callgauge.serving.request_limits import RateLimit, SlowTurns
from callgauge.serving.sign_in.admission import Admission, Identity
from callgauge.serving.sign_in.oidc import MINUTES, OidcProvider, ProviderRefusedError
from callgauge.serving.sign_in.page import (
    draw_field,
    draw_form,
    draw_link,
    draw_problem,
    draw_sentence,
    make_page,
)
from callgauge.serving.sign_in.sessions import COOKIE, Sessions, Signer, SignOutNotSavedError
from callgauge.serving.sign_in.users_file import (
    LONGEST_NAME,
    LONGEST_PASSWORD,
    ListedUser,
    UsersFile,
    UsersFileError,
)

PLACE = "/sign-in"
SIGN_OUT = "/sign-out"
_LINK, _BEGIN, _BACK = f"{PLACE}/link", f"{PLACE}/oidc", f"{PLACE}/oidc/callback"
_FORM_COOKIE, _PENDING_COOKIE, _KNOWN_COOKIE = "callgauge_form", "callgauge_pending", "callgauge_known"
_KNOWN_SECONDS = 180 * 86_400  # seconds for which a browser remembers who signed in
_PAUSE = 5.0  # seconds of delay for each attempt above the limit
_FORM_SECONDS = 3600
_FORM_LENGTH = 48  # number of characters in the form cookie
_LONGEST_NEXT = 8_000
_AT_ONCE = 2  # maximum number of passwords that are hashed at the same time; each hash takes 64 MB
_TOO_OFTEN = "Too many tries. Wait some minutes, then try again."
_REFUSED = "Name and password do not fit together."
_NOT_SAVED = (
    "You are signed out in this browser, but the server could not save it. If the server restarts before {}, "
    "a copy of your cookie works again. Tell the person who runs this dashboard."
)
_SAVE_IT = (
    "Until it is saved, a restart lets in a copy of that cookie. Free some space or change the permissions "
    "of the store; the server then saves it at the next sign-in, sign-out or request of /healthz. To end all "
    "sessions instead, remove sign_in.key and restart"
)
_NO_LINK = "This link was used already, is too old, or was never made. Ask for a new one."


class SignInRoutes:
    """Answers requests below /sign-in and requests to /sign-out."""

    def __init__(
        self,
        settings: SignInSettings,
        sessions: Sessions,
        signer: Signer,
        admission: Admission,
        log: AccessLog,
        users: UsersFile | None,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._signer = signer
        self._admission = admission
        self._log = log
        self._users = users
        self._visits = RateLimit(300, 600)  # high, because a whole team may share the address of one proxy
        self._tries_of_client = RateLimit(20, 600)
        self._tries_of_name = RateLimit(60, 600)
        self._tries_of_known = RateLimit(20, 600)
        self._slow = SlowTurns(_PAUSE)
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._hashing = asyncio.Semaphore(_AT_ONCE)
        self._oidc = (
            OidcProvider(
                settings.issuer or "",
                settings.client_id or "",
                os.environ.get(settings.client_secret_variable),
            )
            if settings.method == "oidc"
            else None
        )

    async def answer(self, request: Request) -> Response:
        """Answer a request to /sign-out or below /sign-in."""
        try:
            return await self._answer(request)
        except UsersFileError as problem:
            print(f"Nobody can sign in: {problem}", file=sys.stderr)
            words = "Sign-in does not work at the moment. The server's log has the reason."
            return make_page("Sign in", draw_problem(words), status=HTTPStatus.SERVICE_UNAVAILABLE)

    async def _answer(self, request: Request) -> Response:
        path, posted, users = request.scope["path"], request.method == "POST", self._users
        if path == SIGN_OUT:
            return await self._sign_out(request)
        if path == PLACE and users is not None and self._settings.method == "password":
            return await self._take_password(request, users) if posted else self._ask(request)
        if path == PLACE and not posted:
            return self._ask_otherwise(request)
        if path == _LINK and users is not None:
            return await self._take_link(request, users) if posted else self._show_link(request, users)
        if path == _BEGIN and self._oidc is not None and not posted:
            return await self._go_to_provider(request, self._oidc)
        if path == _BACK and self._oidc is not None and not posted:
            return await self._come_back(request, self._oidc)
        return make_page("Nothing is here", draw_link("Sign in", PLACE), status=HTTPStatus.NOT_FOUND)

    def _ask(
        self,
        request: Request,
        problem: str | None = None,
        fields: Mapping[str, str] | None = None,
        status: int = 200,
    ) -> Response:
        """Return the page that asks for name and password. `fields` are the values of a rejected form."""
        fields = fields or request.query_params
        then, name = tidy_next(fields.get("next")), fields.get("name", "")[:LONGEST_NAME] if problem else ""
        return self._make_form_page(
            request,
            "Sign in",
            status,
            draw_problem(problem),
            (
                PLACE,
                "Sign in",
                {"next": then},
                (
                    draw_field("Name", "name", "text", "username", name, focus=not name),
                    draw_field("Password", "password", "password", "current-password", focus=bool(name)),
                ),
            ),
        )

    def _ask_otherwise(self, request: Request, problem: str | None = None, status: int = 200) -> Response:
        method = self._settings.method
        if method == "oidc":
            then = tidy_next(request.query_params.get("next"))
            return make_page(
                "Sign in",
                draw_problem(problem),
                draw_sentence("With the account of your organisation.", quiet=True),
                draw_link("Sign in", f"{_BEGIN}?next={quote(then, safe='')}"),
                status=status,
            )
        if method == "link":
            words = "Open the link that you were sent. Whoever runs this dashboard can make you one."
        else:
            words = "The sign-in before this dashboard named nobody. Come in by its address, not past it."
        return make_page("Sign in", draw_problem(problem), draw_sentence(words, quiet=True), status=status)

    async def _take_password(self, request: Request, users: UsersFile) -> Response:
        form = await _read_form(request)
        name, password = form.get("name", "")[:LONGEST_NAME], form.get("password", "")[:LONGEST_PASSWORD]
        client = self._clients.find(request.scope)
        if not self._is_own_form(request, form):
            return self._ask(request, "The page was too old. Try again.", form, HTTPStatus.FORBIDDEN)
        # A client above its limit gets slower answers, because a team may share an address with an attacker.
        # Each name has a limit, too, because an attacker may use many addresses. Browsers in which this
        # person signed in before are exempt, so that attacks lock nobody out.
        tidy = name.strip().lower()
        is_known = self._is_known_browser(request, tidy) and self._tries_of_known.take(tidy)
        if not (is_known or self._tries_of_name.take(tidy)):
            return self._refuse_for_now(request, form, name, client)
        is_quick = not is_known and self._tries_of_client.take(client)
        if is_known or is_quick:
            user = await self._check_password(users, name, password)
        else:
            async with self._slow.take(client) as is_free:
                if not is_free:
                    return self._refuse_for_now(request, form, name, client)
                user = await self._check_password(users, name, password)
        if user is None:
            self._log.write("sign_in_refused", name=name, client=client, reason="password")
            return self._ask(request, _REFUSED, form, HTTPStatus.FORBIDDEN)
        if is_quick:
            self._tries_of_client.give_back(client)
        if not is_known:
            self._tries_of_name.give_back(tidy)
        answer = self._let_in(request, _identity_of(user), tidy_next(form.get("next")))
        name_cookie = self._signer.sign("known", tidy)
        self._set_cookie(request, answer, _KNOWN_COOKIE, name_cookie, _KNOWN_SECONDS, PLACE)
        return answer

    async def _check_password(self, users: UsersFile, name: str, password: str) -> ListedUser | None:
        async with self._hashing:
            return await asyncio.to_thread(users.check_password, name, password)

    def _is_known_browser(self, request: Request, tidy: str) -> bool:
        """Return True if the person with this name signed in with this browser before."""
        cookie = request.cookies.get(_KNOWN_COOKIE, "")
        return bool(tidy) and self._signer.read("known", cookie, _KNOWN_SECONDS) == tidy

    def _refuse_for_now(self, request: Request, form: dict[str, str], name: str, client: str) -> Response:
        self._log.write("sign_in_refused", name=name, client=client, reason="too many tries")
        return self._ask(request, _TOO_OFTEN, form, HTTPStatus.TOO_MANY_REQUESTS)

    def _show_link(self, request: Request, users: UsersFile) -> Response:
        """Ask the user to confirm the sign-in. Mail programs open links automatically, and must not use up
        the sign-in link.
        """
        text = request.query_params.get("token", "")
        if not self._visits.take(self._clients.find(request.scope)):
            return make_page("Sign in", draw_problem(_TOO_OFTEN), status=HTTPStatus.TOO_MANY_REQUESTS)
        user = users.read_link(text)
        if user is None:
            return make_page("Sign in", draw_problem(_NO_LINK), status=HTTPStatus.FORBIDDEN)
        then = tidy_next(request.query_params.get("next"))
        button = (_LINK, f"Sign in as {user.name}", {"token": text, "next": then}, ())
        return self._make_form_page(
            request, "Sign in", 200, draw_sentence("The link works once.", quiet=True), button
        )

    async def _take_link(self, request: Request, users: UsersFile) -> Response:
        form = await _read_form(request)
        client = self._clients.find(request.scope)
        if not self._is_own_form(request, form):
            return make_page("Sign in", draw_problem("Open the link again."), status=HTTPStatus.FORBIDDEN)
        user = users.use_link(form.get("token", ""))
        if user is None:
            self._log.write("sign_in_refused", client=client, reason="link")
            return make_page("Sign in", draw_problem(_NO_LINK), status=HTTPStatus.FORBIDDEN)
        return self._let_in(request, _identity_of(user), tidy_next(form.get("next")))

    async def _go_to_provider(self, request: Request, provider: OidcProvider) -> Response:
        if not self._visits.take(self._clients.find(request.scope)):
            return self._ask_otherwise(request, _TOO_OFTEN, HTTPStatus.TOO_MANY_REQUESTS)
        back = f"{self._own_address(request)}{_BACK}"
        try:
            place, cookie = await provider.begin(
                request.scope, back, tidy_next(request.query_params.get("next"))
            )
        except ProviderRefusedError as refused:
            return self._refuse_provider(request, refused)
        answer = RedirectResponse(place, HTTPStatus.SEE_OTHER)
        self._set_cookie(request, answer, _PENDING_COOKIE, cookie, MINUTES * 60, PLACE)
        return answer

    async def _come_back(self, request: Request, provider: OidcProvider) -> Response:
        try:
            identity, then = await provider.finish(request.scope, request.cookies.get(_PENDING_COOKIE))
        except ProviderRefusedError as refused:
            return self._refuse_provider(request, refused)
        admitted = Identity(identity.name, self._admission.keep_groups(identity.groups))
        return self._let_in(request, admitted, then)

    def _refuse_provider(self, request: Request, refused: ProviderRefusedError) -> Response:
        self._log.write("sign_in_refused", client=self._clients.find(request.scope), reason=str(refused))
        return self._ask_otherwise(request, str(refused), HTTPStatus.FORBIDDEN)

    def _let_in(self, request: Request, identity: Identity, then: str) -> Response:
        user = self._admission.admit(identity)
        client = self._clients.find(request.scope)
        if user is None:
            self._log.write("sign_in_refused", name=identity.name, client=client, reason="not allowed")
            return refuse_account(identity.name)
        self._log.write("sign_in", user, client=client)
        answer = RedirectResponse(then, HTTPStatus.SEE_OTHER)
        seconds = int(self._settings.hours * 3600)
        self._set_cookie(request, answer, COOKIE, self._sessions.begin(identity), seconds, "/")
        answer.delete_cookie(_FORM_COOKIE, "/")
        answer.delete_cookie(_PENDING_COOKIE, PLACE)
        return answer

    async def _sign_out(self, request: Request) -> Response:
        session = self._sessions.read(request.cookies.get(COOKIE, ""))
        if session is None:
            return RedirectResponse(PLACE, HTTPStatus.SEE_OTHER)
        if request.method == "POST":
            own = self._is_own_form(request, await _read_form(request))
        else:
            own = request.headers.get("sec-fetch-site") == "same-origin"
        if not own:  # a link on another site must not sign the user out
            words = draw_sentence(f"You are signed in as {session.identity.name}.", quiet=True)
            return self._make_form_page(request, "Sign out?", 200, words, (SIGN_OUT, "Sign out", {}, ()))
        problem = None
        try:
            self._sessions.end(session)
        except SignOutNotSavedError as refused:
            problem = _NOT_SAVED.format(time.strftime("%H:%M UTC", time.gmtime(session.until)))
            print(f"A sign-out could not be saved: {refused}. {_SAVE_IT}", file=sys.stderr, flush=True)
        user = self._admission.admit(session.identity) or User(session.identity.name, "viewer", False)
        client, reason = self._clients.find(request.scope), "not saved" if problem else None
        self._log.write("sign_out", user, client=client, reason=reason)
        answer = make_page(
            "Sign-out not saved" if problem else "Signed out",
            draw_problem(problem),
            draw_sentence("Other tabs show nothing new any more.", quiet=True),
            draw_link("Sign in", PLACE),
            status=HTTPStatus.INTERNAL_SERVER_ERROR if problem else HTTPStatus.OK,
        )
        answer.delete_cookie(COOKIE, "/")
        return answer

    def _make_form_page(
        self,
        request: Request,
        title: str,
        status: int,
        words: str,
        form: tuple[str, str, dict[str, str], tuple[str, ...]],
    ) -> Response:
        """Return a page with a form. The form is valid only with this browser's cookie."""
        action, button, hidden, fields = form
        cookie = request.cookies.get(_FORM_COOKIE, "")
        # two tabs can share a valid cookie; only an invalid one is replaced
        if len(cookie) != _FORM_LENGTH or not cookie.isascii():
            cookie = secrets.token_hex(_FORM_LENGTH // 2)
        hidden = {**hidden, "form": self._signer.sign("form", cookie)}
        answer = make_page(title, words, draw_form(action, button, hidden, *fields), status=status)
        self._set_cookie(request, answer, _FORM_COOKIE, cookie, _FORM_SECONDS, "/")
        return answer

    def _is_own_form(self, request: Request, form: dict[str, str]) -> bool:
        cookie = request.cookies.get(_FORM_COOKIE)
        return bool(cookie) and self._signer.read("form", form.get("form", ""), _FORM_SECONDS) == cookie

    def _set_cookie(
        self, request: Request, answer: Response, name: str, value: str, seconds: int, path: str
    ) -> None:
        secure = self._own_address(request).startswith("https:")
        answer.set_cookie(name, value, seconds, path=path, secure=secure, httponly=True, samesite="lax")

    def _own_address(self, request: Request) -> str:
        """Return the scheme and host that browsers use for this server. The guard has checked the host."""
        address = self._settings.address
        return address.rstrip("/") if address else f"{request.url.scheme}://{request.url.netloc}"


def refuse_account(name: str) -> Response:
    """Return the page for a person who is signed in but has no access."""
    return make_page(
        "No access",
        draw_sentence(f"{name} may not see this dashboard. Ask whoever runs it."),
        draw_link("Sign in as somebody else", PLACE),
        status=HTTPStatus.FORBIDDEN,
    )


def tidy_next(address: str | None) -> str:
    """Return the URL path to open after the sign-in. Return the first page if `address` could lead to another
    server.
    """
    if (
        not address
        or len(address) > _LONGEST_NEXT
        or not address.startswith("/")
        or not address.isprintable()
    ):
        return "/"
    # Browsers read \ as /, and read an address that starts with // as another host.
    if address.startswith("//") or "\\" in address:
        return "/"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    if parts.scheme or parts.netloc or parts.path.startswith((PLACE, SIGN_OUT)):
        return "/"
    return address


def sign_in_address(path: str, query: str) -> str:
    """Return the address of the sign-in page. After the sign-in, that page opens the requested page."""
    then = tidy_next(f"{path}?{query}" if query else path)
    return PLACE if then == "/" else f"{PLACE}?next={quote(then, safe='')}"


async def _read_form(request: Request) -> dict[str, str]:
    try:
        form = await request.form(max_files=0, max_fields=10)
    except (ClientDisconnect, HTTPException, MultiPartException):
        return {}
    return {name: value for name, value in form.items() if isinstance(value, str)}


def _identity_of(user: ListedUser) -> Identity:
    return Identity(user.name, stamp=user.stamp)
