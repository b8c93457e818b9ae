"""What a CloudFormation template says about its nodes, as far as the template decides it."""

from typing import Any

import pytest

from trainshed.lint.cloudformation import CloudFormationDocument
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import Known, NodeGroup, Unknown
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content

NODES = """
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: {value}
"""


def documents(text: str) -> list[CloudFormationDocument]:
    found = read_documents(parse_content(text, "template.yaml"))
    assert all(isinstance(each, CloudFormationDocument) for each in found)
    return [each for each in found if isinstance(each, CloudFormationDocument)]


def types(text: str) -> Any:
    """Return the instance types of the only group in the usual case, or why they are unknown."""
    (group,) = documents(text)[0].groups
    given = group.instance_types
    return given.value if isinstance(given, Known) else given.why if given else None


@pytest.mark.parametrize(
    ("value", "head", "expected"),
    [
        pytest.param("p5.48xlarge", "", ("p5.48xlarge",), id="plain"),
        pytest.param("!Ref AWS::NoValue", "", None, id="no-value"),
        pytest.param(
            "!Ref T", "Parameters: {T: {Type: String, Default: p5}}", ("p5",), id="default"
        ),
        pytest.param(
            "!Ref T",
            "Parameters: {T: {Type: String}}",
            "parameter T, which has no default",
            id="no-default",
        ),
        pytest.param("!Ref T", "", "T, which the template does not have", id="unknown-name"),
        pytest.param(
            "!Sub '${F}.48xlarge'",
            "Parameters: {F: {Type: String, Default: p5}}",
            ("p5.48xlarge",),
            id="sub",
        ),
        pytest.param("!Sub ['${A}.${B}', {A: p5, B: 48xlarge}]", "", ("p5.48xlarge",), id="sub-2"),
        pytest.param("!Sub 'p5.${!x}'", "", ("p5.${x}",), id="sub-literal"),
        pytest.param("!Join ['.', [p5, 48xlarge]]", "", ("p5.48xlarge",), id="join"),
        pytest.param("!Select [1, [a, p5]]", "", ("p5",), id="select"),
        pytest.param("!Select [2, [a, p5]]", "", "entry 2 of a list that has none", id="select-2"),
        pytest.param("!Select [1, !Split ['|', 'a|p5']]", "", ("p5",), id="split"),
        pytest.param(
            "!Select [1, !Ref L]",
            "Parameters: {L: {Type: CommaDelimitedList, Default: 'a, p5'}}",
            ("p5",),
            id="list-parameter",
        ),
        pytest.param(
            "!FindInMap [M, big, type]", "Mappings: {M: {big: {type: p5}}}", ("p5",), id="map"
        ),
        pytest.param(
            "!FindInMap [M, small, type]",
            "Mappings: {M: {big: {type: p5}}}",
            "mapping M has no small.type",
            id="map-without-key",
        ),
        pytest.param(
            "!FindInMap [M, !Ref AWS::Region, type]",
            "Mappings: {M: {us-east-1: {type: p5}}}",
            "${AWS::Region}, a key of mapping M",
            id="map-by-region",
        ),
        pytest.param(
            "!FindInMap [M, a, b, {DefaultValue: p5}]", "Mappings: {M: {}}", ("p5",), id="map-else"
        ),
        pytest.param(
            "!GetAtt Nodes.LatestVersionNumber",
            "",
            "${Nodes.LatestVersionNumber}, which is known only when it is deployed",
            id="attribute",
        ),
        pytest.param(
            "'{{resolve:ssm:/type}}'",
            "",
            "{{resolve:ssm:/type}}, which is known only when it is deployed",
            id="dynamic",
        ),
        pytest.param(
            "!ImportValue other",
            "",
            "the export other, which is known only when it is deployed",
            id="import",
        ),
        pytest.param(
            "{Fn::Transform: {Name: X}}", "", "Fn::Transform is not resolved here", id="transform"
        ),
        pytest.param(
            "!Join 5",
            "",
            "Fn::Join does not have the form that CloudFormation documents",
            id="malformed",
        ),
        pytest.param("[a]", "", "a list is not text", id="a-list"),
    ],
)
def test_a_value_is_resolved_as_far_as_the_template_decides_it(
    value: str, head: str, expected: object
) -> None:
    assert types(f"{head}\n{NODES.format(value=value)}") == expected


SWITCH = """
Parameters:
  Size: {definition}
Conditions:
  Big: !Equals [!Ref Size, big]
  Small: !Not [!Condition Big]
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: !If [Small, g5.48xlarge, !Ref Type]
  Other:
    Type: AWS::EC2::LaunchTemplate
    Condition: Big
    Properties: {{LaunchTemplateData: {{InstanceType: p4d.24xlarge}}}}
"""


@pytest.mark.parametrize(
    ("definition", "cases"),
    [
        ("{Type: String}", ["'big'", "something else"]),
        ("{Type: String, Default: small}", ["'small'", "'big'"]),
        ("{Type: String, Default: big}", ["'big'", "something else"]),
        ("{Type: String, AllowedValues: [small, big]}", ["'small'", "'big'"]),
        ("{Type: String, Default: big, AllowedValues: [small, big]}", ["'big'", "'small'"]),
    ],
)
def test_each_value_that_makes_a_difference_is_a_case(definition: str, cases: list[str]) -> None:
    found = documents(SWITCH.format(definition=definition))

    assert [dict(each.case)["Size"] for each in found] == cases
    for document in found:
        big = dict(document.case)["Size"] == "'big'"
        assert [group.name for group in document.groups] == ["Nodes", "Other"][: 1 + big]


def test_a_finding_says_in_which_case_it_holds() -> None:
    text = SWITCH.format(definition="{Type: String, Default: small}").replace(
        "p4d.24xlarge", "dl1.24xlarge"
    )

    (found,) = (
        each
        for each in lint_documents(read_documents(parse_content(text, "t.yaml")))
        if each.rule == "TS-LIF-001" and each.fails
    )

    assert found.message.endswith("it may not launch (when Size is 'big')")


def test_many_conditions_are_judged_one_at_a_time_and_that_is_reported() -> None:
    names = [f"P{number}" for number in range(8)]
    text = "\n".join(
        [
            "Parameters:",
            *(f"  {name}: {{Type: String, Default: a}}" for name in names),
            "Conditions:",
            *(f"  C{name}: !Equals [!Ref {name}, b]" for name in names),
            "Resources:",
            *(
                f"  R{name}: {{Type: AWS::EC2::Instance, Condition: C{name}, "
                "Properties: {InstanceType: dl1.24xlarge}}"
                for name in names
            ),
        ]
    )

    found = lint_documents(read_documents(parse_content(text, "t.yaml")))

    assert len(documents(text)) == 1 + len(names)
    withdrawn = [each.message for each in found if each.rule == "TS-LIF-001"]
    assert [each.split("(when ")[1] for each in withdrawn] == [f"{name} is 'b')" for name in names]
    assert [each.message for each in found if each.rule == "TS-FIL-001"] == [
        "not decided: all cases of the conditions together: they are judged one difference at a "
        "time"
    ]


def test_a_comparison_that_the_template_does_not_decide_is_judged_both_ways() -> None:
    text = """
Parameters: {Groups: {Type: CommaDelimitedList, Default: ""}}
Conditions: {Given: !Not [!Equals [!Join ["", !Ref Groups], ""]]}
Resources:
  Nodes:
    Type: AWS::EC2::Instance
    Properties: {InstanceType: !If [Given, dl1.24xlarge, p4d.24xlarge]}
"""

    found = documents(text)

    assert [dict(each.case) for each in found] == [
        {"a comparison of condition Given": "true"},
        {"a comparison of condition Given": "false"},
    ]
    assert [each.groups[0].instance_types for each in found] == [
        Known(value=("p4d.24xlarge",), path=_type_path(2)),
        Known(value=("dl1.24xlarge",), path=_type_path(1)),
    ]


def _type_path(branch: int) -> tuple[str | int, ...]:
    return ("Resources", "Nodes", "Properties", "InstanceType", "Fn::If", branch)


def test_conditions_that_hold_each_other_end() -> None:
    text = """
Conditions: {A: !Not [!Condition B], B: !Not [!Condition A]}
Resources:
  Nodes: {Type: AWS::EC2::Instance, Properties: {InstanceType: !If [A, p4d, p5]}}
"""

    assert types(text) == "condition A, which the template does not decide"


USERS = {
    "AWS::Batch::ComputeEnvironment": """
      Type: MANAGED
      ComputeResources:
        Type: SPOT
        InstanceTypes: [p5.48xlarge]
        LaunchTemplate: {LaunchTemplateId: !Ref Nodes}
        Ec2Configuration: [{ImageType: ECS_AL2023, ImageIdOverride: ami-1}]
        Subnets: [subnet-1]""",
    "AWS::EKS::Nodegroup": """
      InstanceTypes: [p5.48xlarge]
      LaunchTemplate: {Id: !Ref Nodes}
      CapacityType: CAPACITY_BLOCK
      AmiType: AL2023_x86_64_NVIDIA
      ScalingConfig: {MaxSize: 4}
      Subnets: [subnet-1]""",
    "AWS::AutoScaling::AutoScalingGroup": """
      MaxSize: "4"
      VPCZoneIdentifier: [subnet-1]
      MixedInstancesPolicy:
        LaunchTemplate:
          LaunchTemplateSpecification: {LaunchTemplateName: training}
          Overrides: [{InstanceType: p5.48xlarge}]""",
    "AWS::EC2::EC2Fleet": """
      LaunchTemplateConfigs:
        - LaunchTemplateSpecification: {LaunchTemplateId: !Ref Nodes}
          Overrides: [{InstanceType: p5.48xlarge}]""",
    "AWS::EC2::Instance": """
      InstanceType: p5.48xlarge
      SubnetId: subnet-1
      LaunchTemplate: {LaunchTemplateId: !Ref Nodes}""",
}


def _group(kind: str) -> NodeGroup:
    text = f"""
Resources:
  User:
    Type: {kind}
    Properties:{USERS[kind]}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateName: training
      LaunchTemplateData:
        InstanceType: g5.48xlarge
        Placement: {{GroupName: together}}
        NetworkInterfaces: [{{DeviceIndex: 0, InterfaceType: efa, Groups: [sg-1]}}]
"""
    (group,) = documents(text)[0].groups
    return group


def _value(given: object) -> object:
    return given.value if isinstance(given, Known) else given


@pytest.mark.parametrize("kind", USERS)
def test_a_group_has_its_own_values_and_those_of_its_launch_template(kind: str) -> None:
    group = _group(kind)

    assert (group.name, group.launch) == ("User", kind)
    assert _value(group.instance_types) == ("p5.48xlarge",)
    assert _value(group.placement_group) == "together"
    assert isinstance(group.interfaces, Known)
    (row,) = group.interfaces.value
    assert [_value(each) for each in (row.card, row.device, row.kind, row.security_groups)] == [
        0,
        0,
        "efa",
        ("sg-1",),
    ]
    assert _value(group.subnets) == (None if kind.endswith("Fleet") else ("subnet-1",))


def test_how_nodes_are_bought_and_which_ami_they_have_is_read() -> None:
    batch, eks = _group("AWS::Batch::ComputeEnvironment"), _group("AWS::EKS::Nodegroup")

    assert (_value(batch.purchase), _value(eks.purchase)) == ("spot", "capacity-block")
    assert (_value(batch.image_type), _value(batch.image)) == ("ECS_AL2023", "ami-1")
    assert (_value(eks.image_type), _value(eks.nodes)) == ("AL2023_x86_64_NVIDIA", 4)


def test_a_launch_template_of_another_stack_is_not_decided() -> None:
    text = """
Resources:
  Nodes:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {LaunchTemplate: {LaunchTemplateId: lt-1, Version: "1"}}
"""

    (group,) = documents(text)[0].groups

    assert isinstance(group.interfaces, Unknown)
    assert group.interfaces.why == "a launch template that is not in this file"


def test_one_value_that_many_rules_need_is_one_finding() -> None:
    text = """
Resources:
  Nodes:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties: {LaunchTemplate: {LaunchTemplateId: lt-1, Version: "1"}}
"""

    (found,) = lint_documents(read_documents(parse_content(text, "t.yaml")))

    assert not found.fails
    assert found.message.startswith("not decided: a launch template that is not in this file (for ")
    assert "TS-EFA-005" in found.message


def test_loops_and_transforms_are_reported_as_not_judged() -> None:
    text = """
Transform: [AWS::LanguageExtensions, Mine]
Resources:
  Fn::ForEach::Cards: [Card, ["1"], {}]
  Nodes: {Type: AWS::EC2::Instance, Properties: {Fn::ForEach::X: [Y, ["1"], {}]}}
"""

    found = lint_documents(read_documents(parse_content(text, "t.yaml")))

    said = [each.message for each in found]
    assert "not decided: what the transform Mine makes of the template" in said
    assert "not decided: what Fn::ForEach makes" in said
    assert any("Fn::ForEach::X is not resolved here" in each for each in said)


def test_nested_stacks_are_reported_as_not_judged() -> None:
    text = """
Resources:
  Network:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: ./network.yaml}
"""

    (found,) = lint_documents(read_documents(parse_content(text, "t.yaml")))

    assert found.rule == "TS-FIL-001"
    assert found.message == (
        "not decided: the template of the nested stack Network, which is a file of its own"
    )
    assert found.place and found.place.line == 3
