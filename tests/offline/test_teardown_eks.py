"""`trainshed teardown` of clusters of Amazon EKS, against the embedded AWS."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import job_bench
import pytest
from command_line import Answer, runner
from frequent_looks import look_often
from protected_stacks import deploy_protected, there

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings
from trainshed.cli import main
from trainshed.plan import Fleet, load_fleet

pytestmark = pytest.mark.server

CLUSTER = """name: {name}
region: us-west-2
orchestrator: eks
instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}
kubernetes: {{access: [{{role: MachineLearning}}]{shared}}}
"""
STACKS = ("KubeNetwork", "KubeControlPlane", "KubeCluster")
PROTECTED = "KubeControlPlane"
Deploy = Callable[..., None]
Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS where a control plane takes a fraction of a second."""
    folder = tmp_path_factory.mktemp("aws")
    with job_bench.job_aws(folder, JobSettings(speed=3000)) as found:
        yield found


@pytest.fixture
def aws(server: EmbeddedAws, publish_ami: Callable[..., str]) -> EmbeddedAws:
    server.reset()
    publish_ami(server, "neuron/eks-1.35")
    root = {"AWS": "arn:aws:iam::123456789012:root"}
    trust = {"Effect": "Allow", "Principal": root, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    server.client("iam").create_role(RoleName="MachineLearning", AssumeRolePolicyDocument=document)
    return server


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """The folder of the cluster files, with that of KubeCluster."""
    folder = tmp_path / "clusters"
    folder.mkdir()
    (folder / "kube.yaml").write_text(CLUSTER.format(name="KubeCluster", shared=""))
    return folder


@pytest.fixture
def deploy(aws: EmbeddedAws, clusters: Path, synthesise: Callable[[Fleet], Path]) -> Deploy:
    """Deploy stacks of the cluster files, protected as the CDK CLI does it."""

    def run(*stacks: str) -> None:
        folder = synthesise(load_fleet(sorted(clusters.glob("*.yaml"))))
        deploy_protected(aws, folder, stacks)

    return run


@pytest.fixture
def teardown(
    aws: EmbeddedAws,
    clusters: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run the command, which here looks more often than AWS would like."""
    trainshed = runner("trainshed", main, capsys, monkeypatch)
    aws.lead_here(monkeypatch)
    monkeypatch.chdir(clusters.parent)
    look_often(monkeypatch)
    return partial(trainshed, "teardown")


def records(done: Answer) -> Mapping[str, Any]:
    assert done.code == 0, done.err
    found: Mapping[str, Any] = json.loads(done.out)
    return found


def network(aws: EmbeddedAws) -> tuple[str, list[str]]:
    """Return the VPC of the cluster, and its private subnets."""
    vpc = aws.client("eks").describe_cluster(name="kube")["cluster"]["resourcesVpcConfig"]
    return vpc["vpcId"], vpc["subnetIds"]


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def left_interface(aws: EmbeddedAws, *, subnet: str, group: str, node: str) -> str:
    """Make an interface as the VPC CNI does, which is attached to no node."""
    tags = {
        "cluster.k8s.amazonaws.com/name": "kube",
        "node.k8s.amazonaws.com/instance_id": node,
    }
    made = aws.client("ec2").create_network_interface(
        SubnetId=subnet,
        Groups=[group],
        TagSpecifications=[{"ResourceType": "network-interface", "Tags": tag_list(tags)}],
    )
    return str(made["NetworkInterface"]["NetworkInterfaceId"])


def stack_group(aws: EmbeddedAws, stack: str) -> str:
    """Return a security group of a stack."""
    resources = aws.client("cloudformation").list_stack_resources(StackName=stack)
    return next(
        str(each["PhysicalResourceId"])
        for each in resources["StackResourceSummaries"]
        if each["ResourceType"] == "AWS::EC2::SecurityGroup"
    )


def test_a_cluster_goes_with_its_protected_control_plane(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run
) -> None:
    deploy(*STACKS)

    refused = teardown("KubeCluster", "--yes")

    assert refused.code == 1
    assert "the jobs of KubeCluster cannot be looked at: the API server of kube" in refused.err
    assert "end those that are there with --end-jobs" in refused.err
    assert there(aws) == set(STACKS)

    done = records(teardown("KubeCluster", "--yes", "--end-jobs", "--json"))

    assert [(each["name"], each.get("protected")) for each in done["removed"]] == [
        ("KubeCluster", False),
        ("KubeControlPlane", True),
        ("KubeNetwork", False),
    ]
    [key] = [each for each in done["kept"] if each["what"] == "key"]
    assert key["cost"] == "bills by the month"
    assert aws.client("kms").describe_key(KeyId=key["name"])["KeyMetadata"]["Enabled"]
    assert there(aws) == set()
    assert aws.client("eks").list_clusters()["clusters"] == []
    # And it can come again.
    deploy(*STACKS)


def test_a_control_plane_that_another_cluster_uses_stays(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run, clusters: Path
) -> None:
    for name in ("OneCluster", "TwoCluster"):
        shared = ", name: lab"
        text = CLUSTER.format(name=name, shared=shared) + "network: {name: lab}\n"
        (clusters / f"{name}.yaml").write_text(text)
    (clusters / "kube.yaml").unlink()
    deploy("LabNetwork", "LabControlPlane", "OneCluster", "TwoCluster")

    done = records(teardown("OneCluster", "--yes", "--end-jobs", "--json"))

    assert [each["name"] for each in done["removed"]] == ["OneCluster"]
    reasons = {each["name"]: each["why"] for each in done["kept"] if each["what"] == "stack"}
    assert reasons["LabControlPlane"] == "used by TwoCluster"
    # Nobody may look: what to do is said, before and after.
    for report in (done, records(teardown("OneCluster", "--dry-run", "--json"))):
        [left] = [each for each in report["kept"] if each["what"] == "objects of Kubernetes"]
        assert left["name"] == "one"
        assert "cannot be looked at: the API server of lab cannot be reached" in left["why"]
        assert "kubectl delete namespace one" in left["why"]
        assert "kubectl delete clusterqueues,resourceflavors,topologies" in left["why"]
        assert left["why"].endswith("--selector trainshed/cluster=OneCluster")
    assert there(aws) == {"LabNetwork", "LabControlPlane", "TwoCluster"}
    [cluster] = aws.client("eks").list_clusters()["clusters"]
    assert aws.client("eks").describe_cluster(name=cluster)["cluster"]["deletionProtection"]


def test_a_control_plane_that_nothing_uses_is_reported_and_goes_when_it_is_named(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run, clusters: Path
) -> None:
    file = clusters / "kube.yaml"
    file.write_text(CLUSTER.format(name="KubeCluster", shared=", name: old"))
    deploy("KubeNetwork", "OldControlPlane")
    file.write_text(CLUSTER.format(name="KubeCluster", shared=""))

    report = records(teardown("KubeCluster", "--dry-run", "--json"))

    kept = {each["name"]: each["why"] for each in report["kept"]}
    assert kept["KubeNetwork"] == "used by OldControlPlane"
    assert kept["OldControlPlane"].endswith(
        "if you no longer need it: trainshed teardown KubeCluster --stack OldControlPlane"
    )
    records(teardown("KubeCluster", "--stack", "OldControlPlane", "--yes", "--json"))
    assert there(aws) == {"KubeNetwork"}
    # Those of other cluster files are to be used yet.
    file.write_text(CLUSTER.format(name="KubeCluster", shared=", name: old"))
    deploy("OldControlPlane")
    file.write_text(CLUSTER.format(name="KubeCluster", shared=""))
    other = CLUSTER.format(name="OtherCluster", shared=", name: old") + "network: {name: kube}\n"
    (clusters / "other.yaml").write_text(other)
    report = records(teardown("KubeCluster", "--dry-run", "--json"))
    assert {each["name"]: each["why"] for each in report["kept"] if each["what"] == "stack"} == {
        "KubeNetwork": "used by OldControlPlane"
    }


def test_interfaces_that_nodes_left_go_and_those_of_running_nodes_stay(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run
) -> None:
    deploy(*STACKS)
    ec2 = aws.client("ec2")
    vpc, [subnet, *_] = network(aws)
    group = stack_group(aws, "KubeCluster")
    # A node that has ended some time ago: EC2 forgets it.
    left = left_interface(aws, subnet=subnet, group=group, node="i-0123456789abcdef0")
    reservations = ec2.describe_instances(
        Filters=[
            {"Name": "instance-type", "Values": ["m6i.large"]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
    )["Reservations"]
    system_node = reservations[0]["Instances"][0]["InstanceId"]
    default = ec2.describe_security_groups(
        Filters=[{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
    )["SecurityGroups"][0]["GroupId"]
    new = left_interface(aws, subnet=subnet, group=default, node=system_node)

    records(teardown("KubeCluster", "--stack", "KubeCluster", "--yes", "--end-jobs", "--json"))

    assert there(aws) == {"KubeNetwork", "KubeControlPlane"}
    assert {
        each["NetworkInterfaceId"]
        for each in ec2.describe_network_interfaces()["NetworkInterfaces"]
        if each["NetworkInterfaceId"] in (left, new)
    } == {new}
    # Its node ends with the control plane's stack.
    records(teardown("KubeCluster", "--yes", "--json"))
    assert there(aws) == set()


def test_what_kubernetes_made_is_named_before_and_after_and_holds_its_network(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run
) -> None:
    deploy(*STACKS[:2])
    ec2 = aws.client("ec2")
    vpc, subnets = network(aws)
    made_group = ec2.create_security_group(
        GroupName="k8s-elb-a1b2", Description="for a load balancer", VpcId=vpc
    )["GroupId"]
    owned = {"kubernetes.io/cluster/kube": "owned"}
    ec2.create_tags(Resources=[made_group], Tags=tag_list(owned))
    classic = aws.client("elb")
    classic.create_load_balancer(
        LoadBalancerName="a1b2",
        Listeners=[{"Protocol": "TCP", "LoadBalancerPort": 80, "InstancePort": 30080}],
        Subnets=subnets,
        SecurityGroups=[made_group],
        Tags=tag_list({**owned, "kubernetes.io/service-name": "web/dashboard"}),
    )
    elbv2 = aws.client("elbv2")
    [balancer] = elbv2.create_load_balancer(
        Name="k8s-web-app",
        Subnets=subnets,
        SecurityGroups=[made_group],
        Tags=tag_list({"elbv2.k8s.aws/cluster": "kube", "ingress.k8s.aws/stack": "web/app"}),
    )["LoadBalancers"]
    elbv2.create_load_balancer(
        Name="another",
        Subnets=subnets,
        SecurityGroups=[made_group],
        Tags=tag_list({"elbv2.k8s.aws/cluster": "other"}),
    )
    pvc = {"kubernetes.io/created-for/pvc/name": "data", "ebs.csi.aws.com/cluster": "true"}
    volumes = [
        ec2.create_volume(
            Size=100,
            AvailabilityZone="us-west-2a",
            VolumeType="gp3",
            TagSpecifications=[{"ResourceType": "volume", "Tags": tag_list({**pvc, **tags})}],
        )["VolumeId"]
        for tags in (
            {"kubernetes.io/cluster/kube": "owned", "kubernetes.io/created-for/pvc/namespace": "a"},
            {},
            {"kubernetes.io/cluster/other": "owned"},
        )
    ]

    first = records(teardown("KubeCluster", "--yes", "--json"))

    assert [each["name"] for each in first["removed"]] == ["KubeControlPlane"]
    kept = {each["name"]: each for each in first["kept"]}
    assert "another" not in kept
    assert volumes[2] not in kept
    assert kept["a1b2"]["cost"] == "bills by the hour, and by its traffic"
    assert "kubectl delete service dashboard -n web" in kept["a1b2"]["why"]
    assert kept["a1b2"]["why"].endswith("aws elb delete-load-balancer --load-balancer-name a1b2")
    assert "kubectl delete ingress app -n web" in kept["k8s-web-app"]["why"]
    assert kept[volumes[0]]["size"] == "100 GiB gp3"
    assert kept[volumes[0]]["why"].startswith("Kubernetes made it for the claim a/data, and data")
    assert kept[volumes[1]]["why"].startswith("its tags name no cluster")
    assert kept["KubeNetwork"]["why"] == (
        f"k8s-web-app, a1b2, {made_group} is in it; delete that, then tear down again"
    )
    assert there(aws) == {"KubeNetwork"}

    # It exists and costs as before, so it says so as before; nothing of it was deleted.
    again = records(teardown("KubeCluster", "--dry-run", "--json"))
    assert again["removed"] == []
    assert {each["name"] for each in again["kept"]} >= {"a1b2", "k8s-web-app", *volumes[:2]}

    elbv2.delete_load_balancer(LoadBalancerArn=balancer["LoadBalancerArn"])
    classic.delete_load_balancer(LoadBalancerName="a1b2")
    ec2.delete_security_group(GroupId=made_group)
    for other in elbv2.describe_load_balancers()["LoadBalancers"]:
        elbv2.delete_load_balancer(LoadBalancerArn=other["LoadBalancerArn"])
    records(teardown("KubeCluster", "--yes", "--json"))
    assert there(aws) == set()


@pytest.mark.parametrize(
    "during",
    [
        pytest.param("control_planes.time.sleep", id="end-of-deletion-protection"),
        pytest.param("removal.status_of", id="deletion-of-a-stack"),
    ],
)
def test_an_interrupted_teardown_ends_the_same_when_it_is_run_again(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run, monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    deploy(*STACKS[:2])

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"trainshed.teardown.{during}", interrupt)
        stopped = teardown("KubeCluster", "--yes")
    assert stopped.code == 130
    assert "KubeNetwork" in there(aws)

    records(teardown("KubeCluster", "--yes", "--json"))

    assert there(aws) == set()


def test_a_control_plane_whose_cluster_is_gone_goes_too(
    aws: EmbeddedAws, deploy: Deploy, teardown: Run
) -> None:
    deploy(*STACKS[:2])
    eks = aws.client("eks")
    [group] = eks.list_nodegroups(clusterName="kube")["nodegroups"]
    eks.delete_nodegroup(clusterName="kube", nodegroupName=group)
    eks.get_waiter("nodegroup_deleted").wait(
        clusterName="kube", nodegroupName=group, WaiterConfig={"Delay": 1}
    )
    update = eks.update_cluster_config(name="kube", deletionProtection=False)["update"]
    while update["status"] == "InProgress":
        update = eks.describe_update(name="kube", updateId=update["id"])["update"]
    eks.delete_cluster(name="kube")
    eks.get_waiter("cluster_deleted").wait(name="kube", WaiterConfig={"Delay": 1})

    records(teardown("KubeCluster", "--yes", "--json"))

    assert there(aws) == set()
