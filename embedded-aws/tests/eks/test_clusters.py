"""EKS clusters: what is refused, what they make, how their states pass."""

from base64 import b64decode
from datetime import date
from typing import Any

import pytest
from cryptography import x509
from eks_bench import EksBench, until

from embedded_aws.embedded import EmbeddedAws


def test_versions_in_support_are_listed_with_their_dates(bench: EksBench) -> None:
    versions = bench.eks.describe_cluster_versions()["clusterVersions"]

    by_name = {each["clusterVersion"]: each for each in versions}
    assert {"1.34", "1.35", "1.36"} <= set(by_name)
    assert by_name["1.35"]["endOfStandardSupportDate"].date() == date(2027, 3, 27)
    assert [each["clusterVersion"] for each in versions if each["defaultVersion"]] == ["1.35"]


def test_versions_of_extended_support_are_known(bench: EksBench) -> None:
    asked = bench.eks.describe_cluster_versions(clusterVersions=["1.31", "1.32"])

    assert {
        each["clusterVersion"]: each["endOfExtendedSupportDate"].date()
        for each in asked["clusterVersions"]
    } == {"1.31": date(2026, 11, 26), "1.32": date(2027, 3, 23)}


def test_versions_are_listed_for_a_client_that_says_no_to_every_filter(bench: EksBench) -> None:
    # What `eksctl utils describe-cluster-versions` sends.
    asked = bench.eks.describe_cluster_versions(clusterType="", includeAll=False, defaultOnly=False)

    assert asked["clusterVersions"] == bench.eks.describe_cluster_versions()["clusterVersions"]
    assert len(asked["clusterVersions"]) > 1


def test_a_cluster_becomes_active_with_an_endpoint(bench: EksBench) -> None:
    made = bench.eks.create_cluster(**bench.cluster_fields())["cluster"]
    cluster = bench.until_settled()

    assert (made["status"], "endpoint" in made) == ("CREATING", False)
    assert (cluster["status"], cluster["version"]) == ("ACTIVE", "1.35")
    assert cluster["endpoint"].startswith("https://")
    certificate = x509.load_pem_x509_certificate(b64decode(cluster["certificateAuthority"]["data"]))
    assert certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_cluster_security_group_lets_its_members_reach_each_other(bench: EksBench) -> None:
    cluster = bench.create_cluster()

    group_id = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    [group] = bench.ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    tags = {tag["Key"]: tag["Value"] for tag in group["Tags"]}
    assert tags["aws:eks:cluster-name"] == bench.name
    assert tags[f"kubernetes.io/cluster/{bench.name}"] == "owned"
    for rules in (group["IpPermissions"], group["IpPermissionsEgress"]):
        peers = [pair["GroupId"] for rule in rules for pair in rule["UserIdGroupPairs"]]
        assert peers == [group_id]


def test_a_cluster_has_interfaces_in_two_zones_until_it_is_deleted(bench: EksBench) -> None:
    bench.create_cluster()
    named = [{"Name": "description", "Values": [f"Amazon EKS {bench.name}"]}]

    def interfaces() -> Any:
        return bench.ec2.describe_network_interfaces(Filters=named)["NetworkInterfaces"]

    before = interfaces()
    bench.eks.delete_cluster(name=bench.name)
    until(lambda: bench.name not in bench.eks.list_clusters()["clusters"])

    assert {each["SubnetId"] for each in before} == set(bench.subnets)
    assert all(each["RequesterManaged"] for each in before)
    assert interfaces() == []
    for subnet in bench.subnets:
        bench.ec2.delete_subnet(SubnetId=subnet)
    bench.ec2.delete_vpc(VpcId=bench.vpc)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param({"version": "1.20"}, "unsupported Kubernetes version", id="version"),
        pytest.param(
            {"roleArn": "arn:aws:iam::123456789012:role/none"},
            "could not be assumed because it does not exist",
            id="role",
        ),
        pytest.param(
            {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.20.128.0/20"}},
            "overlaps with 10.20.0.0/16",
            id="service-range-in-vpc",
        ),
        pytest.param(
            {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/25"}},
            "not between /24 and /12",
            id="service-range-small",
        ),
        pytest.param(
            {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "100.64.0.0/16"}},
            "not within 10.0.0.0/8",
            id="service-range-public",
        ),
        pytest.param(
            {"computeConfig": {"enabled": True}}, "does not support Auto Mode", id="auto-mode"
        ),
    ],
)
def test_a_cluster_is_refused(bench: EksBench, fields: dict[str, Any], refusal: str) -> None:
    assert refusal in bench.refusal(bench.eks.create_cluster, **bench.cluster_fields(**fields))


@pytest.mark.parametrize("cidr", ["10.0.0.0/8", "203.0.113.0/24", "office"])
def test_a_public_range_that_nobody_on_the_internet_has_is_refused(
    bench: EksBench, cidr: str
) -> None:
    vpc = {"subnetIds": bench.subnets, "publicAccessCidrs": ["52.94.76.0/24", cidr]}

    refused = bench.refusal(
        bench.eks.create_cluster, **bench.cluster_fields(resourcesVpcConfig=vpc)
    )

    assert f"CIDRs are not allowed in publicAccessCidrs: [{cidr}]" in refused


def test_a_cluster_in_one_zone_is_refused(bench: EksBench) -> None:
    vpc = {"subnetIds": bench.subnets[:1]}

    refused = bench.refusal(
        bench.eks.create_cluster, **bench.cluster_fields(resourcesVpcConfig=vpc)
    )

    assert "at least two different AZs" in refused


def test_a_role_that_eks_may_not_assume_is_refused(bench: EksBench) -> None:
    role = bench.role("ec2.amazonaws.com")

    refused = bench.refusal(bench.eks.create_cluster, **bench.cluster_fields(roleArn=role))

    assert refused.startswith("InvalidParameterException: Role with arn")


def test_a_cluster_whose_role_may_do_nothing_fails(bench: EksBench) -> None:
    cluster = bench.create_cluster(roleArn=bench.role("eks.amazonaws.com"))

    assert cluster["status"] == "FAILED"
    assert [issue["code"] for issue in cluster["health"]["issues"]] == ["AccessDenied"]


def test_a_name_is_taken_once(bench: EksBench) -> None:
    bench.create_cluster()

    refused = bench.refusal(bench.eks.create_cluster, **bench.cluster_fields())

    assert refused.startswith("ResourceInUseException")


def test_a_creation_is_repeated_with_its_token(bench: EksBench) -> None:
    fields = bench.cluster_fields(clientRequestToken=bench.name)

    first, second = (bench.eks.create_cluster(**fields)["cluster"] for _ in range(2))

    assert second["createdAt"] == first["createdAt"]


def test_a_cluster_that_is_not_there_is_not_found(bench: EksBench) -> None:
    refused = bench.refusal(bench.eks.describe_cluster, name=bench.name)

    assert refused == f"ResourceNotFoundException: No cluster found for name: {bench.name}."


def test_a_protected_cluster_is_deleted_once_it_is_not(bench: EksBench) -> None:
    bench.create_cluster(deletionProtection=True)

    refused = bench.refusal(bench.eks.delete_cluster, name=bench.name)
    bench.eks.update_cluster_config(name=bench.name, deletionProtection=False)
    bench.until_settled()
    deleted = bench.eks.delete_cluster(name=bench.name)["cluster"]

    assert refused.startswith("InvalidRequestException")
    assert deleted["status"] == "DELETING"


def test_the_creator_is_an_administrator_by_an_access_entry(bench: EksBench) -> None:
    bench.create_cluster()

    [entry] = bench.eks.list_access_entries(clusterName=bench.name)["accessEntries"]
    policies = bench.eks.list_associated_access_policies(
        clusterName=bench.name, principalArn=entry
    )["associatedAccessPolicies"]
    assert [each["policyArn"].rpartition("/")[2] for each in policies] == [
        "AmazonEKSClusterAdminPolicy"
    ]


def test_logs_have_a_group_only_where_they_are_on(bench: EksBench) -> None:
    logs, name = bench.aws.client("logs"), f"/aws/eks/{bench.name}/cluster"
    bench.create_cluster()
    before = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]

    setup = {"clusterLogging": [{"types": ["api"], "enabled": True}]}
    update = bench.eks.update_cluster_config(name=bench.name, logging=setup)["update"]
    bench.until_settled()

    after = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    assert (before, [group["logGroupName"] for group in after]) == ([], [name])
    done = bench.eks.describe_update(name=bench.name, updateId=update["id"])["update"]
    assert (update["status"], done["status"]) == ("InProgress", "Successful")


def test_a_version_is_raised_by_one(bench: EksBench) -> None:
    bench.create_cluster(version="1.34")

    refused = bench.refusal(bench.eks.update_cluster_version, name=bench.name, version="1.36")
    bench.eks.update_cluster_version(name=bench.name, version="1.35")
    cluster = bench.until_settled()

    assert "Unsupported Kubernetes minor version update from 1.34 to 1.36" in refused
    assert cluster["version"] == "1.35"


def test_a_cluster_is_neither_updated_nor_deleted_while_it_is_created(
    clean_aws: EmbeddedAws,
) -> None:
    bench = EksBench(clean_aws)
    bench.eks.create_cluster(**bench.cluster_fields(version="1.34"))

    updated = bench.refusal(bench.eks.update_cluster_version, name=bench.name, version="1.35")
    deleted = bench.refusal(bench.eks.delete_cluster, name=bench.name)

    assert updated.startswith("ResourceInUseException")
    assert deleted.startswith("ResourceInUseException")


def test_the_authentication_mode_goes_one_way(bench: EksBench) -> None:
    bench.create_cluster()

    mode = {"authenticationMode": "CONFIG_MAP"}
    refused = bench.refusal(bench.eks.update_cluster_config, name=bench.name, accessConfig=mode)

    assert "from API to CONFIG_MAP" in refused


def test_tags_are_changed_by_arn(bench: EksBench) -> None:
    cluster = bench.create_cluster(tags={"a": "1", "b": "2"})

    bench.eks.tag_resource(resourceArn=cluster["arn"], tags={"c": "3"})
    bench.eks.untag_resource(resourceArn=cluster["arn"], tagKeys=["a"])

    assert bench.described()["tags"] == {"b": "2", "c": "3"}


def test_what_is_not_implemented_is_refused_in_json(bench: EksBench) -> None:
    refused = bench.refusal(bench.eks.list_insights, clusterName=bench.name)

    assert refused.startswith("UnsupportedOperation: The embedded AWS does not support this call")
