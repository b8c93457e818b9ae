"""Batch compute environments."""

import base64
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any
from unittest.mock import Mock

import pytest

from embedded_aws import services
from embedded_aws.actions import Call
from embedded_aws.autoscaling.group import guard
from embedded_aws.batch.node_groups import group_of, members_of
from embedded_aws.settings import ServerSettings

Resources = dict[str, Any]
EXCLUSIVE = (
    "Either compute environment Security Groups or Network Interfaces in Launch template are "
    "exclusively allowed"
)


@pytest.fixture
def create(batch: Any, name: str) -> Callable[[Resources], Any]:
    def call(resources: Resources) -> Any:
        return batch.create_compute_environment(
            computeEnvironmentName=name, type="MANAGED", computeResources=resources
        )

    return call


@pytest.fixture
def as_of(endpoint: str) -> Iterator[Callable[[date], None]]:
    """Show the AWS of another day, for this test."""
    yield lambda day: services.install(ServerSettings(as_of=day))
    services.install()


def described(batch: Any, name: str) -> dict[str, Any]:
    (found,) = batch.describe_compute_environments(computeEnvironments=[name])[
        "computeEnvironments"
    ]
    environment: dict[str, Any] = found
    return environment


def test_interfaces_in_the_template_stand_in_for_security_groups(
    batch: Any, name: str, resources: Resources
) -> None:
    batch.create_compute_environment(
        computeEnvironmentName=name,
        type="MANAGED",
        computeResources=resources,
        tags={"cluster": name},
    )

    found = described(batch, name)
    assert (found["status"], found["state"]) == ("VALID", "ENABLED")
    assert found["serviceRole"].endswith("/AWSServiceRoleForBatch")
    assert found["tags"] == {"cluster": name}
    assert found["computeResources"]["desiredvCpus"] == 0
    assert found["computeResources"]["ec2Configuration"] == [{"imageType": "ECS_AL2023"}]


def test_security_groups_beside_interfaces_are_refused(
    create: Any, resources: Resources, group: str, refusal: Callable[..., Any]
) -> None:
    resources["securityGroupIds"] = [group]

    refused = refusal(create, resources=resources)

    assert refused.code == "ClientException"
    assert EXCLUSIVE in refused.message


def test_security_groups_without_interfaces_are_accepted(
    batch: Any, name: str, create: Any, resources: Resources, group: str
) -> None:
    del resources["launchTemplate"]
    resources["securityGroupIds"] = [group]

    create(resources)

    assert described(batch, name)["computeResources"]["securityGroupIds"] == [group]


def test_the_named_version_of_the_template_counts(
    ec2: Any,
    batch: Any,
    name: str,
    create: Any,
    resources: Resources,
    launch_template: str,
    refusal: Callable[..., Any],
) -> None:
    ec2.create_launch_template_version(
        LaunchTemplateId=launch_template,
        LaunchTemplateData={"NetworkInterfaces": [{"DeviceIndex": 0}, {"DeviceIndex": 7}]},
    )

    latest = {"launchTemplateId": launch_template, "version": "$Latest"}
    refused = refusal(create, resources={**resources, "launchTemplate": latest})
    create({**resources, "launchTemplate": {"launchTemplateId": launch_template}})

    assert "Device index 7 on network card index 0" in refused.message
    assert described(batch, name)["status"] == "VALID"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"type": "EC3"}, "enum value set: [EC2, SPOT", id="type"),
        pytest.param({"subnets": []}, "Between 1 and 16 subnets", id="no-subnet"),
        pytest.param({"subnets": ["subnet-0"]}, "'subnet-0' does not exist", id="subnet"),
        pytest.param({"minvCpus": 4096}, "minvCpus 4096", id="vcpus"),
        pytest.param(
            {"scalingPolicy": {"minScaleDownDelayMinutes": 19}},
            "minScaleDownDelayMinutes 19 must be between 20 and 10080",
            id="short-delay",
        ),
        pytest.param({"launchTemplate": None}, "security group must be provided", id="no-groups"),
        pytest.param(
            {"allocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}, "not valid for type EC2", id="spot"
        ),
        pytest.param({"allocationStrategy": "CHEAPEST"}, "CHEAPEST", id="strategy"),
        pytest.param({"instanceRole": None}, "instanceRole is required", id="no-profile"),
        pytest.param({"instanceRole": "nobody"}, "Invalid IamInstanceProfile", id="profile"),
        pytest.param({"instanceTypes": ["dl1.24xlarge"]}, "stopped listing it", id="withdrawn"),
        pytest.param({"instanceTypes": ["trn7.32xlarge"]}, "'trn7.32xlarge'", id="unknown"),
        pytest.param({"instanceTypes": ["trn7"]}, "not trn7", id="family"),
        pytest.param({"instanceTypes": []}, "At least one instance type", id="no-type"),
        pytest.param(
            {"instanceTypes": ["trn2.48xlarge"]}, "No Availability Zone of us-west-2", id="region"
        ),
        pytest.param(
            {"instanceTypes": ["p4d.24xlarge"]}, "Network card index 4 is not valid", id="cards"
        ),
        pytest.param(
            {"instanceTypes": ["trn1.2xlarge"]},
            "EFA) interfaces are not supported on instance type 'trn1.2xlarge'",
            id="no-efa",
        ),
        pytest.param({"placementGroup": "nowhere"}, "'nowhere' is unknown", id="placement"),
        pytest.param(
            {"ec2Configuration": [{"imageType": "ECS_AL2024"}]}, "ECS_AL2024", id="image-type"
        ),
        pytest.param(
            {"ec2Configuration": [{"imageType": "ECS_AL2023", "imageIdOverride": "my-image"}]},
            'Invalid id: "my-image"',
            id="image-override",
        ),
        pytest.param({"imageId": "my-image"}, 'Invalid id: "my-image"', id="image"),
        pytest.param(
            {"launchTemplate": {"launchTemplateId": "lt-0"}}, "template ID lt-0", id="template"
        ),
        pytest.param({"bidPercentage": 50}, "only for compute resources of type SPOT", id="bid"),
        pytest.param(
            {"type": "SPOT", "allocationStrategy": "BEST_FIT"},
            "spotIamFleetRole is required",
            id="fleet-role",
        ),
        pytest.param(
            {
                "type": "SPOT",
                "allocationStrategy": "SPOT_PRICE_CAPACITY_OPTIMIZED",
                "instanceTypes": ["trn2u.48xlarge"],
            },
            "'trn2u.48xlarge' does not support the market type 'spot'",
            id="not-on-spot",
        ),
    ],
)
def test_broken_resources_are_refused(
    create: Any,
    resources: Resources,
    refusal: Callable[..., Any],
    change: Resources,
    words: str,
) -> None:
    changed = {k: v for k, v in {**resources, **change}.items() if v is not None}

    refused = refusal(create, resources=changed)

    assert refused.code == "ClientException"
    assert words in refused.message


def test_a_placement_group_across_zones_is_refused(
    ec2: Any, create: Any, vpc: str, resources: Resources, refusal: Callable[..., Any]
) -> None:
    second = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az1")[
        "Subnet"
    ]["SubnetId"]
    resources["subnets"].append(second)

    refused = refusal(create, resources=resources)

    assert "cannot span Availability Zones" in refused.message
    assert "us-west-2b, us-west-2d" in refused.message
    del resources["placementGroup"]
    create(resources)


def test_a_type_that_one_zone_does_not_offer_is_refused(
    ec2: Any, create: Any, vpc: str, resources: Resources, refusal: Callable[..., Any]
) -> None:
    elsewhere = ec2.create_subnet(
        VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az2"
    )["Subnet"]["SubnetId"]

    refused = refusal(create, resources={**resources, "subnets": [elsewhere]})

    assert "(trn1.32xlarge) is not supported in your requested Availability Zone" in refused.message


def test_an_interface_with_a_group_of_another_vpc_is_refused(
    ec2: Any,
    name: str,
    create: Any,
    resources: Resources,
    interfaces: list[dict[str, Any]],
    foreign_group: str,
    refusal: Callable[..., Any],
) -> None:
    interfaces[5]["Groups"] = [foreign_group]
    template = ec2.create_launch_template(
        LaunchTemplateName=f"{name}-foreign", LaunchTemplateData={"NetworkInterfaces": interfaces}
    )["LaunchTemplate"]["LaunchTemplateId"]

    refused = refusal(
        create, resources={**resources, "launchTemplate": {"launchTemplateId": template}}
    )

    assert f"Security group {foreign_group} and subnet" in refused.message
    assert "belong to different networks" in refused.message


@pytest.mark.parametrize(
    ("user_data", "accepted"),
    [
        pytest.param("#!/bin/bash\nmount /fsx\n", False, id="script"),
        pytest.param(
            'Content-Type: multipart/mixed; boundary="=="\nMIME-Version: 1.0\n\n--==\n'
            "Content-Type: text/x-shellscript\n\n#!/bin/bash\nmount /fsx\n--==--\n",
            True,
            id="multipart",
        ),
    ],
)
def test_user_data_must_be_multipart(
    ec2: Any,
    batch: Any,
    name: str,
    create: Any,
    resources: Resources,
    interfaces: list[dict[str, Any]],
    refusal: Callable[..., Any],
    user_data: str,
    accepted: bool,
) -> None:
    template = ec2.create_launch_template(
        LaunchTemplateName=f"{name}-data",
        LaunchTemplateData={
            "NetworkInterfaces": interfaces,
            "UserData": base64.b64encode(user_data.encode()).decode(),
        },
    )["LaunchTemplate"]["LaunchTemplateId"]
    resources["launchTemplate"] = {"launchTemplateId": template}

    if accepted:
        create(resources)
        assert described(batch, name)["status"] == "VALID"
    else:
        refused = refusal(create, resources=resources)
        assert "UserData is not MIME multipart format" in refused.message


def test_a_capacity_block_template_without_a_target_is_refused(
    ec2: Any,
    name: str,
    create: Any,
    resources: Resources,
    interfaces: list[dict[str, Any]],
    refusal: Callable[..., Any],
) -> None:
    template = ec2.create_launch_template(
        LaunchTemplateName=f"{name}-block",
        LaunchTemplateData={
            "NetworkInterfaces": interfaces,
            "InstanceMarketOptions": {"MarketType": "capacity-block"},
        },
    )["LaunchTemplate"]["LaunchTemplateId"]

    refused = refusal(
        create, resources={**resources, "launchTemplate": {"launchTemplateId": template}}
    )

    assert "requires a CapacityReservationTarget" in refused.message


def test_a_compute_environment_waits_for_its_capacity_block(
    ec2: Any,
    name: str,
    create: Any,
    resources: Resources,
    interfaces: list[dict[str, Any]],
    refusal: Callable[..., Any],
) -> None:
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType="trn1.32xlarge", InstanceCount=2, CapacityDurationHours=48
    )["CapacityBlockOfferings"]
    blocks = {
        offering["AvailabilityZone"]: ec2.purchase_capacity_block(
            CapacityBlockOfferingId=offering["CapacityBlockOfferingId"],
            InstancePlatform="Linux/UNIX",
        )["CapacityReservation"]["CapacityReservationId"]
        for offering in offerings
    }

    def with_block(zone: str) -> Resources:
        template = ec2.create_launch_template(
            LaunchTemplateName=f"{name}-{zone}",
            LaunchTemplateData={
                "NetworkInterfaces": interfaces,
                "InstanceMarketOptions": {"MarketType": "capacity-block"},
                "CapacityReservationSpecification": {
                    "CapacityReservationTarget": {"CapacityReservationId": blocks[zone]}
                },
            },
        )["LaunchTemplate"]["LaunchTemplateId"]
        return {**resources, "launchTemplate": {"launchTemplateId": template}}

    refused = refusal(create, resources=with_block("us-west-2b"))
    create(with_block("us-west-2d"))

    assert "does not match the launch" in refused.message


def test_amazon_linux_2_is_blocked_since_the_end_of_june_2026(
    batch: Any,
    name: str,
    create: Any,
    resources: Resources,
    group: str,
    as_of: Callable[[date], None],
    refusal: Callable[..., Any],
) -> None:
    del resources["launchTemplate"]
    resources |= {"securityGroupIds": [group], "ec2Configuration": [{"imageType": "ECS_AL2"}]}

    refused = refusal(create, resources=resources)
    as_of(date(2026, 6, 29))
    create(resources)

    assert "Amazon Linux 2" in refused.message
    assert described(batch, name)["status"] == "VALID"


def test_an_own_image_may_be_amazon_linux_2(create: Any, resources: Resources) -> None:
    # The template of `resources` names an AMI, which wins over the image type.
    create({**resources, "ec2Configuration": [{"imageType": "ECS_AL2"}]})


def test_p3_does_not_run_the_al2023_nvidia_image(
    create: Any, resources: Resources, as_of: Callable[[date], None], refusal: Callable[..., Any]
) -> None:
    as_of(date(2026, 3, 1))
    resources |= {
        "instanceTypes": ["p3.16xlarge"],
        "ec2Configuration": [{"imageType": "ECS_AL2023_NVIDIA"}],
    }

    refused = refusal(create, resources=resources)

    assert "doesn't support instance type p3.16xlarge" in refused.message


def test_one_name_is_used_once(
    create: Any, resources: Resources, compute_environment: str, refusal: Callable[..., Any]
) -> None:
    assert "Object already exists" in refusal(create, resources=resources).message


def test_an_environment_is_deleted_when_disabled_and_in_no_queue(
    batch: Any, compute_environment: str, refusal: Callable[..., Any]
) -> None:
    batch.create_job_queue(
        jobQueueName=compute_environment,
        priority=1,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": compute_environment}],
    )
    delete = {"computeEnvironment": compute_environment}

    enabled = refusal(batch.delete_compute_environment, **delete)
    batch.update_compute_environment(**delete, state="DISABLED")
    in_queue = refusal(batch.delete_compute_environment, **delete)
    batch.update_job_queue(jobQueue=compute_environment, state="DISABLED")
    batch.delete_job_queue(jobQueue=compute_environment)
    batch.delete_compute_environment(**delete)

    assert "must be DISABLED" in enabled.message
    assert "Cannot delete, found existing JobQueue relationship" in in_queue.message
    left = batch.describe_compute_environments(computeEnvironments=[compute_environment])
    assert left["computeEnvironments"] == []


def test_an_infrastructure_update_is_checked_like_a_creation(
    batch: Any, compute_environment: str, refusal: Callable[..., Any]
) -> None:
    update = {"computeEnvironment": compute_environment}

    refused = refusal(
        batch.update_compute_environment,
        **update,
        computeResources={"instanceTypes": ["p4d.24xlarge"]},
    )
    batch.update_compute_environment(
        **update,
        computeResources={"maxvCpus": 4096},
        updatePolicy={"jobExecutionTimeoutMinutes": 7200},
    )

    assert "Network card index 4" in refused.message
    found = described(batch, compute_environment)
    assert found["computeResources"]["maxvCpus"] == 4096
    assert found["updatePolicy"]["jobExecutionTimeoutMinutes"] == 7200


def test_best_fit_has_no_infrastructure_updates(
    batch: Any, name: str, create: Any, resources: Resources, refusal: Callable[..., Any]
) -> None:
    del resources["allocationStrategy"]
    create(resources)
    update = {"computeEnvironment": name}

    refused = refusal(
        batch.update_compute_environment, **update, computeResources={"ec2KeyPair": "key"}
    )
    batch.update_compute_environment(**update, computeResources={"maxvCpus": 4096})

    assert "BEST_FIT cannot update ec2KeyPair" in refused.message


def test_an_own_service_role_has_no_infrastructure_updates(
    batch: Any, name: str, resources: Resources, role: str, refusal: Callable[..., Any]
) -> None:
    batch.create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", computeResources=resources, serviceRole=role
    )

    refused = refusal(
        batch.update_compute_environment,
        computeEnvironment=name,
        computeResources={"ec2KeyPair": "key"},
    )

    assert "requires the service-linked role" in refused.message


def test_an_update_policy_has_limits(
    batch: Any, compute_environment: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(
        batch.update_compute_environment,
        computeEnvironment=compute_environment,
        updatePolicy={"jobExecutionTimeoutMinutes": 7201},
    )

    assert "less than or equal to 7200" in refused.message


def test_a_service_role_must_exist(
    batch: Any, name: str, resources: Resources, refusal: Callable[..., Any]
) -> None:
    refused = refusal(
        batch.create_compute_environment,
        computeEnvironmentName=name,
        type="MANAGED",
        computeResources=resources,
        serviceRole="arn:aws:iam::123456789012:role/nobody",
    )

    assert "role/nobody does not exist" in refused.message


def test_more_least_vcpus_raise_the_desired_ones(
    batch: Any, create: Any, name: str, resources: Resources
) -> None:
    create(resources)

    batch.update_compute_environment(computeEnvironment=name, computeResources={"minvCpus": 256})

    found = described(batch, name)["computeResources"]
    assert (found["minvCpus"], found["desiredvCpus"]) == (256, 256)


def test_more_least_than_most_vcpus_are_refused(
    batch: Any, create: Any, name: str, resources: Resources, refusal: Callable[..., Any]
) -> None:
    create(resources)

    refused = refusal(
        batch.update_compute_environment,
        computeEnvironment=name,
        computeResources={"minvCpus": 8192},
    )

    assert "minvCpus 8192" in refused.message


def test_instances_are_counted_while_auto_scaling_groups_change(
    batch: Any, name: str, create: Any, resources: Resources
) -> None:
    create(resources)
    call = Call(
        operation="DescribeComputeEnvironments",
        account="123456789012",
        region="us-west-2",
        params={},
        response=Mock(),
        original=None,
    )
    environment = described(batch, name)
    group_of(call, environment)

    # Who ends instances of a group holds its guard, and waits for who counts those of Batch.
    with ThreadPoolExecutor() as others, guard:
        counted = others.submit(members_of, call, environment).result(timeout=30)

    assert counted == []
