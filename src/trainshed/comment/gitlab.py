"""A merge request on GitLab."""

import re
from collections.abc import Iterator, Mapping

from trainshed.comment.api import Api
from trainshed.comment.posting import Comment, publish
from trainshed.comment.variables import needed

_TOKEN = "TRAINSHED_GITLAB_TOKEN"
_HOW = (
    "make a project access token of the role Reporter and the scope api, and save it as a CI/CD "
    "variable that is masked and not protected; the job's own CI_JOB_TOKEN may only read comments"
)
_REMEDIES = {
    401: f"{_TOKEN} is invalid or has expired; {_HOW}",
    403: f"{_TOKEN} does not have the scope api or the role Reporter; {_HOW}",
    404: f"{_TOKEN} is of another project, or does not have the role Reporter; {_HOW}",
}
# GitLab runs a line like `/merge` with the rights of our token, and a report has texts of the
# author of the change.
_QUICK_ACTION = re.compile(r"^/", re.MULTILINE)


class MergeRequest:
    """The conversation of a merge request.

    Args:
        api: of GitLab.
        project: id of the project that it is to be merged into.
        number: its number in the project, the iid.
        address: of its page.
    """

    def __init__(self, api: Api, *, project: str, number: str, address: str) -> None:
        self._api, self._address = api, address
        self._notes = f"projects/{project}/merge_requests/{number}/notes"

    def author(self) -> int:
        """Return the id of the token's user."""
        return int(self._api.call("GET", "user")["id"])

    def comments(self) -> Iterator[Comment]:
        """Yield the comments; what GitLab itself notes is none."""
        for entry in self._api.pages(self._notes, sort="asc", order_by="created_at"):
            if not entry["system"]:
                author = (entry["author"] or {}).get("id")
                yield Comment(id=entry["id"], author=author, body=entry["body"])

    def create(self, body: str) -> str:
        """Add a comment, and return its address."""
        return self._page(self._api.call("POST", self._notes, body=_harmless(body))["id"])

    def update(self, comment_id: int, body: str) -> str:
        """Replace the text of a comment, and return its address."""
        path = f"{self._notes}/{comment_id}"
        return self._page(self._api.call("PUT", path, body=_harmless(body))["id"])

    def _page(self, note: int) -> str:
        return f"{self._address}#note_{note}"


def post_to_gitlab(report: str, environ: Mapping[str, str]) -> str:
    """Post a report from a job of GitLab CI; return a line that says what was done.

    Args:
        report: in Markdown.
        environ: environment of the job.

    Raises:
        TrainshedError: the pipeline is not of a merge request, there is no token, or GitLab refuses
            the comment.
    """
    number = needed(
        environ,
        "CI_MERGE_REQUEST_IID",
        "run this job in pipelines of merge requests: "
        "`rules: [{if: $CI_PIPELINE_SOURCE == 'merge_request_event'}]`",
    )
    # Not CI_PROJECT_ID, which is the fork's in a fork's pipeline.
    project = needed(environ, "CI_MERGE_REQUEST_PROJECT_ID")
    fork = environ.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", project) != project
    if fork and not environ.get(_TOKEN):
        return (
            "the merge request is of a fork, whose jobs have no token: the report is in the "
            "artifacts of the job only"
        )
    request = MergeRequest(
        Api(
            needed(environ, "CI_API_V4_URL"),
            needed(environ, _TOKEN, _HOW),
            variable=_TOKEN,
            headers={},
            remedies=_REMEDIES,
        ),
        project=project,
        number=number,
        address=f"{needed(environ, 'CI_MERGE_REQUEST_PROJECT_URL')}/-/merge_requests/{number}",
    )
    return publish(request, report)


def _harmless(body: str) -> str:
    return _QUICK_ACTION.sub("&#47;", body)
