"""The jobs of `make demo`: an all-reduce of 8 ranks on 4 nodes, submitted to the deployed queue.

Its argument is `mpirun` or `torchrun`. It exits with 1 when the job fails or a rank has another
sum.
"""

import shutil
import sys
import time
from pathlib import Path

from trainshed.aws import regions
from trainshed.jobs.logs import follow, log_lines
from trainshed.jobs.model import JobState
from trainshed.jobs.scheduler import find_job, find_scheduler
from trainshed.jobs.submission import Submission

NODES, RANKS = 4, 8
ROOT = Path(__file__).parents[1]
LAUNCH = ROOT / "packer/files/opt/trainshed/trainshed-launch"
EXAMPLES = ROOT / "examples"


def command(launcher: str) -> tuple[str, ...]:
    """Return the command of the job."""
    program = shutil.which(launcher)
    assert program, f"the Python packages that bring {launcher} are not installed"
    per_node = str(RANKS // NODES)
    if launcher == "torchrun":
        script = str(EXAMPLES / "all_reduce_torch.py")
        return str(LAUNCH), program, "--nproc-per-node", per_node, script
    script = str(EXAMPLES / "all_reduce.py")
    return (str(LAUNCH), "--processes", per_node, program, "-n", str(RANKS), sys.executable, script)


def is_rank(line: str) -> bool:
    """Whether a rank printed a line."""
    return line.startswith("rank ")


def main(launcher: str) -> None:
    """Run the job, show it, check its result."""
    [region] = regions(None)
    submission = Submission(name="all-reduce", nodes=NODES, command=command(launcher))
    job_id = find_scheduler(region, "TrainCluster").submit(submission)
    (scheduler, job), status = find_job(region, job_id), ""
    ranks: list[str] = []
    # Its limits are our own: the job is looked at often.
    for now, lines in follow(scheduler, job, None, lambda _: time.sleep(0.1)):
        if now.status != status:
            status = now.status
            sys.stdout.write(f"job {status}\n")
        ranks += filter(is_rank, lines)
        sys.stdout.writelines(f"  {line}\n" for line in lines)
    # mpirun brings the lines of all ranks to the main node, and torchrun does not.
    well = now.state is JobState.SUCCEEDED
    for node in now.nodes[1:] if well else ():
        others = list(filter(is_rank, log_lines(scheduler, now, node.index)))
        ranks += others
        sys.stdout.writelines(f"  {line}\n" for line in others)
    expected = f": sum {sum(range(RANKS))}"
    if not well or sum(line.endswith(expected) for line in ranks) != RANKS:
        sys.exit(f"the job is {status}: {now.reason}; its ranks said {ranks}")
    sys.stdout.write(f"all {RANKS} ranks on {NODES} nodes have the sum {sum(range(RANKS))}\n")


if __name__ == "__main__":
    main(sys.argv[1])
