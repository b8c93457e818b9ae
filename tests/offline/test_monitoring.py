"""What watches a deployed cluster: metrics as nodes send them, alarms, and the messages."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_bench import until
from protected_stacks import deploy_protected

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from trainshed.monitoring import monitoring_of
from trainshed.plan import Fleet, load_fleet

NAME = "TrainCluster"
TEXT = f"""
name: {NAME}
region: us-west-2
instance: {{type: p4d.24xlarge, nodes: {{max: 4}}}}
storage: {{lustre: {{deployment: scratch-2, capacity_gib: 2400}}}}
notify: [ml-platform@example.com]
findings: {{accept: {{TS-LUS-001: a test}}}}
"""
MINUTE = timedelta(minutes=1)
GIB = 1024**3

Send = Callable[..., None]


Receive = Callable[[], Sequence[str]]


@pytest.fixture
def deploy(
    clean_aws: EmbeddedAws,
    synthesise: Callable[[Fleet], Path],
    publish_ami: Callable[..., str],
    tmp_path: Path,
) -> Callable[..., Receive]:
    """Deploy some stacks; return what tells what people are told, since they were asked last."""

    def run(text: str, *stacks: str) -> Receive:
        file = tmp_path / "train.yaml"
        file.write_text(text)
        publish_ami(clean_aws, cell="nvidia/ecs")
        deploy_protected(clean_aws, synthesise(load_fleet([file])), [*stacks])
        sns, sqs = clean_aws.client("sns"), clean_aws.client("sqs")
        [topic] = [each["TopicArn"] for each in sns.list_topics()["Topics"]]
        url = sqs.create_queue(QueueName="people")["QueueUrl"]
        attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        arn = attributes["Attributes"]["QueueArn"]
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)

        def receive() -> Sequence[str]:
            found = []
            while more := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                for each in more:
                    sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                    found.append(json.loads(each["Body"])["Message"])
            return found

        return receive

    return run


@pytest.fixture
def messages(deploy: Callable[..., Receive]) -> Receive:
    """What people of the deployed cluster are told, since they were asked last."""
    return deploy(TEXT, *(f"Train{each}" for each in ("Network", "Storage", "Cluster")))


@pytest.fixture
def send(clean_aws: EmbeddedAws) -> Send:
    """Send what nodes send in the last minutes: samples of each node, for each minute."""
    cloudwatch = clean_aws.client("cloudwatch")

    def run(
        metrics: Mapping[str, Sequence[float]],
        *,
        namespace: str = "trainshed",
        minutes: int = 15,
        dimensions: Mapping[str, str] | None = None,
    ) -> None:
        now = datetime.now(UTC)
        of = [{"Name": key, "Value": value} for key, value in (dimensions or {}).items()]
        for name, values in metrics.items():
            cloudwatch.put_metric_data(
                Namespace=namespace,
                MetricData=[
                    {
                        "MetricName": name,
                        "Dimensions": of or [{"Name": "Cluster", "Value": NAME}],
                        "Timestamp": now - MINUTE * ago,
                        "Values": values,
                    }
                    for ago in range(1, minutes + 1)
                ],
            )

    return run


def alarms(aws: EmbeddedAws) -> dict[str, str]:
    """The state of each alarm, by its name without the cluster's."""
    found = aws.client("cloudwatch").describe_alarms(AlarmNamePrefix=f"{NAME}-")["MetricAlarms"]
    return {each["AlarmName"].removeprefix(f"{NAME}-"): each["StateValue"] for each in found}


def ringing(aws: EmbeddedAws) -> set[str]:
    return {name for name, state in alarms(aws).items() if state == "ALARM"}


def test_alarms_go_off_by_what_nodes_send_and_people_are_told(
    clean_aws: EmbeddedAws,
    messages: Callable[[], Sequence[str]],
    send: Send,
) -> None:
    eight = 8
    well = {
        "mem_used_percent": [40.0] * 2,
        "efa_tx_bytes": [10.0**9] * 2,
        "efa_retrans_timeout_events": [0.0] * 2,
        "efa_unresponsive_remote_events": [0.0] * 2,
        "DCGM_FI_DEV_GPU_UTIL": [95.0] * 2 * eight,
        "DCGM_FI_DEV_GPU_TEMP": [60.0] * 2 * eight,
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": [0.0] * 2 * eight,
        "DCGM_FI_DEV_ROW_REMAP_FAILURE": [0.0] * 2 * eight,
    }
    send(well)
    assert ringing(clean_aws) == set()
    assert messages() == []

    # They are added to what there is: hotter, lossy, with errors.
    send({"DCGM_FI_DEV_GPU_TEMP": [91.0], "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": [1.0]})
    send({"efa_retrans_timeout_events": [3.0]})

    told = [json.loads(each) for each in messages()]
    assert ringing(clean_aws) == {"hot", "accelerator-fault", "retransmissions"}
    assert {each["AlarmName"] for each in told} == {f"{NAME}-{each}" for each in ringing(clean_aws)}
    assert all("trainshed" in each["AlarmDescription"] for each in told)


def test_a_job_that_hangs_and_an_accelerator_that_is_gone_are_found(
    clean_aws: EmbeddedAws,
    messages: Callable[[], Sequence[str]],
    send: Send,
) -> None:
    send({"mem_used_percent": [40.0] * 2, "efa_tx_bytes": [0.0] * 2})

    send({"DCGM_FI_DEV_GPU_UTIL": [100.0] * 15})

    assert ringing(clean_aws) == {"no-progress", "lost-accelerator"}
    assert len(messages()) == 2


def test_a_file_system_that_has_been_full_for_fifteen_minutes_is_told(
    clean_aws: EmbeddedAws, messages: Callable[[], Sequence[str]]
) -> None:
    [file_system] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    name = file_system["FileSystemId"]
    told = {}

    # Of 2,400 GiB: 84 percent, 86 percent for 12 minutes and for 18 minutes.
    for gib, minutes in ((2016, 30), (2064, 12), (2064, 6)):
        clean_aws.fill_storage(name, gib)
        clean_aws.let_pass(hours=minutes / 60)
        told[gib, minutes] = [json.loads(each) for each in messages()]

    *quiet, [full] = told.values()
    assert quiet == [[], []]
    assert full["AlarmName"] == f"{NAME}-lustre-full"
    assert full["NewStateValue"] == "ALARM"
    assert ringing(clean_aws) == {"lustre-full"}


def test_a_file_system_that_was_emptied_is_well_again(
    clean_aws: EmbeddedAws, messages: Callable[[], Sequence[str]]
) -> None:
    [file_system] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    clean_aws.fill_storage(file_system["FileSystemId"], 2400)
    clean_aws.let_pass(hours=0.5)
    assert ringing(clean_aws) == {"lustre-full"}

    clean_aws.fill_storage(file_system["FileSystemId"], 1200)
    clean_aws.let_pass(hours=0.1)

    assert alarms(clean_aws)["lustre-full"] == "OK"


def test_an_existing_file_system_is_as_full_as_what_it_has_and_uses_say(
    clean_aws: EmbeddedAws,
    deploy: Callable[..., Receive],
    synthesise: Callable[[Fleet], Path],
    send: Send,
    tmp_path: Path,
) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(TEXT)
    deploy_protected(clean_aws, synthesise(load_fleet([file])), ["TrainNetwork"])
    ec2 = clean_aws.client("ec2")
    [subnet, *_] = ec2.describe_subnets(
        Filters=[{"Name": "tag:aws:cloudformation:stack-name", "Values": ["TrainNetwork"]}]
    )["Subnets"]
    file_system = clean_aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=2400,
        SubnetIds=[subnet["SubnetId"]],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]
    existing = TEXT.replace("deployment: scratch-2, capacity_gib: 2400", f"existing: {file_system}")
    deploy(f"{existing}zone: {subnet['AvailabilityZoneId']}\n", "TrainStorage", "TrainCluster")

    # Of 2,400 GiB: 83 percent, and 96.
    states = []
    for gib in (2000, 2300):
        clean_aws.fill_storage(file_system, gib)
        clean_aws.let_pass(hours=0.5)
        states.append(alarms(clean_aws)["lustre-full"])

    assert states == ["OK", "ALARM"]


def test_a_job_that_blocks_the_queue_is_told(clean_aws: EmbeddedAws, messages: Receive) -> None:
    [stack] = clean_aws.client("cloudformation").describe_stacks(StackName=NAME)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
    code = "InsufficientInstanceCapacity"
    clean_aws.fail(Fault(service="ec2", operation="RunInstances", code=code, count=None))
    batch = clean_aws.client("batch")

    job = batch.submit_job(
        jobName="waits", jobQueue=outputs["JobQueue"], jobDefinition=outputs["JobDefinition"]
    )["jobId"]
    told = until(messages, "the message")

    clean_aws.fail()
    batch.terminate_job(jobId=job, reason="seen")
    [said] = told
    assert said.strip('"').startswith(f"{NAME}: job waits ({job}) blocks the queue: CAPACITY:")


def test_the_dashboard_shows_what_the_plan_says(
    clean_aws: EmbeddedAws, messages: Callable[[], Sequence[str]], tmp_path: Path
) -> None:
    [plan] = load_fleet([tmp_path / "train.yaml"]).clusters
    watching = monitoring_of(plan)
    assert watching

    stored = clean_aws.client("cloudwatch").get_dashboard(DashboardName=f"{NAME}-us-west-2")
    widgets = json.loads(stored["DashboardBody"])["widgets"]

    assert [each["properties"]["title"] for each in widgets] == [
        each.title for each in watching.widgets
    ]
    [file_system] = clean_aws.client("fsx").describe_file_systems()["FileSystems"]
    assert file_system["FileSystemId"] in stored["DashboardBody"]
    names = [each["Name"] for each in clean_aws.client("events").list_rules()["Rules"]]
    counted = [
        row[3] for each in widgets for row in each["properties"]["metrics"] if "RuleName" in row
    ]
    assert len(counted) == 4
    assert set(counted) < set(names)


def buy_block(aws: EmbeddedAws) -> Mapping[str, Any]:
    """Return a Capacity Block of four nodes, in usw2-az4, that has not begun."""
    ec2 = aws.client("ec2")
    offers = ec2.describe_capacity_block_offerings(
        InstanceType="p4d.24xlarge", InstanceCount=4, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    [offer] = [each for each in offers if each["AvailabilityZone"] == "us-west-2d"]
    bought: Mapping[str, Any] = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    return bought


def test_people_are_told_two_hours_before_a_capacity_block_ends(
    clean_aws: EmbeddedAws, deploy: Callable[..., Receive]
) -> None:
    block = buy_block(clean_aws)
    # What CloudFormation and the plan know of it is what the file says.
    end = datetime.now(UTC) + timedelta(hours=26)
    text = f"""
name: {NAME}
region: us-west-2
zone: usw2-az4
instance: {{type: p4d.24xlarge, nodes: {{max: 4}}}}
image: {{uri: "registry.example/train:1"}}
notify: [ml-platform@example.com]
capacity:
  calendar:
    - capacity_block: {block["CapacityReservationId"]}
      from: {end - timedelta(days=1):%FT%H:%MZ}
      until: {end:%FT%H:%MZ}
"""
    receive = deploy(text, "TrainNetwork", NAME)

    clean_aws.let_pass(hours=23)
    before = receive()
    clean_aws.let_pass(hours=1)
    [told] = receive()

    assert before == []
    assert f"{block['CapacityReservationId']} ends at {end:%Y-%m-%d %H:%M} UTC" in told


def test_people_are_told_by_ec2s_event_that_the_block_ends(
    clean_aws: EmbeddedAws, deploy: Callable[..., Receive]
) -> None:
    block = buy_block(clean_aws)["CapacityReservationId"]
    clean_aws.begin_block(block)
    in_block = f"zone: usw2-az4\ncapacity: {{capacity_block: {block}}}\n"
    receive = deploy(TEXT + in_block, "TrainNetwork", "TrainStorage", NAME)
    receive()

    clean_aws.end_block(block)

    [said] = receive()
    assert said.strip('"').startswith(f"{NAME}: the Capacity Block {block} ends at 20")
