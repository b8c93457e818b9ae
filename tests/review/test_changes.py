"""The diff by meaning, with the real engine behind `cdk diff`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.errors import TrainshedError
from trainshed.review.changes import TemplateComparison, compare_templates
from trainshed.review.model import ResourceChange

ROOT = Path(__file__).parents[2]
Template = Mapping[str, Any]


def resource(kind: str, properties: Any = None, **attributes: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties or {}, **attributes}


def one(kind: str, properties: Any = None, **attributes: Any) -> Template:
    return {"Resources": {"It": resource(kind, properties, **attributes)}}


def stack(name: str, template: Template) -> SynthesisedStack:
    return SynthesisedStack(
        path=name, region="us-west-2", file=Path(f"{name}.json"), template=template
    )


GROUP = "AWS::EC2::SecurityGroup"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
LAUNCH = "AWS::EC2::LaunchTemplate"
FUNCTION = "AWS::Lambda::Function"
BUCKET = "AWS::S3::Bucket"
HASH = "0123456789abcdef" * 4
OTHER_HASH = "f" * 64
KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}


def variables(**values: str) -> Any:
    listed = [{"Name": name, "Value": value} for name, value in values.items()]
    return {"ContainerProperties": {"Image": "i", "Environment": listed}}


def interfaces(*kinds: str) -> Any:
    listed = [{"InterfaceType": kind} for kind in kinds]
    return {"LaunchTemplateData": {"NetworkInterfaces": listed}}


def guarded(deployment: str) -> Template:
    configuration = {"LustreConfiguration": {"DeploymentType": deployment}}
    frozen = {"FileSystem": {"DeploymentType": deployment, "StorageCapacity": 1200}}
    return {
        "Resources": {
            "Guard": resource("Custom::ReplacementGuard", frozen),
            "It": resource("AWS::FSx::FileSystem", configuration, DependsOn=["Guard"], **KEPT),
        }
    }


def script(*lines: str) -> Any:
    joined = {"Fn::Join": ["\n", ["set -e", {"Ref": "AWS::Region"}, *lines]]}
    return {"LaunchTemplateData": {"UserData": {"Fn::Base64": joined}}}


def referring(description: str, value: Any, **rule: Any) -> Template:
    kind = "AWS::EC2::SecurityGroupIngress" if rule else "AWS::SSM::Parameter"
    given = {"IpProtocol": "-1", **rule} if rule else {"Value": value, "Type": "String"}
    return {
        "Resources": {
            "Efa": resource(
                GROUP,
                {"GroupDescription": description},
                Metadata={"aws:cdk:path": "case/Efa/Resource"},
            ),
            "It": resource(kind, given),
        }
    }


def conditional(**sections: Any) -> Template:
    return {"Resources": {}, **sections}


# What differs in the resource `It`, or in the one other part: its effect, and its properties.
CASES: Mapping[str, tuple[Template, Template, list[str]]] = {
    "added": ({"Resources": {}}, one(GROUP), ["added"]),
    "removed": (one(GROUP), {"Resources": {}}, ["removed"]),
    "removed-and-kept": (one(BUCKET, **KEPT), {"Resources": {}}, ["removed, kept"]),
    "removed-with-a-snapshot": (
        one("AWS::EC2::Volume", DeletionPolicy="Snapshot"),
        {"Resources": {}},
        ["removed, kept"],
    ),
    "replaced-as-the-engine-says": (
        one(GROUP, {"Tags": [{"Key": "k", "Value": "x"}], "GroupDescription": "a"}),
        one(GROUP, {"Tags": [{"Key": "k", "Value": "y"}], "GroupDescription": "b"}),
        ["replaced", "! GroupDescription: a -> b", "Tags[k]: x -> y"],
    ),
    "replaced-and-kept": (
        one(BUCKET, {"BucketName": "a"}, **KEPT),
        one(BUCKET, {"BucketName": "b"}, **KEPT),
        ["replaced, kept", "! BucketName: a -> b"],
    ),
    "replaced-and-no-longer-kept": (
        one(BUCKET, {"BucketName": "a"}, **KEPT),
        one(BUCKET, {"BucketName": "b"}, DeletionPolicy="RetainExceptOnCreate"),
        ["replaced", "! BucketName: a -> b", "UpdateReplacePolicy: Retain -> None"],
    ),
    "replaced-by-a-nested-property": (
        one(
            ENVIRONMENT, {"Type": "MANAGED", "ComputeResources": {"Type": "EC2", "Subnets": ["a"]}}
        ),
        one(
            ENVIRONMENT, {"Type": "MANAGED", "ComputeResources": {"Type": "EC2", "Subnets": ["b"]}}
        ),
        ["replaced", "! ComputeResources.Subnets[0]: a -> b"],
    ),
    "replaced-as-only-the-engine-says": (
        one("AWS::Batch::JobQueue", {"Tags": {"k": "x"}}),
        one("AWS::Batch::JobQueue", {"Tags": {"k": "y"}}),
        ["replaced", "! Tags.k: x -> y"],
    ),
    "may-be-replaced": (
        one("AWS::EC2::Instance", {"EbsOptimized": False}),
        one("AWS::EC2::Instance", {"EbsOptimized": True}),
        ["may be replaced", "! EbsOptimized: false -> true"],
    ),
    "a-file-system-as-its-guard-says": (
        guarded("PERSISTENT_1"),
        guarded("PERSISTENT_2"),
        ["replaced, kept", "! LustreConfiguration.DeploymentType: PERSISTENT_1 -> PERSISTENT_2"],
    ),
    "another-type": (one(GROUP), one(BUCKET), ["replaced", f"! Type: {GROUP} -> {BUCKET}"]),
    "a-policy": (
        one(BUCKET, **KEPT),
        one(BUCKET),
        [
            "changed",
            "DeletionPolicy: RetainExceptOnCreate -> None",
            "UpdateReplacePolicy: Retain -> None",
        ],
    ),
    "a-number": (
        one(ENVIRONMENT, {"ComputeResources": {"MaxvCpus": 1152}}),
        one(ENVIRONMENT, {"ComputeResources": {"MaxvCpus": 2304}}),
        ["changed", "ComputeResources.MaxvCpus: 1152 -> 2304"],
    ),
    "what-refers-to-a-replaced-resource": (
        referring("a", {"Fn::Sub": "${Efa.GroupId}"}),
        referring("b", {"Fn::Sub": "${Efa.GroupId}"}),
        ["changed", "Value: ${Efa.GroupId} -> ${Efa.GroupId} (replaced)"],
    ),
    "what-is-replaced-with-it": (
        referring("a", "x", GroupId={"Fn::GetAtt": ["Efa", "GroupId"]}),
        referring("b", "x", GroupId={"Fn::GetAtt": ["Efa", "GroupId"]}),
        ["replaced", "! GroupId: Efa.GroupId -> Efa.GroupId (replaced)"],
    ),
    "functions": (
        referring("a", {"Ref": "Efa"}),
        referring("a", {"Fn::GetAtt": ["Efa", "GroupId"]}),
        ["changed", "Value: Ref Efa -> Efa.GroupId"],
    ),
    "joined": (
        referring("a", {"Fn::Join": ["/", ["x", {"Ref": "Efa"}]]}),
        referring("a", {"Fn::If": ["Yes", "y", {"Fn::Select": [0, ["z"]]}]}),
        ["changed", "Value: x/${Efa} -> y if Yes, else Select [0, [z]]"],
    ),
    "an-import": (
        referring("a", {"Fn::ImportValue": "exported-group"}),
        referring("a", {"Fn::ImportValue": "unknown"}),
        ["changed", "Value: Clients.GroupId of network -> export unknown"],
    ),
    "elements-by-index": (
        one(LAUNCH, interfaces("efa", "efa")),
        one(LAUNCH, interfaces("efa", "efa-only")),
        ["changed", "LaunchTemplateData.NetworkInterfaces[1].InterfaceType: efa -> efa-only"],
    ),
    "elements-gained": (
        one(LAUNCH, interfaces("efa")),
        one(LAUNCH, interfaces("efa", "efa-only")),
        ["changed", "LaunchTemplateData.NetworkInterfaces: None -> {InterfaceType: efa-only}"],
    ),
    "elements-lost": (
        one(LAUNCH, interfaces("efa", "interface")),
        one(LAUNCH, interfaces("efa")),
        ["changed", "LaunchTemplateData.NetworkInterfaces: {InterfaceType: interface} -> None"],
    ),
    "long-text": (
        one(LAUNCH, script("a", "b")),
        one(LAUNCH, script("a", "c", "d")),
        ["changed", "LaunchTemplateData.UserData: 4 lines -> 5 lines, 2 of them new, 1 gone"],
    ),
    "a-long-line": (
        one(FUNCTION, {"Description": "a"}),
        one(FUNCTION, {"Description": "b" * 200}),
        ["changed", f"Description: a -> {'b' * 117}..."],
    ),
    "secret-variable": (
        one("AWS::Batch::JobDefinition", variables(HF_TOKEN="hf_a", SIZE="1")),
        one("AWS::Batch::JobDefinition", variables(HF_TOKEN="hf_b", SIZE="2")),
        [
            "changed",
            "ContainerProperties.Environment[HF_TOKEN]: (hidden) -> (hidden)",
            "ContainerProperties.Environment[SIZE]: 1 -> 2",
        ],
    ),
    "secret-property": (
        one("AWS::SecretsManager::Secret", {"SecretString": "a"}),
        one("AWS::SecretsManager::Secret", {"SecretString": "b"}),
        ["changed", "SecretString: (hidden) -> (hidden)"],
    ),
    "secret-in-an-element": (
        one(FUNCTION, {"Layers": [{"Name": "DB_PASSWORD", "Value": "a"}, {"AuthToken": "b"}]}),
        one(FUNCTION, {"Layers": []}),
        [
            "changed",
            "Layers: {Name: DB_PASSWORD, Value: (hidden)} -> None",
            "Layers: {AuthToken: (hidden)} -> None",
        ],
    ),
    "a-reference-is-no-secret": (
        one("Custom::Thing", {"ServiceToken": {"Fn::GetAtt": ["A", "Arn"]}}),
        one("Custom::Thing", {"ServiceToken": {"Fn::GetAtt": ["B", "Arn"]}}),
        ["changed", "ServiceToken: A.Arn -> B.Arn"],
    ),
    "code-of-a-function": (
        one(FUNCTION, {"Code": {"S3Bucket": "b", "S3Key": f"{HASH}.zip"}}),
        one(FUNCTION, {"Code": {"S3Bucket": "b", "S3Key": f"{OTHER_HASH}.zip"}}),
        ["changed", "Code.S3Key: 01234567....zip -> ffffffff....zip"],
    ),
    "metadata": (one(GROUP), one(GROUP, Metadata={"aws:asset:path": "x"}, DependsOn=["A"]), []),
    "metadata-of-cdk": (
        one("AWS::CDK::Metadata", {"Analytics": "a"}),
        one("AWS::CDK::Metadata", {"Analytics": "b"}),
        [],
    ),
    "number-as-text": (
        one(ENVIRONMENT, {"ComputeResources": {"MaxvCpus": 8, "MinvCpus": 0}}),
        one(ENVIRONMENT, {"ComputeResources": {"MaxvCpus": "8", "MinvCpus": 1}}),
        ["changed", "ComputeResources.MinvCpus: 0 -> 1"],
    ),
    "a-parameter": (
        conditional(Parameters={"P": {"Type": "String", "Default": "a"}}),
        conditional(Parameters={"P": {"Type": "String", "Default": "b"}}),
        ["changed", "Default: a -> b"],
    ),
    "a-secret-parameter": (
        conditional(Parameters={"P": {"Type": "String", "Default": "a", "NoEcho": True}}),
        conditional(Parameters={"P": {"Type": "String", "Default": "b", "NoEcho": True}}),
        ["changed", "Default: (hidden) -> (hidden)"],
    ),
    "a-condition": (
        conditional(Conditions={"C": {"Fn::Equals": ["a", "b"]}}),
        conditional(Conditions={"C": {"Fn::Equals": ["a", "c"]}}),
        ["changed", "Condition: Equals [a, b] -> Equals [a, c]"],
    ),
    "a-mapping": (
        conditional(Mappings={"M": {"us-west-2": {"Ami": "ami-1"}}}),
        conditional(Mappings={"M": {"us-west-2": {"Ami": "ami-2"}}}),
        ["changed", "us-west-2.Ami: ami-1 -> ami-2"],
    ),
    "an-output": (
        conditional(),
        conditional(Outputs={"O": {"Value": "a", "Description": "b"}}),
        ["added"],
    ),
    "condition-of-cdk": (
        conditional(Conditions={"CDKMetadataAvailable": {"Fn::Equals": ["a", "b"]}}),
        conditional(),
        [],
    ),
}
EXPORTING = {
    "Resources": {"Clients": resource(GROUP)},
    "Outputs": {
        "G": {
            "Value": {"Fn::GetAtt": ["Clients", "GroupId"]},
            "Export": {"Name": "exported-group"},
        }
    },
}


@pytest.fixture(scope="module")
def comparison() -> TemplateComparison:
    """All cases in one run of the engine: each a stack, and two stacks that one side lacks."""
    before = {name: stack("case", old) for name, (old, _, _) in CASES.items()}
    after = {name: stack("case", new) for name, (_, new, _) in CASES.items()}
    network = {"network": stack("network", EXPORTING)}
    gone, come = stack("gone", one(BUCKET, **KEPT)), stack("come", one(GROUP))
    return compare_templates(
        before | network | {"gone": gone}, after | network | {"come": come}, ROOT
    )


def said(change: ResourceChange) -> list[str]:
    lines = [f"{change.effect}, kept" if change.kept else change.effect]
    for each in change.properties:
        mark = "! " if each.replaces else ""
        lines.append(f"{mark}{each.path}: {each.before} -> {each.after}")
    return lines


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_described(comparison: TemplateComparison, case: str) -> None:
    found = [each for stack in comparison.stacks if stack.name == case for each in stack.resources]

    expected = CASES[case][2]

    others = ("Guard", "Efa")
    assert [said(each) for each in found if each.logical_id not in others] == (
        [expected] if expected else []
    )


def test_parts_of_a_template_are_called_what_they_are(comparison: TemplateComparison) -> None:
    kinds = {stack.name: stack.resources[0].resource_type for stack in comparison.stacks}

    assert [kinds[f"a-{case}"] for case in ("parameter", "condition", "mapping")] == [
        "Parameter",
        "Condition",
        "Mapping",
    ]
    assert kinds["an-output"] == "Output"


def test_a_resource_has_the_name_of_its_construct(comparison: TemplateComparison) -> None:
    [group] = [
        each
        for stack in comparison.stacks
        if stack.name == "what-refers-to-a-replaced-resource"
        for each in stack.resources
        if each.resource_type == GROUP
    ]

    assert (group.logical_id, group.name) == ("Efa", "Efa")


def test_stacks_of_one_side_have_all_their_resources(comparison: TemplateComparison) -> None:
    found = {stack.name: stack for stack in comparison.stacks}

    gone, come = found["gone"], found["come"]

    assert (gone.effect, [said(each) for each in gone.resources]) == (
        "removed",
        [["removed, kept"]],
    )
    assert (come.effect, [said(each) for each in come.resources]) == ("added", [["added"]])
    assert found["a-number"].effect == "changed"


def test_the_worst_effect_is_first(comparison: TemplateComparison) -> None:
    effects = [stack.resources[0].effect for stack in comparison.stacks]

    order = ["replaced", "removed", "may be replaced", "changed", "added"]

    assert effects == sorted(effects, key=order.index)


def test_equal_templates_need_no_engine(tmp_path: Path) -> None:
    side = {"case": stack("case", one(GROUP))}

    found = compare_templates(side, side, tmp_path)

    assert (found.stacks, found.permissions, found.security_rules) == ((), (), ())


def test_a_missing_engine_is_reported_with_the_command_that_installs_it(tmp_path: Path) -> None:
    before, after = ({"case": stack("case", one(GROUP, {"GroupName": name}))} for name in "ab")

    with pytest.raises(TrainshedError) as raised:
        compare_templates(before, after, tmp_path)

    package = "@aws-cdk/cloudformation-diff"
    assert f"is not in the node_modules of {tmp_path}" in str(raised.value)
    assert f"npm install --save-dev --save-exact {package}@2." in str(raised.value)


def test_a_missing_node_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = ({"case": stack("case", one(GROUP, {"GroupName": name}))} for name in "ab")
    monkeypatch.setenv("JSII_NODE", "/nowhere/node")

    with pytest.raises(TrainshedError, match=r"Node \(/nowhere/node\) does not start"):
        compare_templates(before, after, ROOT)


def test_what_the_engine_cannot_compare_is_reported_with_its_stack() -> None:
    policy = one("AWS::IAM::Policy", {"Roles": ["r"]})
    before, after = {"odd": stack("odd", {})}, {"odd": stack("odd", policy)}

    with pytest.raises(TrainshedError, match="cannot compare the templates: stack odd: "):
        compare_templates(before, after, ROOT)
