"""Auto Scaling groups: what they launch, refuse, keep up and end."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amis import AMAZON_LINUX

from embedded_aws.faults import Fault
from embedded_aws.faults_of_calls import faults
from embedded_aws.hooks import when_faults_changed

_pause = threading.Event()
_TOO_OFTEN = 500
AUTO_SCALING = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
SHORT = "We currently do not have sufficient trn1.32xlarge capacity in the Availability Zone."


@pytest.fixture(scope="session")
def autoscaling(client: Callable[..., Any]) -> Any:
    return client("autoscaling")


@pytest.fixture
def template(ec2: Any, name: str, interfaces: list[dict[str, Any]]) -> dict[str, str]:
    """A launch template with all that a launch needs but the subnet."""
    tags = [{"Key": "Team", "Value": "template"}, {"Key": "Disk", "Value": "root"}]
    ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={
            "ImageId": AMAZON_LINUX,
            "InstanceType": "trn1.32xlarge",
            "NetworkInterfaces": interfaces,
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        },
    )
    return {"LaunchTemplateName": name, "Version": "1"}


@pytest.fixture
def group(
    autoscaling: Any, name: str, template: dict[str, str], subnet: str
) -> Callable[..., dict[str, Any]]:
    """Describe a group of two, with changes."""

    def describe(*without: str, **changes: Any) -> dict[str, Any]:
        given = {
            "AutoScalingGroupName": name,
            "LaunchTemplate": template,
            "MinSize": 0,
            "MaxSize": 4,
            "DesiredCapacity": 2,
            "VPCZoneIdentifier": subnet,
            **changes,
        }
        return {key: value for key, value in given.items() if key not in without}

    return describe


@pytest.fixture
def created(autoscaling: Any, name: str, group: Callable[..., dict[str, Any]]) -> Iterator[str]:
    autoscaling.create_auto_scaling_group(**group())
    yield name


@pytest.fixture
def shortage() -> Iterator[Callable[..., None]]:
    """Let launches fail, all or the next ones."""

    def begin(count: int | None = None, **when: str) -> None:
        fault = Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            message=SHORT,
            count=count,
            when=when,
        )
        faults.set([fault])

    yield begin
    faults.set([])


def described(autoscaling: Any, name: str) -> dict[str, Any]:
    [found] = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])[
        "AutoScalingGroups"
    ]
    return dict(found)


def ids(autoscaling: Any, name: str) -> list[str]:
    return [each["InstanceId"] for each in described(autoscaling, name)["Instances"]]


def activities(autoscaling: Any, name: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = autoscaling.describe_scaling_activities(
        AutoScalingGroupName=name, **more
    )["Activities"]
    return found


def until(holds: Callable[[], bool]) -> None:
    for _ in range(_TOO_OFTEN):
        if holds():
            return
        _pause.wait(0.02)
    raise AssertionError("it never came about")


def instance(ec2: Any, instance_id: str) -> dict[str, Any]:
    [found] = ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"]
    return dict(found)


def test_a_group_launches_its_desired_capacity_from_its_template(
    autoscaling: Any, ec2: Any, created: str, subnet: str
) -> None:
    found = described(autoscaling, created)

    assert len(found["Instances"]) == 2
    assert {each["LifecycleState"] for each in found["Instances"]} == {"InService"}
    assert {each["HealthStatus"] for each in found["Instances"]} == {"Healthy"}
    for each in found["Instances"]:
        launched = instance(ec2, each["InstanceId"])
        assert launched["InstanceType"] == "trn1.32xlarge"
        assert launched["SubnetId"] == subnet
        assert len(launched["NetworkInterfaces"]) == 8


def test_instances_have_the_tags_of_the_template_and_those_of_the_group_that_propagate(
    autoscaling: Any, ec2: Any, name: str, group: Callable[..., dict[str, Any]]
) -> None:
    tags = [
        {"Key": "Team", "Value": "group", "PropagateAtLaunch": True},
        {"Key": "Hidden", "Value": "x", "PropagateAtLaunch": False},
    ]

    autoscaling.create_auto_scaling_group(**group(Tags=tags))

    launched = instance(ec2, ids(autoscaling, name)[0])
    own = {tag["Key"]: tag["Value"] for tag in launched["Tags"]}
    assert own["Team"] == "group"
    assert own["Disk"] == "root"
    assert own["aws:autoscaling:groupName"] == name
    assert "Hidden" not in own


def test_instances_are_launched_into_the_groups_placement_group(
    autoscaling: Any,
    ec2: Any,
    name: str,
    group: Callable[..., dict[str, Any]],
    placement_group: str,
) -> None:
    autoscaling.create_auto_scaling_group(**group(PlacementGroup=placement_group))

    launched = instance(ec2, ids(autoscaling, name)[0])
    assert launched["Placement"]["GroupName"] == placement_group


def test_each_launch_is_an_activity(autoscaling: Any, created: str) -> None:
    found = activities(autoscaling, created)

    assert [each["StatusCode"] for each in found] == ["Successful"] * 2
    assert [each["Progress"] for each in found] == [100, 100]
    assert {each["Description"] for each in found} == {
        f"Launching a new EC2 instance: {each}" for each in ids(autoscaling, created)
    }
    assert "a user request created an AutoScalingGroup changing the desired" in found[0]["Cause"]
    assert found[0]["Cause"].endswith(
        "an instance was started in response to a difference between desired and actual "
        "capacity, increasing the capacity from 0 to 2."
    )


def test_a_launch_that_fails_is_a_failed_activity_and_tried_again(
    autoscaling: Any, name: str, group: Callable[..., dict[str, Any]], shortage: Callable[..., None]
) -> None:
    shortage()

    autoscaling.create_auto_scaling_group(**group())

    [failed] = activities(autoscaling, name)
    assert failed["StatusCode"] == "Failed"
    assert failed["StatusMessage"] == f"{SHORT} Launching EC2 instance failed."
    assert failed["Description"] == (
        f"Launching a new EC2 instance.  Status Reason: {SHORT} Launching EC2 instance failed."
    )
    assert ids(autoscaling, name) == []
    faults.set([])
    when_faults_changed.call()
    until(lambda: len(ids(autoscaling, name)) == 2)


def test_some_of_the_instances_may_be_launched(
    autoscaling: Any, name: str, group: Callable[..., dict[str, Any]], shortage: Callable[..., None]
) -> None:
    autoscaling.create_auto_scaling_group(**group(DesiredCapacity=1))
    shortage()

    autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=3)

    assert len(ids(autoscaling, name)) == 1
    assert described(autoscaling, name)["DesiredCapacity"] == 3


def test_another_subnet_is_tried_when_one_has_no_capacity(
    autoscaling: Any,
    ec2: Any,
    vpc: str,
    subnet: str,
    name: str,
    group: Callable[..., dict[str, Any]],
    shortage: Callable[..., None],
) -> None:
    other = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az4")
    other_id = other["Subnet"]["SubnetId"]
    shortage(SubnetId=subnet)

    autoscaling.create_auto_scaling_group(**group(VPCZoneIdentifier=f"{subnet},{other_id}"))

    subnets = {instance(ec2, each)["SubnetId"] for each in ids(autoscaling, name)}
    assert subnets == {other_id}
    assert "Failed" in [each["StatusCode"] for each in activities(autoscaling, name)]


@pytest.mark.parametrize("call", ["terminate_instances", "stop_instances"])
def test_an_instance_that_ends_is_replaced(
    autoscaling: Any, ec2: Any, created: str, call: str
) -> None:
    before = ids(autoscaling, created)

    getattr(ec2, call)(InstanceIds=before[:1])

    until(lambda: len(set(ids(autoscaling, created)) - {before[0]}) == 2)
    launched, ended = activities(autoscaling, created)[:2]
    assert launched["Cause"].endswith(
        "an instance was launched in response to an unhealthy instance needing to be replaced."
    )
    assert ended["Description"] == f"Terminating EC2 instance: {before[0]}"
    assert ended["Cause"].endswith(
        "in response to an EC2 health check indicating it has been terminated or stopped."
    )
    assert instance(ec2, before[0])["State"]["Name"] == "terminated"


def test_an_instance_that_is_set_unhealthy_is_replaced(
    autoscaling: Any, ec2: Any, created: str
) -> None:
    first, second = ids(autoscaling, created)

    autoscaling.set_instance_health(InstanceId=first, HealthStatus="Unhealthy")

    assert second in ids(autoscaling, created)
    assert first not in ids(autoscaling, created)
    assert len(ids(autoscaling, created)) == 2
    assert instance(ec2, first)["State"]["Name"] == "terminated"


def test_suspended_processes_do_nothing_until_they_are_resumed(
    autoscaling: Any, created: str
) -> None:
    first, second = ids(autoscaling, created)
    autoscaling.suspend_processes(AutoScalingGroupName=created, ScalingProcesses=["Launch"])

    autoscaling.set_instance_health(InstanceId=first, HealthStatus="Unhealthy")

    assert ids(autoscaling, created) == [second]
    [suspended] = described(autoscaling, created)["SuspendedProcesses"]
    assert suspended["ProcessName"] == "Launch"
    autoscaling.resume_processes(AutoScalingGroupName=created)
    assert len(ids(autoscaling, created)) == 2


def test_unhealthy_instances_stay_while_nothing_replaces_them(
    autoscaling: Any, created: str
) -> None:
    first, second = ids(autoscaling, created)
    autoscaling.suspend_processes(
        AutoScalingGroupName=created, ScalingProcesses=["ReplaceUnhealthy"]
    )

    autoscaling.set_instance_health(InstanceId=first, HealthStatus="Unhealthy")

    health = [each["HealthStatus"] for each in described(autoscaling, created)["Instances"]]
    assert ids(autoscaling, created) == [first, second]
    assert health == ["Unhealthy", "Healthy"]


def test_scale_in_takes_the_oldest_instance(autoscaling: Any, created: str) -> None:
    second = ids(autoscaling, created)[1]

    autoscaling.set_desired_capacity(AutoScalingGroupName=created, DesiredCapacity=1)

    assert ids(autoscaling, created) == [second]


@pytest.mark.parametrize(("policy", "stays"), [("NewestInstance", 0), ("OldestInstance", 1)])
def test_scale_in_follows_the_termination_policy(
    autoscaling: Any, name: str, group: Callable[..., dict[str, Any]], policy: str, stays: int
) -> None:
    autoscaling.create_auto_scaling_group(**group(TerminationPolicies=[policy]))
    before = ids(autoscaling, name)

    autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=1)

    assert ids(autoscaling, name) == [before[stays]]


def test_scale_in_takes_instances_of_the_zone_with_most(
    autoscaling: Any,
    ec2: Any,
    vpc: str,
    subnet: str,
    name: str,
    group: Callable[..., dict[str, Any]],
) -> None:
    other = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az1")
    subnets = [subnet, other["Subnet"]["SubnetId"]]
    template = {"LaunchTemplateName": f"{name}-small", "Version": "1"}
    data = {"ImageId": AMAZON_LINUX, "InstanceType": "m6i.large"}
    ec2.create_launch_template(
        LaunchTemplateName=template["LaunchTemplateName"], LaunchTemplateData=data
    )
    places = {"VPCZoneIdentifier": ",".join(subnets), "LaunchTemplate": template}
    autoscaling.create_auto_scaling_group(**group(**places, DesiredCapacity=3))
    # Then the oldest is alone in its zone.
    autoscaling.set_instance_health(InstanceId=ids(autoscaling, name)[0], HealthStatus="Unhealthy")
    before = [instance(ec2, each)["SubnetId"] for each in ids(autoscaling, name)]

    autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=2)

    left = [instance(ec2, each)["SubnetId"] for each in ids(autoscaling, name)]
    assert before == [subnets[1], subnets[0], subnets[0]]
    assert left == [subnets[1], subnets[0]]


def test_scale_in_takes_instances_of_another_template_version_first(
    autoscaling: Any, ec2: Any, created: str, template: dict[str, str]
) -> None:
    old = ids(autoscaling, created)
    ec2.create_launch_template_version(
        LaunchTemplateName=template["LaunchTemplateName"], SourceVersion="1", LaunchTemplateData={}
    )
    autoscaling.update_auto_scaling_group(
        AutoScalingGroupName=created,
        LaunchTemplate={**template, "Version": "2"},
        DesiredCapacity=3,
    )
    new = ids(autoscaling, created)[2]
    autoscaling.update_auto_scaling_group(AutoScalingGroupName=created, LaunchTemplate=template)

    autoscaling.set_desired_capacity(AutoScalingGroupName=created, DesiredCapacity=2)

    assert ids(autoscaling, created) == old
    assert new not in old


def test_scale_in_takes_unprotected_instances_only(
    autoscaling: Any, ec2: Any, created: str
) -> None:
    first, second = ids(autoscaling, created)
    autoscaling.set_instance_protection(
        AutoScalingGroupName=created, InstanceIds=[first], ProtectedFromScaleIn=True
    )

    autoscaling.set_desired_capacity(AutoScalingGroupName=created, DesiredCapacity=1)

    assert ids(autoscaling, created) == [first]
    assert instance(ec2, second)["State"]["Name"] == "terminated"
    cause = activities(autoscaling, created)[0]["Cause"]
    assert "a user request explicitly set group desired capacity" in cause
    assert "shrinking the capacity from 2 to 1." in cause
    assert cause.endswith(f"instance {second} was selected for termination.")


def test_protected_instances_stay_and_the_activity_says_so(
    autoscaling: Any, name: str, group: Callable[..., dict[str, Any]]
) -> None:
    autoscaling.create_auto_scaling_group(**group(NewInstancesProtectedFromScaleIn=True))

    autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=0)

    assert len(ids(autoscaling, name)) == 2
    newest = activities(autoscaling, name)[0]
    assert newest["StatusCode"] == "Cancelled"
    assert newest["Description"].startswith("Could not scale to desired capacity because all")


def _use_of_a_key(principals: list[str]) -> str:
    statement = {"Effect": "Allow", "Action": "kms:*", "Resource": "*"}
    named = [f"arn:aws:iam::123456789012:{each}" for each in principals]
    return json.dumps({"Statement": [{**statement, "Principal": {"AWS": named}}]})


@pytest.mark.parametrize(
    ("principals", "granted", "launches"),
    [
        pytest.param(None, False, True, id="the-key-of-EBS"),
        pytest.param(["root"], False, False, id="the-account-alone"),
        pytest.param(["root"], True, True, id="a-grant"),
        pytest.param(["root", AUTO_SCALING], False, True, id="the-policy"),
    ],
)
def test_instances_start_if_auto_scaling_may_use_the_key_of_their_volumes(
    client: Callable[..., Any],
    autoscaling: Any,
    ec2: Any,
    name: str,
    group: Callable[..., dict[str, Any]],
    template: dict[str, str],
    principals: list[str] | None,
    granted: bool,
    launches: bool,
) -> None:
    kms = client("kms")
    disk: dict[str, Any] = {"VolumeSize": 100, "Encrypted": True}
    if principals:
        key = kms.create_key(Policy=_use_of_a_key(principals))["KeyMetadata"]["Arn"]
        disk["KmsKeyId"] = key
    if granted:
        role = f"arn:aws:iam::123456789012:{AUTO_SCALING}"
        kms.create_grant(KeyId=key, GranteePrincipal=role, Operations=["CreateGrant", "Decrypt"])
    version = ec2.create_launch_template_version(
        LaunchTemplateName=template["LaunchTemplateName"],
        SourceVersion="1",
        LaunchTemplateData={"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": disk}]},
    )["LaunchTemplateVersion"]["VersionNumber"]
    encrypted = {**template, "Version": str(version)}

    autoscaling.create_auto_scaling_group(**group(LaunchTemplate=encrypted, DesiredCapacity=1))

    [activity] = activities(autoscaling, name)
    assert len(ids(autoscaling, name)) == launches
    assert activity["StatusCode"] == ("Successful" if launches else "Failed")
    said = activity.get("StatusMessage", "")
    assert ("The KMS key provided is in an incorrect state" in said) != launches


def test_a_launch_into_a_subnet_that_is_gone_fails(
    autoscaling: Any, ec2: Any, name: str, group: Callable[..., dict[str, Any]], subnet: str
) -> None:
    autoscaling.create_auto_scaling_group(**group(DesiredCapacity=0))
    ec2.delete_subnet(SubnetId=subnet)

    autoscaling.set_desired_capacity(AutoScalingGroupName=name, DesiredCapacity=1)

    [failed] = activities(autoscaling, name)
    assert failed["StatusMessage"] == (
        f"The subnet ID '{subnet}' does not exist. Launching EC2 instance failed."
    )


def test_termination_protection_does_not_stop_a_group(
    autoscaling: Any, ec2: Any, created: str
) -> None:
    first = ids(autoscaling, created)[0]
    protection = {"Value": True}
    ec2.modify_instance_attribute(InstanceId=first, DisableApiTermination=protection)

    autoscaling.set_desired_capacity(AutoScalingGroupName=created, DesiredCapacity=1)

    assert instance(ec2, first)["State"]["Name"] == "terminated"


@pytest.mark.parametrize(("shrinks", "left"), [(False, 2), (True, 1)])
def test_an_instance_is_terminated_in_its_group(
    autoscaling: Any, created: str, shrinks: bool, left: int
) -> None:
    first = ids(autoscaling, created)[0]

    answer = autoscaling.terminate_instance_in_auto_scaling_group(
        InstanceId=first, ShouldDecrementDesiredCapacity=shrinks
    )

    assert answer["Activity"]["Description"] == f"Terminating EC2 instance: {first}"
    assert first not in ids(autoscaling, created)
    assert len(ids(autoscaling, created)) == left
    assert described(autoscaling, created)["DesiredCapacity"] == left


def test_new_instances_follow_a_changed_template_and_old_ones_stay(
    autoscaling: Any, ec2: Any, created: str, template: dict[str, str]
) -> None:
    before = ids(autoscaling, created)
    ec2.create_launch_template_version(
        LaunchTemplateName=template["LaunchTemplateName"],
        SourceVersion="1",
        LaunchTemplateData={"KeyName": "new"},
    )

    autoscaling.update_auto_scaling_group(
        AutoScalingGroupName=created,
        LaunchTemplate={**template, "Version": "2"},
        DesiredCapacity=3,
    )

    after = ids(autoscaling, created)
    assert after[:2] == before
    assert instance(ec2, after[2])["KeyName"] == "new"
    assert "KeyName" not in instance(ec2, after[0])


@pytest.mark.parametrize(
    ("sizes", "desired"), [({"MinSize": 3}, 3), ({"MaxSize": 1}, 1), ({"MaxSize": 3}, 2)]
)
def test_bounds_move_the_desired_capacity(
    autoscaling: Any, created: str, sizes: dict[str, int], desired: int
) -> None:
    autoscaling.update_auto_scaling_group(AutoScalingGroupName=created, **sizes)

    assert described(autoscaling, created)["DesiredCapacity"] == desired
    assert len(ids(autoscaling, created)) == desired


def test_a_refused_update_changes_nothing(
    autoscaling: Any, created: str, refusal: Callable[..., Any]
) -> None:
    before = described(autoscaling, created)

    refused = refusal(
        autoscaling.update_auto_scaling_group,
        AutoScalingGroupName=created,
        MinSize=1,
        PlacementGroup="missing",
    )

    assert refused.code == "ValidationError"
    assert described(autoscaling, created) == before


def test_a_group_with_instances_is_deleted_only_by_force(
    autoscaling: Any, ec2: Any, created: str, refusal: Callable[..., Any]
) -> None:
    before = ids(autoscaling, created)

    refused = refusal(autoscaling.delete_auto_scaling_group, AutoScalingGroupName=created)
    autoscaling.delete_auto_scaling_group(AutoScalingGroupName=created, ForceDelete=True)

    assert refused.code == "ResourceInUse"
    assert (
        autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[created])[
            "AutoScalingGroups"
        ]
        == []
    )
    assert {instance(ec2, each)["State"]["Name"] for each in before} == {"terminated"}
    assert activities(autoscaling, created) == []
    assert len(activities(autoscaling, created, IncludeDeletedGroups=True)) == 2


@pytest.mark.parametrize(
    ("without", "changes", "message"),
    [
        pytest.param(
            (), {"AutoScalingGroupName": "x" * 300}, "1 validation error detected", id="model"
        ),
        pytest.param((), {"MinSize": 3}, "Desired capacity:2 must be between the", id="desired"),
        pytest.param((), {"MinSize": 5}, "Max bound, 4, must be greater than or", id="bounds"),
        pytest.param(("VPCZoneIdentifier",), {}, "At least one Availability Zone or", id="place"),
        pytest.param(
            ("VPCZoneIdentifier",),
            {"AvailabilityZones": ["us-west-2z"]},
            "No default subnet for availability zone: 'us-west-2z'",
            id="default-subnet",
        ),
        pytest.param(
            (), {"AvailabilityZones": ["us-west-2a"]}, "The availability zones of", id="zones"
        ),
        pytest.param(("LaunchTemplate",), {}, "Valid requests must contain either", id="template"),
        pytest.param(
            (),
            {"VPCZoneIdentifier": "subnet-0123456789abcdef0"},
            "The subnet ID 'subnet-0123456789abcdef0' does not exist",
            id="subnet",
        ),
        pytest.param(
            (),
            {"LaunchTemplate": {"LaunchTemplateName": "missing"}},
            "You must use a valid fully-formed launch template. The specified launch template",
            id="no-such-template",
        ),
        pytest.param(
            (),
            {"PlacementGroup": "missing"},
            "You must use a valid fully-formed launch template. The Placement Group 'missing'",
            id="placement-group",
        ),
        pytest.param((), {"MinSize": -1}, "Min bound, -1, must be", id="negative"),
    ],
)
def test_a_group_is_refused(
    autoscaling: Any,
    group: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
    without: tuple[str, ...],
    changes: dict[str, Any],
    message: str,
) -> None:
    refused = refusal(autoscaling.create_auto_scaling_group, **group(*without, **changes))

    assert refused.code == "ValidationError"
    assert refused.message.startswith(message)


def test_a_template_without_an_instance_type_is_refused(
    autoscaling: Any,
    group: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
    ec2: Any,
    name: str,
) -> None:
    template = {"LaunchTemplateName": f"{name}-other"}
    data = {"ImageId": AMAZON_LINUX}
    ec2.create_launch_template(**template, LaunchTemplateData=data)

    refused = refusal(autoscaling.create_auto_scaling_group, **group(LaunchTemplate=template))

    assert refused.message.endswith("The launch template must have an InstanceType.")


def test_a_zone_without_the_instance_type_is_refused_at_once(
    autoscaling: Any,
    ec2: Any,
    vpc: str,
    group: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
) -> None:
    there = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az3")

    refused = refusal(
        autoscaling.create_auto_scaling_group,
        **group(VPCZoneIdentifier=there["Subnet"]["SubnetId"]),
    )

    assert refused.message.startswith(
        "You must use a valid fully-formed launch template. Your requested instance type "
        "(trn1.32xlarge) is not supported in your requested Availability Zone"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"LaunchConfigurationName": "old"},
        {"TargetGroupARNs": ["arn:aws:elasticloadbalancing:us-west-2:1:targetgroup/a/b"]},
        {"HealthCheckType": "ELB"},
        {"TerminationPolicies": ["OldestInstance", "ClosestToNextInstanceHour"]},
    ],
)
def test_what_groups_cannot_do_here_is_refused(
    autoscaling: Any,
    group: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
    changes: dict[str, Any],
) -> None:
    refused = refusal(autoscaling.create_auto_scaling_group, **group(**changes))

    assert refused.code == "UnsupportedOperation"
    assert next(iter(changes)) in refused.message


def test_names_are_given_once_and_unknown_ones_refused(
    autoscaling: Any,
    created: str,
    group: Callable[..., dict[str, Any]],
    refusal: Callable[..., Any],
) -> None:
    again = refusal(autoscaling.create_auto_scaling_group, **group())
    unknown = refusal(
        autoscaling.set_desired_capacity, AutoScalingGroupName="unknown", DesiredCapacity=1
    )
    too_many = refusal(
        autoscaling.set_desired_capacity, AutoScalingGroupName=created, DesiredCapacity=9
    )

    assert again.code == "AlreadyExists"
    assert unknown.message.startswith("AutoScalingGroup name not found")
    assert too_many.message.startswith("New SetDesiredCapacity value 9 is above max value 4")


def test_instances_and_activities_are_described_in_pages(autoscaling: Any, created: str) -> None:
    pages = autoscaling.get_paginator("describe_scaling_activities").paginate(
        AutoScalingGroupName=created, PaginationConfig={"PageSize": 1}
    )
    second = ids(autoscaling, created)[1]

    assert [len(page["Activities"]) for page in pages] == [1, 1]
    [found] = autoscaling.describe_auto_scaling_instances(InstanceIds=[second])[
        "AutoScalingInstances"
    ]
    assert (found["InstanceId"], found["AutoScalingGroupName"]) == (second, created)


def test_groups_are_found_by_tags(autoscaling: Any, created: str) -> None:
    tag = {"ResourceId": created, "ResourceType": "auto-scaling-group", "Key": "Run"}
    autoscaling.create_or_update_tags(Tags=[{**tag, "Value": created, "PropagateAtLaunch": True}])

    found = autoscaling.describe_auto_scaling_groups(
        Filters=[{"Name": "tag:Run", "Values": [created]}]
    )["AutoScalingGroups"]

    assert [each["AutoScalingGroupName"] for each in found] == [created]
    autoscaling.delete_tags(Tags=[tag])
    assert described(autoscaling, created)["Tags"] == []
