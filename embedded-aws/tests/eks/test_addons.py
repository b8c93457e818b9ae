"""EKS add-ons, access entries and pod identity associations."""

from typing import Any

import pytest
from eks_bench import EksBench, until

PODS = "pods.eks.amazonaws.com"


@pytest.fixture
def cluster(bench: EksBench) -> EksBench:
    """A cluster of the test."""
    bench.create_cluster()
    return bench


def addon(bench: EksBench, name: str, **fields: Any) -> Any:
    """Create an add-on and return it once it is created."""
    named = {"clusterName": bench.name, "addonName": name}
    bench.eks.create_addon(**named, **fields)
    until(lambda: bench.eks.describe_addon(**named)["addon"]["status"] != "CREATING")
    return bench.eks.describe_addon(**named)["addon"]


def test_an_addon_has_the_default_version_of_its_cluster(cluster: EksBench) -> None:
    made = addon(cluster, "vpc-cni")

    [known] = cluster.eks.describe_addon_versions(addonName="vpc-cni", kubernetesVersion="1.35")[
        "addons"
    ]
    assert made["status"] == "ACTIVE"
    assert made["addonVersion"] == known["addonVersions"][0]["addonVersion"]


def test_an_addon_without_a_node_to_run_on_is_degraded(cluster: EksBench) -> None:
    made = addon(cluster, "coredns")

    assert made["status"] == "DEGRADED"
    assert [each["code"] for each in made["health"]["issues"]] == ["InsufficientNumberOfReplicas"]


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param({"addonName": "helm"}, "Addon helm specified is not supported", id="name"),
        pytest.param({"addonVersion": "1.23"}, "version specified is not supported", id="version"),
        pytest.param({"configurationValues": "[1]"}, "no object", id="values"),
        pytest.param(
            {"podIdentityAssociations": [{"serviceAccount": "a", "roleArn": "arn:x"}]},
            "could not be assumed",
            id="role",
        ),
    ],
)
def test_an_addon_is_refused(cluster: EksBench, fields: dict[str, Any], refusal: str) -> None:
    wanted = {"clusterName": cluster.name, "addonName": "vpc-cni", **fields}

    assert refusal in cluster.refusal(cluster.eks.create_addon, **wanted)


def test_an_addon_brings_its_pod_identities_and_takes_them_away(cluster: EksBench) -> None:
    named = {"clusterName": cluster.name, "addonName": "aws-fsx-csi-driver"}
    pair = {"serviceAccount": "fsx-csi-controller-sa", "roleArn": cluster.role(PODS)}
    made = addon(cluster, "aws-fsx-csi-driver", podIdentityAssociations=[pair])

    def associations() -> Any:
        return cluster.eks.list_pod_identity_associations(clusterName=cluster.name)["associations"]

    [owned] = associations()
    deleted = cluster.refusal(
        cluster.eks.delete_pod_identity_association,
        clusterName=cluster.name,
        associationId=owned["associationId"],
    )
    cluster.eks.delete_addon(**named)
    until(lambda: cluster.eks.list_addons(clusterName=cluster.name)["addons"] == [])

    assert owned["ownerArn"] == made["addonArn"]
    assert "managed by the add-on" in deleted
    assert associations() == []


def test_an_addon_is_updated(cluster: EksBench) -> None:
    named = {"clusterName": cluster.name, "addonName": "vpc-cni"}
    addon(cluster, "vpc-cni")

    values = '{"env": {"WARM_IP_TARGET": "1"}}'
    update = cluster.eks.update_addon(**named, configurationValues=values)["update"]

    until(lambda: cluster.eks.describe_addon(**named)["addon"]["status"] == "ACTIVE")
    about = {"name": cluster.name, "addonName": "vpc-cni", "updateId": update["id"]}
    assert cluster.eks.describe_update(**about)["update"]["status"] == "Successful"
    assert cluster.eks.describe_addon(**named)["addon"]["configurationValues"] == values


def test_a_service_account_has_one_association(cluster: EksBench) -> None:
    given = {"clusterName": cluster.name, "namespace": "train", "serviceAccount": "jobs"}
    role = cluster.role(PODS)
    cluster.eks.create_pod_identity_association(**given, roleArn=role)

    refused = cluster.refusal(cluster.eks.create_pod_identity_association, **given, roleArn=role)

    assert refused.startswith("ResourceInUseException: Association already exists: a-")


@pytest.mark.parametrize(
    ("actions", "refusal"),
    [
        pytest.param(["eks:*"], "iam:PassRole", id="pass-role"),
        pytest.param(["iam:PassRole"], "eks:CreatePodIdentityAssociation", id="call"),
    ],
)
def test_a_caller_without_permission_is_refused(
    cluster: EksBench, actions: list[str], refusal: str
) -> None:
    refused = cluster.refusal(
        cluster.client_allowed(*actions).create_pod_identity_association,
        clusterName=cluster.name,
        namespace="train",
        serviceAccount="jobs",
        roleArn=cluster.role(PODS),
    )

    assert refused.startswith("AccessDeniedException")
    assert f"is not authorized to perform: {refusal}" in refused


def test_the_role_that_creates_a_cluster_is_its_administrator(bench: EksBench) -> None:
    bench.client_allowed("eks:*", "iam:PassRole").create_cluster(**bench.cluster_fields())
    bench.until_settled()

    [principal] = bench.eks.list_access_entries(clusterName=bench.name)["accessEntries"]
    assert ":role/caller-" in principal


def test_a_role_that_pods_may_not_have_is_refused(cluster: EksBench) -> None:
    refused = cluster.refusal(
        cluster.eks.create_pod_identity_association,
        clusterName=cluster.name,
        namespace="train",
        serviceAccount="jobs",
        roleArn=cluster.role("ec2.amazonaws.com"),
    )

    assert "could not be assumed" in refused


def test_a_principal_has_access_policies_by_its_entry(cluster: EksBench) -> None:
    principal = cluster.role("ec2.amazonaws.com")
    named = {"clusterName": cluster.name, "principalArn": principal}
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
    cluster.eks.create_access_entry(**named, kubernetesGroups=["trainers"])
    scope = {"type": "namespace", "namespaces": ["train"]}
    cluster.eks.associate_access_policy(**named, policyArn=policy, accessScope=scope)

    listed = cluster.eks.list_access_entries(clusterName=cluster.name, associatedPolicyArn=policy)[
        "accessEntries"
    ]
    cluster.eks.disassociate_access_policy(**named, policyArn=policy)

    assert listed == [principal]
    assert cluster.eks.list_associated_access_policies(**named)["associatedAccessPolicies"] == []
    entry = cluster.eks.describe_access_entry(**named)["accessEntry"]
    assert (entry["type"], entry["kubernetesGroups"]) == ("STANDARD", ["trainers"])


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param(
            {"principalArn": "arn:aws:iam::123456789012:role/none"},
            "invalid principal",
            id="principal",
        ),
        pytest.param(
            {"type": "EC2_LINUX", "kubernetesGroups": ["trainers"]},
            "cannot be set for the type EC2_LINUX",
            id="groups-of-nodes",
        ),
        pytest.param(
            {"kubernetesGroups": ["system:masters"]}, "prefix is reserved", id="reserved-group"
        ),
    ],
)
def test_an_access_entry_is_refused(
    cluster: EksBench, fields: dict[str, Any], refusal: str
) -> None:
    wanted = {
        "clusterName": cluster.name,
        "principalArn": cluster.role("ec2.amazonaws.com"),
        **fields,
    }

    assert refusal in cluster.refusal(cluster.eks.create_access_entry, **wanted)


def test_without_access_entries_there_are_none_to_list(bench: EksBench) -> None:
    bench.create_cluster(accessConfig={"authenticationMode": "CONFIG_MAP"})

    refused = bench.refusal(bench.eks.list_access_entries, clusterName=bench.name)

    assert "authentication mode must be set to one of [API, API_AND_CONFIG_MAP]" in refused
