"""Clusters of Amazon EKS on the embedded AWS, whose EKS refuses what AWS's does."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import job_bench
import pytest
from command_line import Answer, runner

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from trainshed.cli import main
from trainshed.plan import load_fleet

pytestmark = pytest.mark.server

CLUSTER = """name: KubeCluster
region: us-west-2
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 2}}
kubernetes: {access: [{role: MachineLearning}]}
"""
STACKS = ("KubeNetwork", "KubeControlPlane", "KubeCluster")
Templates = Mapping[str, Any]


@pytest.fixture(scope="module")
def make_templates(
    tmp_path_factory: pytest.TempPathFactory, synthesise: Callable[..., Path]
) -> Callable[[str], Templates]:
    """Return the templates of a cluster file."""

    def make(text: str) -> Templates:
        file = tmp_path_factory.mktemp("project") / "kube.yaml"
        file.write_text(text)
        folder = synthesise(load_fleet([file]))
        return {name: json.loads((folder / f"{name}.template.json").read_text()) for name in STACKS}

    return make


@pytest.fixture(scope="module")
def templates(make_templates: Callable[[str], Templates]) -> Templates:
    return make_templates(CLUSTER)


@pytest.fixture(scope="module")
def make_aws(
    tmp_path_factory: pytest.TempPathFactory, publish_ami: Callable[..., str]
) -> Iterator[Callable[[], EmbeddedAws]]:
    """Start an embedded AWS with an AMI, where a control plane takes a fraction of a second."""
    running = []

    def make() -> EmbeddedAws:
        bench = job_bench.job_aws(tmp_path_factory.mktemp("aws"), JobSettings(speed=3000))
        running.append(bench)
        found = bench.__enter__()
        publish_ami(found, "neuron/eks-1.35")
        return found

    yield make
    for bench in running:
        bench.__exit__(None, None, None)


@pytest.fixture(scope="module")
def aws(make_aws: Callable[[], EmbeddedAws], templates: Templates) -> EmbeddedAws:
    """One that has the cluster."""
    found = make_aws()
    make_role(found)
    for name in STACKS:
        found.deploy(templates[name], stack_name=name)
    return found


def make_role(aws: EmbeddedAws) -> None:
    """Make the role of the cluster's users, as its owner must."""
    root = {"AWS": "arn:aws:iam::123456789012:root"}
    trust = {"Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    aws.client("iam").create_role(RoleName="MachineLearning", AssumeRolePolicyDocument=document)


def node_groups(aws: EmbeddedAws) -> dict[str, dict[str, Any]]:
    """Return the node groups by the stack that made each."""
    eks = aws.client("eks")
    found = [
        eks.describe_nodegroup(clusterName="kube", nodegroupName=name)["nodegroup"]
        for name in eks.list_nodegroups(clusterName="kube")["nodegroups"]
    ]
    return {each["tags"]["aws:cloudformation:stack-name"]: each for each in found}


def test_its_control_plane_is_closed_and_has_all_add_ons(aws: EmbeddedAws) -> None:
    eks = aws.client("eks")
    cluster = eks.describe_cluster(name="kube")["cluster"]

    assert cluster["status"] == "ACTIVE"
    assert cluster["resourcesVpcConfig"]["endpointPublicAccess"] is False
    assert cluster["deletionProtection"] is True
    assert {
        name: eks.describe_addon(clusterName="kube", addonName=name)["addon"]["status"]
        for name in eks.list_addons(clusterName="kube")["addons"]
    } == dict.fromkeys(
        (
            *("coredns", "eks-node-monitoring-agent", "eks-pod-identity-agent", "kube-proxy"),
            *("amazon-cloudwatch-observability", "vpc-cni"),
        ),
        "ACTIVE",
    )


def test_who_may_use_it_is_who_was_named_and_the_nodes(aws: EmbeddedAws) -> None:
    eks = aws.client("eks")
    entries = {
        arn.rpartition("/")[2].partition("-")[0]: eks.describe_access_entry(
            clusterName="kube", principalArn=arn
        )["accessEntry"]["type"]
        for arn in eks.list_access_entries(clusterName="kube")["accessEntries"]
    }

    # EKS itself admits the roles of the nodes of its groups.
    assert entries == {
        "MachineLearning": "STANDARD",
        "KubeCluster": "EC2_LINUX",
        "KubeControlPlane": "EC2_LINUX",
    }


def test_its_nodes_have_joined(aws: EmbeddedAws) -> None:
    groups = node_groups(aws)
    nodes = groups["KubeCluster"]

    assert {each["status"] for each in groups.values()} == {"ACTIVE"}
    assert [each["health"]["issues"] for each in groups.values()] == [[], []]
    assert nodes["amiType"] == "CUSTOM"
    [group] = nodes["resources"]["autoScalingGroups"]
    [found] = aws.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[group["name"]]
    )["AutoScalingGroups"]
    assert len(found["Instances"]) == 2


def test_a_newer_version_reaches_the_cluster_and_all_its_nodes(
    make_aws: Callable[[], EmbeddedAws],
    make_templates: Callable[[str], Templates],
    templates: Templates,
    publish_ami: Callable[..., str],
) -> None:
    aws = make_aws()
    make_role(aws)
    for name in STACKS:
        aws.deploy(templates[name], stack_name=name)
    ami = publish_ami(aws, "neuron/eks-1.36")

    newer = make_templates(CLUSTER.replace("kubernetes: {", "kubernetes: {version: '1.36', "))
    for name in STACKS:
        aws.deploy(newer[name], stack_name=name)

    assert aws.client("eks").describe_cluster(name="kube")["cluster"]["version"] == "1.36"
    groups = node_groups(aws)
    assert {each["status"] for each in groups.values()} == {"ACTIVE"}
    assert groups["KubeControlPlane"]["version"] == "1.36"
    assert groups["KubeCluster"]["releaseVersion"] == ami


def test_the_next_type_is_launched_for_nodes_that_the_first_has_no_capacity_for(
    make_aws: Callable[[], EmbeddedAws],
    make_templates: Callable[[str], Templates],
    publish_ami: Callable[..., str],
) -> None:
    aws = make_aws()
    make_role(aws)
    publish_ami(aws, "nvidia/eks-1.35")
    one = CLUSTER.replace("trn1.32xlarge", "p4d.24xlarge")
    several = f"{one}capacity: {{instance_types: [p4d.24xlarge, p4de.24xlarge]}}\n"
    templates = make_templates(several)
    for name in STACKS[:2]:
        aws.deploy(templates[name], stack_name=name)
    aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=1,
            when={"InstanceType": "p4d.24xlarge"},
        )
    )

    aws.deploy(templates["KubeCluster"], stack_name="KubeCluster")

    group = node_groups(aws)["KubeCluster"]
    assert (group["status"], group["instanceTypes"]) == (
        "ACTIVE",
        ["p4d.24xlarge", "p4de.24xlarge"],
    )
    tagged = [{"Name": "tag:eks:nodegroup-name", "Values": [group["nodegroupName"]]}]
    found = aws.client("ec2").describe_instances(Filters=tagged)["Reservations"]
    types = [each["InstanceType"] for entry in found for each in entry["Instances"]]
    assert sorted(types) == ["p4d.24xlarge", "p4de.24xlarge"]

    # CloudFormation makes the new group before it deletes the old one.
    aws.deploy(make_templates(one)["KubeCluster"], stack_name="KubeCluster")

    assert "instanceTypes" not in node_groups(aws)["KubeCluster"]
    assert node_groups(aws)["KubeCluster"]["nodegroupName"] != group["nodegroupName"]


def test_another_cluster_comes_to_a_control_plane_that_is_there(
    make_aws: Callable[[], EmbeddedAws],
    templates: Templates,
    synthesise: Callable[..., Path],
    tmp_path: Path,
) -> None:
    aws = make_aws()
    make_role(aws)
    for name in STACKS:
        aws.deploy(templates[name], stack_name=name)
    (tmp_path / "kube.yaml").write_text(CLUSTER)
    (tmp_path / "more.yaml").write_text(
        CLUSTER.replace("KubeCluster", "MoreCluster").replace(
            "kubernetes: {", "network: {name: kube}\nkubernetes: {name: kube, "
        )
    )

    folder = synthesise(load_fleet(sorted(tmp_path.glob("*.yaml"))))
    for name in (*STACKS, "MoreCluster"):
        aws.deploy(json.loads((folder / f"{name}.template.json").read_text()), stack_name=name)

    assert node_groups(aws).keys() == {"KubeControlPlane", "KubeCluster", "MoreCluster"}


def test_nodes_without_the_group_of_the_cluster_never_join(
    aws: EmbeddedAws, templates: Templates
) -> None:
    template = copy.deepcopy(templates["KubeCluster"])
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::EC2::LaunchTemplate":
            for interface in resource["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]:
                interface["Groups"] = [
                    each
                    for each in interface["Groups"]
                    if "ClusterSecurityGroupId" not in str(each)
                ]
        if resource["Type"] == "AWS::Logs::LogGroup":
            # The other stack has one of that name.
            resource["Properties"].pop("LogGroupName", None)
    # A pod has one role by its service account.
    template["Resources"] = {
        name: each
        for name, each in template["Resources"].items()
        if each["Type"] != "AWS::EKS::PodIdentityAssociation"
    }

    with pytest.raises(DeploymentFailed, match="NodeCreationFailure"):
        aws.deploy(template, stack_name="WithoutGroup")


def test_a_creation_that_fails_leaves_no_cluster_and_can_be_repeated(
    make_aws: Callable[[], EmbeddedAws], templates: Templates
) -> None:
    aws = make_aws()
    aws.deploy(templates["KubeNetwork"], stack_name="KubeNetwork")
    cloudformation = aws.client("cloudformation")

    with pytest.raises(DeploymentFailed, match="invalid principal"):
        aws.deploy(templates["KubeControlPlane"], stack_name="KubeControlPlane")

    [stack] = cloudformation.describe_stacks(StackName="KubeControlPlane")["Stacks"]
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.client("eks").list_clusters()["clusters"] == []
    # As the CDK CLI does it before it deploys again.
    cloudformation.delete_stack(StackName="KubeControlPlane")
    cloudformation.get_waiter("stack_delete_complete").wait(
        StackName="KubeControlPlane", WaiterConfig={"Delay": 1}
    )
    make_role(aws)
    aws.deploy(templates["KubeControlPlane"], stack_name="KubeControlPlane")
    assert aws.client("eks").list_clusters()["clusters"] == ["kube"]


def test_the_cluster_is_not_deleted_with_its_stack_while_it_is_protected(
    make_aws: Callable[[], EmbeddedAws], templates: Templates
) -> None:
    aws = make_aws()
    make_role(aws)
    for name in STACKS[:2]:
        aws.deploy(templates[name], stack_name=name)
    cloudformation, eks = aws.client("cloudformation"), aws.client("eks")

    def delete() -> str:
        cloudformation.delete_stack(StackName="KubeControlPlane")
        waiter = cloudformation.get_waiter("stack_delete_complete")
        try:
            waiter.wait(StackName="KubeControlPlane", WaiterConfig={"Delay": 1})
        except Exception as error:  # the waiter's, whose class botocore makes
            return str(error)
        return ""

    assert "DELETE_FAILED" in delete()
    assert eks.list_clusters()["clusters"] == ["kube"]

    update = eks.update_cluster_config(name="kube", deletionProtection=False)["update"]
    while update["status"] == "InProgress":
        update = eks.describe_update(name="kube", updateId=update["id"])["update"]
    assert delete() == ""
    assert eks.list_clusters()["clusters"] == []


@pytest.fixture
def trainshed(
    aws: EmbeddedAws,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Answer]:
    """The command line beside the cluster's file."""
    run = runner("trainshed", main, capsys, monkeypatch)
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kube.yaml").write_text(CLUSTER)
    return run


def test_kubectl_is_configured_for_it(
    aws: EmbeddedAws, trainshed: Callable[..., Answer], tmp_path: Path
) -> None:
    answer = trainshed("kube", "config", "kube.yaml", "--kubeconfig", "config")

    assert answer.code == 0, answer.err
    assert "KubeCluster.us-west-2.trainshed is the current context of config" in answer.out
    written = (tmp_path / "config").read_text()
    assert aws.client("eks").describe_cluster(name="kube")["cluster"]["endpoint"] in written
    assert "namespace: kube" in written


def test_kubectl_gets_its_token_from_us(trainshed: Callable[..., Answer]) -> None:
    answer = trainshed("kube", "token", "--cluster", "kube", "--region", "us-west-2")

    assert answer.json["apiVersion"] == "client.authentication.k8s.io/v1"
    assert answer.json["status"]["token"].startswith("k8s-aws-v1.")
    expires = datetime.fromisoformat(answer.json["status"]["expirationTimestamp"])
    assert timedelta(minutes=13) < expires - datetime.now(UTC) <= timedelta(minutes=14)


@pytest.mark.parametrize("command", ["config", "nodes"])
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        pytest.param(
            CLUSTER.replace("KubeCluster", "AbsentCluster"),
            1,
            "there is no cluster absent of Amazon EKS in us-west-2; deploy its control plane",
            id="not-deployed",
        ),
        pytest.param(
            "name: Plain\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n",
            2,
            "Plain has orchestrator batch, and so no Kubernetes",
            id="no-kubernetes",
        ),
    ],
)
def test_a_cluster_without_kubernetes_is_named(
    trainshed: Callable[..., Answer],
    tmp_path: Path,
    command: str,
    text: str,
    code: int,
    said: str,
) -> None:
    (tmp_path / "kube.yaml").write_text(text)

    answer = trainshed("kube", command, "kube.yaml")

    assert answer.code == code
    assert said in answer.err
