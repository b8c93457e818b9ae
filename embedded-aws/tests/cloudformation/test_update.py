"""Updating a stack: in place, by replacement, and back again."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def _parameter(name: str, value: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::SSM::Parameter",
        "Properties": {"Name": name, "Type": "String", "Value": value},
    }


def _exists(stack: Any, name: str) -> bool:
    found = stack.cloud.client("ssm").get_parameters(Names=[name])
    return bool(found["Parameters"])


def test_only_what_changed_is_touched(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1), "B": stack.thing(Size=1)})

    assert stack.update({"A": stack.thing(Size=1), "B": stack.thing(Size=2)}) == "UPDATE_COMPLETE"

    assert stack.calls[2:] == [("update", "B")]
    assert stack.events[-5:] == [
        ("stack", "UPDATE_IN_PROGRESS"),
        ("B", "UPDATE_IN_PROGRESS"),
        ("B", "UPDATE_COMPLETE"),
        ("stack", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"),
        ("stack", "UPDATE_COMPLETE"),
    ]


def test_a_number_and_its_text_are_the_same(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1, On=True)})

    with pytest.raises(ClientError, match="No updates are to be performed"):
        stack.update({"A": stack.thing(Size="1", On="true")})


def test_a_changed_parameter_reaches_its_users(stack: Any) -> None:
    resources = {"A": stack.thing(Size={"Ref": "Size"})}
    sections = {
        "Parameters": {"Size": {"Type": "String", "Default": "s"}},
        "Outputs": {"O": {"Value": {"Fn::GetAtt": ["A", "Size"]}}},
    }
    stack.create(resources, sections=sections)

    given = [{"ParameterKey": "Size", "ParameterValue": "l"}]
    stack.update(resources, sections=sections, Parameters=given)

    assert stack.outputs == {"O": "l"}


def test_a_removed_resource_goes_last_and_a_new_one_comes_first(stack: Any) -> None:
    stack.create({"Old": stack.thing()})

    stack.update({"New": stack.thing()})

    assert stack.calls[1:] == [("create", "New"), ("delete", "Old")]
    cleanup = stack.events.index(("stack", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"))
    assert stack.events[cleanup + 1 :] == [
        ("Old", "DELETE_IN_PROGRESS"),
        ("Old", "DELETE_COMPLETE"),
        ("stack", "UPDATE_COMPLETE"),
    ]
    assert list(stack.resources) == ["New"]


def test_a_replacement_makes_the_new_one_before_it_deletes_the_old(stack: Any) -> None:
    old, new = f"/{stack.name}/old", f"/{stack.name}/new"
    user = stack.thing(Name={"Ref": "P"})
    stack.create({"P": _parameter(old, "x"), "User": user})

    stack.update({"P": _parameter(new, "x"), "User": user})

    replaced = [event for event in stack.history if event["LogicalResourceId"] == "P"][3:]
    assert [(it["ResourceStatus"], it["PhysicalResourceId"]) for it in replaced] == [
        ("UPDATE_IN_PROGRESS", old),
        ("UPDATE_IN_PROGRESS", new),
        ("UPDATE_COMPLETE", new),
        ("DELETE_IN_PROGRESS", old),
        ("DELETE_COMPLETE", old),
    ]
    assert replaced[0]["ResourceStatusReason"].startswith("Requested update requires the creation")
    assert stack.events.index(("User", "UPDATE_COMPLETE")) < stack.events.index(
        ("P", "DELETE_IN_PROGRESS")
    )
    assert (_exists(stack, old), _exists(stack, new)) == (False, True)


def test_a_replaced_resource_can_be_kept(stack: Any) -> None:
    old, new = f"/{stack.name}/old", f"/{stack.name}/new"
    keep = {"UpdateReplacePolicy": "Retain"}
    stack.create({"P": {**_parameter(old, "x"), **keep}})

    stack.update({"P": {**_parameter(new, "x"), **keep}})

    assert _exists(stack, old)
    assert ("P", "DELETE_SKIPPED") in stack.events


def test_a_custom_named_resource_is_not_replaced_by_its_namesake(stack: Any) -> None:
    def group(tenancy: str) -> dict[str, Any]:
        properties = {"Name": f"/{stack.name}/doc", "Content": {"schemaVersion": tenancy}}
        return {"Type": "AWS::SSM::Document", "Properties": properties}

    from embedded_aws.cloudformation.changes.comparison import keeps_its_name

    document = ("AWS::SSM::Document", "us-west-2", group("2.0")["Properties"])
    assert keeps_its_name(*document, group("2.2")["Properties"])
    assert not keeps_its_name(*document, {"Name": "another"})


def test_a_failed_update_brings_everything_back(stack: Any) -> None:
    old, new = f"/{stack.name}/old", f"/{stack.name}/new"
    before = {
        "Changed": stack.thing(Size=1),
        "P": _parameter(old, "x"),
        "Removed": stack.thing(),
        "Broken": stack.thing(Needs=[{"Ref": "P"}, {"Ref": "Changed"}]),
    }
    stack.create(before)
    after = {
        "Changed": stack.thing(Size=2),
        "P": _parameter(new, "x"),
        "Added": stack.thing(),
        "Broken": stack.thing("update", Needs=[{"Ref": "P"}, {"Ref": "Changed"}, {"Ref": "Added"}]),
    }

    assert stack.update(after) == "UPDATE_ROLLBACK_COMPLETE"

    assert stack.reason("stack", "UPDATE_ROLLBACK_IN_PROGRESS") == (
        "The following resource(s) failed to update: [Broken]."
    )
    assert (_exists(stack, old), _exists(stack, new)) == (True, False)
    assert sorted(stack.resources) == ["Broken", "Changed", "P", "Removed"]
    assert ("delete", "Removed") not in stack.calls
    assert stack.calls[-3:] == [("update", "Changed"), ("update", "Broken"), ("delete", "Added")]
    statuses = [status for name, status in stack.events if name == "stack"]
    assert statuses[-3:] == [
        "UPDATE_ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE",
    ]
    with pytest.raises(ClientError, match="No updates are to be performed"):
        stack.update(before)


def test_refused_properties_need_no_restoring(stack: Any) -> None:
    name = f"/{stack.name}/p"
    stack.create({"P": _parameter(name, "x")})
    refused = _parameter(name, "y")
    refused["Properties"]["Type"] = "Banana"

    assert stack.update({"P": refused}) == "UPDATE_ROLLBACK_COMPLETE"

    value = stack.cloud.client("ssm").get_parameter(Name=name)["Parameter"]
    assert (value["Value"], value["Version"]) == ("x", 1)


def test_without_rollback_a_failed_update_stays_and_can_be_mended(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1), "B": stack.thing(Needs={"Ref": "A"})})
    broken = {"A": stack.thing(Size=2), "B": stack.thing("update", Needs={"Ref": "A"})}

    assert stack.update(broken, DisableRollback=True) == "UPDATE_FAILED"
    assert stack.update({"A": stack.thing(Size=2), "B": stack.thing(Needs={"Ref": "A"}, Extra=1)})

    assert stack.status == "UPDATE_COMPLETE"
    assert stack.calls.count(("update", "A")) == 1


def test_without_rollback_the_same_update_can_be_tried_again(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1)})
    stack.put_obstacle("update", "A")
    assert stack.update({"A": stack.thing(Size=2)}, DisableRollback=True) == "UPDATE_FAILED"
    stack.remove_obstacles()

    assert stack.update({"A": stack.thing(Size=2)}) == "UPDATE_COMPLETE"

    assert stack.calls[1:] == [("update", "A"), ("update", "A")]


def test_without_rollback_a_failed_update_can_be_rolled_back_later(stack: Any) -> None:
    stack.create({"A": stack.thing(Size=1), "B": stack.thing(Needs={"Ref": "A"})})
    broken = {"A": stack.thing(Size=2), "B": stack.thing("update", Needs={"Ref": "A"})}
    stack.update(broken, DisableRollback=True)

    stack.cloud.cloudformation.rollback_stack(StackName=stack.name)

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.calls[-2:] == [("update", "A"), ("update", "B")]


def test_a_rollback_that_fails_can_skip_what_fails(stack: Any) -> None:
    fragile = stack.thing("update", Size=1)
    stack.create({"A": fragile})
    assert stack.update({"A": stack.thing("update", Size=2)}) == "UPDATE_ROLLBACK_FAILED"

    stack.cloud.cloudformation.continue_update_rollback(StackName=stack.name, ResourcesToSkip=["A"])

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.reason("A", "UPDATE_COMPLETE") == "Resource skipped during UpdateRollback"


def test_a_resource_keeps_its_type(stack: Any) -> None:
    stack.create({"A": stack.thing()})

    with pytest.raises(ClientError, match=r"Update of resource type is not permitted.*\[A\]"):
        stack.update({"A": {"Type": "AWS::SNS::Topic"}})


def test_a_rollback_takes_away_what_the_update_added_to_a_function(stack: Any) -> None:
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}
    statement = {**trust, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document}}
    properties = {
        "Code": {"ZipFile": "def handler(event, context): return event"},
        "Handler": "index.handler",
        "Runtime": "python3.13",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
    }

    def resources(**more: Any) -> dict[str, Any]:
        function = {"Type": "AWS::Lambda::Function", "Properties": {**properties, **more}}
        return {"Role": role, "F": function}

    able = ["CAPABILITY_IAM"]
    stack.create(resources(), Capabilities=able)

    broken = {**resources(Timeout=9), "New": {**stack.thing("create"), "DependsOn": "F"}}
    assert stack.update(broken, Capabilities=able) == "UPDATE_ROLLBACK_COMPLETE"

    function = stack.cloud.client("lambda").get_function_configuration(
        FunctionName=stack.physical_id("F")
    )
    assert function["Timeout"] == 3


def test_a_repository_whose_policy_is_refused_has_none_after_the_rollback(stack: Any) -> None:
    stack.create({"R": {"Type": "AWS::ECR::Repository"}})
    policies = {
        "LifecyclePolicy": {"LifecyclePolicyText": "{" + 100 * " " + "}"},
        "RepositoryPolicyText": {"Statement": "none"},
    }

    statuses = [
        stack.update({"R": {"Type": "AWS::ECR::Repository", "Properties": {name: policy}}})
        for name, policy in policies.items()
    ]

    assert statuses == ["UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"]


def test_new_stack_tags_reach_what_exists(stack: Any) -> None:
    name = f"/{stack.name}/p"
    stack.create({"P": _parameter(name, "x")}, Tags=[{"Key": "owner", "Value": "a"}])

    stack.update({"P": _parameter(name, "x")}, Tags=[{"Key": "owner", "Value": "b"}])

    tags = stack.cloud.client("ssm").list_tags_for_resource(
        ResourceType="Parameter", ResourceId=name
    )["TagList"]
    assert {"Key": "owner", "Value": "b"} in tags


def test_stack_tags_that_are_removed_leave_every_resource(stack: Any) -> None:
    def tagging(*keys: str) -> list[dict[str, str]]:
        return [{"Key": key, "Value": "x"} for key in keys]

    def tagged() -> list[list[str]]:
        client = stack.cloud.client
        topic, rule = stack.physical_id("Topic"), stack.physical_id("Rule")
        arn = client("events").describe_rule(Name=rule)["Arn"]
        listed = [
            client("sns").list_tags_for_resource(ResourceArn=topic)["Tags"],
            client("events").list_tags_for_resource(ResourceARN=arn)["Tags"],
            client("ec2").describe_vpcs(VpcIds=[stack.physical_id("Vpc")])["Vpcs"][0]["Tags"],
        ]
        keys = [[tag["Key"] for tag in tags] for tags in listed]
        return [sorted(key for key in each if not key.startswith("aws:")) for each in keys]

    resources = {
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"Tags": tagging("own", "s3")}},
        "Rule": {
            "Type": "AWS::Events::Rule",
            "Properties": {"ScheduleExpression": "rate(1 day)", "Tags": tagging("own", "s3")},
        },
        "Vpc": {
            "Type": "AWS::EC2::VPC",
            "Properties": {"CidrBlock": "10.0.0.0/16", "Tags": tagging("own", "s3")},
        },
    }
    stack.create(resources, Tags=tagging("s1", "s2", "s3"))

    stack.update(resources, Tags=tagging("s1", "s3"))
    fewer = tagged()
    broken = {**resources, "New": {**stack.thing("create"), "DependsOn": [*resources]}}
    assert stack.update(broken, Tags=tagging("s4")) == "UPDATE_ROLLBACK_COMPLETE"
    restored = tagged()
    stack.update(resources, Tags=[])

    assert fewer == restored == [["own", "s1", "s3"]] * 3
    assert tagged() == [["own", "s3"]] * 3


def test_the_stacks_tags_alone_can_change(stack: Any) -> None:
    stack.create({"A": stack.thing()}, Tags=[{"Key": "owner", "Value": "a"}])

    stack.update({"A": stack.thing()}, Tags=[{"Key": "owner", "Value": "b"}])

    assert stack.described["Tags"] == [{"Key": "owner", "Value": "b"}]


def test_outputs_alone_can_change(stack: Any) -> None:
    resources = {"A": stack.thing()}
    stack.create(resources)

    stack.update(resources, sections={"Outputs": {"O": {"Value": "new"}}})

    assert stack.outputs == {"O": "new"}


@pytest.mark.parametrize(
    ("switch", "recreation"), [(None, "Always"), (True, "Always"), (False, "Never")]
)
def test_a_compute_environment_is_replaced_unless_it_says_otherwise(
    switch: bool | None, recreation: str
) -> None:
    from embedded_aws.cloudformation.changes.comparison import compare

    said = {} if switch is None else {"ReplaceComputeEnvironment": switch}
    before = {**said, "ComputeResources": {"InstanceTypes": ["trn1.32xlarge"]}}
    after = {**said, "ComputeResources": {"InstanceTypes": ["trn1.2xlarge"]}}

    (change,) = compare("AWS::Batch::ComputeEnvironment", "us-west-2", before, after)

    assert change.recreation == recreation
    (resized,) = compare(
        "AWS::Batch::ComputeEnvironment",
        "us-west-2",
        {"ComputeResources": {"MaxvCpus": 1}},
        {"ComputeResources": {"MaxvCpus": 2}},
    )
    assert resized.recreation == "Never"
