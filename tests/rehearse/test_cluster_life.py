"""The whole life of a cluster with storage: deployed, used, changed, torn down, and used again."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from app_here import synthesise_in_this_process
from command_bench import until
from command_line import Answer, runner
from eks_operator import ROLE, be_role, make_operator
from frequent_looks import look_often
from job_bench import job_aws
from protected_stacks import deploy_protected, there
from reviewed_project import commit_all, git
from skips import needs

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.plugins import project_needs
from trainshed.checks.templates import checking
from trainshed.cli import main
from trainshed.orchestrators import Orchestrator, part
from trainshed.rehearse import deployment
from trainshed.rehearse.faults import FaultKind, find_fault
from trainshed.rehearse.rehearsal import job_path
from trainshed.review import reviewing
from trainshed.review.cache import Cache

pytestmark = [pytest.mark.server, needs("ip", "unshare", "nsenter", networks=True)]
ROOT = Path(__file__).parents[2]
CLUSTER = """name: TrainCluster
region: us-west-2
orchestrator: {orchestrator}
instance: {{type: p3.16xlarge, nodes: {{max: 2}}, scratch: {{ebs: {{gib: 1000}}}}}}
capacity: {{spot: {{}}}}
job: {{environment: {{PHASE: {phase}}}}}
storage:
  lustre: {{{lustre}}}
  efs: {{mount: /home, {efs}}}
  openzfs: {{{openzfs}}}
  bucket: {{mount: /data, {bucket}}}
"""
OF_EKS = """image: {tag: v1}
kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}
"""
OLD = "{prefix: old/, glacier_instant_retrieval_days: 90}"
FIRST = {
    "phase": "first",
    "lustre": "deployment: scratch-2",
    "efs": "archive_days: 90",
    "openzfs": "throughput: 160",
    "bucket": f"lifecycle: [{OLD}]",
}
CHANGED = {
    "phase": "second",
    "lustre": "deployment: scratch-2, capacity_gib: 2400",
    "efs": "archive_days: 180",
    "openzfs": "throughput: 320",
    "bucket": f"lifecycle: [{OLD}, {{prefix: logs/, expire_days: 30}}]",
}
HOLD_DATA = ("AWS::FSx::FileSystem", "AWS::EFS::FileSystem", "AWS::S3::Bucket")
KEPT = ("file system", "EFS file system", "OpenZFS file system", "bucket")
# It goes on until something ends it, and then from what it wrote.
TRAINING = """
for path in {mounts}; do echo written >>$path/of-$NODE_RANK || exit 3; done
trap 'echo checkpoint before $(cat $TRAINSHED_DEADLINE) >/fsx/kept; exit 5' TERM
if [ -e /fsx/kept ]; then
  echo $PHASE: $(cat /fsx/kept), $(wc -l </zfs/of-$NODE_RANK) attempts, $(cat /data/runs/0)
  exit 0
fi
if [ $NODE_RANK = 0 ]; then
  python3 -c "
import boto3, os
s3 = boto3.client('s3')
for key in ('runs/0', 'logs/0'):
    s3.put_object(Bucket=os.environ['TRAINSHED_BUCKET'], Key=key, Body=key.encode())" || exit 4
  echo step
fi
sleep 600 & wait
"""


@dataclass(frozen=True, kw_only=True)
class Life:
    """A project with one cluster, in the working directory, and the AWS that it is deployed to.

    Attributes:
        aws: that AWS.
        orchestrator: of the cluster.
        trainshed: the command; it fails the test if it exits with another code than `code`.
    """

    aws: EmbeddedAws
    orchestrator: Orchestrator
    trainshed: Callable[..., Answer]

    @property
    def in_kubernetes(self) -> bool:
        return self.orchestrator is Orchestrator.EKS

    def write(self, storage: Mapping[str, str]) -> None:
        """Write the cluster file."""
        text = CLUSTER.format(orchestrator=self.orchestrator, **storage)
        Path("clusters/train.yaml").write_text(text + OF_EKS * self.in_kubernetes)

    def deploy(self, output: Path) -> None:
        """Deploy what the project's app makes, as the CDK CLI does it, and commit it."""
        deploy_protected(self.aws, output, deployment.synthesised("TrainCluster", output))
        if self.in_kubernetes:
            self.trainshed("kube", "apply", "TrainCluster")
        commit_all()

    def submit(self) -> str:
        """Submit the training; return the id of the job."""
        # The embedded AWS has no scratch space for plain EC2 nodes.
        mounts = f"/fsx /home /zfs {'/scratch' * self.in_kubernetes}"
        script = TRAINING.format(mounts=mounts)
        return self.trainshed("job", "submit", "TrainCluster", "--", "sh", "-c", script).out.strip()

    def finish(self, job: str) -> str:
        """Wait for a job, and return the last line of its main node."""
        self.trainshed("job", "watch", job)
        return self.trainshed("job", "logs", job).out.splitlines()[-1]

    def nodes(self, **tags: str) -> dict[str, Any]:
        """Return the running nodes with these tags, by their ids."""
        wanted = {"instance-type": "p3.16xlarge", "instance-state-name": "running", **tags}
        filters = [{"Name": name, "Values": [value]} for name, value in wanted.items()]
        found = self.aws.client("ec2").describe_instances(Filters=filters)["Reservations"]
        return {each["InstanceId"]: each for group in found for each in group["Instances"]}

    def interrupt(self, job: str) -> None:
        """Have EC2 take back a node of a job that has begun."""
        until(lambda: "step\n" in self.trainshed("job", "logs", job, code=None).out, "a step")
        fault = find_fault(FaultKind.SPOT_INTERRUPTION, self.orchestrator, "TrainCluster")
        assert fault.during
        fault.during(
            self.aws, job, part(self.orchestrator, "faults").child_processes(self.aws, job)
        )

    def file_systems(self) -> dict[str, str]:
        """Return the only file system of each kind."""
        found = self.aws.client("fsx").describe_file_systems()["FileSystems"]
        [home] = self.aws.client("efs").describe_file_systems()["FileSystems"]
        kinds = {each["FileSystemType"]: each["FileSystemId"] for each in found}
        assert len(kinds) == len(found)
        return {**kinds, "EFS": home["FileSystemId"]}

    def keys(self, bucket: str) -> list[str]:
        """Return the keys of the objects in a bucket."""
        found = self.aws.client("s3").list_objects_v2(Bucket=bucket)["Contents"]
        return [each["Key"] for each in found]


@pytest.fixture(params=[Orchestrator.EC2, Orchestrator.EKS])
def life(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    one_engine: None,
    publish_ami: Callable[..., str],
) -> Iterator[Life]:
    """A new project in git, and an AWS that has an AMI for its cluster."""
    eks = request.param is Orchestrator.EKS
    if eks and (reason := unavailable()):
        pytest.skip(reason)
    look_often(monkeypatch)
    for module in (deployment, checking):
        monkeypatch.setattr(module, "synthesise", synthesise_in_this_process)
    # Ten seconds of them are spared.
    monkeypatch.setattr(f"trainshed.orchestrators.{request.param}.faults.NOTICE_SECONDS", 16)
    monkeypatch.setattr(reviewing, "PROGRAMS", ())
    monkeypatch.setattr(reviewing, "user_cache", partial(Cache, tmp_path / "cache"))
    run = runner("trainshed", main, capsys, monkeypatch)

    def trainshed(*words: str, code: int | None = 0) -> Answer:
        done = run(*words)
        assert code in (None, done.code), done.out + done.err
        return done

    project = tmp_path / "project"
    trainshed("init", str(project), "--type", "p3.16xlarge", "--region", "us-west-2")
    (project / "node_modules").symlink_to(ROOT / "node_modules")
    monkeypatch.chdir(project)
    git("init", "--quiet", "--initial-branch=main")
    settings = JobSettings(speed=300 if eks else 60)
    as_of = project_needs(project).as_of
    folder = tmp_path / "aws"
    folder.mkdir()
    with job_path(), job_aws(folder, settings, kubernetes=eks, as_of=as_of) as aws:
        publish_ami(aws, "nvidia/eks-1.35" if eks else "nvidia/ec2")
        if eks:
            make_operator(aws)
            be_role(aws, ROLE, monkeypatch)
        else:
            aws.lead_here(monkeypatch)
        yield Life(aws=aws, orchestrator=request.param, trainshed=trainshed)


def test_data_outlives_an_interruption_a_change_and_the_cluster(
    life: Life, tmp_path: Path, push_image: Callable[..., str]
) -> None:
    life.write(FIRST)
    if life.in_kubernetes:
        life.trainshed("kube", "lock", "TrainCluster")
    life.deploy(tmp_path / "first")
    if life.in_kubernetes:
        push_image(life.aws, "train", "v1")
    made, bucket = life.file_systems(), "trainshed-train-123456789012-us-west-2"

    # EC2 takes a node back; the next attempt finds what the first one wrote.
    job, before = life.submit(), life.nodes().keys()
    life.interrupt(job)
    if life.in_kubernetes:
        watched = life.trainshed("job", "watch", job)
        assert "attempt 2 of 3" in watched.out
    else:
        # Plain nodes have no retries: the user submits again when there is another node.
        watched = life.trainshed("job", "watch", job, code=1)
        booted = {"tag:trainshed:boot": "ok"}
        until(lambda: len(life.nodes(**booted).keys() - before) == 1, "another node")
        job = life.submit()
    assert "back (interruption)" in watched.out
    found = r"{}: checkpoint before 20\S+Z, {} attempts, runs/0"
    assert re.fullmatch(found.format("first", 2), life.finish(job))
    assert life.keys(bucket) == ["logs/0", "runs/0"]

    # The review of a change names what deletes objects, and nothing is replaced that holds data.
    life.write(CHANGED)
    review = life.trainshed("review", "--base", "main", "--format", "json").json
    [risk] = review["risks"]
    assert risk["message"].startswith("objects that begin with logs/ are deleted after 30 days")
    effects = [
        each["effect"]
        for stack in review["stacks"]
        for each in stack["resources"]
        if each["resource_type"] in HOLD_DATA
    ]
    assert effects == ["changed"] * 4

    life.deploy(tmp_path / "changed")
    life.aws.let_pass(days=31)
    assert life.file_systems() == made
    assert life.keys(bucket) == ["runs/0"]
    assert re.fullmatch(found.format("second", 3), life.finish(life.submit()))

    # The cluster goes, and what holds data stays.
    torn_down = life.trainshed("teardown", "TrainCluster", "--yes", "--json").json
    kept = {each["what"]: each for each in torn_down["kept"]}
    assert there(life.aws) == {"TrainNetwork"}
    assert life.nodes() == {}
    assert life.file_systems() == made
    assert life.keys(bucket) == ["runs/0"]
    assert {(kept[what]["name"], kept[what]["size"]) for what in KEPT} == {
        (made["LUSTRE"], "2400 GiB SCRATCH_2"),
        (made["OPENZFS"], "64 GiB, 320 MB/s"),
        (made["EFS"], "0.0 GiB"),
        (bucket, "1 object, 0.0 GiB"),
    }
    assert all(kept[what]["cost"].startswith("bills ") for what in KEPT)
    assert made["LUSTRE"] in kept["stack"]["why"]
    if life.in_kubernetes:
        return
    again = {name: f"existing: {made[name.upper()]}" for name in ("lustre", "efs", "openzfs")}
    life.write({"phase": "third", **again, "bucket": f"existing: {bucket}"})
    review = life.trainshed("review", "--base", "main", "--format", "json").json
    leaving = [each["message"] for each in review["risks"] if each["kind"] == "data-loss"]
    assert len(leaving) == 4
    # The report has no numbers of accounts.
    for name in (*made.values(), bucket.replace("123456789012", "ACCOUNT")):
        assert any(f"the cluster uses {name} from now on" in each for each in leaving)
    life.deploy(tmp_path / "again")
    assert life.file_systems() == made
    assert re.fullmatch(found.format("third", 4), life.finish(life.submit()))
