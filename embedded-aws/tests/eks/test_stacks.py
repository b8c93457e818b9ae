"""EKS's resource types, deployed."""

from typing import Any

import pytest
from eks_bench import EksBench

from embedded_aws.deployment import DeploymentFailed


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


def test_a_cluster_that_fails_is_deleted_again(bench: EksBench) -> None:
    cluster = cluster_resource(bench, RoleArn=bench.role("eks.amazonaws.com"))

    with pytest.raises(DeploymentFailed, match=r"\[AccessDenied\] The cluster role is not allowed"):
        bench.aws.deploy({"Resources": {"Cluster": cluster}}, stack_name=bench.name)

    assert bench.name not in bench.eks.list_clusters()["clusters"]
