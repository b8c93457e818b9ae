"""EKS's resource types, deployed."""

from typing import Any

import pytest
from amis import AMAZON_LINUX
from eks_bench import EksBench, until

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.inventory import inventory


def cluster_resource(bench: EksBench, **properties: Any) -> dict[str, Any]:
    """Return the cluster of a template."""
    return {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "Name": bench.name,
            "RoleArn": bench.cluster_role,
            "ResourcesVpcConfig": {"SubnetIds": bench.subnets},
            "AccessConfig": {
                "AuthenticationMode": "API",
                "BootstrapClusterCreatorAdminPermissions": False,
            },
            **properties,
        },
    }


def output(*path: str) -> dict[str, Any]:
    return {"Value": {"Fn::GetAtt": list(path)}}


def test_a_cluster_has_its_attributes(bench: EksBench) -> None:
    names = ("Arn", "CertificateAuthorityData", "ClusterSecurityGroupId", "Endpoint")
    template = {
        "Resources": {"Cluster": cluster_resource(bench, Version="1.35")},
        "Outputs": {name: output("Cluster", name) for name in names},
    }

    outputs = bench.aws.deploy(template, stack_name=bench.name).outputs

    cluster = bench.described()
    assert outputs == {
        "Arn": cluster["arn"],
        "CertificateAuthorityData": cluster["certificateAuthority"]["data"],
        "ClusterSecurityGroupId": cluster["resourcesVpcConfig"]["clusterSecurityGroupId"],
        "Endpoint": cluster["endpoint"],
    }


def test_a_cluster_is_changed_in_place(bench: EksBench) -> None:
    before = {"Resources": {"Cluster": cluster_resource(bench, Version="1.34")}}
    types = {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}}
    changed = cluster_resource(bench, Version="1.35", Logging=types, DeletionProtection=True)
    bench.aws.deploy(before, stack_name=bench.name)
    created = bench.described()["createdAt"]

    bench.aws.deploy({"Resources": {"Cluster": changed}}, stack_name=bench.name)

    cluster = bench.described()
    assert (cluster["createdAt"], cluster["version"]) == (created, "1.35")
    assert cluster["logging"]["clusterLogging"][0] == {"types": ["audit"], "enabled": True}
    assert cluster["deletionProtection"]


def test_addons_entries_and_pod_identities_are_deployed_changed_and_deleted(
    bench: EksBench,
) -> None:
    pods, people = bench.role("pods.eks.amazonaws.com"), bench.role("ec2.amazonaws.com")
    of_cluster = {"ClusterName": {"Ref": "Cluster"}}
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"

    def template(values: str, groups: list[str], policies: list[Any]) -> dict[str, Any]:
        addon = {**of_cluster, "AddonName": "vpc-cni", "ConfigurationValues": values}
        entry = {**of_cluster, "PrincipalArn": people, "KubernetesGroups": groups}
        association = {**of_cluster, "Namespace": "a", "ServiceAccount": "b", "RoleArn": pods}
        return {
            "Resources": {
                "Cluster": cluster_resource(bench),
                "Addon": {"Type": "AWS::EKS::Addon", "Properties": addon},
                "Entry": {
                    "Type": "AWS::EKS::AccessEntry",
                    "Properties": {**entry, "AccessPolicies": policies},
                },
                "Pods": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": association},
            }
        }

    named, eks = {"clusterName": bench.name}, bench.eks
    bench.aws.deploy(
        template("{}", [], [{"PolicyArn": policy, "AccessScope": {"Type": "cluster"}}]),
        stack_name=bench.name,
    )
    entry = {**named, "principalArn": people}
    before = eks.list_associated_access_policies(**entry)["associatedAccessPolicies"]
    bench.aws.deploy(template("{a: 1}", ["g"], []), stack_name=bench.name)

    assert [each["policyArn"] for each in before] == [policy]
    assert eks.list_associated_access_policies(**entry)["associatedAccessPolicies"] == []
    assert eks.describe_access_entry(**entry)["accessEntry"]["kubernetesGroups"] == ["g"]
    addon = eks.describe_addon(**named, addonName="vpc-cni")["addon"]
    assert (addon["status"], addon["configurationValues"]) == ("ACTIVE", "{a: 1}")
    assert addon["tags"]["aws:cloudformation:stack-name"] == bench.name
    assert len(eks.list_pod_identity_associations(**named)["associations"]) == 1
    bench.aws.client("cloudformation").delete_stack(StackName=bench.name)
    until(lambda: bench.name not in eks.list_clusters()["clusters"])


@pytest.fixture
def node_group(bench: EksBench) -> dict[str, Any]:
    """A template with a cluster and a node group."""
    pull = "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
    properties = {
        "ClusterName": {"Ref": "Cluster"},
        "NodegroupName": "nodes",
        "NodeRole": bench.role("ec2.amazonaws.com", pull),
        "Subnets": bench.subnets[:1],
        "ScalingConfig": {"MinSize": 1, "MaxSize": 2, "DesiredSize": 1},
    }
    return {
        "Resources": {
            "Cluster": cluster_resource(bench),
            "Nodes": {"Type": "AWS::EKS::Nodegroup", "Properties": properties},
        }
    }


def test_a_node_group_is_deployed_scaled_and_deleted(
    bench: EksBench, node_group: dict[str, Any]
) -> None:
    about = {"clusterName": bench.name, "nodegroupName": "nodes"}
    properties = node_group["Resources"]["Nodes"]["Properties"]
    bench.aws.deploy(node_group, stack_name=bench.name)
    before = bench.eks.describe_nodegroup(**about)["nodegroup"]
    properties["ScalingConfig"] = {"MinSize": 1, "MaxSize": 2, "DesiredSize": 2}
    properties["Labels"] = {"pool": "train"}

    bench.aws.deploy(node_group, stack_name=bench.name)

    after = bench.eks.describe_nodegroup(**about)["nodegroup"]
    assert (before["status"], after["createdAt"]) == ("ACTIVE", before["createdAt"])
    assert (after["scalingConfig"]["desiredSize"], after["labels"]) == (2, {"pool": "train"})
    bench.aws.client("cloudformation").delete_stack(StackName=bench.name)
    until(lambda: bench.name not in bench.eks.list_clusters()["clusters"])


def test_a_custom_ami_joins_by_what_the_template_knows_of_the_cluster(
    bench: EksBench, node_group: dict[str, Any]
) -> None:
    group = {"Fn::GetAtt": ["Cluster", "ClusterSecurityGroupId"]}
    interfaces = [
        {
            "NetworkCardIndex": card,
            "DeviceIndex": 1 if card else 0,
            "InterfaceType": "efa-only" if card else "interface",
            "Groups": [group],
        }
        for card in range(8)
    ]
    user_data = """MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="BOUNDARY"

--BOUNDARY
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: ${Cluster}
    apiServerEndpoint: ${Cluster.Endpoint}
    certificateAuthority: ${Cluster.CertificateAuthorityData}
    cidr: 172.20.0.0/16

--BOUNDARY--
"""
    resources = node_group["Resources"]
    resources["Template"] = {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {
            "LaunchTemplateData": {
                "ImageId": AMAZON_LINUX,
                "InstanceType": "trn1.32xlarge",
                "NetworkInterfaces": interfaces,
                "UserData": {"Fn::Base64": {"Fn::Sub": user_data}},
            }
        },
    }
    version = {"Fn::GetAtt": ["Template", "LatestVersionNumber"]}
    template = {"Id": {"Ref": "Template"}, "Version": version}
    resources["Nodes"]["Properties"]["LaunchTemplate"] = template

    bench.aws.deploy(node_group, stack_name=bench.name)

    found = bench.eks.describe_nodegroup(clusterName=bench.name, nodegroupName="nodes")
    assert (found["nodegroup"]["status"], found["nodegroup"]["amiType"]) == ("ACTIVE", "CUSTOM")


def test_a_node_group_whose_nodes_do_not_join_fails(
    bench: EksBench, node_group: dict[str, Any]
) -> None:
    properties = node_group["Resources"]["Nodes"]["Properties"]
    properties["NodeRole"] = bench.role("ec2.amazonaws.com")

    with pytest.raises(DeploymentFailed, match=r"\[NodeCreationFailure\] Instances failed to join"):
        bench.aws.deploy(node_group, stack_name=bench.name)

    assert bench.name not in bench.eks.list_clusters()["clusters"]


def test_clusters_and_node_groups_are_in_the_inventory(
    bench: EksBench, node_group: dict[str, Any]
) -> None:
    bench.aws.deploy(node_group, stack_name=bench.name)

    rows = inventory(bench.aws.client)

    found = {(each["name"], each["facts"]) for each in rows}
    assert (bench.name, "ACTIVE, Kubernetes 1.35") in found
    assert ("nodes", f"ACTIVE, 1 nodes of {bench.name}") in found


def test_a_cluster_that_fails_is_deleted_again(bench: EksBench) -> None:
    cluster = cluster_resource(bench, RoleArn=bench.role("eks.amazonaws.com"))

    with pytest.raises(DeploymentFailed, match=r"\[AccessDenied\] The cluster role is not allowed"):
        bench.aws.deploy({"Resources": {"Cluster": cluster}}, stack_name=bench.name)

    assert bench.name not in bench.eks.list_clusters()["clusters"]
