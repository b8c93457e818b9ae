"""`trainshed teardown`: remove a cluster, and say before what goes and what stays."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.aws import Region
from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
    load_clusters,
)
from trainshed.cli.options import JsonOption
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.errors import Failure, TrainshedError
from trainshed.teardown.removal import remove
from trainshed.teardown.survey import Survey, survey

app = typer.Typer(add_completion=False)


@app.command()
def teardown(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    stack: Annotated[
        str | None,
        typer.Option(help="Delete this stack only.", show_default="all", metavar="NAME"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would happen.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    end_jobs: Annotated[
        bool, typer.Option("--end-jobs", help="End the jobs that have not ended.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Delete the stacks of a cluster; it first shows what is deleted, and what stays and costs.

    Data stays: the file system, the repository and the output of jobs. So do stacks that another
    cluster uses. After a failure or an interruption, run the same command again.
    """
    plan = load_cluster(cluster, clusters, region)
    if not (dry_run or yes) and (as_json or not sys.stdin.isatty()):
        raise TrainshedError(
            "this is not a terminal, so nothing can be asked: add --yes, or --dry-run to look only"
        )
    # A cluster that was named by its file may have no other files beside it.
    alone = clusters == ALL_CLUSTERS and not any(Path.cwd().glob(ALL_CLUSTERS))
    fleet = () if alone else load_clusters(clusters, region)
    others = [each for each in fleet if each.name != plan.name]
    aws_region = Region(plan.region)
    found = survey(aws_region, plan, others, only=stack)
    if not as_json:
        _show(plan.name, found)
    if not dry_run and (found.removed or _in_kubernetes(found)):
        if found.jobs and not end_jobs:
            raise Failure(
                f"jobs that have not ended: {len(found.jobs)}; wait, or end them with --end-jobs"
            )
        if found.unseen_jobs and not end_jobs:
            raise Failure(f"{found.unseen_jobs}; end those that are there with --end-jobs")
        if not yes:
            typer.confirm("delete this?", abort=True, err=True)
        with progress() as show:
            remove(aws_region, found, show=show)
    if as_json:
        print_json(_record(found))


def _record(found: Survey) -> dict[str, Any]:
    return {
        "removed": [
            {
                "what": "stack",
                "name": each.name,
                "status": each.status,
                "protected": each.protected,
            }
            for each in found.removed
        ]
        + [{"what": "object of Kubernetes", "name": each} for each in _in_kubernetes(found)]
        + [{"what": "former compute environment", "name": each} for each in found.former]
        + [
            {"what": what, "name": each}
            for what, of_stacks in (("security group", found.groups), ("subnet", found.subnets))
            for names in of_stacks.values()
            for each in names
        ],
        "kept": [asdict(each) for each in found.kept],
        "jobs": [asdict(each) for each in found.jobs],
        "unseen_jobs": found.unseen_jobs,
    }


def _in_kubernetes(found: Survey) -> tuple[str, ...]:
    """Return kind and name of what goes from a control plane that stays."""
    return found.in_kubernetes.content.names if found.in_kubernetes else ()


def _show(name: str, found: Survey) -> None:
    record = _record(found)
    if not record["removed"]:
        say(f"there is nothing of {name} to delete")
    else:
        print_records(
            record["removed"],
            columns=("what", "name", "status", "protected"),
            headings={"what": "will be deleted", "status": "is"},
        )
    if found.jobs:
        headings = {"name": "job that would be ended", "job_id": "id", "status": "is"}
        print_records(record["jobs"], columns=headings, headings=headings)
    if found.unseen_jobs:
        say(f"jobs are not shown: {found.unseen_jobs}")
    if found.kept:
        print_records(
            record["kept"],
            columns=("what", "name", "size", "cost", "why"),
            headings={"what": "stays", "cost": "still costs", "why": "why, and what to do"},
        )
