"""`trainshed teardown`, against clusters of the embedded AWS."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import Answer, runner
from job_bench import JobBench
from protected_stacks import deploy_protected, there

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.aws import Region
from trainshed.cli import main
from trainshed.jobs.scheduler import find_scheduler
from trainshed.jobs.sent_files import pack
from trainshed.jobs.submission import Submission
from trainshed.plan import Fleet, load_fleet

Synthesise = Callable[[Fleet], Path]
Run = Callable[..., Answer]

# With monitoring, the cluster's stack reads which file system its storage has, and some of these
# tests deploy no storage.
HEAD = (
    "name: {name}\nregion: us-west-2\nmonitoring: false\n"
    "instance: {{type: trn1.32xlarge, nodes: {{max: 4}}}}\n"
)
LUSTRE = "storage: {lustre: {deployment: scratch-2}}\n"
STACKS = ("TrainNetwork", "TrainStorage", "TrainContainers", "TrainCluster")


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """The folder of the cluster files, with that of TrainCluster."""
    folder = tmp_path / "clusters"
    folder.mkdir()
    (folder / "train.yaml").write_text(HEAD.format(name="TrainCluster") + LUSTRE)
    return folder


@pytest.fixture(autouse=True)
def channel(clean_aws: EmbeddedAws, publish_ami: Callable[..., str]) -> str:
    """An AMI for the nodes, which a new account lacks."""
    return publish_ami(clean_aws)


@pytest.fixture
def deploy(
    clean_aws: EmbeddedAws, synthesise: Synthesise, clusters: Path
) -> Callable[[tuple[str, ...]], None]:
    """Deploy stacks of the cluster files, protected as the CDK CLI does it."""

    def run(stacks: tuple[str, ...]) -> None:
        folder = synthesise(load_fleet(sorted(clusters.glob("*.yaml"))))
        deploy_protected(clean_aws, folder, stacks)

    return run


@pytest.fixture
def teardown(
    clean_aws: EmbeddedAws,
    clusters: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    trainshed = runner("trainshed", main, capsys, monkeypatch)
    clean_aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters.parent)
    return partial(trainshed, "teardown")


def records(done: Answer) -> Mapping[str, Any]:
    assert done.code == 0, done.err
    found: Mapping[str, Any] = json.loads(done.out)
    return found


def stays(done: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(each["what"], each["name"]) for each in done["kept"]}


def test_a_cluster_goes_and_its_data_stays_and_is_used_again(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    deploy(STACKS)
    [system] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    file_system = system["FileSystemId"]

    done = records(teardown("TrainCluster", "--yes", "--json"))

    assert [each["name"] for each in done["removed"]] == [
        "TrainCluster",
        "TrainStorage",
        "TrainContainers",
    ]
    kept = {each["what"]: each for each in done["kept"]}
    assert kept["file system"]["name"] == file_system
    assert kept["file system"]["size"] == "1200 GiB SCRATCH_2"
    assert kept["repository"]["name"] == "train"
    assert kept["log group"]["why"].startswith("the output of jobs, each line kept for 90 days;")
    # Its interfaces keep the subnet, and that the network.
    assert kept["stack"]["name"] == "TrainNetwork"
    assert kept["stack"]["size"] == "1 NAT gateway(s)"
    assert kept["stack"]["why"].startswith(f"{file_system} is in it")
    assert there(clean_aws) == {"TrainNetwork"}

    # They exist and cost as before, so it says so as before.
    again = records(teardown("TrainCluster", "--dry-run", "--json"))
    assert again["removed"] == []
    assert stays(again) == stays(done)

    # What it says about using them again is true.
    there_is = f"storage: {{lustre: {{existing: {file_system}}}}}\nimage: {{existing: true}}\n"
    (clusters / "train.yaml").write_text(HEAD.format(name="TrainCluster") + there_is)
    deploy(STACKS)
    [still] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    assert still["FileSystemId"] == file_system

    # And with the file system gone, everything goes, and can come again as new.
    adopted = records(teardown("TrainCluster", "--yes", "--json"))
    assert {("file system", file_system), ("repository", "train")} <= stays(adopted)
    clean_aws.client("fsx").delete_file_system(FileSystemId=file_system)
    clean_aws.client("ecr").delete_repository(repositoryName="train", force=True)
    # Its security group was kept with it, and goes with the network.
    filters = [{"Name": "tag:trainshed:lustre", "Values": ["train"]}]
    groups = clean_aws.client("ec2").describe_security_groups(Filters=filters)["SecurityGroups"]
    left_group = groups[0]["GroupId"]
    last = records(teardown("TrainCluster", "--yes", "--json"))
    assert [each["name"] for each in last["removed"]] == ["TrainNetwork", left_group]
    assert {what for what, _ in stays(last)} == {"log group"}
    reasons = {each["why"].split(",")[0] for each in last["kept"]}
    assert reasons == {"the output of jobs", "the record of network traffic"}
    (clusters / "train.yaml").write_text(HEAD.format(name="TrainCluster") + LUSTRE)
    deploy(STACKS)


def test_a_cluster_whose_file_system_was_deleted_by_hand_goes_in_one_run(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork", "TrainStorage"))
    [system] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    clean_aws.client("fsx").delete_file_system(FileSystemId=system["FileSystemId"])

    done = records(teardown("TrainCluster", "--yes", "--json"))

    assert [each["name"] for each in done["removed"]][:2] == ["TrainStorage", "TrainNetwork"]
    assert there(clean_aws) == set()


def test_it_says_first_and_does_nothing_until_it_may(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork", "TrainContainers"))

    looked, unasked = teardown("TrainCluster", "--dry-run"), teardown("TrainCluster")

    assert looked.code == 0
    assert "will be deleted" in looked.out and "TrainContainers" in looked.out
    assert "bills by the GiB and month" in looked.out
    assert unasked.code == 2
    assert unasked.err.startswith(
        "error: this is not a terminal, so nothing can be asked: add --yes"
    )
    assert there(clean_aws) == {"TrainNetwork", "TrainContainers"}


def test_jobs_that_are_not_over_stop_it_until_they_may_be_ended(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork", "TrainCluster"))
    batch = clean_aws.client("batch")
    outputs = clean_aws.client("cloudformation").describe_stacks(StackName="TrainCluster")
    values = {each["OutputKey"]: each["OutputValue"] for each in outputs["Stacks"][0]["Outputs"]}
    # So that the job does not end by itself.
    clean_aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=None,
        )
    )
    batch.submit_job(
        jobName="pretrain", jobQueue=values["JobQueue"], jobDefinition=values["JobDefinition"]
    )

    stopped = teardown("TrainCluster", "--yes")

    assert stopped.code == 1
    assert "pretrain" in stopped.out
    assert stopped.err.endswith("end them with --end-jobs\n")
    assert "TrainCluster" in there(clean_aws)
    assert teardown("TrainCluster", "--yes", "--end-jobs").code == 0
    assert there(clean_aws) == set()


def test_a_cluster_that_does_not_say_where_its_jobs_run_stays(
    clean_aws: EmbeddedAws, teardown: Run
) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {"JobQueue": {"Value": "arn:queue"}},
    }
    clean_aws.deploy(template, stack_name="TrainCluster")

    done = teardown("TrainCluster", "--yes", "--end-jobs")

    assert done.code == 1
    assert "deploy it again, then tear down: npx cdk deploy TrainCluster" in done.err
    assert there(clean_aws) == {"TrainCluster"}


def test_what_submissions_with_files_registered_goes(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    deploy(("TrainNetwork", "TrainCluster"))
    region = Region("us-west-2", clean_aws.client)
    files = pack(clusters, [Path("train.yaml")])
    submission = Submission(name="sent", command=("true",), nodes=1, files=files)
    find_scheduler(region, "TrainCluster").submit(submission)
    batch = clean_aws.client("batch")
    assert len(batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"]) == 2

    assert teardown("TrainCluster", "--yes", "--end-jobs").code == 0

    assert batch.describe_job_definitions(status="ACTIVE")["jobDefinitions"] == []


def test_a_cluster_whose_queue_is_gone_goes_too(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork", "TrainCluster"))
    batch = clean_aws.client("batch")
    [queue] = batch.describe_job_queues()["jobQueues"]
    batch.update_job_queue(jobQueue=queue["jobQueueName"], state="DISABLED")
    batch.delete_job_queue(jobQueue=queue["jobQueueName"])

    found = records(teardown("TrainCluster", "--dry-run", "--json"))

    assert "TrainCluster" in [each["name"] for each in found["removed"]]
    assert found["jobs"] == []


def test_jobs_of_an_earlier_version_are_not_ended_unseen(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    synthesise: Synthesise,
    clusters: Path,
) -> None:
    deploy(("TrainNetwork",))
    folder = synthesise(load_fleet([clusters / "train.yaml"]))
    template = json.loads((folder / "TrainCluster.template.json").read_text())
    del template["Outputs"]["Orchestrator"]
    clean_aws.deploy(template, stack_name="TrainCluster")

    refused = teardown("TrainCluster", "--yes", "--end-jobs")

    assert refused.code == 1
    assert "deploy it again, then tear down: npx cdk deploy TrainCluster" in refused.err
    assert "or delete it with its jobs: npx cdk destroy TrainCluster" in refused.err


def test_storage_that_left_the_file_is_found_and_deleted_alone(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    deploy(STACKS)
    (clusters / "train.yaml").write_text(HEAD.format(name="TrainCluster"))

    # The nodes still mount it.
    early = records(teardown("TrainCluster", "--stack", "TrainStorage", "--yes", "--json"))
    assert early["removed"] == []
    assert early["kept"][0]["why"] == "used by TrainCluster"

    deploy(("TrainCluster",))
    done = records(teardown("TrainCluster", "--stack", "TrainStorage", "--yes", "--json"))

    assert [each["name"] for each in done["removed"]] == ["TrainStorage"]
    assert there(clean_aws) == {"TrainNetwork", "TrainContainers", "TrainCluster"}
    # The network can let go of what nobody uses any more.
    deploy(("TrainNetwork",))


def test_what_another_cluster_uses_stays(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    shared = "network: {name: lab}\nimage: {repository: lab}\n"
    shared += "storage: {lustre: {name: lab, deployment: scratch-2}}\n"
    for name in ("OneCluster", "TwoCluster"):
        (clusters / f"{name}.yaml").write_text(HEAD.format(name=name) + shared)
    deploy(("LabNetwork", "LabStorage", "LabContainers", "OneCluster", "TwoCluster"))

    done = records(teardown("OneCluster", "--yes", "--json"))

    assert [each["name"] for each in done["removed"]] == ["OneCluster"]
    reasons = {each["name"]: each["why"] for each in done["kept"] if each["what"] == "stack"}
    assert reasons["LabStorage"] == reasons["LabContainers"] == "used by TwoCluster"
    assert "TwoCluster" in reasons["LabNetwork"]
    assert there(clean_aws) == {"LabNetwork", "LabStorage", "LabContainers", "TwoCluster"}


def test_a_stack_that_cannot_be_deleted_is_reported_with_the_reason_and_goes_the_next_time(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork",))
    ec2 = clean_aws.client("ec2")
    [vpc] = ec2.describe_vpcs()["Vpcs"]
    group = ec2.create_security_group(
        GroupName="stranger", Description="in the way", VpcId=vpc["VpcId"]
    )["GroupId"]

    failed = teardown("TrainCluster", "--yes")

    assert failed.code == 1
    assert "error: TrainNetwork is DELETE_FAILED: NetworkVpc" in failed.err
    assert "Traceback" not in failed.err
    ec2.delete_security_group(GroupId=group)
    assert teardown("TrainCluster", "--yes").code == 0
    assert there(clean_aws) == set()


def test_a_missing_permission_is_named(
    clean_aws: EmbeddedAws, deploy: Callable[[tuple[str, ...]], None], teardown: Run
) -> None:
    deploy(("TrainNetwork",))
    clean_aws.fail(
        Fault(service="cloudformation", operation="DeleteStack", code="AccessDenied", count=None)
    )

    done = teardown("TrainCluster", "--yes")

    clean_aws.fail()
    assert done.code == 1
    assert "may not call cloudformation:DeleteStack in us-west-2" in done.err


def test_credentials_of_another_account_delete_nothing(
    clean_aws: EmbeddedAws, teardown: Run, clusters: Path
) -> None:
    other = HEAD.format(name="TrainCluster") + 'account: "210987654321"\n'
    (clusters / "train.yaml").write_text(other)

    done = teardown("TrainCluster", "--yes")

    assert done.code == 1
    assert "is in account 210987654321, and the credentials are of 123456789012" in done.err


def test_the_network_that_a_cluster_is_in_goes_though_the_file_names_another(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    (clusters / "train.yaml").write_text(HEAD.format(name="TrainCluster"))
    deploy(("TrainNetwork", "TrainCluster"))
    (clusters / "train.yaml").write_text(HEAD.format(name="TrainCluster") + "network: {name: lab}")

    with pytest.raises(DeploymentFailed, match="trainshed teardown CLUSTER"):
        deploy(("LabNetwork",))
    done = records(teardown("TrainCluster", "--yes", "--json"))

    assert {each["name"] for each in done["removed"]} == {
        "TrainCluster",
        "TrainNetwork",
        "LabNetwork",
    }
    assert there(clean_aws) == set()
    # Now it can be made under the new name.
    deploy(("LabNetwork", "TrainCluster"))


def test_storage_stays_while_nodes_mount_it_though_the_file_names_another_network(
    deploy: Callable[[tuple[str, ...]], None], teardown: Run, clusters: Path
) -> None:
    deploy(STACKS)
    (clusters / "train.yaml").write_text(
        HEAD.format(name="TrainCluster") + LUSTRE + "network: {name: lab}"
    )

    done = records(teardown("TrainCluster", "--stack", "TrainStorage", "--dry-run", "--json"))

    assert done["removed"] == []
    assert done["kept"][0]["why"] == "used by TrainCluster"


def test_a_network_that_nothing_uses_is_reported_and_goes_when_it_is_named(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
    clusters: Path,
) -> None:
    def write(name: str) -> None:
        (clusters / "train.yaml").write_text(
            HEAD.format(name="TrainCluster") + f"network: {{name: {name}}}"
        )

    write("lab")
    deploy(("LabNetwork",))
    write("train")
    (clusters / "other.yaml").write_text(HEAD.format(name="OtherCluster"))
    deploy(("TrainNetwork", "OtherNetwork"))

    report = records(teardown("TrainCluster", "--dry-run", "--json"))
    # That of the other cluster is to be used yet.
    [left] = [each for each in report["kept"] if each["what"] == "stack"]
    assert (left["name"], left["size"]) == ("LabNetwork", "1 NAT gateway(s)")
    assert left["why"].startswith("no stack uses it")
    assert left["why"].endswith("trainshed teardown TrainCluster --stack LabNetwork")

    records(teardown("TrainCluster", "--stack", "LabNetwork", "--yes", "--json"))

    assert there(clean_aws) == {"TrainNetwork", "OtherNetwork"}
    assert teardown("TrainCluster", "--stack", "OtherNetwork", "--dry-run").code == 2


def test_a_former_compute_environment_goes_before_what_it_uses(
    clean_aws: EmbeddedAws,
    deploy: Callable[[tuple[str, ...]], None],
    teardown: Run,
) -> None:
    deploy(STACKS)
    batch = clean_aws.client("batch")
    [current] = batch.describe_compute_environments()["computeEnvironments"]
    resources = {**current["computeResources"], "desiredvCpus": 0}
    for name, role in (
        ("former", resources["instanceRole"]),
        ("foreign", JobBench(clean_aws).node_role),
    ):
        batch.create_compute_environment(
            computeEnvironmentName=name,
            type="MANAGED",
            computeResources={**resources, "instanceRole": role},
        )

    done = records(teardown("TrainCluster", "--yes", "--json"))

    assert {"what": "former compute environment", "name": "former"} in done["removed"]
    [left] = batch.describe_compute_environments()["computeEnvironments"]
    assert left["computeEnvironmentName"] == "foreign"
