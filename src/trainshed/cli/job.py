"""`trainshed job`: submit a command to a cluster, follow it, end it, say why it does not run."""

import os
import shlex
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from trainshed.cli.cluster import (
    ALL_CLUSTERS,
    ClusterArgument,
    ClustersOption,
    RegionOption,
    load_cluster,
)
from trainshed.cli.job_shell import shell
from trainshed.cli.options import (
    CommandAfterDashes,
    CommandArgument,
    JsonOption,
    PlainOption,
    ReadyJobOption,
    SendOption,
    SetOption,
    parameters,
    region_option,
)
from trainshed.cli.output import print_json, print_records, say
from trainshed.errors import Failure, TrainshedError
from trainshed.region import environment_region

app = typer.Typer(add_completion=False)
app.command()(shell)

# A year, as the field job.timeout_hours takes.
_MOST_HOURS = 8760

JobArgument = Annotated[
    str,
    typer.Argument(help="Id of a job, or its name: the newest of that name."),
]
JobRegionOption = Annotated[str | None, region_option("AWS region of the job.")]
WatchOption = Annotated[
    bool, typer.Option("--watch", help="Follow the job to its end, as trainshed job watch.")
]


@app.command(cls=CommandAfterDashes)
def submit(
    cluster: ClusterArgument,
    command: CommandArgument = None,
    ready_job: ReadyJobOption = None,
    values: SetOption = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many nodes.", show_default="instance.nodes.max", metavar="NODES"
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the job.",
            show_default="the ready job's, or the cluster's",
            metavar="NAME",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            help="Variable of the command; may be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    timeout_hours: Annotated[
        float | None,
        typer.Option(
            help="End an attempt that takes longer.",
            show_default="job.timeout_hours",
            metavar="HOURS",
        ),
    ] = None,
    send: SendOption = None,
    plain: PlainOption = False,
    watch: WatchOption = False,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
) -> None:
    """Run a command or a ready job on the nodes of a cluster; it prints the id of the job.

    The cluster must be deployed. Put a command after --.
    """
    from trainshed.guard.outputs import stopped
    from trainshed.guard.stop_times import stop_times
    from trainshed.jobs.idle_nodes import look_at_idle
    from trainshed.jobs.local_files import local_files_warning
    from trainshed.jobs.scheduler import find_scheduler
    from trainshed.jobs.sent_files import pack
    from trainshed.jobs.submission import Submission, job_name, launched
    from trainshed.jobs.why.questions import Questions
    from trainshed.plan.job_stop import stop_notice
    from trainshed.plan.job_window import job_window, window_notices
    from trainshed.ready_jobs import Work, work_on

    plan = load_cluster(cluster, clusters, region)
    most = plan.nodes.max
    if nodes is not None and nodes > most:
        raise TrainshedError(
            f"--nodes {nodes}: {plan.name} has at most {most} nodes; ask for fewer, or raise "
            "instance.nodes.max in its file and deploy"
        )
    if ready_job:
        work = work_on(plan, ready_job, nodes or most, parameters(values))
        default_name = job_name(ready_job)
    else:
        words = tuple(command or ())
        files = pack(Path.cwd(), send) if send else None
        if warning := local_files_warning(words, files.names if files else ()):
            say(warning, err=True)
        work = Work(command=words if plain else launched(words), files=files)
        default_name = plan.name
    now = datetime.now(UTC)
    timeout_seconds = None if timeout_hours is None else _seconds(timeout_hours)
    longest = timedelta(seconds=timeout_seconds or plan.jobs.timeout_hours * 3600)
    calendar = plan.capacity.calendar
    window = job_window(calendar, now)
    if calendar and not window:
        raise TrainshedError(
            f"no window of the calendar of {plan.name} is left, so that no node comes: add that of "
            f"another block or reservation to {plan.where.file}, and deploy"
        )
    submission = Submission(
        name=default_name if name is None else name,
        command=work.command,
        nodes=nodes or most,
        environment={**work.environment, **dict(map(_variable, env or ()))},
        files=work.files,
        timeout_seconds=timeout_seconds,
    )
    if ready_job:
        for variable, value in work.environment.items():
            say(f"variable: {variable}={value}", err=True)
        say(f"command: {shlex.join(work.command)}", err=True)
    aws_region = _region(plan.region)
    scheduler = find_scheduler(aws_region, plan.name)
    # What may not be asked is no reason not to submit.
    by_guard = stopped(scheduler.outputs, now) or look_at_idle(
        aws_region, plan.name, scheduler.outputs, Questions()
    )
    if by_guard and by_guard.jobs_wait:
        say(f"warning: {by_guard.reason}; {by_guard.remedy}", err=True)
    elif notice := stop_notice(
        stop_times(scheduler.outputs), longest, now, ends_with_hours=plan.traits.keeps_nodes
    ):
        say(notice, err=True)
    job_id = scheduler.submit(submission)
    say(job_id)
    if window:
        say(*window_notices(calendar, window, longest, now), err=True)
    there = "" if environment_region(os.environ) == plan.region else f" --region {plan.region}"
    _go_on(aws_region, job_id, there, watch)


@app.command()
def again(job: JobArgument, watch: WatchOption = False, region: JobRegionOption = None) -> None:
    """Submit a job of plain EC2 nodes again, as it was; it prints the id of the new job.

    Its command, variables, files and time-out are those that Systems Manager has kept. Other jobs
    are tried again by themselves.
    """
    from trainshed.jobs.scheduler import find_job

    aws_region = _region(region)
    scheduler, found = find_job(aws_region, job)
    if found.submission is None:
        raise TrainshedError(
            f"{scheduler.service} keeps nothing of job {found.job_id} to submit again: AWS Batch "
            "and Kubernetes themselves try a job again that lost a node, job.attempts times, and "
            "of plain EC2 nodes only what trainshed job submit has sent is known"
        )
    if not found.state.is_over:
        raise Failure(
            f"job {found.job_id} is not over: it is {found.status}; to end it first: trainshed job "
            f"cancel {found.job_id}"
        )
    job_id = scheduler.submit(found.submission)
    say(job_id)
    _go_on(aws_region, job_id, f" --region {region}" if region else "", watch)


@app.command(name="recipes")
def ready_jobs_command(
    cluster: Annotated[
        str | None,
        typer.Argument(help="Name of a cluster, or its file: those that its nodes can run."),
    ] = None,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the ready jobs: what each does, and the parameters that it takes."""
    from trainshed.ready_jobs import ready_jobs, ready_jobs_for

    found = ready_jobs()
    if cluster:
        plan = load_cluster(cluster, clusters, region)
        found = ready_jobs_for(plan.instance)
        if not found and not as_json:
            say(f"no ready job is for {plan.instance.name}")
            return
    print_records(
        [
            {
                "recipe": ready_job.name,
                "accelerator": ready_job.family,
                "what": ready_job.what,
                "parameters": [asdict(each) for each in ready_job.parameters]
                if as_json
                else [f"{each.name}={each.default}" for each in ready_job.parameters],
            }
            for ready_job in found
        ],
        columns=("recipe", "accelerator", "what", "parameters"),
        as_json=as_json,
    )


@app.command(name="list")
def list_command(
    cluster: ClusterArgument,
    clusters: ClustersOption = ALL_CLUSTERS,
    region: RegionOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the jobs of a cluster, the newest first; AWS forgets old ones."""
    from trainshed.jobs.scheduler import find_scheduler

    plan = load_cluster(cluster, clusters, region)
    found = find_scheduler(_region(plan.region), plan.name).jobs()
    if not found and not as_json:
        say(f"{plan.name} has no jobs")
        return
    print_records(
        [{**asdict(each), "age": _age(each.created_at)} for each in found],
        columns=("name", "job_id", "nodes", "status", "age", "reason"),
        headings={"job_id": "id"},
        as_json=as_json,
    )


@app.command()
def watch(job: JobArgument, region: JobRegionOption = None) -> None:
    """Show a job, its nodes and the end of the main node's log until it is over.

    On a terminal a table that changes, elsewhere a line for each change. Ctrl-C ends the watching,
    not the job. Exits with 0 when the job succeeds and with 1 when it fails.
    """
    from trainshed.jobs.scheduler import find_job

    _follow(*find_job(_region(region), job), f" --region {region}" if region else "")


@app.command()
def logs(
    job: JobArgument,
    node: Annotated[
        int | None,
        typer.Option(help="Index of the node.", show_default="the main node", metavar="N"),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the job is over.")
    ] = False,
    region: JobRegionOption = None,
) -> None:
    """Print what a node has printed, in its latest attempt."""
    from trainshed.jobs.logs import follow as follow_job
    from trainshed.jobs.logs import log_lines
    from trainshed.jobs.scheduler import find_job

    scheduler, found = find_job(_region(region), job)
    if not follow:
        say(*log_lines(scheduler, found, node))
        return
    try:
        for _, lines in follow_job(scheduler, found, node, time.sleep):
            say(*lines)
    except KeyboardInterrupt:
        _say_job_continues(found.job_id, "")
        raise


@app.command()
def cancel(
    job: JobArgument,
    reason: Annotated[
        str, typer.Option(help="The reason; AWS Batch keeps it with the job.", metavar="TEXT")
    ] = "ended by trainshed job cancel",
    region: JobRegionOption = None,
) -> None:
    """End a job, whether it waits or runs; the command gets SIGTERM. It does not ask first."""
    from trainshed.jobs.scheduler import end_job, find_job

    scheduler, found = find_job(_region(region), job)
    end_job(scheduler, found, reason)
    say(
        f"ending job {found.job_id} ({found.name}) of {scheduler.cluster}, which was {found.status}"
    )


@app.command()
def why(job: JobArgument, region: JobRegionOption = None, as_json: JsonOption = False) -> None:
    """Say why a job waits or has failed, and what to do about it.

    It asks AWS about the job, its queue, compute environment, launches, quota, reservation and
    nodes. Exits with 1 when it finds something.
    """
    from trainshed.jobs.scheduler import find_job
    from trainshed.jobs.why.gathering import gather
    from trainshed.jobs.why.judging import explain_job

    now = datetime.now(UTC)
    scheduler, found = find_job(_region(region), job)
    evidence = gather(scheduler, found, now)
    findings, printed = explain_job(evidence), evidence.printed
    if as_json:
        print_json(
            {
                "job_id": found.job_id,
                "name": found.name,
                "status": found.status,
                "findings": [asdict(each) for each in findings],
                "printed": printed and asdict(printed),
            }
        )
    else:
        attempt = f", attempt {found.attempt} of {found.most_attempts}"
        say(
            f"job {found.job_id} ({found.name}) of {found.node_count} nodes is {found.status}"
            f"{attempt if found.most_attempts > 1 else ''}; submitted {_age(found.created_at)} ago"
            + (
                f", printed last {_age(printed.at)} ago"
                if printed and not found.state.is_over
                else ""
            )
        )
        for finding in findings:
            say(str(finding))
        if printed and findings:
            say(f"node {printed.node} printed last:", *(f"  | {line}" for line in printed.lines))
        if not findings:
            say("AWS reports nothing wrong with it")
    raise typer.Exit(bool(findings))


def _go_on(region: Any, job_id: str, there: str, watch: bool) -> None:
    """Show a job that was submitted until it is over, or say how to."""
    from trainshed.jobs.scheduler import find_job

    if watch:
        _follow(*find_job(region, job_id), there)
        return
    for what, subcommand in (
        ("follow it", "watch"),
        ("why it waits or failed", "why"),
        ("end it", "cancel"),
    ):
        say(f"{what}: trainshed job {subcommand} {job_id}{there}", err=True)


def _follow(scheduler: Any, job: Any, there: str) -> None:
    """Show a job until it is over.

    Args:
        scheduler: what runs it.
        job: the job.
        there: option that names the region in commands, or an empty text.

    Raises:
        Failure: the job failed.
        KeyboardInterrupt: it is no longer to be watched.
    """
    from trainshed.cli.job_display import display
    from trainshed.jobs.logs import follow
    from trainshed.jobs.model import JobState

    try:
        with display() as show:
            for now, lines in follow(scheduler, job, None, time.sleep):
                show(now, lines)
    except KeyboardInterrupt:
        _say_job_continues(job.job_id, there)
        raise
    if now.state is JobState.FAILED:
        failed = [node for node in now.nodes if node.ending and node.ending.exit_code]
        ended = [f"node {node.index}: {node.ending}" for node in failed[:1]]
        lost = now.submission and now.has_lost_a_node
        raise Failure(
            f"job {now.job_id} has failed: {'; '.join(ended) or now.reason or 'no reason given'}; "
            f"see trainshed job why {now.job_id}{there}"
            + (f"; submit it again: trainshed job again {now.job_id}{there}" if lost else "")
        )


def _say_job_continues(job_id: str, there: str) -> None:
    say(
        f"the job goes on; watch it again: trainshed job watch {job_id}{there}; end it: "
        f"trainshed job cancel {job_id}{there}",
        err=True,
    )


def _region(name: str | None) -> Any:
    from trainshed.aws import regions

    [region] = regions([name] if name else None)
    return region


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or not name.isascii():
        raise TrainshedError(f"--env {text}: write NAME=VALUE, with a name of letters, digits, _")
    return name, value


def _seconds(hours: float) -> int:
    # Also false for what is not a number.
    if not 0 < hours <= _MOST_HOURS:
        raise TrainshedError(
            f"--timeout-hours {hours:g}: write a number of hours above 0, at most {_MOST_HOURS}"
        )
    return round(hours * 3600)


def _age(since: datetime) -> str:
    from trainshed.cli.job_display import duration

    return duration((datetime.now(UTC) - since).total_seconds())
