"""A job on a deployed cluster finds at each mount the same files on all of its nodes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from job_bench import job_aws
from rehearse_project import write_app
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.aws import Region
from trainshed.jobs.model import Job
from trainshed.plan import Fleet, load_fleet
from trainshed.ready_jobs import Work
from trainshed.rehearse import deployment
from trainshed.rehearse.deployment import deploy
from trainshed.rehearse.rehearsal import Rehearsal, job_path, run_job

CLUSTER = """
name: TrainCluster
region: us-west-2
orchestrator: {orchestrator}
instance: {{type: trn1.32xlarge, nodes: {{min: 2, max: 2}}}}
storage:
  lustre: {{deployment: scratch-2}}
  efs: {{mount: /home}}
  bucket: {{mount: /data, mount_prefix: sets/}}
"""
WRITE = """
for path in /fsx /home; do echo written >$path/$NODE_RANK || exit 1; done
while ! [ -e /home/0 ] || ! [ -e /home/1 ]; do sleep 0.1; done
[ $NODE_RANK = 0 ] && echo fsx: $(ls /fsx) home: $(ls -p /home | grep -v /)
exit 0
"""

pytestmark = needs("ip", "unshare", "nsenter", networks=True)

Run = Callable[[str], tuple[Job, str]]


@pytest.fixture(scope="module", params=["batch", "ec2"])
def cluster(
    request: pytest.FixtureRequest,
    synthesise: Callable[[Fleet], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[EmbeddedAws, dict[str, str]]]:
    """A cluster with three kinds of shared storage, on nodes with networks."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "clusters").mkdir()
    file = folder / "clusters/train.yaml"
    file.write_text(CLUSTER.format(orchestrator=request.param))
    write_app(folder, synthesise(load_fleet([file])))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        stacks = deployment.synthesised("TrainCluster", tmp_path_factory.mktemp("cdk.out"))
    with job_path(), job_aws(tmp_path_factory.mktemp("aws"), JobSettings()) as aws:
        yield aws, dict(deploy(aws, {name: each.template for name, each in stacks.items()}))


@pytest.fixture
def run(cluster: tuple[EmbeddedAws, dict[str, str]]) -> Run:
    """Run a script on both nodes; return the job, and what its main node printed."""
    aws, outputs = cluster

    def run_one(script: str) -> tuple[Job, str]:
        printed: list[str] = []
        work = Work(command=("trainshed-launch", "--wait", "5", "sh", "-c", script))
        job = run_job(
            Rehearsal(cluster="TrainCluster", nodes=2, work=work, fault=None),
            aws,
            Region("us-west-2", aws.client),
            outputs,
            lambda _, lines: printed.extend(lines),
        )
        return job, "\n".join(printed)

    return run_one


def test_nodes_share_each_mount_and_find_it_again(run: Run) -> None:
    job, said = run(WRITE)

    assert job.status == "SUCCEEDED", said
    assert "fsx: 0 1 home: 0 1" in said

    job, said = run("cat /fsx/0 /home/1")
    assert job.status == "SUCCEEDED", said
    assert said.count("written") >= 2


def test_jobs_know_the_bucket_and_read_the_part_that_is_mounted(
    cluster: tuple[EmbeddedAws, dict[str, str]], run: Run
) -> None:
    s3 = cluster[0].client("s3")
    [name] = [
        each["Name"]
        for each in s3.list_buckets()["Buckets"]
        if each["Name"].startswith("trainshed-train-")
    ]
    for key in ("sets/a", "sets/deleted", "runs/b"):
        s3.put_object(Bucket=name, Key=key, Body=b"text of " + key.encode())
    s3.delete_object(Bucket=name, Key="sets/deleted")

    job, said = run("echo $TRAINSHED_BUCKET: $(ls /data) $(cat /data/a)")

    assert job.status == "SUCCEEDED", said
    assert f"{name}: a text of sets/a" in said


def test_storage_that_no_node_reaches_fails_what_runs_there(
    cluster: tuple[EmbeddedAws, dict[str, str]], run: Run
) -> None:
    ec2 = cluster[0].client("ec2")
    [group] = ec2.describe_security_groups(
        Filters=[{"Name": "description", "Values": ["EFS file system"]}]
    )["SecurityGroups"]
    ec2.revoke_security_group_ingress(
        GroupId=group["GroupId"], IpPermissions=group["IpPermissions"]
    )

    job, _ = run("true")

    assert job.status == "FAILED"
    # Systems Manager has it in the standard error of the node.
    assert job.attempts[-1].exit_code == 1 or "/home: fs-" in str(job.attempts[-1].reason)
