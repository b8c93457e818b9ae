"""EKS managed node groups: what is refused, what they launch, which nodes join."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amis import AMAZON_LINUX
from eks_bench import EksBench, until
from node_bench import ONE, NodeBench


@pytest.fixture
def nodes(bench: EksBench) -> NodeBench:
    return NodeBench(bench)


def test_nodes_are_launched_with_the_role_and_the_group_of_the_cluster(nodes: NodeBench) -> None:
    group = nodes.create()

    [instance] = nodes.instances()
    assert (group["status"], group["amiType"]) == ("ACTIVE", "AL2023_x86_64_STANDARD")
    assert instance["InstanceType"] == "t3.medium"
    assert [each["GroupId"] for each in instance["SecurityGroups"]] == [nodes.cluster_group]
    profile = instance["IamInstanceProfile"]["Arn"].rpartition("/")[2]
    iam = nodes.bench.aws.client("iam")
    [role] = iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
    assert role["Arn"] == nodes.role


def test_the_auto_scaling_group_sends_its_metrics(nodes: NodeBench) -> None:
    [scaling_group] = nodes.create()["resources"]["autoScalingGroups"]

    [made] = nodes.bench.aws.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[scaling_group["name"]]
    )["AutoScalingGroups"]
    names = {each["Metric"] for each in made["EnabledMetrics"]}
    assert names > {"GroupDesiredCapacity", "GroupInServiceInstances"}


def test_eks_has_its_service_linked_roles(nodes: NodeBench) -> None:
    nodes.create()

    iam = nodes.bench.aws.client("iam")
    for name, policy in (
        ("AWSServiceRoleForAmazonEKS", "AmazonEKSServiceRolePolicy"),
        ("AWSServiceRoleForAmazonEKSNodegroup", "AWSServiceRoleForAmazonEKSNodegroup"),
    ):
        attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        assert [each["PolicyName"] for each in attached] == [policy]


def test_the_node_role_has_an_access_entry(nodes: NodeBench) -> None:
    nodes.create()

    entry = nodes.eks.describe_access_entry(clusterName=nodes.bench.name, principalArn=nodes.role)[
        "accessEntry"
    ]
    assert (entry["type"], entry["kubernetesGroups"]) == ("EC2_LINUX", ["system:nodes"])


def test_coredns_is_active_once_there_are_nodes(nodes: NodeBench) -> None:
    about = {"clusterName": nodes.bench.name, "addonName": "coredns"}
    nodes.eks.create_addon(**about)
    until(lambda: nodes.eks.describe_addon(**about)["addon"]["status"] == "DEGRADED")

    nodes.create()

    assert nodes.eks.describe_addon(**about)["addon"]["status"] == "ACTIVE"


def test_a_custom_ami_joins_by_its_node_config(nodes: NodeBench) -> None:
    template = nodes.template(
        ImageId=AMAZON_LINUX,
        InstanceType="m5.large",
        UserData=nodes.user_data(),
        SecurityGroupIds=[nodes.cluster_group],
    )

    group = nodes.create(launchTemplate=template)

    assert (group["status"], group["amiType"]) == ("ACTIVE", "CUSTOM")
    assert "version" not in group


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"name": "other"}, "spec.cluster.name", id="name"),
        pytest.param({"cidr": "10.0.0.0/16"}, "spec.cluster.cidr", id="cidr"),
    ],
)
def test_a_node_config_of_another_cluster_does_not_join(
    nodes: NodeBench, changes: dict[str, str], reason: str
) -> None:
    template = nodes.template(
        ImageId=AMAZON_LINUX, InstanceType="m5.large", UserData=nodes.user_data(**changes)
    )

    group = nodes.create(launchTemplate=template)

    assert group["status"] == "CREATE_FAILED"
    [issue] = group["health"]["issues"]
    assert issue["code"] == "NodeCreationFailure"
    assert reason in issue["message"]
    assert issue["resourceIds"] == [each["InstanceId"] for each in nodes.instances()]


def test_a_custom_ami_without_user_data_does_not_join(nodes: NodeBench) -> None:
    template = nodes.template(ImageId=AMAZON_LINUX, InstanceType="m5.large")

    group = nodes.create(launchTemplate=template)

    assert group["status"] == "CREATE_FAILED"
    [issue] = group["health"]["issues"]
    assert issue["code"] == "NodeCreationFailure"


def test_interfaces_without_the_cluster_security_group_do_not_join(nodes: NodeBench) -> None:
    own = nodes.ec2.create_security_group(
        GroupName="own", Description="own", VpcId=nodes.bench.vpc
    )["GroupId"]
    interface = {"DeviceIndex": 0, "NetworkCardIndex": 0, "Groups": [own]}
    template = nodes.template(InstanceType="m5.large", NetworkInterfaces=[interface])

    group = nodes.create(launchTemplate=template)

    [issue] = group["health"]["issues"]
    assert f"is not in the cluster security group {nodes.cluster_group}" in issue["message"]


def test_a_node_role_without_policies_does_not_join(nodes: NodeBench) -> None:
    group = nodes.create(nodeRole=nodes.bench.role("ec2.amazonaws.com"))

    [issue] = group["health"]["issues"]
    assert "not allowed to perform ecr:GetAuthorizationToken" in issue["message"]


@pytest.mark.parametrize(
    ("code", "message", "issue"),
    [
        pytest.param(
            "InsufficientInstanceCapacity",
            "We currently do not have sufficient capacity",
            "AsgInstanceLaunchFailures",
            id="capacity",
        ),
        pytest.param(
            "VcpuLimitExceeded",
            "You have requested more vCPU capacity than your current vCPU limit",
            "InstanceLimitExceeded",
            id="limit",
        ),
    ],
)
def test_refused_launches_are_issues(nodes: NodeBench, code: str, message: str, issue: str) -> None:
    nodes.fail_launches(code, message)

    group = nodes.create()

    nodes.bench.aws.fail()
    assert group["status"] == "CREATE_FAILED"
    [found] = group["health"]["issues"]
    assert found["code"] == issue
    said = (
        f"Could not launch On-Demand Instances. {code} - {message}. Launching EC2 instance failed."
    )
    assert found["message"] == said


def test_a_subnet_without_addresses_is_an_issue(nodes: NodeBench) -> None:
    small = nodes.ec2.create_subnet(
        VpcId=nodes.bench.vpc, CidrBlock="10.20.64.0/28", AvailabilityZoneId="usw2-az1"
    )["Subnet"]["SubnetId"]

    group = nodes.create(
        subnets=[small], scalingConfig={"minSize": 12, "maxSize": 12, "desiredSize": 12}
    )

    assert [each["code"] for each in group["health"]["issues"]] == ["InsufficientFreeAddresses"]
    assert len(nodes.instances()) == 11


def test_a_template_that_its_instance_type_cannot_have_is_an_issue(nodes: NodeBench) -> None:
    interface = {"DeviceIndex": 0, "InterfaceType": "efa", "Groups": [nodes.cluster_group]}

    group = nodes.create(
        launchTemplate=nodes.template(NetworkInterfaces=[interface]), instanceTypes=["t3.medium"]
    )

    [issue] = group["health"]["issues"]
    assert (group["status"], issue["code"]) == (
        "CREATE_FAILED",
        "Ec2LaunchTemplateInvalidConfiguration",
    )
    assert "not supported on instance type 't3.medium'" in issue["message"]


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        pytest.param(
            {"IamInstanceProfile": {"Name": "p"}},
            "should not specify an instance profile",
            id="profile",
        ),
        pytest.param(
            {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-1"}]},
            "should not specify a subnet",
            id="subnet",
        ),
        pytest.param(
            {"InstanceMarketOptions": {"MarketType": "spot"}}, "should not request Spot", id="spot"
        ),
        pytest.param(
            {"HibernationOptions": {"Configured": True}}, "specify hibernation", id="hibernation"
        ),
        pytest.param(
            {"InstanceInitiatedShutdownBehavior": "terminate"}, "shutdown behavior", id="shutdown"
        ),
    ],
)
def test_a_launch_template_is_refused(nodes: NodeBench, data: dict[str, Any], refusal: str) -> None:
    fields = nodes.fields(launchTemplate=nodes.template(**data))

    assert refusal in nodes.bench.refusal(nodes.eks.create_nodegroup, **fields)


def test_the_release_version_of_a_group_with_an_ami_is_that_ami(nodes: NodeBench) -> None:
    template = nodes.template(ImageId=AMAZON_LINUX, InstanceType="m5.large")

    group = nodes.eks.create_nodegroup(**nodes.fields(launchTemplate=template))["nodegroup"]

    assert group["amiType"] == "CUSTOM"
    assert group["releaseVersion"] == AMAZON_LINUX
    assert "version" not in group


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param({"version": "1.35"}, "kubernetesVersion when using custom AMIs", id="version"),
        pytest.param({"amiType": "AL2023_x86_64_NVIDIA"}, "other than CUSTOM", id="ami-type"),
        pytest.param({"diskSize": 50}, "Disk size must be specified within", id="disk"),
        pytest.param({"instanceTypes": ["m5.large"]}, "in both the launch template", id="type"),
        pytest.param(
            {"warmPoolConfig": {"enabled": True}}, "does not support warm pools", id="warm-pool"
        ),
        pytest.param(
            {"capacityType": "CAPACITY_BLOCK"}, "must specify InstanceMarketOptions", id="block"
        ),
        pytest.param(
            {"scalingConfig": {"minSize": 2, "maxSize": 2, "desiredSize": 1}},
            "Minimum capacity 2 can't be greater than desired size 1",
            id="sizes",
        ),
    ],
)
def test_what_a_custom_ami_excludes_is_refused(
    nodes: NodeBench, fields: dict[str, Any], refusal: str
) -> None:
    template = nodes.template(ImageId=AMAZON_LINUX, InstanceType="m5.large")

    wanted = nodes.fields(launchTemplate=template, **fields)

    assert refusal in nodes.bench.refusal(nodes.eks.create_nodegroup, **wanted)


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        pytest.param(
            {"instanceTypes": ["m6g.large"]},
            "[m6g.large] is not a valid instance type for requested amiType",
            id="architecture",
        ),
        pytest.param(
            {"instanceTypes": ["m6i.large", "m6g.large"]},
            "[m6g.large] is not a valid instance type for requested amiType",
            id="two-architectures",
        ),
        pytest.param(
            {"instanceTypes": ["m6i.large"] * 21}, "at most 20 instance types", id="many-types"
        ),
        pytest.param({"instanceTypes": ["m6i.large", "m6i.lard"]}, "m6i.lard", id="no-type"),
        pytest.param({"amiType": "AL2_x86_64"}, "not supported since Kubernetes 1.33", id="al2"),
        pytest.param({"amiType": "CUSTOM"}, "must specify an image id", id="no-image"),
        pytest.param({"version": "1.36"}, "newer than the cluster's 1.35", id="version"),
        pytest.param({"scalingConfig": {"minSize": 1}}, "all be given, or none", id="sizes"),
        pytest.param(
            {"scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 451}},
            "ResourceLimitExceededException: 451 is more than the account's quota L-BD136A63",
            id="quota",
        ),
        pytest.param(
            {"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 1}},
            "Only one of maxUnavailable",
            id="update",
        ),
        pytest.param(
            {"nodeRepairConfig": {"nodeRepairConfigOverrides": [{"repairAction": "Reboot"}]}},
            "needs nodeMonitoringCondition",
            id="repair",
        ),
    ],
)
def test_a_node_group_is_refused(nodes: NodeBench, fields: dict[str, Any], refusal: str) -> None:
    assert refusal in nodes.bench.refusal(nodes.eks.create_nodegroup, **nodes.fields(**fields))


@pytest.fixture
def grant(nodes: NodeBench) -> Iterator[Callable[[str, float], None]]:
    """Grant a quota of EKS until the test ends."""
    quotas = nodes.bench.aws.client("service-quotas")
    granted: dict[str, float] = {}

    def run(code: str, value: float) -> None:
        found = quotas.get_service_quota(ServiceCode="eks", QuotaCode=code)["Quota"]
        granted.setdefault(code, found["Value"])
        nodes.bench.aws.grant_quota(code, value, service="eks")

    yield run
    for code, value in granted.items():
        nodes.bench.aws.grant_quota(code, value, service="eks")


def test_what_is_beyond_a_quota_is_refused_until_it_is_granted(
    nodes: NodeBench, grant: Callable[[str, float], None]
) -> None:
    bench = nodes.bench
    another = bench.cluster_fields(name=f"{bench.name}-2")
    groups, clusters = "L-6D54EA21", "L-1194D53C"
    grant(groups, 0)
    grant(clusters, 0)

    group = bench.refusal(nodes.eks.create_nodegroup, **nodes.fields())
    cluster = bench.refusal(nodes.eks.create_cluster, **another)
    grant(groups, 1)
    grant(clusters, 100)
    created = nodes.create()
    nodes.eks.create_cluster(**another)
    larger = bench.refusal(
        nodes.eks.update_nodegroup_config, **nodes.named, scalingConfig={"maxSize": 451}
    )

    assert f"quota {groups} of EKS, which is 0" in group
    assert f"quota {clusters} of EKS, which is 0" in cluster
    assert created["status"] == "ACTIVE"
    assert larger.startswith("ResourceLimitExceededException")


def test_a_role_that_may_not_pass_the_node_role_creates_no_node_group(nodes: NodeBench) -> None:
    eks = nodes.bench.client_allowed("eks:*")

    refused = nodes.bench.refusal(eks.create_nodegroup, **nodes.fields())

    assert refused.startswith("AccessDeniedException")
    assert f"iam:PassRole on resource: {nodes.role}" in refused


def test_a_resource_group_of_blocks_is_refused(nodes: NodeBench) -> None:
    group = "arn:aws:resource-groups:us-west-2:123456789012:group/Blocks"
    target = {"CapacityReservationResourceGroupArn": group}
    template = nodes.template(
        InstanceType="p5.48xlarge",
        InstanceMarketOptions={"MarketType": "capacity-block"},
        CapacityReservationSpecification={"CapacityReservationTarget": target},
    )

    refused = nodes.bench.refusal(
        nodes.eks.create_nodegroup,
        **nodes.fields(
            capacityType="CAPACITY_BLOCK",
            launchTemplate=template,
            amiType="AL2023_x86_64_NVIDIA",
            subnets=nodes.bench.subnets[:1],
        ),
    )

    assert "must specify CapacityReservationTarget with CapacityReservationId" in refused


def test_before_a_capacity_block_starts_there_are_launch_errors_only(nodes: NodeBench) -> None:
    [offering, *_] = nodes.ec2.describe_capacity_block_offerings(
        InstanceType="p5.48xlarge", InstanceCount=1, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    block = nodes.ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    target = {"CapacityReservationId": block["CapacityReservationId"]}
    template = nodes.template(
        InstanceType="p5.48xlarge",
        InstanceMarketOptions={"MarketType": "capacity-block"},
        CapacityReservationSpecification={"CapacityReservationTarget": target},
    )
    subnet = nodes.ec2.create_subnet(
        VpcId=nodes.bench.vpc,
        CidrBlock="10.20.32.0/20",
        AvailabilityZone=offering["AvailabilityZone"],
    )["Subnet"]["SubnetId"]
    wanted = nodes.fields(
        capacityType="CAPACITY_BLOCK", launchTemplate=template, amiType="AL2023_x86_64_NVIDIA"
    )
    two_zones = {**wanted, "subnets": nodes.bench.subnets}

    refused = nodes.bench.refusal(nodes.eks.create_nodegroup, **two_zones)
    nodes.eks.create_nodegroup(**{**wanted, "subnets": [subnet]})
    group = nodes.settled()

    # The block starts on another day.
    assert "Exactly one subnet" in refused
    assert group["status"] == "DEGRADED"
    assert [each["code"] for each in group["health"]["issues"]] == ["AsgInstanceLaunchFailures"]


def test_a_node_group_is_scaled(nodes: NodeBench) -> None:
    nodes.create()

    nodes.eks.update_nodegroup_config(**nodes.named, scalingConfig={"desiredSize": 2})

    assert nodes.settled()["scalingConfig"] == {"minSize": 1, "maxSize": 2, "desiredSize": 2}
    assert len(nodes.instances()) == 2


@pytest.mark.parametrize("strategy", ["DEFAULT", "MINIMAL"])
def test_an_update_of_the_template_exchanges_the_nodes(nodes: NodeBench, strategy: str) -> None:
    template = nodes.template(InstanceType="m5.large")
    nodes.create(launchTemplate=template, updateConfig={"updateStrategy": strategy})
    nodes.ec2.create_launch_template_version(
        LaunchTemplateId=template["id"], LaunchTemplateData={"InstanceType": "m5.xlarge"}
    )

    update = nodes.eks.update_nodegroup_version(
        **nodes.named, launchTemplate={**template, "version": "2"}
    )["update"]
    group = nodes.settled()

    about = {"name": nodes.bench.name, "nodegroupName": "nodes", "updateId": update["id"]}
    assert nodes.eks.describe_update(**about)["update"]["status"] == "Successful"
    assert group["launchTemplate"]["version"] == "2"
    assert [each["InstanceType"] for each in nodes.instances()] == ["m5.xlarge"]


def test_without_room_for_a_new_node_the_strategy_default_leaves_the_old_one(
    nodes: NodeBench,
) -> None:
    nodes.create(updateConfig={"updateStrategy": "DEFAULT"})
    [before] = nodes.instances()
    nodes.fail_launches("InsufficientInstanceCapacity", "We do not have sufficient capacity")

    update = nodes.eks.update_nodegroup_version(**nodes.named)["update"]
    group = nodes.settled()
    nodes.bench.aws.fail()

    about = {"name": nodes.bench.name, "nodegroupName": "nodes", "updateId": update["id"]}
    done = nodes.eks.describe_update(**about)["update"]
    assert [each["errorCode"] for each in done["errors"]] == ["NodeCreationFailure"]
    assert (group["status"], group["scalingConfig"]) == ("ACTIVE", ONE)
    assert [each["InstanceId"] for each in nodes.instances()] == [before["InstanceId"]]


def test_the_next_type_is_launched_where_the_first_has_no_capacity(nodes: NodeBench) -> None:
    lacking = {"InstanceType": "m6i.large", "SubnetId": nodes.bench.subnets[0]}
    nodes.fail_launches("InsufficientInstanceCapacity", "no capacity", when=lacking)

    group = nodes.create(instanceTypes=["m6i.large", "m5.large"])
    nodes.bench.aws.fail()

    [instance] = nodes.instances()
    assert (group["status"], group["instanceTypes"]) == ("ACTIVE", ["m6i.large", "m5.large"])
    assert instance["InstanceType"] == "m5.large" and "InstanceLifecycle" not in instance


def test_a_type_of_another_architecture_than_the_ami_is_an_issue(nodes: NodeBench) -> None:
    ssm = nodes.bench.aws.client("ssm")
    parameter = AMAZON_LINUX.removeprefix("resolve:ssm:")
    ami = ssm.get_parameter(Name=parameter)["Parameter"]["Value"]

    group = nodes.create(
        launchTemplate=nodes.template(ImageId=ami),
        instanceTypes=["m6i.large", "m6g.large"],
    )

    [issue] = group["health"]["issues"]
    assert issue["code"] == "Ec2LaunchTemplateInvalidConfiguration"
    assert "architecture 'arm64' of the specified instance type does not match" in issue["message"]


def test_on_spot_the_order_of_several_types_is_not_kept(nodes: NodeBench) -> None:
    aws = nodes.bench.aws
    aws.set_spot_price("m5.large", 0.02)
    aws.set_spot_price("m6i.large", 0.01)

    nodes.create(instanceTypes=["m5.large", "m6i.large"], capacityType="SPOT")

    [instance] = nodes.instances()
    assert (instance["InstanceType"], instance["InstanceLifecycle"]) == ("m6i.large", "spot")


def test_an_update_of_several_types_keeps_them(nodes: NodeBench) -> None:
    template = nodes.template(Monitoring={"Enabled": True})
    nodes.create(launchTemplate=template, instanceTypes=["m6i.large", "m5.large"])
    nodes.ec2.create_launch_template_version(
        LaunchTemplateId=template["id"], LaunchTemplateData={"Monitoring": {"Enabled": False}}
    )
    lacking = {"InstanceType": "m6i.large", "SubnetId": nodes.bench.subnets[0]}
    nodes.fail_launches("InsufficientInstanceCapacity", "no capacity", when=lacking)

    nodes.eks.update_nodegroup_version(**nodes.named, launchTemplate={**template, "version": "2"})
    group = nodes.settled()
    nodes.bench.aws.fail()

    assert [each["InstanceType"] for each in nodes.instances()] == ["m5.large"]
    assert group["instanceTypes"] == ["m6i.large", "m5.large"]


def test_a_cluster_with_node_groups_is_not_deleted(nodes: NodeBench) -> None:
    nodes.create()

    refused = nodes.bench.refusal(nodes.eks.delete_cluster, name=nodes.bench.name)

    assert refused == "ResourceInUseException: Cluster has nodegroups attached"


def test_a_node_group_takes_with_it_what_it_made(nodes: NodeBench) -> None:
    [scaling_group] = nodes.create()["resources"]["autoScalingGroups"]
    tagged = [{"Name": "tag:eks:cluster-name", "Values": [nodes.bench.name]}]

    nodes.eks.delete_nodegroup(**nodes.named)
    until(lambda: nodes.eks.list_nodegroups(clusterName=nodes.bench.name)["nodegroups"] == [])

    assert nodes.instances() == []
    autoscaling = nodes.bench.aws.client("autoscaling")
    named = {"AutoScalingGroupNames": [scaling_group["name"]]}
    assert autoscaling.describe_auto_scaling_groups(**named)["AutoScalingGroups"] == []
    assert nodes.ec2.describe_launch_templates(Filters=tagged)["LaunchTemplates"] == []
    entries = nodes.eks.list_access_entries(clusterName=nodes.bench.name)["accessEntries"]
    assert nodes.role not in entries
