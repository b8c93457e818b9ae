"""Templates that are right, of forms that look like a mistake."""

import pytest

from trainshed.findings import Finding
from trainshed.lint.judging import lint_documents
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content


def of(rule: str, text: str) -> list[Finding]:
    """Return what a rule says about a template."""
    found = lint_documents(read_documents(parse_content(text, "template.yaml")))
    return [each for each in found if each.rule == rule or rule in each.message]


PLACED = """
Parameters:
  UsePlacementGroup: {Type: String, Default: "true", AllowedValues: ["true", "false"]}
  Purchase: {Type: String, Default: on-demand, AllowedValues: [on-demand, capacity-block]}
Conditions:
  Block: !Equals [!Ref Purchase, capacity-block]
  Wanted: !Equals [!Ref UsePlacementGroup, "true"]
  Grouped: !And [!Condition Wanted, !Not [!Condition Block]]
Resources:
  Together:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: cluster}
  Others:
    Type: AWS::EC2::LaunchTemplate
    Condition: Wanted
    Properties:
      LaunchTemplateData: {InstanceType: p4d.24xlarge}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        Placement: VALUE
"""


@pytest.mark.parametrize(
    "value",
    [
        "!If [Grouped, {GroupName: !Ref Together}, !Ref AWS::NoValue]",
        "!If [Block, !Ref AWS::NoValue, {GroupName: !Ref Together}]",
    ],
)
def test_a_switch_may_depend_on_more_than_itself(value: str) -> None:
    inverted = "!If [Wanted, !Ref AWS::NoValue, {GroupName: !Ref Together}]"

    assert of("TS-CAP-012", PLACED.replace("VALUE", value)) == []
    assert len(of("TS-CAP-012", PLACED.replace("VALUE", inverted))) == 1


JOB = """
Resources:
  Job:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: multinode
      NodeProperties:
        MainNode: 0
        NumNodes: 4
        NodeRangeProperties:
          - TargetNodes: "0:"
            Container:
              Image: my-image
              InstanceType: g6e.48xlarge
              LinuxParameters: {Devices: [DEVICES]}
"""
ENVIRONMENT = """
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      Type: MANAGED
      ComputeResources:
        Type: EC2
        InstanceTypes: [g6e.48xlarge]
        LaunchTemplate: {LaunchTemplateId: !Ref Nodes, Version: "1"}
        MaxvCpus: 768
        Subnets: [subnet-11111111]
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces:
          - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: KIND}
"""
DEVICE = "{HostPath: /dev/infiniband/uverbs0}"


@pytest.mark.parametrize(
    ("devices", "kind", "messages"),
    [
        pytest.param("", "interface", [], id="no-efa"),
        pytest.param(DEVICE, "efa", [], id="all-that-the-nodes-have"),
        pytest.param("", "efa", ["0 of the 1"], id="none"),
        pytest.param("", "!Ref Kind", ["not decided: Kind"], id="kind-not-decided"),
        pytest.param("", None, ["not decided: the EFA interfaces"], id="no-nodes-here"),
        pytest.param(DEVICE, None, ["1 of the 4"], id="no-nodes-here-and-some-devices"),
    ],
)
def test_a_job_needs_the_efa_devices_that_its_nodes_have(
    devices: str, kind: str | None, messages: list[str]
) -> None:
    environment = ENVIRONMENT.replace("KIND", kind) if kind else ""

    found = of("TS-JOB-025", JOB.replace("DEVICES", devices) + environment.lstrip("\n"))

    assert len(found) == len(messages)
    assert all(part in each.message for part, each in zip(messages, found, strict=True))


@pytest.mark.parametrize(("privileged", "count"), [("true", 0), ("false", 1)])
def test_a_privileged_job_has_all_devices(privileged: str, count: int) -> None:
    text = JOB.replace("DEVICES", DEVICE).replace(
        "Image: my-image", f"Image: my-image\n              Privileged: {privileged}"
    )

    assert len(of("TS-JOB-025", text)) == count


def test_an_image_type_of_amazon_linux_2_may_describe_an_own_ami() -> None:
    text = """
Resources:
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      ComputeResources:
        Ec2Configuration: [{ImageType: ECS_AL2, ImageIdOverride: ami-0123456789abcdef0}]
"""

    assert of("TS-BAT-009", text) == []
    assert of("TS-BAT-009", text.replace(", ImageIdOverride: ami-0123456789abcdef0", ""))


@pytest.mark.parametrize(("kind", "count"), [("SPOT", 0), ("EC2", 1)])
def test_nodes_of_aws_batch_on_spot_do_not_work_together(kind: str, count: int) -> None:
    text = f"""
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces: [{{NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa}}]
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      Type: MANAGED
      ComputeResources:
        Type: {kind}
        InstanceTypes: [g6e.8xlarge, g6.8xlarge]
        LaunchTemplate: {{LaunchTemplateId: !Ref Nodes}}
        MaxvCpus: 64
        Subnets: [subnet-1]
"""

    assert len(of("TS-CAP-009", text)) == count


@pytest.mark.parametrize(
    ("subnets", "count"), [("[!Ref Subnet]", 0), ("[!Ref Subnet, !Ref Other]", 1)]
)
def test_one_subnet_is_in_one_zone_whichever_it_is(subnets: str, count: int) -> None:
    text = f"""
Parameters:
  Subnet: {{Type: "AWS::EC2::Subnet::Id"}}
  Other: {{Type: "AWS::EC2::Subnet::Id"}}
Resources:
  Cluster:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      PlacementGroup: mine
      VPCZoneIdentifier: {subnets}
"""

    assert len(of("TS-CAP-010", text)) == count


def test_the_same_security_group_is_the_same_whichever_it_is() -> None:
    rows = "".join(
        f"          - {{NetworkCardIndex: {card}, DeviceIndex: 0, InterfaceType: efa, "
        "Groups: [!Ref Group]}\n"
        for card in range(2)
    )
    text = f"""
Parameters:
  Group: {{Type: "AWS::EC2::SecurityGroup::Id"}}
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        NetworkInterfaces:
{rows}"""

    assert of("TS-EFA-012", text) == []
    (found,) = of("TS-EFA-013", text)
    assert "the rules of security group ${Group}, which is not in this file" in found.message
