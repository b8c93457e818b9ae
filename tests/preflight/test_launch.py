"""Dry runs of the launch template, deployed or synthesised."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from preflight_account import TRN_QUOTA, Account, Templates, deploy

from embedded_aws.faults import Fault
from trainshed.app.synthesis import read_assembly
from trainshed.findings import Finding, Severity
from trainshed.plan import Fleet
from trainshed.preflight import ask_account

IDS = ("TS-ACC-090", "TS-ACC-091")


def launches(found: list[Finding]) -> list[Finding]:
    """Return what is said of the launch."""
    return [finding for finding in found if finding.rule in IDS]


def test_the_launch_of_a_cluster_is_tried_as_far_as_it_exists(
    account: Account, templates: Templates
) -> None:
    account.aws.grant_quota(TRN_QUOTA, 10_000)
    template = templates["TrainCluster"]

    [alone] = launches(account.ask())
    [before] = launches(account.ask(template=template))
    deploy(account, templates, "TrainNetwork")
    [partly] = launches(account.ask(template=template))
    deploy(account, templates, "TrainCluster")
    whole = launches(account.ask())
    # AWS Batch gives each node an address, and the subnet has them.
    account.aws.client("ec2").delete_placement_group(GroupName=_placement_group(account))
    [broken] = launches(account.ask())

    assert "there is no synthesised template" in alone.message
    assert "its network does not exist yet" in before.message
    assert (partly.rule, partly.severity) == ("TS-ACC-091", Severity.INFO)
    assert "NetworkInterfaces.Groups, UserData; the rest passes" in partly.message
    assert whole == []
    assert (broken.rule, broken.severity) == ("TS-ACC-090", Severity.ERROR)
    assert "a dry run of the launch of 4 nodes fails" in broken.message
    assert "InvalidPlacementGroup.Unknown" in broken.message


def test_all_nodes_are_tried_not_one(account: Account, templates: Templates) -> None:
    deploy(account, templates, "TrainNetwork")
    asked: list[dict[str, Any]] = []
    subject = account.subject(template=templates["TrainCluster"])
    known = subject.aws.call

    def call(service: str, operation: str, **params: Any) -> dict[str, Any]:
        if operation == "run_instances":
            asked.append(params)
        return known(service, operation, **params)

    subject.aws.call = call  # type: ignore[method-assign]
    ask_account(subject)

    [params] = asked
    data = templates["TrainCluster"]["Resources"]
    [declared] = [
        each["Properties"]["LaunchTemplateData"]
        for each in data.values()
        if each["Type"] == "AWS::EC2::LaunchTemplate"
    ]
    kinds = ("NetworkCardIndex", "DeviceIndex", "InterfaceType", "DeleteOnTermination")
    assert (params["MinCount"], params["MaxCount"], params["DryRun"]) == (4, 4, True)
    assert [[each[kind] for kind in kinds] for each in params["NetworkInterfaces"]] == [
        [each[kind] for kind in kinds] for each in declared["NetworkInterfaces"]
    ]
    for name in ("BlockDeviceMappings", "MetadataOptions", "Monitoring"):
        assert params[name] == declared[name]


@pytest.mark.parametrize(
    ("code", "rule", "said"),
    [
        ("UnauthorizedOperation", "TS-ACC-091", "the credentials lack ec2:RunInstances"),
        ("VcpuLimitExceeded", "TS-ACC-090", "VcpuLimitExceeded, more than your vCPUs"),
    ],
)
def test_what_ec2_says_of_the_launch(
    account: Account, templates: Templates, code: str, rule: str, said: str
) -> None:
    deploy(account, templates, "TrainNetwork")
    account.aws.fail(
        Fault(service="ec2", operation="RunInstances", code=code, message="more than your vCPUs")
    )

    [found] = launches(account.ask(template=templates["TrainCluster"]))

    assert found.rule == rule
    assert said in found.message


def test_nodes_that_run_are_not_launched_again(account: Account, templates: Templates) -> None:
    deploy(account, templates, "TrainNetwork")
    ec2 = account.aws.client("ec2")
    account.aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="VcpuLimitExceeded",
            count=None,
            when={"DryRun": "true"},
        )
    )

    def run(nodes: int) -> list[Finding]:
        ec2.run_instances(
            ImageId=account.ids["ami"],
            InstanceType="trn1.32xlarge",
            MinCount=nodes,
            MaxCount=nodes,
            SubnetId=ec2.describe_subnets()["Subnets"][0]["SubnetId"],
            TagSpecifications=[
                {
                    "ResourceType": "instance",
                    "Tags": [{"Key": "trainshed:cluster", "Value": "TrainCluster"}],
                }
            ],
        )
        return launches(account.ask(template=templates["TrainCluster"]))

    [some] = run(1)

    assert "a dry run of the launch of 3 nodes fails" in some.message
    assert run(3) == []


def test_a_capacity_block_that_has_not_begun_refuses_nothing_yet(
    account: Account, templates: Templates
) -> None:
    deploy(account, templates, "TrainNetwork")
    block = _block(account)
    account.aws.fail(
        Fault(service="ec2", operation="RunInstances", code="ReservationCapacityExceeded")
    )

    [found] = launches(
        account.ask(
            template=templates["TrainCluster"],
            capacity={"capacity_block": block["CapacityReservationId"]},
            now=block["StartDate"] - timedelta(hours=1),
        )
    )

    assert found.rule == "TS-ACC-091"
    assert "has not begun" in found.message and "ReservationCapacityExceeded" in found.message


def test_before_the_deployment_the_launch_is_tried_in_the_first_window_of_the_calendar(
    account: Account, synthesise: Callable[[Fleet], Path]
) -> None:
    block = _block(account)
    window = {
        "capacity_block": block["CapacityReservationId"],
        "from": f"{block['StartDate']:%FT%H:%MZ}",
        "until": f"{block['EndDate']:%FT%H:%MZ}",
    }
    fields = {"capacity": {"calendar": [window]}}
    assembly = synthesise(Fleet(clusters=(account.plan(**fields),)))
    templates = {name: stack.template for name, stack in read_assembly(assembly).items()}
    deploy(account, templates, "TrainNetwork")

    [found] = launches(account.ask(template=templates["TrainCluster"], **fields))

    assert found.rule == "TS-ACC-091"
    assert f"Capacity Block {block['CapacityReservationId']} has not begun" in found.message
    assert "is scheduled with 0 free" in found.message


@pytest.mark.parametrize("stacks", [1, 2], ids=["before", "after"])
def test_a_node_that_aws_batch_launches_on_spot_is_tried_on_spot(
    account: Account, synthesise: Callable[[Fleet], Path], stacks: int
) -> None:
    fields = {"instance": {"type": "trn1.32xlarge"}, "capacity": {"spot": {}}}
    assembly = synthesise(Fleet(clusters=(account.plan(**fields),)))
    templates = {name: stack.template for name, stack in read_assembly(assembly).items()}
    deploy(account, templates, *("TrainNetwork", "TrainCluster")[:stacks])
    account.aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="MaxSpotInstanceCountExceeded",
            when={"InstanceMarketOptions.MarketType": "spot"},
        )
    )

    [found] = launches(account.ask(template=templates["TrainCluster"], **fields))

    assert found.rule == "TS-ACC-090"
    assert "MaxSpotInstanceCountExceeded" in found.message


def _block(account: Account) -> Any:
    """Return a Capacity Block in the zone of the cluster."""
    ec2 = account.aws.client("ec2")
    offered, *_ = [
        each
        for each in ec2.describe_capacity_block_offerings(
            InstanceType="trn1.32xlarge", InstanceCount=4, CapacityDurationHours=72
        )["CapacityBlockOfferings"]
        if each["AvailabilityZone"] == "us-west-2d"
    ]
    return ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offered["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]


def _placement_group(account: Account) -> str:
    groups = account.aws.client("ec2").describe_placement_groups()["PlacementGroups"]
    return str(groups[0]["GroupName"])


def test_a_cluster_that_gets_another_orchestrator_is_tried_by_its_template(
    account: Account, templates: Templates
) -> None:
    deploy(account, templates, "TrainNetwork", "TrainCluster")

    [alone] = launches(account.ask(orchestrator="ec2", image=None))

    assert "there is no synthesised template" in alone.message


def test_a_cluster_that_lost_what_launches_its_nodes_can_launch_none(
    account: Account, templates: Templates
) -> None:
    deploy(account, templates, "TrainNetwork", "TrainCluster")
    batch = account.aws.client("batch")
    [queue] = batch.describe_job_queues()["jobQueues"]
    batch.update_job_queue(jobQueue=queue["jobQueueName"], state="DISABLED")
    batch.delete_job_queue(jobQueue=queue["jobQueueName"])
    [environment] = batch.describe_compute_environments()["computeEnvironments"]
    name = environment["computeEnvironmentName"]
    batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
    batch.delete_compute_environment(computeEnvironment=name)

    [found] = launches(account.ask())

    assert (found.rule, found.severity) == ("TS-ACC-090", Severity.ERROR)
    assert "its AWS::Batch::ComputeEnvironment was deleted" in found.message
