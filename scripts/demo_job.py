"""What `make demo` ends with: an all-reduce of 8 ranks on 4 nodes, submitted to the deployed queue.

It exits with 1 when the job fails or a rank has another sum.
"""

import shutil
import sys
from pathlib import Path

import boto3

from trainshed.rehearse.deployment import add_image
from trainshed.rehearse.job import RehearsalJob, follow, job_definition, submit

NODES, RANKS = 4, 8
ROOT = Path(__file__).parents[1]
LAUNCH = ROOT / "packer/files/opt/trainshed/trainshed-launch"
ALL_REDUCE = ROOT / "examples/all_reduce.py"


def main() -> None:
    """Run the job, show it, check its result."""
    cloudformation, batch = boto3.client("cloudformation"), boto3.client("batch")
    [stack] = cloudformation.describe_stacks(StackName="TrainCluster")["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    # In place of `trainshed container push`: the job runs on this machine's own files.
    container = job_definition(batch, outputs["JobDefinition"])["container"]
    add_image(boto3.client("ecr"), container["image"])
    mpirun = shutil.which("mpirun")
    assert mpirun, "the development packages bring MPICH"
    submission = RehearsalJob(
        queue=outputs["JobQueue"],
        definition=outputs["JobDefinition"],
        nodes=NODES,
        command=[
            *(str(LAUNCH), "--processes", str(RANKS // NODES)),
            *(mpirun, "-n", str(RANKS), sys.executable, str(ALL_REDUCE)),
        ],
    )
    job, status = submit(batch, submission), ""
    printed: list[str] = []
    for look in follow(boto3.client, job, NODES):
        if look.status != status:
            status = look.status
            sys.stdout.write(f"job {status}\n")
        printed += look.lines
        sys.stdout.writelines(f"  {line}\n" for line in look.lines)
    ranks = [line for line in printed if line.startswith("rank ")]
    expected = f": sum {sum(range(RANKS))}"
    if status != "SUCCEEDED" or sum(line.endswith(expected) for line in ranks) != RANKS:
        sys.exit(f"the job is {status}: {look.reason}; its ranks said {ranks}")
    sys.stdout.write(f"all {RANKS} ranks on {NODES} nodes have the sum {sum(range(RANKS))}\n")


if __name__ == "__main__":
    main()
