"""`trainshed comment`: post a review's report from a job of CI."""

import os
from pathlib import Path
from typing import Annotated

import typer

from trainshed.cli.output import say
from trainshed.comment.github import post_to_github
from trainshed.comment.gitlab import post_to_gitlab
from trainshed.comment.report import read_report
from trainshed.errors import TrainshedError

app = typer.Typer(add_completion=False)


@app.command()
def comment(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Report in Markdown, as trainshed review writes it."),
    ],
) -> None:
    """Post a report as a comment of the pull or merge request that this job of CI is about.

    A comment that is there already is updated. On GitHub the summary of the job gets the report,
    too. It needs GITHUB_TOKEN or TRAINSHED_GITLAB_TOKEN, which no other step needs.
    """
    report = read_report(file)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        say(post_to_github(report, os.environ))
    elif os.environ.get("GITLAB_CI") == "true":
        say(post_to_gitlab(report, os.environ))
    else:
        raise TrainshedError(
            "this is not a job of GitHub Actions or GitLab CI, so there is no pull or merge "
            "request to comment on; docs/review.md says how to set one up"
        )
