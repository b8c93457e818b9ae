"""`trainshed rehearse`: run a job of a cluster on this machine before paying for a node."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any

import typer

from trainshed.cli.cluster import ALL_CLUSTERS, load_cluster
from trainshed.cli.job_display import job_text
from trainshed.cli.options import (
    CommandAfterDashes,
    CommandArgument,
    PlainOption,
    ReadyJobOption,
    SendOption,
)
from trainshed.cli.output import print_records, say
from trainshed.cli.progress import progress
from trainshed.jobs.local_files import local_files_warning
from trainshed.jobs.model import Job, JobState
from trainshed.jobs.sent_files import pack
from trainshed.jobs.submission import launched
from trainshed.ready_jobs import Work, rehearsal_on
from trainshed.rehearse.faults import FaultKind, check_possible
from trainshed.rehearse.rehearsal import Rehearsal, Stages, rehearse, with_files_here
from trainshed.rehearse.workplace import workplace

app = typer.Typer(add_completion=False)


@app.command(cls=CommandAfterDashes)
def run(
    cluster: Annotated[str, typer.Argument(help="A cluster of this project.")],
    command: CommandArgument = None,
    ready_job: ReadyJobOption = None,
    send: SendOption = None,
    plain: PlainOption = False,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="Nodes of the job.", show_default="4, at most instance.nodes.max"
        ),
    ] = None,
    fault: Annotated[
        FaultKind | None, typer.Option(help="What goes wrong.", show_default="nothing")
    ] = None,
    fault_after: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="It goes wrong when the main node has printed a line with this text.",
            show_default="the first line of the command",
        ),
    ] = None,
    loopback: Annotated[
        bool,
        typer.Option("--loopback", help="Nodes have addresses of loopback, no networks."),
    ] = False,
    as_of: Annotated[
        str | None,
        typer.Option(
            help="Month or day whose instance types exist, withdrawn ones too; or today.",
            show_default="the last day with all types of the project here",
            metavar="YYYY-MM[-DD]",
        ),
    ] = None,
) -> None:
    """Run a job of a cluster on this machine, before you pay for a node.

    It deploys the cluster to an embedded AWS of its own and submits a job to its queue: real
    processes, one tree for each node, on this machine's own files. It shows what the main node
    prints, and exits with the job's exit code.
    """
    check_possible(fault, loopback=loopback, after=fault_after)
    with progress() as step, workplace() as place:
        if ready_job:
            plan = load_cluster(cluster, ALL_CLUSTERS, None)
            shared = place.temporary / "shared"
            shared.mkdir()
            work = rehearsal_on(plan, ready_job, str(shared))
            say(f"command: {shlex.join(work.command)}", err=True)
        else:
            files = pack(Path.cwd(), send) if send else None
            sent = files.names if files else ()
            if warning := local_files_warning(command or (), sent):
                say(warning, err=True)
            found = tuple(with_files_here(command or (), sent))
            work = Work(command=found if plain else launched(found), files=files)
        shown = _Shown(step)
        result = rehearse(
            Rehearsal(
                cluster=cluster,
                nodes=nodes,
                work=work,
                fault=fault,
                fault_after=fault_after,
                loopback=loopback,
                as_of=as_of,
            ),
            place,
            stages=Stages(step),
            seen=shown.show,
        )
    job = result.job
    ended = [
        {
            "attempt": number,
            "node": node.index,
            "exit_code": "" if ending.exit_code is None else ending.exit_code,
            "reason": ending.reason or ending.status_reason or "",
        }
        for node in job.nodes
        for number, ending in enumerate(node.attempts, start=1)
    ]
    if ended:
        print_records(
            sorted(ended, key=lambda each: (each["attempt"], each["node"])),
            columns=("attempt", "node", "exit_code", "reason"),
        )
    print_records(
        [{"stage": name, "seconds": f"{took:.1f}"} for name, took in result.seconds.items()],
        columns=("stage", "seconds"),
    )
    if fault:
        say(f"expected with {fault}: {result.expected}")
    attempts = "1 attempt" if len(job.attempts) == 1 else f"{len(job.attempts)} attempts"
    reason = f": {job.reason}" if job.reason else ""
    say(f"the job has {job.status} after {attempts}{reason}")
    if job.state is JobState.SUCCEEDED:
        rmtree(place.folder)
        return
    say(f"the log of the embedded AWS is {place.log}", err=True)
    raise typer.Exit((job.attempts[-1].exit_code if job.attempts else None) or 1)


class _Shown:
    """What was shown of a job.

    Args:
        step: shows a step.
    """

    def __init__(self, step: Any) -> None:
        self._step = step
        self._before = ""

    def show(self, job: Job, lines: Sequence[str]) -> None:
        """Show a change of states, and the new lines of the log."""
        now = f"job {job_text(job)}"
        if now != self._before:
            self._step(now)
            self._before = now
        say(*lines)
