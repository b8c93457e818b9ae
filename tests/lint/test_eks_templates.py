"""What `trainshed lint` finds in CloudFormation templates of Amazon EKS, and what it lets pass."""

import pytest

from trainshed.findings import Finding, Severity
from trainshed.lint.judging import lint_documents
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content

CLUSTER = """
  Cluster:
    Type: AWS::EKS::Cluster
    Properties:
      Version: "1.36"
      RoleArn: arn:aws:iam::123456789012:role/cluster
      BootstrapSelfManagedAddons: false
      AccessConfig: {AuthenticationMode: API, BootstrapClusterCreatorAdminPermissions: false}
      UpgradePolicy: {SupportType: STANDARD}
      ResourcesVpcConfig:
        SubnetIds: [subnet-11111111, subnet-22222222]
        EndpointPublicAccess: false
        EndpointPrivateAccess: true
"""
NODES = """
  Train:
    Type: AWS::EKS::Nodegroup
    DependsOn: Network
    Properties:
      ClusterName: !Ref Cluster
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      AmiType: AL2023_x86_64_NVIDIA
      ScalingConfig: {MinSize: 4, DesiredSize: 4, MaxSize: 4}
      LaunchTemplate: {Id: !Ref Template, Version: !GetAtt Template.LatestVersionNumber}
  Template:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        BlockDeviceMappings: [{DeviceName: /dev/xvda, Ebs: {VolumeSize: 200}}]
        SecurityGroupIds: [!GetAtt Cluster.ClusterSecurityGroupId]
"""
ADDONS = """
  Network:
    Type: AWS::EKS::Addon
    Properties: {ClusterName: !Ref Cluster, AddonName: vpc-cni}
  Dns:
    Type: AWS::EKS::Addon
    DependsOn: [Train]
    Properties: {ClusterName: !Ref Cluster, AddonName: coredns}
"""
GOOD = f"Resources:{CLUSTER}{NODES}{ADDONS}"
USER_DATA = """InstanceType: p5.48xlarge
        UserData:
          Fn::Base64: |
            """
BLOCK = """InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: capacity-block}
        CapacityReservationSpecification:
          CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}"""
GROUPS = "SecurityGroupIds: [!GetAtt Cluster.ClusterSecurityGroupId]"
INTERFACES = """NetworkInterfaces:
          - {NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: interface, Groups: [GROUP]}
          - {NetworkCardIndex: 0, DeviceIndex: 1, InterfaceType: efa-only, Groups: [GROUP]}"""
OWN_GROUP = """
  Own:
    Type: AWS::EC2::SecurityGroup
    Properties: {GroupDescription: nodes, VpcId: vpc-11111111}
"""


def lint(text: str) -> tuple[Finding, ...]:
    return lint_documents(read_documents(parse_content(text, "template.yaml")))


def eks(text: str) -> list[str]:
    """Return the rules about EKS and reservations that find something that fails."""
    return [
        each.rule
        for each in lint(text)
        if each.fails and each.rule.startswith(("TS-EKS", "TS-CAP-013"))
    ]


def of(rule: str, text: str) -> list[Finding]:
    return [each for each in lint(text) if each.rule == rule]


def changed(*changes: str) -> str:
    """Return the good template with texts replaced, given in pairs."""
    text = GOOD
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_good_template_has_no_finding() -> None:
    found = lint(GOOD)

    assert [str(each) for each in found] == []


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        # The control plane.
        pytest.param(['"1.36"', '"1.29"'], ["TS-EKS-007"], id="version"),
        pytest.param(
            ["EndpointPublicAccess: false", "PublicAccessCidrs: [0.0.0.0/0]"],
            ["TS-EKS-021"],
            id="open",
        ),
        pytest.param(
            ["EndpointPublicAccess: false", "PublicAccessCidrs: [192.0.2.0/24]"], [], id="ranges"
        ),
        pytest.param(
            ["[subnet-11111111, subnet-22222222]", "[subnet-11111111]"], ["TS-EKS-018"], id="zone"
        ),
        pytest.param(["AuthenticationMode: API,", ""], ["TS-EKS-019"], id="config-map"),
        pytest.param(
            ["AuthenticationMode: API,", "AuthenticationMode: API_AND_CONFIG_MAP,"],
            [],
            id="both-modes",
        ),
        pytest.param(
            ["Permissions: false", "Permissions: true"], ["TS-EKS-019"], id="administrator"
        ),
        # Add-ons.
        pytest.param(["DependsOn: [Train]", "DependsOn: Network"], ["TS-EKS-030"], id="dns-first"),
        pytest.param(
            [
                "    DependsOn: Network\n",
                "",
                "AddonName: vpc-cni}",
                "AddonName: vpc-cni}\n    DependsOn: Train",
            ],
            ["TS-EKS-030"],
            id="network-last",
        ),
        pytest.param(
            [
                "    DependsOn: Network\n",
                "",
                "AddonName: vpc-cni}",
                "AddonName: vpc-cni}\n    DependsOn: Train",
                "Addons: false",
                "Addons: true",
            ],
            [],
            id="network-of-eks",
        ),
        pytest.param(
            [
                "DependsOn: [Train]",
                "DependsOn: Network",
                "      Version:",
                "      ComputeConfig: {Enabled: true}\n      Version:",
            ],
            [],
            id="auto-mode",
        ),
        # What EKS refuses.
        pytest.param(
            [
                "InstanceType: p5",
                "HibernationOptions: {Configured: true}\n        InstanceType: p5",
            ],
            ["TS-EKS-031"],
            id="hibernation",
        ),
        pytest.param(
            [
                "InstanceType: p5",
                "InstanceMarketOptions: {MarketType: spot}\n        InstanceType: p5",
            ],
            ["TS-EKS-031"],
            id="spot",
        ),
        pytest.param(
            ["      ScalingConfig", "      DiskSize: 200\n      ScalingConfig"],
            ["TS-EKS-031"],
            id="disk",
        ),
        pytest.param(
            ["      ScalingConfig", "      InstanceTypes: [p5.48xlarge]\n      ScalingConfig"],
            ["TS-EKS-031"],
            id="type-twice",
        ),
        pytest.param(
            [GROUPS, "NetworkInterfaces: [{DeviceIndex: 0, SubnetId: subnet-1}]"],
            ["TS-EKS-031"],
            id="subnet",
        ),
        # An AMI of one's own.
        pytest.param(
            [
                "AmiType: AL2023_x86_64_NVIDIA",
                "CapacityType: ON_DEMAND",
                "InstanceType: p5.48xlarge",
                f"ImageId: ami-0123456789abcdef0\n        {USER_DATA}kind: NodeConfig node.eks.aws",
            ],
            [],
            id="own-ami",
        ),
        pytest.param(
            [
                "AmiType: AL2023_x86_64_NVIDIA",
                "AmiType: CUSTOM",
                "InstanceType: p5.48xlarge",
                f"ImageId: ami-0123456789abcdef0\n        {USER_DATA}echo hello",
            ],
            ["TS-EKS-032"],
            id="own-ami-that-joins-nothing",
        ),
        pytest.param(
            [
                "AmiType: AL2023_x86_64_NVIDIA",
                'Version: "1.36"',
                "InstanceType: p5.48xlarge",
                f"ImageId: ami-0123456789abcdef0\n        {USER_DATA}nodeadm init",
            ],
            ["TS-EKS-032"],
            id="own-ami-with-a-version",
        ),
        pytest.param(
            [
                "AmiType: AL2023_x86_64_NVIDIA",
                "WarmPoolConfig: {Enabled: true}",
                "InstanceType: p5.48xlarge",
                f"ImageId: ami-0123456789abcdef0\n        {USER_DATA}nodeadm init",
            ],
            ["TS-EKS-032"],
            id="own-ami-with-a-warm-pool",
        ),
        # User data and drivers.
        pytest.param(
            ["InstanceType: p5.48xlarge", f"{USER_DATA}#!/bin/bash"], ["TS-EKS-034"], id="script"
        ),
        pytest.param(
            [
                "AL2023_x86_64_NVIDIA",
                "BOTTLEROCKET_x86_64_NVIDIA",
                "InstanceType: p5.48xlarge",
                f"{USER_DATA}[settings]",
            ],
            [],
            id="toml",
        ),
        pytest.param(
            ["      AmiType: AL2023_x86_64_NVIDIA\n", ""], ["TS-EKS-037"], id="no-ami-type"
        ),
        pytest.param(
            ["AL2023_x86_64_NVIDIA", "AL2023_x86_64_NEURON"], ["TS-EKS-037"], id="other-driver"
        ),
        pytest.param(
            ["AL2023_x86_64_NVIDIA", "AL2023_x86_64_STANDARD", "p5.48xlarge", "m6i.large"],
            [],
            id="no-accelerator",
        ),
        # Capacity.
        pytest.param(["InstanceType: p5.48xlarge", BLOCK], ["TS-EKS-038"], id="block-by-half"),
        pytest.param(
            [
                "InstanceType: p5.48xlarge",
                BLOCK,
                "      ScalingConfig",
                "      CapacityType: CAPACITY_BLOCK\n      ScalingConfig",
            ],
            [],
            id="block",
        ),
        pytest.param(
            ["      ScalingConfig", "      CapacityType: CAPACITY_BLOCK\n      ScalingConfig"],
            ["TS-EKS-038"],
            id="block-of-no-template",
        ),
        pytest.param(
            [
                "InstanceType: p5.48xlarge",
                BLOCK,
                "      ScalingConfig",
                "      CapacityType: CAPACITY_BLOCK\n      ScalingConfig",
                "Subnets: [subnet-11111111]",
                "Subnets: [subnet-11111111, subnet-33333333]",
            ],
            ["TS-EKS-038"],
            id="block-in-two-subnets",
        ),
        # Volumes.
        pytest.param(["VolumeSize: 200", "VolumeSize: 40"], ["TS-EKS-017"], id="small-volume"),
        # Pods.
        pytest.param(
            [GROUPS, INTERFACES.replace("GROUP", "!GetAtt Cluster.ClusterSecurityGroupId")],
            ["TS-EKS-036"],
            id="too-many-pods",
        ),
        pytest.param(
            [
                GROUPS,
                INTERFACES.replace("GROUP", "!GetAtt Cluster.ClusterSecurityGroupId"),
                "AddonName: vpc-cni",
                "AddonName: vpc-cni, "
                'ConfigurationValues: \'{"env": {"ENABLE_PREFIX_DELEGATION": "true"}}\'',
            ],
            [],
            id="prefixes",
        ),
        pytest.param(
            [
                GROUPS,
                INTERFACES.replace("GROUP", "!GetAtt Cluster.ClusterSecurityGroupId"),
                "InstanceType: p5.48xlarge",
                f"{USER_DATA}MIME-Version: 1.0 maxPodsExpression",
            ],
            [],
            id="counted-pods",
        ),
    ],
)
def test_rules_over_templates_of_eks(changes: list[str], rules: list[str]) -> None:
    assert eks(changed(*changes)) == rules


def test_access_entries_need_a_mode_that_has_them() -> None:
    entry = "\n  Entry:\n    Type: AWS::EKS::AccessEntry\n    Properties: {ClusterName: example}\n"

    (found,) = of("TS-EKS-019", changed("AuthenticationMode: API,", "") + entry)

    assert found.severity is Severity.ERROR
    assert "EKS refuses Entry" in found.message


@pytest.mark.parametrize(
    ("zone", "count"), [("us-west-2a", 1), ("us-west-2b", 0), ("!Ref Zone", 0)]
)
def test_subnets_that_the_template_makes_are_in_two_zones(zone: str, count: int) -> None:
    subnets = f"""
  One: {{Type: AWS::EC2::Subnet, Properties: {{AvailabilityZone: us-west-2a}}}}
  Two: {{Type: AWS::EC2::Subnet, Properties: {{AvailabilityZone: {zone}}}}}
"""
    text = changed("[subnet-11111111, subnet-22222222]", "[!Ref One, !Ref Two]")

    assert len(of("TS-EKS-018", text + subnets)) == count


def test_one_subnet_is_told_from_several_in_one_zone() -> None:
    (found,) = of("TS-EKS-018", changed("[subnet-11111111, subnet-22222222]", "[subnet-11111111]"))

    assert found.message == "Cluster has one subnet, and EKS wants two zones"


def test_a_list_parameter_may_have_several_subnets() -> None:
    head = 'Parameters: {Subnets: {Type: "List<AWS::EC2::Subnet::Id>"}}'

    (found,) = of(
        "TS-EKS-018",
        f"{head}\n{changed('[subnet-11111111, subnet-22222222]', '!Ref Subnets')}",
    )

    assert found.message == "not decided: parameter Subnets, which has no default"


@pytest.mark.parametrize(
    ("more", "count"),
    [
        pytest.param("", 1, id="no-rule"),
        pytest.param(
            "  Rule:\n    Type: AWS::EC2::SecurityGroupIngress\n    Properties: {GroupId: !GetAtt "
            'Cluster.ClusterSecurityGroupId, IpProtocol: "-1", SourceSecurityGroupId: !Ref Own}\n',
            0,
            id="rule-of-the-cluster's-group",
        ),
        pytest.param(
            "  Rule:\n    Type: AWS::EC2::SecurityGroupIngress\n    Properties: {GroupId: "
            '!Ref Own, IpProtocol: "-1", SourceSecurityGroupId: '
            "!GetAtt Cluster.ClusterSecurityGroupId}\n",
            0,
            id="rule-of-the-own-group",
        ),
        pytest.param(
            "  Rule:\n    Type: AWS::EC2::SecurityGroupIngress\n    Properties: {GroupId: "
            '!Ref Own, IpProtocol: "-1", SourceSecurityGroupId: !Ref Own}\n',
            1,
            id="rule-to-itself",
        ),
    ],
)
def test_groups_of_ones_own_need_a_way_to_the_control_plane(more: str, count: int) -> None:
    text = changed(GROUPS, "SecurityGroupIds: [!Ref Own]") + OWN_GROUP + more

    found = of("TS-EKS-035", text)

    assert [each.severity for each in found] == [Severity.ERROR] * count


@pytest.mark.parametrize(
    ("instance", "remedy"),
    [
        ("p5.48xlarge", "set AmiType: AL2023_x86_64_NVIDIA"),
        ("g5g.16xlarge", "set AmiType: AL2023_ARM_64_NVIDIA"),
        ("trn1.32xlarge", "set AmiType: AL2023_x86_64_NEURON"),
        ("dl1.24xlarge", "name an AMI of your own with the driver in the launch template"),
    ],
)
def test_the_ami_type_that_has_the_driver_is_named(instance: str, remedy: str) -> None:
    (found,) = of("TS-EKS-037", changed("p5.48xlarge", instance, "_NVIDIA", "_STANDARD"))

    assert found.remedy == remedy


def test_groups_of_interfaces_count_as_well() -> None:
    interfaces = INTERFACES.replace("GROUP", "!Ref Own").replace("efa-only", "efa")
    text = changed(GROUPS, interfaces) + OWN_GROUP

    (found,) = of("TS-EKS-035", text)

    assert "Own, and not in the cluster's security group" in found.message


def test_nodes_without_groups_get_the_clusters() -> None:
    assert of("TS-EKS-035", changed(GROUPS, "EbsOptimized: true")) == []


def test_a_group_that_is_not_in_the_file_is_not_judged() -> None:
    (found,) = of("TS-EKS-035", changed(GROUPS, "SecurityGroupIds: [sg-11111111]"))

    assert found.message == "not decided: whether sg-11111111 is the cluster's security group"


def test_a_launch_template_that_is_not_in_the_file_is_said_once() -> None:
    text = changed(
        "Id: !Ref Template, Version: !GetAtt Template.LatestVersionNumber",
        'Id: lt-0123456789abcdef0, Version: "3"',
    )

    found = [each for each in lint(text) if "not decided" in each.message]

    assert len(found) == 1
    assert "a launch template that is not in this file" in found[0].message
    assert "TS-EKS-035" in found[0].message


def test_nothing_is_refused_of_a_launch_template_that_is_not_in_the_file() -> None:
    text = changed(
        "Id: !Ref Template, Version: !GetAtt Template.LatestVersionNumber",
        'Id: lt-0123456789abcdef0, Version: "3"',
        "      ScalingConfig",
        "      DiskSize: 50\n      ScalingConfig",
    )

    (found,) = of("TS-EKS-031", text)

    assert found.message == "Train has a launch template and DiskSize, which EKS refuses"


def test_taints_are_late_with_an_ami_of_ones_own_only() -> None:
    taints = "Taints: [{Key: nvidia.com/gpu, Effect: NO_SCHEDULE}]"
    own = f"ImageId: ami-0123456789abcdef0\n        {USER_DATA}nodeadm init"

    assert of("TS-EKS-033", changed("AmiType: AL2023_x86_64_NVIDIA", taints)) == []
    (found,) = of(
        "TS-EKS-033",
        changed("AmiType: AL2023_x86_64_NVIDIA", taints, "InstanceType: p5.48xlarge", own),
    )
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(("least", "count"), [("4", 0), ("0", 1)])
def test_the_number_of_nodes_is_no_matter_where_it_is_fixed(least: str, count: int) -> None:
    assert len(of("TS-EKS-039", changed("MinSize: 4", f"MinSize: {least}"))) == count


def test_coredns_of_a_cluster_without_nodes_waits_for_nothing() -> None:
    dns = ADDONS.replace("    DependsOn: [Train]\n", "")

    (found,) = of("TS-EKS-030", f"Resources:{CLUSTER}{dns}")

    assert "before any node" in found.message
    assert of("TS-EKS-030", f"Resources:{dns.replace('!Ref Cluster', 'example')}") == []


@pytest.mark.parametrize(
    ("properties", "count"),
    [
        pytest.param("AddonVersion: !Ref Train", 0, id="ref"),
        pytest.param("AddonVersion: !GetAtt Train.NodegroupName", 0, id="attribute"),
        pytest.param("AddonVersion: {Fn::GetAtt: [Train, NodegroupName]}", 0, id="attribute-list"),
        pytest.param("AddonVersion: !Sub 'v-${Train}'", 0, id="sub"),
        pytest.param("AddonVersion: !Sub ['v-${Train}', {A: b}]", 0, id="sub-with-map"),
        pytest.param("AddonVersion: !Ref Template", 1, id="another"),
        pytest.param("AddonVersion: !Ref Network", 1, id="what-the-nodes-wait-for"),
    ],
)
def test_what_a_reference_names_is_made_before(properties: str, count: int) -> None:
    text = changed(
        "    DependsOn: [Train]\n", "", "AddonName: coredns", f"AddonName: coredns, {properties}"
    )

    assert len(of("TS-EKS-030", text)) == count


def test_what_is_made_before_may_be_named_by_another_resource() -> None:
    between = "\n  Between:\n    Type: AWS::EKS::Addon\n    DependsOn: Train\n"

    assert of("TS-EKS-030", changed("DependsOn: [Train]", "DependsOn: Between") + between) == []
