"""The comments of GitHub's and GitLab's APIs on loopback, as their documents describe them.

GitHub:
https://docs.github.com/en/rest/issues/comments
https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
https://docs.github.com/en/actions/security-for-github-actions/security-guides/automatic-token-authentication

GitLab:
https://docs.gitlab.com/api/notes/#merge-requests
https://docs.gitlab.com/api/rest/#pagination
https://docs.gitlab.com/api/rest/authentication/
https://docs.gitlab.com/ci/jobs/ci_job_token/#job-token-access
https://docs.gitlab.com/user/project/quick_actions/

What is documented as refused is refused. GitHub lets a token that writes update the comment of
another author, too ("Anyone with push access", in its documents on editing comments); so does
GitLab a maintainer (its table of permissions), but no reporter.
https://docs.github.com/en/communities/moderating-comments-and-conversations/managing-disruptive-comments
https://docs.gitlab.com/user/permissions/
"""

import json
import re
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a host answers."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a host is asked."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose a token is, and what it may.

    Attributes:
        login: its name, which its owner may change.
        writes: it may comment.
        job: it is GitLab's CI_JOB_TOKEN.
        maintains: it may edit the comments of others, on GitLab.
        told: the host tells whose the token is.
    """

    login: str
    writes: bool = True
    job: bool = False
    maintains: bool = False
    told: bool = True


@dataclass
class Note:
    """A comment."""

    id: int
    author: str | None
    body: str
    system: bool = False


def account_id(login: str) -> int:
    """Return the id of an account, which nobody can change."""
    return int.from_bytes(login.encode()) % 1_000_003


class Host:
    """What both hosts have in common: comments of one request, and the accounts of tokens.

    Attributes:
        replies: given to the next calls instead of what the host would answer.
        asked: every request.
    """

    def __init__(self, accounts: Mapping[str, Account]) -> None:
        self.accounts = dict(accounts)
        self.notes: list[Note] = []
        self.replies: list[Reply] = []
        self.asked: list[Request] = []
        self.root = ""

    def add(self, author: str | None, body: str, *, system: bool = False) -> Note:
        note = Note(id=1000 + len(self.notes), author=author, body=body, system=system)
        self.notes.append(note)
        return note

    def written(self) -> list[tuple[str, str]]:
        """Methods and paths of the calls that change something."""
        return [
            (request.method, request.path)
            for request in self.asked
            if request.method != "GET" and request.path != "/graphql"
        ]

    def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        if self.replies:
            return self.replies.pop(0)
        return self.reply(request)

    def reply(self, request: Request) -> Reply:
        raise NotImplementedError

    def page(self, request: Request, entries: list[Any], usual: int, links: str) -> Reply:
        """One page; `per_page` above 100 counts as 100."""
        size = min(int(request.query.get("per_page", usual)), 100)
        number = int(request.query.get("page", "1"))
        last = max(1, -(-len(entries) // size))
        others = {"first": 1, "last": last}
        if number > 1:
            others["prev"] = number - 1
        if number < last:
            others["next"] = number + 1
        link = ", ".join(
            f'<{links}{request.path}?page={page}&per_page={size}>; rel="{name}"'
            for name, page in others.items()
        )
        headers = {"Link": link} if last > 1 else {}
        return Reply(status=200, body=entries[(number - 1) * size : number * size], headers=headers)


class GitHub(Host):
    """Comments of pull request 7 of `us/training`, below the root, as on api.github.com."""

    comments = "/repos/us/training/issues/7/comments"

    def reply(self, request: Request) -> Reply:
        if not request.headers.get("User-Agent"):
            return self.refused(403, "Request forbidden by administrative rules.")
        account = self.accounts.get(request.token)
        if account is None:
            return self.refused(401, "Bad credentials")
        if request.path == "/graphql":
            # The gh CLI asks for the login, and prints `github-actions[bot]` in a job.
            assert request.body == {"query": "query { viewer { databaseId } }"}
            viewer = {"databaseId": account_id(account.login)} if account.told else None
            return Reply(status=200, body={"data": {"viewer": viewer}})
        one = re.fullmatch(r"/repos/us/training/issues/comments/(\d+)", request.path)
        note = next((each for each in self.notes if one and each.id == int(one[1])), None)
        match request.method:
            case "GET" if request.path == self.comments:
                entries = [self.entry(each) for each in self.notes]
                return self.page(request, entries, 30, self.root)
            case "POST" if request.path == self.comments:
                return self.refusal(request, account) or Reply(
                    status=201, body=self.entry(self.add(account.login, request.body["body"]))
                )
            case "PATCH" if note:
                if refusal := self.refusal(request, account):
                    return refusal
                note.body = request.body["body"]
                return Reply(status=200, body=self.entry(note))
        return self.refused(404, "Not Found")

    def refusal(self, request: Request, account: Account) -> Reply | None:
        if not account.writes:
            return self.refused(403, "Resource not accessible by integration")
        if not isinstance((request.body or {}).get("body"), str) or not request.body["body"]:
            return self.refused(422, "Validation Failed", errors=[{"code": "missing_field"}])
        if len(request.body["body"]) > 65_536:
            long = "Body is too long (maximum is 65536 characters)"
            error = {"resource": "IssueComment", "code": "unprocessable", "message": long}
            return self.refused(422, "Validation Failed", errors=[error])
        return None

    def refused(self, status: int, message: str, **more: Any) -> Reply:
        page = "https://docs.github.com/rest"
        body = {"message": message, "documentation_url": page, "status": str(status)}
        return Reply(status=status, body=body | more, headers={"X-RateLimit-Remaining": "4999"})

    @staticmethod
    def entry(note: Note) -> dict[str, Any]:
        return {
            "id": note.id,
            "html_url": f"https://github.com/us/training/pull/7#issuecomment-{note.id}",
            "user": note.author and {"login": note.author, "id": account_id(note.author)},
            "body": note.body,
        }


class GitLab(Host):
    """Notes of merge request 7 of project 42.

    Attributes:
        actions: quick actions that it has run. It looks for them in code blocks too, where GitLab
            does not.
    """

    notes_path = "/projects/42/merge_requests/7/notes"

    def __init__(self, accounts: Mapping[str, Account]) -> None:
        super().__init__(accounts)
        self.actions: list[str] = []

    def reply(self, request: Request) -> Reply:
        account = self.accounts.get(request.token or request.headers.get("PRIVATE-TOKEN", ""))
        writing = request.method != "GET"
        if account is None or (account.job and (writing or request.path != self.notes_path)):
            return Reply(status=401, body={"message": "401 Unauthorized"})
        if writing and not account.writes:
            return Reply(
                status=403,
                body={
                    "error": "insufficient_scope",
                    "error_description": "The request requires higher privileges than provided by "
                    "the access token.",
                    "scope": "api",
                },
            )
        if request.path == "/user":
            body = {"id": account_id(account.login), "username": account.login}
            return Reply(status=200, body=body)
        one = re.fullmatch(rf"{self.notes_path}/(\d+)", request.path)
        note = next((each for each in self.notes if one and each.id == int(one[1])), None)
        match request.method:
            case "GET" if request.path == self.notes_path:
                newest_first = request.query.get("sort", "desc") == "desc"
                entries = [self.entry(each) for each in self.notes]
                # Behind a proxy, GitLab may name the address that it has inside.
                links = "http://gitlab.internal.invalid/api/v4"
                return self.page(request, entries[:: -1 if newest_first else 1], 20, links)
            case "POST" if request.path == self.notes_path:
                return self.refusal(request) or Reply(
                    status=201, body=self.entry(self.add(account.login, self.text(request)))
                )
            case "PUT" if note:
                if note.author != account.login and not account.maintains:
                    return Reply(status=403, body={"message": "403 Forbidden"})
                if refusal := self.refusal(request):
                    return refusal
                note.body = self.text(request)
                return Reply(status=200, body=self.entry(note))
        return Reply(status=404, body={"message": "404 Project Not Found"})

    @staticmethod
    def refusal(request: Request) -> Reply | None:
        body = (request.body or {}).get("body")
        if not isinstance(body, str) or not body:
            return Reply(status=400, body={"error": "body is missing"})
        if len(body) > 1_000_000:
            long = {"note": ["is too long (maximum is 1000000 characters)"]}
            return Reply(status=400, body={"message": long})
        return None

    def text(self, request: Request) -> str:
        body: str = request.body["body"].replace("\r", "")
        pattern = re.compile(r"^/(?:approve|close|merge)\b.*\n?", re.MULTILINE | re.IGNORECASE)
        self.actions += pattern.findall(body)
        return pattern.sub("", body)

    @staticmethod
    def entry(note: Note) -> dict[str, Any]:
        return {
            "id": note.id,
            "body": note.body,
            "author": note.author and {"id": account_id(note.author), "username": note.author},
            "system": note.system,
        }


@contextmanager
def serving(host: Host, certificate: Path | None = None) -> Iterator[str]:
    """Serve a host on loopback; yields the root of its API.

    Args:
        host: its comments and accounts.
        certificate: with its key, for https.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # In absolute form where we are the proxy.
            address = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", "0"))
            text = self.rfile.read(length)
            reply = host.answer(
                Request(
                    method=self.command,
                    path=address.path,
                    query={name: values[0] for name, values in parse_qs(address.query).items()},
                    body=json.loads(text) if text else None,
                    headers=dict(self.headers),
                )
            )
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_PUT = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up
    scheme = "http"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    host.root = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield host.root
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
