"""The rules over CloudFormation templates: what they find is in their pages; here, what is fine."""

import pytest

from trainshed.findings import Finding, Severity
from trainshed.findings.pages import examples
from trainshed.findings.rule import all_rules, checks_of
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import FileKind
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content


def lint(text: str) -> tuple[Finding, ...]:
    """Return what is found in a template."""
    return lint_documents(read_documents(parse_content(text, "template.yaml")))


def of(rule: str, text: str) -> list[Finding]:
    """Return what a rule finds, without what it cannot decide."""
    return [each for each in lint(text) if each.rule == rule and "not decided" not in each.message]


# What makes the example of each rule's page right, and nothing else.
CORRECTIONS = [
    ("TS-AMI-012", "ImageId: /aws", "ImageId: '{{resolve:ssm:/aws", "image_id", "image_id}}'"),
    ("TS-BAT-005", "{Devices", "{SharedMemorySize: 8192, Devices"),
    ("TS-BAT-006", "        SecurityGroupIds: [sg-11111111]\n", ""),
    ("TS-BAT-007", "Custom::VpcRestrictDefaultSG", "Custom::Other"),
    ("TS-BAT-008", "Type: SPOT", "Type: EC2"),
    ("TS-BAT-009", "ECS_AL2", "ECS_AL2023"),
    ("TS-BAT-010", "ServiceRole: arn:aws:iam::123456789012:role/AWSBatchServiceRole", "State: E"),
    (
        "TS-BAT-011",
        "InstanceRole",
        "AllocationStrategy: BEST_FIT_PROGRESSIVE\n        InstanceRole",
    ),
    ("TS-BAT-012", "Type: MANAGED", "Type: MANAGED\n      ReplaceComputeEnvironment: false"),
    ("TS-BAT-013", "ComputeEnvironmentName: training", "State: ENABLED"),
    ("TS-BAT-014", "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "MISCONFIGURATION:OTHER"),
    ("TS-BAT-015", "#!/bin/bash", "MIME-Version: 1.0"),
    ("TS-CAP-008", "partition", "cluster"),
    ("TS-CAP-009", "      MinSize", "      PlacementGroup: mine\n      MinSize"),
    ("TS-CAP-010", "[us-east-1a, us-east-1b]", "[us-east-1a]"),
    ("TS-CAP-011", "{MarketType: capacity-block}", "{MarketType: spot}"),
    (
        "TS-CAP-012",
        "[Placed, !Ref AWS::NoValue, {GroupName: !Ref Together}]",
        "[Placed, {GroupName: !Ref Together}, !Ref AWS::NoValue]",
    ),
    (
        "TS-CAP-013",
        "  Nodes:",
        "  Reserved: {Type: AWS::EC2::CapacityReservation}\n  Nodes:",
        "cr-0123456789abcdef0",
        "!Ref Reserved",
    ),
    (
        "TS-EFA-004",
        "          - {NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: efa-only}\n",
        "",
    ),
    ("TS-EFA-005", "DeviceIndex: 2", "DeviceIndex: 1"),
    ("TS-EFA-006", "p6-b300.48xlarge", "p6-b200.48xlarge"),
    ("TS-EFA-007", "p4d.24xlarge", "p5.4xlarge"),
    ("TS-EFA-008", "efa-only", "efa"),
    ("TS-EFA-009", "AssociatePublicIpAddress: true", "AssociatePublicIpAddress: false"),
    ("TS-EFA-010", "DeviceIndex: 2", "DeviceIndex: 1", "DeviceIndex: 3", "DeviceIndex: 1"),
    ("TS-EFA-011", "1, DeviceIndex: 0", "1, DeviceIndex: 1"),
    ("TS-EFA-012", "sg-22222222", "sg-11111111"),
    (
        "TS-EFA-013",
        "  Nodes:",
        "  ToPeers:\n    Type: AWS::EC2::SecurityGroupEgress\n"
        '    Properties: {GroupId: !Ref Peers, IpProtocol: "-1", '
        "DestinationSecurityGroupId: !GetAtt Peers.GroupId}\n  Nodes:",
    ),
    ("TS-EKS-007", "1.34", "1.36"),
    ("TS-EKS-010", "EXTENDED", "STANDARD"),
    ("TS-EKS-017", "      AmiType", "      DiskSize: 200\n      AmiType"),
    ("TS-EKS-018", "[subnet-11111111]", "[subnet-11111111, subnet-22222222]"),
    (
        "TS-EKS-019",
        "      ResourcesVpcConfig",
        "      AccessConfig: {AuthenticationMode: API, "
        "BootstrapClusterCreatorAdminPermissions: false}\n      ResourcesVpcConfig",
    ),
    ("TS-EKS-021", "EndpointPrivateAccess", "EndpointPublicAccess: false, EndpointPrivateAccess"),
    ("TS-EKS-030", "  Dns:", "  Dns:\n    DependsOn: Train"),
    ("TS-EKS-031", "IamInstanceProfile: {Name: nodes}", "EbsOptimized: true"),
    (
        "TS-EKS-032",
        "ImageId: ami-0123456789abcdef0",
        "ImageId: ami-0123456789abcdef0\n        UserData: {Fn::Base64: nodeadm init}",
        "AmiType: AL2023_x86_64_NVIDIA",
        "CapacityType: ON_DEMAND",
    ),
    ("TS-EKS-033", "kind: NodeConfig", "spec: {kubelet: {flags: [--register-with-taints=a]}}"),
    ("TS-EKS-034", "#!/bin/bash", "MIME-Version: 1.0"),
    ("TS-EKS-035", "[!Ref Peers]", "[!Ref Peers, !ImportValue eks::ClusterSecurityGroupId]"),
    ("TS-EKS-036", "efa-only", "efa"),
    ("TS-EKS-037", "STANDARD", "NVIDIA"),
    ("TS-EKS-038", "      AmiType", "      CapacityType: CAPACITY_BLOCK\n      AmiType"),
    ("TS-EKS-039", "DesiredSize: 4, ", ""),
    ("TS-JOB-001", "864000", "86400"),
    (
        "TS-JOB-022",
        "Type: multinode",
        "Type: multinode\n      Timeout: {AttemptDurationSeconds: 60}",
    ),
    ("TS-JOB-023", "0:3", "0:"),
    ("TS-JOB-024", "Action: RETRY}", "Action: RETRY}, {OnReason: '*', Action: EXIT}"),
    (
        "TS-JOB-025",
        "uverbs0}",
        "uverbs0}, {HostPath: /dev/infiniband/uverbs1}, {HostPath: /dev/infiniband/uverbs2}, "
        "{HostPath: /dev/infiniband/uverbs3}",
    ),
    ("TS-JOB-026", "Image:", "Ulimits: [{Name: memlock, SoftLimit: -1}]\n              Image:"),
    ("TS-JOB-027", "dl1.24xlarge", "p4d.24xlarge"),
    ("TS-LIF-001", "dl1.24xlarge", "p4d.24xlarge"),
    ("TS-LIF-002", "p3dn.24xlarge", "p4d.24xlarge"),
    ("TS-LIF-003", "amazon-linux-2", "amazon-linux-2023"),
    ("TS-LIF-004", "ubuntu-20.04", "ubuntu-24.04"),
    ("TS-LIF-005", "ubuntu-22.04", "ubuntu-24.04"),
    ("TS-LIF-006", "dl1.24xlarge", "p4d.24xlarge"),
    ("TS-LTV-001", "$Latest", "!GetAtt Nodes.LatestVersionNumber"),
    ("TS-LUS-009", "1021", "1018"),
    ("TS-LUS-010", "2000", "2400"),
    ("TS-LUS-011", "{Weekly", "{DeploymentType: SCRATCH_2, Weekly"),
    ("TS-LUS-012", "2.12", "2.15"),
    ("TS-LUS-013", "1200", "4800"),
    (
        "TS-LUS-014",
        "    UpdateReplacePolicy",
        "    DeletionPolicy: Retain\n    UpdateReplacePolicy",
    ),
    ("TS-FIL-001", "Transform: MyMacro", "Transform: AWS::LanguageExtensions"),
]


@pytest.mark.parametrize(
    ("rule", "changes"), [(row[0], row[1:]) for row in CORRECTIONS], ids=lambda each: each[:10]
)
def test_a_rule_finds_its_example_and_not_its_neighbour(rule: str, changes: list[str]) -> None:
    wrong = examples(all_rules()[rule])[FileKind.CLOUDFORMATION]
    right = wrong
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in right
        right = right.replace(old, new)

    assert [each for each in lint(wrong) if each.rule == rule]
    assert [each for each in lint(right) if each.rule == rule and each.fails] == []
    assert of(rule, right) == []


def test_every_rule_over_templates_has_a_neighbour() -> None:
    rules = {each.rule_id for each in checks_of("lint") if FileKind.CLOUDFORMATION in each.examples}

    assert rules == {row[0] for row in CORRECTIONS}


NODES = """
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: {instance}
        NetworkInterfaces:
{rows}
"""


def template(instance: str, *rows: tuple[int, int, str]) -> str:
    lines = (
        f"          - {{NetworkCardIndex: {card}, DeviceIndex: {device}, InterfaceType: {kind}}}"
        for card, device, kind in rows
    )
    return NODES.format(instance=instance, rows="\n".join(lines))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        # EC2's layout of 2026, on each kind of card 0.
        pytest.param(
            template(
                "p6-b300.48xlarge",
                (0, 0, "interface"),
                *((card, 0, "efa-only") for card in range(1, 17)),
            ),
            [],
            id="b300-of-ec2",
        ),
        pytest.param(
            template(
                "p5.48xlarge",
                (0, 0, "interface"),
                (0, 1, "efa-only"),
                *((card, 0, "efa-only") for card in range(1, 32)),
            ),
            [],
            id="p5-of-ec2",
        ),
        # The older one, of eksctl and terraform-aws-eks.
        pytest.param(
            template("trn1.32xlarge", (0, 0, "efa"), *((card, 1, "efa") for card in range(1, 8))),
            [],
            id="trn1-combined",
        ),
        # AWS's own template of P5 for AWS Batch.
        pytest.param(
            template("p5.48xlarge", *((card, 0, "efa") for card in range(32))),
            ["TS-EFA-011"],
            id="p5-of-batch",
        ),
        # eksctl before its fix, and its p6-b300.
        pytest.param(
            template("p5.48xlarge", *((card, card, "efa") for card in range(32))),
            ["TS-EFA-005"] * 30 + ["TS-EFA-010"],
            id="p5-rising",
        ),
        pytest.param(
            template("p6-b300.48xlarge", *((card, int(card > 0), "efa") for card in range(17))),
            ["TS-EFA-006"],
            id="b300-of-eksctl",
        ),
        pytest.param(
            template("p4d.24xlarge", (4, 0, "interface")), ["TS-EFA-005", "TS-EFA-008"], id="card"
        ),
        pytest.param(
            template("g5.48xlarge", (0, 0, "interface"), (0, 0, "interface")),
            ["TS-EFA-005"],
            id="place-twice",
        ),
        pytest.param(template("inf2.48xlarge", (0, 0, "efa")), ["TS-EFA-006"], id="no-efa"),
        pytest.param(
            template("p5.4xlarge", (0, 0, "efa"), (0, 1, "efa-only")),
            ["TS-EFA-006"],
            id="two-of-one-card",
        ),
    ],
)
def test_interfaces_are_judged_by_the_type(text: str, rules: list[str]) -> None:
    assert sorted(each.rule for each in lint(text) if "not decided" not in each.message) == rules


@pytest.mark.parametrize(
    ("ingress", "egress", "found"),
    [
        ('IpProtocol: "-1", SourceSecurityGroupId: !Ref Peers', "", "outbound"),
        (
            "IpProtocol: tcp, FromPort: 0, ToPort: 65535, SourceSecurityGroupId: !Ref Peers",
            "",
            "for tcp only",
        ),
        ('IpProtocol: "-1", CidrIp: 10.0.0.0/16', "", "10.0.0.0/16 does not count"),
        (
            'IpProtocol: "-1", SourceSecurityGroupId: !Ref Peers',
            'IpProtocol: "-1", DestinationSecurityGroupId: !Ref Peers',
            None,
        ),
    ],
)
def test_efa_needs_a_rule_of_the_group_to_itself(
    ingress: str, egress: str, found: str | None
) -> None:
    example = examples(all_rules()["TS-EFA-013"])[FileKind.CLOUDFORMATION]
    text = example.replace('IpProtocol: "-1", SourceSecurityGroupId: !Ref Peers', ingress)
    if egress:
        text += (
            "  ToPeers:\n    Type: AWS::EC2::SecurityGroupEgress\n"
            f"    Properties: {{GroupId: !Ref Peers, {egress}}}\n"
        )

    messages = [each.message for each in of("TS-EFA-013", text)]

    assert len(messages) == (found is not None)
    assert all(found in message for message in messages if found)


def test_a_group_that_is_not_in_the_file_is_not_judged() -> None:
    text = template("g5.48xlarge", (0, 0, "efa")).replace("efa}", "efa, Groups: [sg-1]}")

    found = [each for each in lint(text) if each.rule == "TS-EFA-013"]

    assert [each.severity for each in found] == [Severity.INFO]
    assert "not decided: the rules of security group sg-1" in found[0].message


def test_an_interface_that_is_not_decided_hides_no_other() -> None:
    example = examples(all_rules()["TS-EFA-013"])[FileKind.CLOUDFORMATION]
    text = f"{example}          - {{DeviceIndex: 1, InterfaceType: efa}}\n"

    found = [each for each in lint(text) if each.rule == "TS-EFA-013"]

    assert [each.severity for each in found] == [Severity.ERROR, Severity.INFO]
    assert "the VPC's default security group" in found[1].message


def test_a_group_that_its_condition_does_not_make_is_found() -> None:
    text = """
Parameters:
  UseEfa: {Type: String, Default: "true", AllowedValues: ["true", "false"]}
Conditions:
  Efa: !Equals [!Ref UseEfa, "true"]
Resources:
  Together:
    Type: AWS::EC2::PlacementGroup
    Condition: Efa
    Properties: {Strategy: cluster}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        Placement: {GroupName: !If [Efa, !Ref AWS::NoValue, !Ref Together]}
"""

    (found,) = of("TS-CAP-012", text)

    assert found.message == (
        "Nodes uses ${Together}, which the template does not make then (when UseEfa is 'false')"
    )
    assert found.place and found.place.line == 15
    assert (
        of(
            "TS-CAP-012",
            text.replace(
                "[Efa, !Ref AWS::NoValue, !Ref Together]", "[Efa, !Ref Together, !Ref AWS::NoValue]"
            ),
        )
        == []
    )


def test_a_whole_cluster_by_hand_has_all_its_mistakes_named() -> None:
    text = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Ami: {Type: String, Default: /aws/service/ecs/optimized-ami/amazon-linux-2/gpu/recommended}
  Size: {Type: String, Default: p4d.24xlarge}
Resources:
  Peers:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: all
      SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 0, ToPort: 65535, CidrIp: 10.0.0.0/8}]
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        ImageId: !Ref Ami
        UserData: {Fn::Base64: "#!/bin/bash"}
        NetworkInterfaces:
          - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: efa, Groups: [!Ref Peers]}
          - {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: efa, Groups: [!Ref Peers]}
          - {NetworkCardIndex: 2, DeviceIndex: 2, InterfaceType: efa, Groups: [!Ref Peers]}
          - {NetworkCardIndex: 3, DeviceIndex: 3, InterfaceType: efa, Groups: [!Ref Peers]}
  Cluster:
    Type: AWS::Batch::ComputeEnvironment
    Properties:
      Type: MANAGED
      ServiceRole: arn:aws:iam::123456789012:role/AWSBatchServiceRole
      ComputeResources:
        Type: EC2
        InstanceTypes: [!Ref Size]
        LaunchTemplate: {LaunchTemplateId: !Ref Nodes}
        SecurityGroupIds: [!Ref Peers]
        MaxvCpus: 384
        Subnets: [subnet-1]
"""

    found = lint(text)

    assert sorted(each.rule for each in found if each.fails) == [
        "TS-AMI-012",
        "TS-BAT-006",
        "TS-BAT-010",
        "TS-BAT-011",
        "TS-BAT-012",
        "TS-BAT-015",
        "TS-CAP-009",
        "TS-EFA-010",
        "TS-EFA-013",
        "TS-LIF-003",
        "TS-LTV-001",
    ]
    (literal,) = (each for each in found if each.rule == "TS-AMI-012")
    assert literal.message.endswith(" (by the default of parameter Ami)")


def test_every_default_that_a_finding_rests_on_is_named() -> None:
    text = """
Parameters:
  Market: {Type: String, Default: capacity-block}
  Group: {Type: String, Default: my-group}
Resources:
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: !Ref Market}
        Placement: {GroupName: !Ref Group}
"""

    (found,) = of("TS-CAP-011", text)

    assert found.message.endswith(" (by the defaults of parameters Market, Group)")


def test_a_finding_does_not_name_the_defaults_of_another_part() -> None:
    text = """
Parameters:
  First: {Type: String, Default: dl1.24xlarge}
  Second: {Type: String, Default: dl1.24xlarge}
Resources:
  One:
    Type: AWS::EC2::LaunchTemplate
    Properties: {LaunchTemplateData: {InstanceType: !Ref First}}
  Two:
    Type: AWS::EC2::LaunchTemplate
    Properties: {LaunchTemplateData: {InstanceType: !Ref Second}}
"""

    found = of("TS-LIF-001", text)

    assert [each.message.rpartition(" ")[2] for each in found] == ["First)", "Second)"]


def test_a_finding_about_multi_node_jobs_does_not_rest_on_what_another_job_is() -> None:
    text = """
Parameters:
  Kind: {Type: String, Default: container}
Resources:
  One:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: !Ref Kind
      ContainerProperties: {Image: my-image}
  Several:
    Type: AWS::Batch::JobDefinition
    Properties:
      Type: multinode
      NodeProperties: {MainNode: 0, NumNodes: 4}
"""

    (found,) = of("TS-JOB-022", text)
    (by_default,) = of(
        "TS-JOB-022",
        text.replace("container}", "multinode}").replace("Type: multinode\n", "Type: container\n"),
    )

    assert found.message.startswith("Several has no time-out")
    assert found.message.endswith("runs on")
    assert by_default.message.endswith("runs on (by the default of parameter Kind)")
