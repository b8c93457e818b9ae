"""What is refused before anything is made, in AWS's words."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

_TOPIC = {"Type": "AWS::SNS::Topic"}
_NAMED_ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {"RoleName": "x", "AssumeRolePolicyDocument": {}},
}


@pytest.mark.parametrize(
    ("resources", "sections", "message"),
    [
        pytest.param(
            {"A": {"Type": "AWS::Nobody::Knows"}},
            {},
            r"Template format error: Unrecognized resource types: \[AWS::Nobody::Knows\]",
            id="unknown-type",
        ),
        pytest.param(
            {"A": {"Type": "AWS::PCS::Cluster"}, "B": _TOPIC},
            {},
            "the embedded AWS cannot make resources of type AWS::PCS::Cluster, which AWS can; "
            "`embedded-aws types` lists those that it makes",
            id="unsupported-type",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Properties": {"TopicName": {"Ref": "Nowhere"}}}},
            {},
            r"Template format error: Unresolved resource dependencies \[Nowhere\] in the "
            "Resources block of the template",
            id="missing-reference",
        ),
        pytest.param(
            {"A": {**_TOPIC, "DependsOn": "Nowhere"}},
            {},
            r"Unresolved resource dependencies \[Nowhere\] in the Resources block",
            id="missing-dependency",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Outputs": {"O": {"Value": {"Fn::GetAtt": ["Nowhere", "Arn"]}}}},
            r"Unresolved resource dependencies \[Nowhere\] in the Outputs block",
            id="missing-in-output",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Condition": "No"}},
            {
                "Conditions": {"No": {"Fn::Equals": ["a", "b"]}},
                "Outputs": {"O": {"Value": {"Ref": "A"}}},
            },
            r"Unresolved resource dependencies \[A\] in the Outputs block",
            id="reference-to-what-its-condition-excludes",
        ),
        pytest.param(
            {"A": {**_TOPIC, "DependsOn": "B"}, "B": {**_TOPIC, "DependsOn": "A"}, "C": _TOPIC},
            {},
            r"Circular dependency between resources: \[A, B\]",
            id="circle",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Outputs": {"O": {"Value": {"Fn::GetAtt": ["A", "Colour"]}}}},
            "resource A does not support attribute type Colour in Fn::GetAtt",
            id="attribute-of-no-such-name",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Propertys": {}}},
            {},
            "Invalid template resource property 'Propertys'",
            id="misspelt-attribute",
        ),
        pytest.param({}, {}, "At least one Resources member must be defined", id="no-resources"),
        pytest.param(
            {f"A{number}": _TOPIC for number in range(501)},
            {},
            "Number of resources, 501, is greater than maximum allowed, 500",
            id="too-many-resources",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Outputs": {f"O{number}": {"Value": "x"} for number in range(201)}},
            "Number of outputs, 201, is greater than maximum allowed, 200",
            id="too-many-outputs",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Parameters": {f"P{number}": {"Type": "String"} for number in range(201)}},
            "Number of parameters, 201, is greater than maximum allowed, 200",
            id="too-many-parameters",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Mappings": {f"M{number}": {"a": {"b": "c"}} for number in range(201)}},
            "Number of mappings, 201, is greater than maximum allowed, 200",
            id="too-many-mappings",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Description": "é" * 513},
            "'Description' length is greater than 1024",
            id="long-description",
        ),
        pytest.param({"Ä": _TOPIC}, {}, "Resource name Ä is non alphanumeric", id="umlaut"),
        pytest.param(
            {"A": _TOPIC},
            {"Resource": {}},
            r"Invalid template property or properties \[Resource\]",
            id="misspelt-section",
        ),
        pytest.param(
            {"A": _TOPIC}, {"Transform": "AWS::Serverless-2016-10-31"}, "Transform", id="transform"
        ),
        pytest.param(
            {"A": {**_TOPIC, "DeletionPolicy": "Keep"}},
            {},
            "Unrecognized DeletionPolicy Keep for resource A",
            id="policy",
        ),
        pytest.param(
            {"A": {**_TOPIC, "DeletionPolicy": "Snapshot"}},
            {},
            "AWS::SNS::Topic does not support DeletionPolicy Snapshot",
            id="snapshot-of-a-topic",
        ),
        pytest.param(
            {"R": _NAMED_ROLE},
            {},
            r"InsufficientCapabilities.*Requires capabilities : \[CAPABILITY_NAMED_IAM\]",
            id="capabilities",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Properties": {"TopicName": {"Fn::ImportValue": "nobody-exports"}}}},
            {},
            "No export named nobody-exports found",
            id="import-of-nothing",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Properties": {"TopicName": {"Ref": ["A", "B"]}}}},
            {},
            "every Ref object must have a single String value",
            id="malformed-ref",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Properties": {"TopicName": {"Fn::GetAtt": ["A"]}}}},
            {},
            "every Fn::GetAtt object requires two non-empty parameters",
            id="malformed-attribute",
        ),
        pytest.param(
            {"A": _TOPIC},
            {"Conditions": {"C": {"Fn::Equals": [{"Ref": "A"}, "x"]}}},
            r"Unresolved dependencies \[A\]. Cannot reference resources in the Conditions block",
            id="resource-in-a-condition",
        ),
        pytest.param(
            {"A": {**_TOPIC, "Properties": {"TopicName": {"Fn::Shout": "x"}}}},
            {},
            "unsupported function Fn::Shout",
            id="unknown-function",
        ),
    ],
)
def test_a_template_is_refused(stack: Any, resources: Any, sections: Any, message: str) -> None:
    with pytest.raises(ClientError, match=message):
        stack.create(resources, sections=sections)

    with pytest.raises(ClientError, match="does not exist"):
        _ = stack.described


@pytest.mark.parametrize(
    ("declared", "given", "message"),
    [
        pytest.param({"Type": "String"}, None, r"Parameters: \[P\] must have values", id="missing"),
        pytest.param(
            {"Type": "String", "AllowedValues": ["a", "b"]},
            "c",
            "Parameter 'P' must be one of AllowedValues",
            id="allowed-values",
        ),
        pytest.param(
            {"Type": "String", "AllowedPattern": "[a-z]+", "ConstraintDescription": "be small"},
            "ABC",
            "Parameter P failed to satisfy constraint: be small",
            id="pattern",
        ),
        pytest.param({"Type": "Number"}, "many", "Parameter 'P' must be a number", id="number"),
        pytest.param(
            {"Type": "Number", "MaxValue": 3}, "4", "must be a number not greater than 3", id="max"
        ),
        pytest.param(
            {"Type": "String", "MinLength": 3}, "ab", "must contain at least 3 characters", id="min"
        ),
        pytest.param(
            {"Type": "AWS::SSM::Parameter::Value<String>"},
            "/not/there",
            r"Unable to fetch parameters \[/not/there\] from parameter store for this account",
            id="stored",
        ),
    ],
)
def test_a_parameter_is_refused(stack: Any, declared: Any, given: str | None, message: str) -> None:
    parameters = [] if given is None else [{"ParameterKey": "P", "ParameterValue": given}]

    with pytest.raises(ClientError, match=message):
        stack.create({"A": _TOPIC}, sections={"Parameters": {"P": declared}}, Parameters=parameters)


def test_a_parameter_that_is_not_declared_is_refused(stack: Any) -> None:
    with pytest.raises(ClientError, match=r"Parameters: \[Q\] do not exist in the template"):
        stack.create({"A": _TOPIC}, Parameters=[{"ParameterKey": "Q", "ParameterValue": "1"}])


@pytest.mark.parametrize(("version", "accepted"), [("5", False), ("31", True)])
def test_cdks_bootstrap_rule_is_held(stack: Any, version: str, accepted: bool) -> None:
    key = f"/{stack.name}/version"
    stack.cloud.client("ssm").put_parameter(Name=key, Value=version, Type="String")
    sections = {
        "Parameters": {"V": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": key}},
        "Rules": {
            "CheckBootstrapVersion": {
                "Assertions": [
                    {
                        "Assert": {
                            "Fn::Not": [{"Fn::Contains": [["1", "2", "3", "4", "5"], {"Ref": "V"}]}]
                        },
                        "AssertDescription": "CDK bootstrap stack version 6 required.",
                    }
                ]
            }
        },
    }

    if accepted:
        assert stack.create({"A": _TOPIC}, sections=sections) == "CREATE_COMPLETE"
        (parameter,) = stack.described["Parameters"]
        assert (parameter["ParameterValue"], parameter["ResolvedValue"]) == (key, version)
    else:
        with pytest.raises(ClientError, match="CDK bootstrap stack version 6 required"):
            stack.create({"A": _TOPIC}, sections=sections)


def test_a_no_echo_parameter_is_masked(stack: Any) -> None:
    stack.create(
        {"A": stack.thing(Secret={"Ref": "P"})},
        sections={"Parameters": {"P": {"Type": "String", "NoEcho": True, "Default": "hush"}}},
    )

    assert stack.described["Parameters"] == [{"ParameterKey": "P", "ParameterValue": "****"}]


def test_an_action_that_is_not_there_is_refused_and_not_a_server_error(cloud: Any) -> None:
    with pytest.raises(ClientError, match="does not support CloudFormation's CreateStackSet") as it:
        cloud.cloudformation.create_stack_set(StackSetName="x", TemplateBody="{}")

    assert it.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_tag_key_comes_once(stack: Any) -> None:
    twice = [{"Key": "Team", "Value": "a"}, {"Key": "Team", "Value": "b"}]

    with pytest.raises(ClientError, match="ValidationError") as it:
        stack.create({"A": _TOPIC}, Tags=twice)

    assert "Tags contain duplicate keys; tag keys must be unique" in str(it.value)


def test_a_change_set_cannot_revert_drift(stack: Any) -> None:
    with pytest.raises(ClientError, match="does not support DeploymentMode; leave it out"):
        stack.cloud.cloudformation.create_change_set(
            StackName=stack.name,
            ChangeSetName="C",
            ChangeSetType="CREATE",
            TemplateBody=stack.template({"A": _TOPIC}),
            DeploymentMode="REVERT_DRIFT",
        )
