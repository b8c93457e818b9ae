"""A pull request on GitHub, and the summary of a job of GitHub Actions."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainshed.comment.api import Api, Refusal
from trainshed.comment.posting import Comment, publish
from trainshed.comment.variables import needed
from trainshed.errors import TrainshedError
from trainshed.files import LARGEST_MADE, read_text

_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_REMEDIES = {
    401: "give this step the token of its own job: GITHUB_TOKEN: ${{ github.token }}",
    403: "give the job `permissions: {contents: read, pull-requests: write}`",
    404: "the token does not see this repository; give the step that of its own job",
}
_TOKEN = "put `GITHUB_TOKEN: ${{ github.token }}` under `env` of this step, and of no other"


class PullRequest:
    """The conversation of a pull request.

    Args:
        api: of GitHub.
        graphql: address of its GraphQL API.
        repository: `owner/name`.
        number: of the pull request.
    """

    def __init__(self, api: Api, *, graphql: str, repository: str, number: int) -> None:
        self._api, self._graphql = api, graphql
        self._issues, self._number = f"repos/{repository}/issues", number

    def author(self) -> int | None:
        """Return the id of the token's user, or of its app's bot."""
        # GET /user refuses the token of a job; the gh CLI asks this way, too.
        answer = self._api.call("POST", self._graphql, query="query { viewer { databaseId } }")
        viewer = (answer.get("data") or {}).get("viewer") or {}
        found: int | None = viewer.get("databaseId")
        return found

    def comments(self) -> Iterator[Comment]:
        """Yield the comments of the conversation; those of reviews at lines are others."""
        for entry in self._api.pages(f"{self._issues}/{self._number}/comments"):
            author = (entry.get("user") or {}).get("id")
            yield Comment(id=entry["id"], author=author, body=entry.get("body") or "")

    def create(self, body: str) -> str:
        """Add a comment, and return its address."""
        path = f"{self._issues}/{self._number}/comments"
        return str(self._api.call("POST", path, body=body)["html_url"])

    def update(self, comment_id: int, body: str) -> str:
        """Replace the text of a comment, and return its address."""
        path = f"{self._issues}/comments/{comment_id}"
        return str(self._api.call("PATCH", path, body=body)["html_url"])


def post_to_github(report: str, environ: Mapping[str, str]) -> str:
    """Post a report from a job of GitHub Actions; return a line that says what was done.

    The summary of the job gets it too, and gets it alone where there is no pull request, or it is
    of a fork, whose jobs have a token that only reads.

    Args:
        report: in Markdown.
        environ: environment of the job.

    Raises:
        TrainshedError: the environment is not that of a job, or GitHub refuses the comment.
    """
    if summary := environ.get("GITHUB_STEP_SUMMARY"):
        # A step may write 1 MiB there, and a report is at most a quarter of that.
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{report}\n")
    pull = _pull_request(needed(environ, "GITHUB_EVENT_PATH"))
    if not pull:
        return "this job has no pull request: the report is in the summary of the job only"
    repository = needed(environ, "GITHUB_REPOSITORY")
    request = PullRequest(
        Api(
            needed(environ, "GITHUB_API_URL"),
            needed(environ, "GITHUB_TOKEN", _TOKEN),
            variable="GITHUB_TOKEN",
            headers=_HEADERS,
            remedies=_REMEDIES,
        ),
        graphql=needed(environ, "GITHUB_GRAPHQL_URL"),
        repository=repository,
        number=pull["number"],
    )
    try:
        return publish(request, report)
    except Refusal as refusal:
        # A fork that is deleted has no repository.
        head = (pull["head"].get("repo") or {}).get("full_name")
        if refusal.status != 403 or head == repository:
            raise
        return (
            "the pull request is of a fork, whose jobs may not comment: the report is in the "
            "summary of the job only"
        )


def _pull_request(path: str) -> dict[str, Any] | None:
    """Return the pull request of the event in a file; None for an event without one."""
    try:
        event = json.loads(read_text(Path(path), LARGEST_MADE))
    except (ValueError, RecursionError) as error:
        raise TrainshedError(f"GITHUB_EVENT_PATH: {path} is not JSON: {error}") from error
    match event:
        case {"pull_request": {"number": int(), "head": {**head}} as pull} if isinstance(
            head.get("repo"), dict | None
        ):
            return dict(pull)
        case {**other} if not other.get("pull_request"):
            return None
    raise TrainshedError(
        f"GITHUB_EVENT_PATH: {path} is not an event of GitHub with the number and the head of a "
        "pull request; run this command in a job of GitHub Actions"
    )
