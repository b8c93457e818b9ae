"""What a cluster of Amazon EKS is made of."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainshed.lint.judging import lint_files
from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

Synthesise = Callable[[Fleet], Path]
Resources = Mapping[str, dict[str, Any]]
KEY = "arn:aws:kms:us-west-2:123456789012:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
SPEC = {
    "name": "KubeCluster",
    "region": "us-west-2",
    "orchestrator": "eks",
    "owner": "ml-platform",
    "instance": {"type": "dl1.24xlarge", "nodes": {"max": 4}},
    "storage": {"lustre": {}},
    "job": {"buckets": [{"bucket": "my-runs", "access": "read-write"}]},
    "kubernetes": {
        "version": "1.36",
        "access": [
            {"role": "MachineLearning"},
            {"role": "arn:aws:iam::123456789012:role/ops/Oncall", "policy": "cluster-admin"},
            {"role": "Auditor", "policy": "view", "namespace": "kube"},
        ],
    },
}


@pytest.fixture(scope="module")
def folder(synthesise: Synthesise) -> Path:
    """The templates of clusters on demand, on a Capacity Block, on Spot, and of two types."""
    block = {
        "name": "BlockCluster",
        "instance": {"type": "p5.48xlarge", "nodes": {"max": 2}, "interfaces": "ec2"},
        "capacity": {"capacity_block": "cr-0123456789abcdef0"},
        "kubernetes": {"public_cidrs": ["52.94.76.0/24"]},
        "storage": {"bucket": {"mount": "/data", "mount_prefix": "sets/"}},
        "job": {},
        "kms_key": KEY,
    }
    spot = {"name": "SpotCluster", "capacity": {"spot": {}}, "storage": {}}
    several = {
        "name": "ManyCluster",
        "instance": {"type": "p4d.24xlarge", "nodes": {"max": 2}},
        "capacity": {"spot": {}, "instance_types": ["p4d.24xlarge", "p4de.24xlarge"]},
        "storage": {},
    }
    specs = [ClusterSpec.model_validate(SPEC | each) for each in ({}, block, spot, several)]
    return synthesise(plan_fleet(specs))


@pytest.fixture(scope="module")
def stacks(folder: Path) -> Mapping[str, Resources]:
    """The resources of the clusters, by stack."""
    return {
        path.name.split(".")[0]: json.loads(path.read_text())["Resources"]
        for path in folder.glob("*.template.json")
    }


def of(resources: Resources, kind: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in resources.values() if each["Type"] == kind]


def only(resources: Resources, kind: str) -> dict[str, Any]:
    [found] = of(resources, kind)
    return found


def text_of(value: Any) -> str:
    """Return the text of a value whose references are left out."""
    if isinstance(value, dict):
        [(function, arguments)] = value.items()
        if function == "Fn::Join":
            return "".join(map(text_of, arguments[1]))
        if function == "Fn::Base64":
            return text_of(arguments)
        return f"<{json.dumps(arguments)}>".replace('"', "'")
    return str(value)


def node_config(user_data: Any) -> dict[str, Any]:
    _, found, rest = text_of(user_data).partition("Content-Type: application/node.eks.aws\n\n")
    assert found
    config: dict[str, Any] = json.loads(rest.partition("\n--")[0])
    return config


def bootstrap_call(user_data: Any) -> tuple[str, dict[str, str]]:
    """Return the cluster that Canonical's script is called for, and its options."""
    [line] = [
        each
        for each in text_of(user_data).splitlines()
        if each.startswith("/etc/eks/bootstrap.sh ")
    ]
    _, cluster, *words = shlex.split(line)
    return cluster, dict(zip(words[::2], words[1::2], strict=True))


def test_lint_finds_no_trap_in_them(folder: Path) -> None:
    report = lint_files(sorted(folder.glob("*.template.json")))

    # DL1 is withdrawn, which is no fault of the templates.
    assert {each.rule for each in report.findings if each.fails} == {"TS-LIF-001"}
    assert not any("not decided" in each.message for each in report.findings)


def test_the_cluster_is_closed_but_to_access_entries(stacks: Mapping[str, Resources]) -> None:
    cluster = only(stacks["KubeControlPlane"], "AWS::EKS::Cluster")

    assert cluster["AccessConfig"] == {
        "AuthenticationMode": "API",
        "BootstrapClusterCreatorAdminPermissions": False,
    }
    vpc = cluster["ResourcesVpcConfig"]
    assert (vpc["EndpointPrivateAccess"], vpc["EndpointPublicAccess"]) == (True, False)
    assert "PublicAccessCidrs" not in vpc
    assert len(vpc["SubnetIds"]) == 2
    assert cluster["DeletionProtection"] is True
    assert cluster["UpgradePolicy"] == {"SupportType": "STANDARD"}
    assert cluster["Version"] == "1.36"
    assert cluster["BootstrapSelfManagedAddons"] is False
    types = [each["Type"] for each in cluster["Logging"]["ClusterLogging"]["EnabledTypes"]]
    assert set(types) == {"api", "audit", "authenticator", "controllerManager", "scheduler"}


def test_the_public_endpoint_is_for_the_ranges_given(stacks: Mapping[str, Resources]) -> None:
    vpc = only(stacks["BlockControlPlane"], "AWS::EKS::Cluster")["ResourcesVpcConfig"]

    assert vpc["EndpointPublicAccess"] is True
    assert vpc["PublicAccessCidrs"] == ["52.94.76.0/24"]


def test_secrets_are_encrypted_by_a_key_that_is_kept(stacks: Mapping[str, Resources]) -> None:
    [key] = [
        each for each in stacks["KubeControlPlane"].values() if each["Type"] == "AWS::KMS::Key"
    ]
    of_own = only(stacks["KubeControlPlane"], "AWS::EKS::Cluster")["EncryptionConfig"]
    [given] = only(stacks["BlockControlPlane"], "AWS::EKS::Cluster")["EncryptionConfig"]

    assert key["DeletionPolicy"] == key["UpdateReplacePolicy"] == "Retain"
    assert key["Properties"]["EnableKeyRotation"] is True
    assert "Fn::GetAtt" in of_own[0]["Provider"]["KeyArn"]
    assert given == {"Provider": {"KeyArn": KEY}, "Resources": ["secrets"]}
    assert not of(stacks["BlockControlPlane"], "AWS::KMS::Key")


def test_each_role_has_its_entry(stacks: Mapping[str, Resources]) -> None:
    entries = {
        text_of(each["PrincipalArn"]).rpartition("/")[2]: each["AccessPolicies"]
        for each in of(stacks["KubeControlPlane"], "AWS::EKS::AccessEntry")
    }

    policies = {
        role: text_of(policy["PolicyArn"]).rpartition("/")[2] for role, [policy] in entries.items()
    }
    assert policies == {
        "MachineLearning": "AmazonEKSEditPolicy",
        "Oncall": "AmazonEKSClusterAdminPolicy",
        "Auditor": "AmazonEKSViewPolicy",
    }
    assert entries["Auditor"][0]["AccessScope"] == {"Type": "namespace", "Namespaces": ["kube"]}
    assert entries["Oncall"][0]["AccessScope"] == {"Type": "cluster"}


def test_access_entries_are_in_the_groups_that_kubernetes_gives_more_to(
    stacks: Mapping[str, Resources],
) -> None:
    entries = {
        text_of(each["PrincipalArn"]).rpartition("/")[2]: each["KubernetesGroups"]
        for each in of(stacks["KubeControlPlane"], "AWS::EKS::AccessEntry")
    }

    assert entries == {
        "MachineLearning": ["trainshed:edit"],
        "Oncall": ["trainshed:cluster-admin"],
        "Auditor": ["trainshed:view:kube"],
    }


def test_what_kubernetes_has_is_beside_the_templates(folder: Path) -> None:
    files = {path.name: path.read_text() for path in (folder / "kube").iterdir()}

    assert files.keys() == {f"{each}Cluster.yaml" for each in ("Kube", "Block", "Spot", "Many")}
    kinds = re.findall("^kind: (.*)$", files["KubeCluster.yaml"], re.M)
    assert kinds[:3] == ["Namespace", "ConfigMap", "ServiceAccount"]
    assert kinds[-6:-4] == ["DaemonSet", "DaemonSet"]
    assert kinds[-4:] == ["Topology", "ResourceFlavor", "ClusterQueue", "LocalQueue"]
    assert "PersistentVolume" in kinds
    assert "path: /data" in files["BlockCluster.yaml"]
    assert "PersistentVolume" not in files["SpotCluster.yaml"]


def test_pods_on_spot_read_what_ec2_says_and_have_time_to_end(folder: Path) -> None:
    def pod(cluster: str) -> dict[str, Any]:
        parts = yaml.safe_load_all((folder / f"kube/{cluster}.yaml").read_text())
        [template] = [part for part in parts if part["kind"] == "PodTemplate"]
        found: dict[str, Any] = template["template"]["spec"]
        return found

    [container] = pod("SpotCluster")["containers"]
    [mount] = [each for each in container["volumeMounts"] if each["name"] == "spot"]
    assert mount == {"name": "spot", "mountPath": "/run/trainshed/spot", "readOnly": True}
    assert pod("SpotCluster")["terminationGracePeriodSeconds"] == 120
    assert "terminationGracePeriodSeconds" not in pod("KubeCluster")


def test_add_ons_come_in_an_order_that_does_not_hang(stacks: Mapping[str, Resources]) -> None:
    resources = stacks["KubeControlPlane"]
    add_ons = {
        each["Properties"]["AddonName"]: (name, each["DependsOn"])
        for name, each in resources.items()
        if each["Type"] == "AWS::EKS::Addon"
    }
    [(group, waits_for)] = [
        (name, each["DependsOn"])
        for name, each in resources.items()
        if each["Type"] == "AWS::EKS::Nodegroup"
    ]

    for before in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
        name, depends = add_ons[before]
        assert name in waits_for
        assert group not in depends
    for after in ("coredns", "eks-node-monitoring-agent", "amazon-cloudwatch-observability"):
        assert group in add_ons[after][1]


def test_what_pods_print_is_kept_for_three_months_and_nothing_is_billed_by_observation(
    stacks: Mapping[str, Resources],
) -> None:
    resources = stacks["KubeControlPlane"]
    [add_on] = [
        each
        for each in of(resources, "AWS::EKS::Addon")
        if each["AddonName"] == "amazon-cloudwatch-observability"
    ]
    kept = {each.get("LogGroupName"): each for each in of(resources, "AWS::Logs::LogGroup")}
    collected = json.loads(add_on["ConfigurationValues"])["agent"]["config"]["logs"]

    assert kept["/aws/containerinsights/kube/application"]["RetentionInDays"] == 90
    assert collected == {
        "metrics_collected": {"kubernetes": {"enhanced_container_insights": False}}
    }
    [role] = [
        each
        for each in of(resources, "AWS::IAM::Role")
        if "PutLogEvents" in json.dumps(each) and "pods.eks" in json.dumps(each)
    ]
    assert "ManagedPolicyArns" not in role
    [identity] = add_on["PodIdentityAssociations"]
    assert identity["ServiceAccount"] == "cloudwatch-agent"


def test_the_network_of_pods_has_a_role_of_its_own(stacks: Mapping[str, Resources]) -> None:
    [cni] = [
        each
        for each in of(stacks["KubeControlPlane"], "AWS::EKS::Addon")
        if each["AddonName"] == "vpc-cni"
    ]
    groups = of(stacks["KubeControlPlane"], "AWS::EKS::Nodegroup")

    assert [each["ServiceAccount"] for each in cni["PodIdentityAssociations"]] == ["aws-node"]
    assert json.loads(cni["ConfigurationValues"])["env"]["MINIMUM_IP_TARGET"] == "10"
    assert len(groups) == 1
    roles = [
        json.dumps(each["ManagedPolicyArns"])
        for stack in ("KubeControlPlane", "KubeCluster")
        for each in of(stacks[stack], "AWS::IAM::Role")
        if "AmazonEKSWorkerNodePolicy" in json.dumps(each.get("ManagedPolicyArns"))
    ]
    assert len(roles) == 2
    assert not [each for each in roles if "CNI" in each]


def test_the_nodes_wear_the_group_of_the_cluster_on_every_interface(
    stacks: Mapping[str, Resources],
) -> None:
    for stack in ("KubeCluster", "BlockCluster"):
        data = only(stacks[stack], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]

        for interface in data["NetworkInterfaces"]:
            assert any("ClusterSecurityGroupId" in text_of(each) for each in interface["Groups"])


def test_the_template_has_nothing_that_a_managed_group_refuses(
    stacks: Mapping[str, Resources],
) -> None:
    for stack in ("KubeControlPlane", "KubeCluster", "BlockCluster"):
        data = only(stacks[stack], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]

        assert not data.keys() & {
            *("IamInstanceProfile", "HibernationOptions", "InstanceInitiatedShutdownBehavior"),
        }
        assert not [each for each in data["NetworkInterfaces"] if "SubnetId" in each]
        assert data["MetadataOptions"]["HttpTokens"] == "required"
        assert data["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] is True


def test_the_template_has_the_ami_and_the_group_says_nothing_of_it(
    stacks: Mapping[str, Resources],
) -> None:
    data = only(stacks["KubeCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    group = only(stacks["KubeCluster"], "AWS::EKS::Nodegroup")

    assert {"ImageId", "InstanceType"} <= data.keys()
    assert not group.keys() & {"AmiType", "ReleaseVersion", "Version", "InstanceTypes", "DiskSize"}
    assert "NodegroupName" not in group
    assert len(group["Subnets"]) == 1
    assert group["ScalingConfig"] == {"MinSize": 4, "MaxSize": 4, "DesiredSize": 4}
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"}
    assert group["NodeRepairConfig"] == {"Enabled": True}
    assert "LatestVersionNumber" in text_of(group["LaunchTemplate"]["Version"])


def test_the_group_names_several_types_and_the_template_none(
    stacks: Mapping[str, Resources],
) -> None:
    data = only(stacks["ManyCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    group = only(stacks["ManyCluster"], "AWS::EKS::Nodegroup")

    assert not data.keys() & {"InstanceType", "InstanceMarketOptions"}
    assert group["InstanceTypes"] == ["p4d.24xlarge", "p4de.24xlarge"]
    assert group["CapacityType"] == "SPOT"


def test_nodes_register_with_their_taint(stacks: Mapping[str, Resources]) -> None:
    data = only(stacks["KubeCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    group = only(stacks["KubeCluster"], "AWS::EKS::Nodegroup")

    cluster, options = bootstrap_call(data["UserData"])

    assert cluster == "kube"
    assert "Endpoint" in options.pop("--apiserver-endpoint")
    assert "CertificateAuthorityData" in options.pop("--b64-cluster-ca")
    assert options == {
        "--dns-cluster-ip": "10.100.0.10",
        "--ip-family": "ipv4",
        "--kubelet-extra-args": "--node-labels=trainshed/cluster=KubeCluster "
        "--register-with-taints=habana.ai/gaudi=present:NoSchedule",
    }
    assert group["Taints"] == [
        {"Key": "habana.ai/gaudi", "Value": "present", "Effect": "NO_SCHEDULE"}
    ]
    # The first boot's settings are beside it.
    assert "text/cloud-boothook" in text_of(data["UserData"])
    assert '"kubernetes": "1.36"' in text_of(data["UserData"])


def test_nodes_with_nodeadm_register_with_their_taint_and_may_lock_memory(
    stacks: Mapping[str, Resources],
) -> None:
    data = only(stacks["BlockCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]

    spec = node_config(data["UserData"])["spec"]

    cluster = spec["cluster"]
    assert (cluster["name"], cluster["cidr"]) == ("block", "10.100.0.0/16")
    assert "Endpoint" in cluster["apiServerEndpoint"]
    assert "CertificateAuthorityData" in cluster["certificateAuthority"]
    assert "--register-with-taints=nvidia.com/gpu=present:NoSchedule" in spec["kubelet"]["flags"]
    [limit] = spec["containerd"]["baseRuntimeSpec"]["process"]["rlimits"]
    assert limit == {"type": "RLIMIT_MEMLOCK", "soft": 2**64 - 1, "hard": 2**64 - 1}


def test_spot_is_asked_for_in_the_group_and_not_in_the_template(
    stacks: Mapping[str, Resources],
) -> None:
    data = only(stacks["SpotCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    group = only(stacks["SpotCluster"], "AWS::EKS::Nodegroup")

    assert group["CapacityType"] == "SPOT"
    assert "InstanceMarketOptions" not in data
    # The nodes stay close to each other, and EKS replaces those that fail, as on demand.
    assert "Placement" in data
    assert group["NodeRepairConfig"] == {"Enabled": True}


def test_a_block_is_asked_for_in_the_template_and_in_the_group(
    stacks: Mapping[str, Resources],
) -> None:
    data = only(stacks["BlockCluster"], "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    group = only(stacks["BlockCluster"], "AWS::EKS::Nodegroup")

    assert group["CapacityType"] == "CAPACITY_BLOCK"
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": "cr-0123456789abcdef0"}
    assert data["InstanceType"] == "p5.48xlarge"
    assert "Placement" not in data
    assert group["NodeRepairConfig"] == {"Enabled": False}
    kubelet = node_config(data["UserData"])["spec"]["kubelet"]
    assert kubelet["maxPodsExpression"] == "((default_enis - 1) * (ips_per_eni - 1)) + 2"


def test_pods_of_jobs_have_the_role_of_jobs(stacks: Mapping[str, Resources]) -> None:
    resources = stacks["KubeCluster"]
    association = only(resources, "AWS::EKS::PodIdentityAssociation")
    [role] = [
        each
        for each in of(resources, "AWS::IAM::Role")
        if each.get("Description") == "Pods of training jobs"
    ]

    assert (association["Namespace"], association["ServiceAccount"]) == ("kube", "jobs")
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert set(trust["Action"]) == {"sts:AssumeRole", "sts:TagSession"}


def test_what_ends_the_clusters_protection_comes_right_after_it(
    stacks: Mapping[str, Resources],
) -> None:
    resources = stacks["KubeControlPlane"]
    [cluster] = [name for name, each in resources.items() if each["Type"] == "AWS::EKS::Cluster"]
    [(name, release)] = [
        (name, each)
        for name, each in resources.items()
        if each["Properties"].get("EksCluster") == "kube"
    ]

    # What comes later goes first in a rollback.
    assert cluster in release["DependsOn"]
    for each in resources.values():
        if each["Type"].startswith("AWS::EKS::") and each["Type"] != "AWS::EKS::Cluster":
            assert name in each["DependsOn"]


def test_nodes_that_fail_to_boot_are_not_launched_forever(stacks: Mapping[str, Resources]) -> None:
    resources = stacks["KubeCluster"]
    [group] = [each for each in resources.values() if each["Type"] == "AWS::EKS::Nodegroup"]
    [(name, function)] = [
        (name, each["Properties"])
        for name, each in resources.items()
        if "STOP" in each["Properties"].get("Environment", {}).get("Variables", {})
    ]
    [role] = [
        each
        for each in of(resources, "AWS::IAM::Role")
        if "autoscaling:SuspendProcesses" in json.dumps(each)
    ]
    [statement] = [
        each
        for policy in role["Policies"]
        for each in policy["PolicyDocument"]["Statement"]
        if each.get("Sid") == "Stop"
    ]

    assert name in group["DependsOn"]
    assert '"Launch"' in function["Environment"]["Variables"]["STOP"]
    assert statement["Condition"] == {"StringEquals": {"aws:ResourceTag/eks:cluster-name": "kube"}}


def test_jobs_use_the_bucket_of_the_cluster_and_nodes_read_what_they_mount(
    folder: Path, stacks: Mapping[str, Resources]
) -> None:
    template = json.loads((folder / "BlockCluster.template.json").read_text())
    name = ["trainshed-block-", {"Ref": "AWS::AccountId"}, "-us-west-2"]
    assert template["Outputs"]["Bucket"]["Value"] == {"Fn::Join": ["", name]}
    granted: dict[str, dict[str, dict[str, Any]]] = {}
    for policy in of(stacks["BlockCluster"], "AWS::IAM::Policy"):
        [role] = policy["Roles"]
        for statement in policy["PolicyDocument"]["Statement"]:
            actions = statement["Action"]
            for action in [actions] if isinstance(actions, str) else actions:
                granted.setdefault(role["Ref"], {})[action] = statement

    jobs = next(actions for role, actions in granted.items() if role.startswith("Jobs"))
    nodes = next(actions for role, actions in granted.items() if role.startswith("NodeRole"))
    assert {"s3:GetObject", "s3:PutObject", "kms:Decrypt", "kms:GenerateDataKey"} <= jobs.keys()
    assert jobs["kms:Decrypt"]["Resource"] == KEY
    assert "kms:ViaService" in jobs["kms:Decrypt"]["Condition"]["StringEquals"]
    assert not {"s3:DeleteObject", "s3:DeleteObjectVersion"} & jobs.keys()
    assert {"s3:GetObject", "s3:ListBucket", "kms:Decrypt"} <= nodes.keys()
    assert not {"s3:PutObject", "kms:GenerateDataKey"} & nodes.keys()
    assert nodes["s3:ListBucket"]["Condition"] == {"StringLike": {"s3:prefix": "sets/*"}}
    assert nodes["s3:GetObject"]["Resource"]["Fn::Join"][1][-1] == "-us-west-2/sets/*"
