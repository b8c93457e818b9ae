"""Resources that are complete when enough signals have come."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amis import AMAZON_LINUX
from botocore.exceptions import ClientError

from embedded_aws import services
from embedded_aws.faults import Fault
from embedded_aws.faults_of_calls import faults
from embedded_aws.hooks import when_faults_changed
from embedded_aws.job_settings import JobSettings
from embedded_aws.settings import ServerSettings

_pause = threading.Event()
_TOO_OFTEN = 500
BATCH = (
    "Failed to receive {} resource signal(s) for the current batch.  Each resource signal timeout "
    "is counted as a FAILURE."
)
PERCENT = "Unable to satisfy 100% MinSuccessfulInstancesPercent requirement"


def policy(count: int | None = None, timeout: str = "PT1H", **group: int) -> dict[str, Any]:
    signal = {"Timeout": timeout, **({} if count is None else {"Count": count})}
    return {
        "ResourceSignal": signal,
        **({"AutoScalingCreationPolicy": group} if group else {}),
    }


NODE = {
    "Type": "AWS::EC2::Instance",
    "Properties": {
        "ImageId": AMAZON_LINUX,
        "InstanceType": "m6i.large",
        "SubnetId": {"Ref": "Subnet"},
    },
    "CreationPolicy": policy(),
}


def condition(count: int | None = None, timeout: str = "PT1H") -> dict[str, Any]:
    return {
        "Type": "AWS::CloudFormation::WaitCondition",
        "CreationPolicy": policy(count, timeout),
    }


@pytest.fixture
def ground(stack: Any) -> dict[str, Any]:
    """A subnet and a launch template."""
    return {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": "10.0.0.0/20",
                "AvailabilityZoneId": "usw2-az4",
            },
        },
        "Template": {
            "Type": "AWS::EC2::LaunchTemplate",
            "Properties": {
                "LaunchTemplateData": {"ImageId": AMAZON_LINUX, "InstanceType": "trn1.32xlarge"}
            },
        },
    }


@pytest.fixture
def group(ground: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return a template of a group of two."""

    def describe(creation_policy: Any = None, **properties: Any) -> dict[str, Any]:
        nodes = {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {
                "MinSize": "2",
                "MaxSize": "2",
                "LaunchTemplate": {
                    "LaunchTemplateId": {"Ref": "Template"},
                    "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
                },
                "VPCZoneIdentifier": [{"Ref": "Subnet"}],
                **properties,
            },
        }
        if creation_policy:
            nodes["CreationPolicy"] = creation_policy
        return {**ground, "Nodes": nodes}

    return describe


@pytest.fixture
def fast(endpoint: str) -> Iterator[None]:
    """Let time-outs pass at once."""
    services.install(ServerSettings(jobs=JobSettings(speed=100_000)))
    yield
    services.install()


@pytest.fixture
def shortage() -> Iterator[Callable[[], None]]:
    """Let launches fail, and return what ends that."""
    code = "InsufficientInstanceCapacity"
    fault = Fault(service="ec2", operation="RunInstances", code=code, count=None)

    def end() -> None:
        faults.set([])
        when_faults_changed.call()

    faults.set([fault])
    yield end
    faults.set([])


@pytest.fixture
def signal(stack: Any) -> Callable[..., None]:
    def send(logical_id: str, unique_id: str, status: str = "SUCCESS") -> None:
        stack.cloud.cloudformation.signal_resource(
            StackName=stack.name, LogicalResourceId=logical_id, UniqueId=unique_id, Status=status
        )

    return send


@pytest.fixture
def nodes(stack: Any) -> Callable[[], list[str]]:
    """Return the ids of the group's instances."""

    def ids() -> list[str]:
        name = stack.physical_id("Nodes")
        [found] = stack.cloud.client("autoscaling").describe_auto_scaling_groups(
            AutoScalingGroupNames=[name]
        )["AutoScalingGroups"]
        return [each["InstanceId"] for each in found["Instances"]]

    return ids


def ended(stack: Any) -> str:
    """Wait until the stack's operation is over, and return its status."""
    for _ in range(_TOO_OFTEN):
        if not (status := stack.status).endswith("_IN_PROGRESS"):
            return str(status)
        _pause.wait(0.02)
    raise AssertionError(f"it never ended: {stack.status}")


def reasons(stack: Any, logical_id: str) -> list[tuple[str, str]]:
    return [
        (event["ResourceStatus"], event.get("ResourceStatusReason", ""))
        for event in stack.history
        if event["LogicalResourceId"] == logical_id
    ]


def test_a_group_is_complete_when_its_instances_have_signalled(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    # The call returns long before the time-out.
    assert stack.create(group(policy(2, "PT15S"))) == "CREATE_IN_PROGRESS"
    first, second = nodes()

    signal("Nodes", first)
    signal("Nodes", second)

    assert ended(stack) == "CREATE_COMPLETE"
    assert reasons(stack, "Nodes")[1:] == [
        ("CREATE_IN_PROGRESS", "Resource creation Initiated"),
        ("CREATE_IN_PROGRESS", f"Received SUCCESS signal with UniqueId {first}"),
        ("CREATE_IN_PROGRESS", f"Received SUCCESS signal with UniqueId {second}"),
        ("CREATE_COMPLETE", ""),
    ]


def test_instances_of_a_failed_group_end_with_it(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    stack.create(group(policy(2)))
    first, second = nodes()

    signal("Nodes", first)
    signal("Nodes", second, "FAILURE")

    assert ended(stack) == "ROLLBACK_COMPLETE"
    assert stack.reason("Nodes", "CREATE_FAILED") == (
        f"Received 1 FAILURE signal(s) out of 2.  {PERCENT}"
    )
    assert reasons(stack, "Nodes")[3] == (
        "CREATE_IN_PROGRESS",
        f"Received FAILURE signal with UniqueId {second}",
    )
    assert stack.reason("stack", "ROLLBACK_IN_PROGRESS").startswith(
        "The following resource(s) failed to create: [Nodes]."
    )
    found = stack.cloud.client("ec2").describe_instances(InstanceIds=[first, second])
    states = {it["State"]["Name"] for each in found["Reservations"] for it in each["Instances"]}
    assert states == {"terminated"}


def test_a_group_fails_when_signals_are_missing_at_the_end(
    stack: Any, group: Any, fast: None
) -> None:
    stack.create(group(policy(2, "PT45M")))

    assert ended(stack) == "ROLLBACK_COMPLETE"
    assert ("CREATE_IN_PROGRESS", BATCH.format(2)) in reasons(stack, "Nodes")
    assert stack.reason("Nodes", "CREATE_FAILED") == (
        f"Received 0 SUCCESS signal(s) out of 2.  {PERCENT}"
    )


def test_a_group_waits_for_capacity_as_long_as_for_signals(
    stack: Any, group: Any, signal: Any, nodes: Any, shortage: Callable[[], None]
) -> None:
    assert stack.create(group(policy(2))) == "CREATE_IN_PROGRESS"
    assert nodes() == []

    shortage()
    for _ in range(_TOO_OFTEN):
        if len(nodes()) == 2:
            break
        _pause.wait(0.02)
    for each in nodes():
        signal("Nodes", each)

    assert ended(stack) == "CREATE_COMPLETE"


@pytest.mark.usefixtures("shortage")
def test_without_a_policy_a_group_fails_that_gets_no_capacity(stack: Any, group: Any) -> None:
    assert stack.create(group()) == "ROLLBACK_COMPLETE"

    reason = stack.reason("Nodes", "CREATE_FAILED")
    assert "Group did not stabilize. {current/minSize/maxSize} group size = {0/2/2}." in reason
    assert "NotStabilized" in reason
    assert ("Nodes", "DELETE_COMPLETE") in stack.events


def test_protected_instances_prevent_the_rollback(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    stack.create(group(policy(2), NewInstancesProtectedFromScaleIn=True))
    instances = nodes()

    signal("Nodes", instances[0], "FAILURE")

    assert ended(stack) == "ROLLBACK_FAILED"
    assert "all remaining instances are protected" in stack.reason("Nodes", "DELETE_FAILED")
    assert nodes() == instances


def test_a_part_of_the_signals_may_be_enough(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    stack.create(group(policy(2, MinSuccessfulInstancesPercent=50)))
    first, second = nodes()

    signal("Nodes", first, "FAILURE")
    signal("Nodes", second)

    assert ended(stack) == "CREATE_COMPLETE"


def test_an_instance_is_complete_when_it_has_signalled_itself(
    stack: Any, ground: dict[str, Any], signal: Any
) -> None:
    stack.create({**ground, "Node": NODE})

    signal("Node", "i-0123456789abcdef0")
    signal("Node", stack.physical_id("Node"))

    assert ended(stack) == "CREATE_COMPLETE"
    signalled = [why for _, why in reasons(stack, "Node") if why.startswith("Received")]
    assert signalled == [f"Received SUCCESS signal with UniqueId {stack.physical_id('Node')}"]


def test_an_instance_that_signals_a_failure_fails(
    stack: Any, ground: dict[str, Any], signal: Any
) -> None:
    stack.create({**ground, "Node": NODE})
    instance_id = stack.physical_id("Node")

    signal("Node", instance_id, "FAILURE")

    assert ended(stack) == "ROLLBACK_COMPLETE"
    assert stack.reason("Node", "CREATE_FAILED") == (
        f"Received FAILURE signal with UniqueId {instance_id}"
    )


def test_a_wait_condition_takes_any_ids(stack: Any, signal: Any) -> None:
    stack.create({"Done": condition(2)})

    signal("Done", "one")
    assert stack.status == "CREATE_IN_PROGRESS"
    signal("Done", "two")

    assert ended(stack) == "CREATE_COMPLETE"


def test_a_wait_condition_fails_after_its_time(stack: Any, fast: None) -> None:
    stack.create({"Done": condition(3, "PT1H30M")})

    assert ended(stack) == "ROLLBACK_COMPLETE"
    assert stack.reason("Done", "CREATE_FAILED") == (
        "Failed to receive 3 resource signal(s) within the specified duration"
    )


def test_two_resources_wait_at_the_same_time(stack: Any, signal: Any) -> None:
    stack.create({"One": condition(), "Two": condition()})

    signal("Two", "a")
    signal("One", "b")

    assert ended(stack) == "CREATE_COMPLETE"


def test_what_depends_on_a_resource_waits_with_it(stack: Any, signal: Any) -> None:
    later = {**stack.thing(), "DependsOn": "Done"}
    stack.create({"Done": condition(), "Later": later})
    assert "Later" not in stack.resources

    signal("Done", "a")

    assert ended(stack) == "CREATE_COMPLETE"
    assert stack.calls == [("create", "Later")]


def test_a_resource_that_waits_is_cancelled_when_another_fails(stack: Any) -> None:
    assert stack.create({"Done": condition(), "Bad": stack.thing("create")}) == (
        "ROLLBACK_COMPLETE"
    )

    assert stack.reason("Done", "CREATE_FAILED") == "Resource creation cancelled"


def test_a_nested_stack_that_waits_lets_the_call_return(
    stack: Any, upload: Callable[..., str]
) -> None:
    url = upload(stack.template({"Done": condition(1, "PT15S")}))
    inner = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}}
    assert stack.create({"Inner": inner}) == "CREATE_IN_PROGRESS"
    cloudformation = stack.cloud.cloudformation
    [nested] = [
        each["StackId"]
        for each in cloudformation.describe_stacks()["Stacks"]
        if each["StackName"].startswith(f"{stack.name}-Inner")
    ]

    cloudformation.signal_resource(
        StackName=nested, LogicalResourceId="Done", UniqueId="a", Status="SUCCESS"
    )

    assert ended(stack) == "CREATE_COMPLETE"


def test_a_stack_that_waits_may_be_deleted(stack: Any, group: Any, nodes: Any) -> None:
    stack.create(group(policy(2)))
    stack_id, instances = stack.described["StackId"], nodes()

    stack.cloud.cloudformation.delete_stack(StackName=stack.name)

    waiter = stack.cloud.cloudformation.get_waiter("stack_delete_complete")
    waiter.wait(StackName=stack_id, WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
    events = stack.cloud.cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    [failed] = [it for it in events if it["ResourceStatus"] == "CREATE_FAILED"][1:]
    assert failed["ResourceStatusReason"] == "Resource creation cancelled"
    found = stack.cloud.client("ec2").describe_instances(InstanceIds=instances)
    states = {it["State"]["Name"] for each in found["Reservations"] for it in each["Instances"]}
    assert states == {"terminated"}


def test_a_signal_counts_once_and_may_become_a_failure(stack: Any, signal: Any) -> None:
    stack.create({"Done": condition(2)})
    signal("Done", "a")

    with pytest.raises(ClientError, match="Signal with ID a for resource Done already exists"):
        signal("Done", "a")
    signal("Done", "a", "FAILURE")

    assert ended(stack) == "ROLLBACK_COMPLETE"


def test_signals_that_nobody_waits_for_are_refused(stack: Any, signal: Any) -> None:
    stack.create({"Done": condition(), "Thing": stack.thing()})

    with pytest.raises(ClientError, match="Resource Other does not exist for stack"):
        signal("Other", "a")
    with pytest.raises(ClientError, match="Thing is in CREATE_COMPLETE state and cannot be sig"):
        signal("Thing", "a")
    signal("Done", "a")
    ended(stack)
    with pytest.raises(ClientError, match=r"Stack:arn\S+ is in CREATE_COMPLETE state and"):
        signal("Done", "b")


def test_a_policy_refers_to_parameters(stack: Any, signal: Any) -> None:
    waits = condition()
    waits["CreationPolicy"]["ResourceSignal"]["Count"] = {"Ref": "Nodes"}
    sections = {"Parameters": {"Nodes": {"Type": "Number", "Default": 2}}}
    stack.create({"Done": waits}, sections=sections)

    signal("Done", "a")
    assert stack.status == "CREATE_IN_PROGRESS"
    signal("Done", "b")

    assert ended(stack) == "CREATE_COMPLETE"


def test_a_replacement_waits_for_signals_too(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    stack.create(group(policy(2), AutoScalingGroupName=f"{stack.name}-a"))
    before = nodes()
    for each in before:
        signal("Nodes", each)
    assert ended(stack) == "CREATE_COMPLETE"

    stack.update(group(policy(2), AutoScalingGroupName=f"{stack.name}-b"))
    for each in nodes():
        signal("Nodes", each)

    assert ended(stack) == "UPDATE_COMPLETE"
    assert set(nodes()).isdisjoint(before)
    assert len([why for _, why in reasons(stack, "Nodes") if why.startswith("Received")]) == 4


def test_an_update_in_place_waits_for_no_signals(
    stack: Any, group: Any, signal: Any, nodes: Any
) -> None:
    stack.create(group(policy(2)))
    for each in nodes():
        signal("Nodes", each)
    ended(stack)

    assert stack.update(group(policy(2), MaxSize="3", DesiredCapacity="3")) == "UPDATE_COMPLETE"

    assert len(nodes()) == 3


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        pytest.param(condition(1, "45M"), "Timeout is a duration of the form PT#H#M#S", id="form"),
        pytest.param(condition(1, "PT"), "Timeout is a duration of the form PT#H#M#S", id="empty"),
        pytest.param(condition(1, "PT12H1S"), "Timeout is at most PT12H", id="long"),
        pytest.param(condition(-1), "Count is a whole number from 0", id="count"),
        pytest.param(
            {"Type": "AWS::SNS::Topic", "CreationPolicy": policy()},
            "resources of type AWS::SNS::Topic have none",
            id="type",
        ),
        pytest.param(
            {**condition(), "CreationPolicy": {"Signal": {}}},
            "CreationPolicy is an object with ResourceSignal",
            id="member",
        ),
        pytest.param(
            {**condition(), "CreationPolicy": policy(MinSuccessfulInstancesPercent=50)},
            "CreationPolicy is an object with ResourceSignal, got",
            id="percent",
        ),
        pytest.param(
            {"Type": "AWS::CloudFormation::WaitCondition"},
            "a wait condition without Handle and Timeout needs one",
            id="none",
        ),
    ],
)
def test_a_policy_is_refused(stack: Any, resource: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match="of resource Done: ") as refused:
        stack.create({"Done": resource})

    assert message in str(refused.value)


@pytest.mark.parametrize(
    "update_policy",
    [
        {"AutoScalingRollingUpdate": {"MaxBatchSize": 1}},
        {"AutoScalingReplacingUpdate": {"WillReplace": "true"}},
        {"CodeDeployLambdaAliasUpdate": {"ApplicationName": "a"}},
    ],
)
def test_update_policies_are_refused(stack: Any, update_policy: dict[str, Any]) -> None:
    resource = {**stack.thing(), "UpdatePolicy": update_policy}

    with pytest.raises(ClientError, match="does not support the UpdatePolicy") as refused:
        stack.create({"Thing": resource})

    assert next(iter(update_policy)) in str(refused.value)


@pytest.mark.parametrize(("ignored", "size"), [("true", 1), ("false", 2)])
def test_sizes_that_the_template_does_not_change_may_stay(
    stack: Any, group: Any, nodes: Any, ignored: str, size: int
) -> None:
    template = group(MinSize="0", DesiredCapacity="2")
    scheduled = {"IgnoreUnmodifiedGroupSizeProperties": ignored}
    template["Nodes"]["UpdatePolicy"] = {
        "AutoScalingScheduledAction": scheduled,
        "AutoScalingReplacingUpdate": {"WillReplace": False},
    }
    stack.create(template)
    stack.cloud.client("autoscaling").set_desired_capacity(
        AutoScalingGroupName=stack.physical_id("Nodes"), DesiredCapacity=1
    )

    template["Nodes"]["Properties"]["HealthCheckGracePeriod"] = 60
    stack.update(template)

    assert len(nodes()) == size
