"""A cluster of Amazon EKS planned."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from embedded_aws.eks.node_config import most_pods
from trainshed.catalogue import AcceleratorFamily, all_types, lookup, regions_offering
from trainshed.catalogue.kubernetes import (
    WITHOUT_CONTROL_PLANE,
    default_kubernetes,
    kubernetes_versions,
)
from trainshed.checks import judge
from trainshed.day import today
from trainshed.explain.cluster import explain
from trainshed.explain.picture import draw_node
from trainshed.interfaces import InterfaceKind, InterfaceProfile
from trainshed.nodes.cells import ACCELERATORS, Cell
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.parts.nodes import nodes_part
from trainshed.plan import ClusterPlan, Fleet, load_fleet, make_plan
from trainshed.spec import ClusterSpec, SpecError

ROOT = Path(__file__).parents[2]
Problems = Callable[..., list[str]]
PLUGINS = {
    "habana": "habana.ai/gaudi",
    "neuron": "aws.amazon.com/neuron",
    "nvidia": "nvidia.com/gpu",
}


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, date(2026, 11, 26))


def pin(monkeypatch: pytest.MonkeyPatch, day: date) -> None:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(noon.timestamp())))


def text(added: str = "", *, name: str = "Cluster1", instance: str = "type: trn1.32xlarge") -> str:
    return (
        f"name: {name}\nregion: us-west-2\norchestrator: eks\ninstance: {{{instance}}}\n{added}\n"
    )


def planned(name: str = "trn1.32xlarge", **changes: object) -> ClusterPlan:
    fields = {
        "name": "Cluster1",
        "region": regions_offering(name)[0],
        "orchestrator": "eks",
        "instance": {"type": name, "nodes": {"max": 1}, "ami": "ami-0123456789abcdef0"},
    }
    return make_plan(ClusterSpec.model_validate(fields | changes))


def eks_of(plan: ClusterPlan) -> EksPlan:
    assert isinstance(plan.jobs, EksPlan)
    return plan.jobs


@pytest.mark.parametrize("name", all_types())
def test_a_pod_has_the_whole_node_of_every_type(name: str) -> None:
    instance = lookup(name)
    if instance.accelerator.family is AcceleratorFamily.QUALCOMM:
        with pytest.raises(SpecError, match="no device plugin"):
            planned(name)
        return

    plan = planned(name)

    pod = eks_of(plan).pod
    assert plan.profile is InterfaceProfile.EKS
    assert pod.resources[PLUGINS[instance.accelerator.family]] == str(instance.accelerator.count)
    assert pod.resources.get("vpc.amazonaws.com/efa", "0") == str(instance.efa_interfaces_max)
    assert pod.taint == PLUGINS[instance.accelerator.family]
    assert 0 < int(pod.resources["cpu"]) < instance.vcpus
    memory, huge = (
        int(pod.resources.get(each, "0Mi").removesuffix("Mi"))
        for each in ("memory", "hugepages-2Mi")
    )
    assert huge == instance.huge_pages_mib
    assert 0 < memory + huge < instance.memory_mib
    # A slot of card 0 is left to the VPC CNI, so that the kubelet counts pods as it does.
    assert eks_of(plan).max_pods.expression is None
    assert "own interface" not in draw_node(plan)


def test_pods_are_counted_where_efa_only_takes_a_slot_of_card_0() -> None:
    instance = {"type": "p5.48xlarge", "nodes": {"max": 1}, "interfaces": "ec2"}

    plan = planned("p5.48xlarge", instance={**instance, "ami": "ami-0123456789abcdef0"})

    on_card_0 = [row.kind for row in plan.interfaces if row.card == 0]
    assert on_card_0 == [InterfaceKind.INTERFACE, InterfaceKind.EFA_ONLY]
    max_pods = eks_of(plan).max_pods
    assert max_pods.expression == "((default_enis - 1) * (ips_per_eni - 1)) + 2"
    # 50 addresses of the one interface, of which the node has the first, and two pods without.
    assert max_pods.counts == {"p5.48xlarge": 51}


@pytest.mark.parametrize("interfaces", ["eks", "ec2"])
@pytest.mark.parametrize("name", ["dl1.24xlarge", "trn1.32xlarge", "p5.48xlarge", "g6.xlarge"])
def test_a_node_is_planned_to_take_the_pods_that_nodeadm_counts(name: str, interfaces: str) -> None:
    instance = {"type": name, "nodes": {"max": 1}, "ami": "ami-0123456789abcdef0"}
    max_pods = eks_of(planned(name, instance={**instance, "interfaces": interfaces})).max_pods

    found = lookup(name)
    assert max_pods.counts[name] == most_pods(
        {"kubelet": {"maxPodsExpression": max_pods.expression}},
        interfaces=found.network_cards[0].slots,
        addresses=found.ipv4_addresses_per_interface,
    )


def test_pods_fit_on_the_smallest_of_several_types() -> None:
    types = ["g6e.8xlarge", "g6.8xlarge"]

    several = planned("g6e.8xlarge", capacity={"instance_types": types})
    smallest = planned("g6.8xlarge")

    assert eks_of(several).pod == eks_of(smallest).pod
    [row] = [each for each in several.decisions if each.field == "pod of a job"]
    assert "; of g6.8xlarge, which has the least for it" in row.reason
    assert lookup("g6.8xlarge").memory_mib < lookup("g6e.8xlarge").memory_mib


@pytest.mark.parametrize(
    ("capacity", "reason"),
    [
        pytest.param({}, "for the nodes that EC2 has no capacity for, in this order", id="order"),
        pytest.param(
            {"spot": {}},
            "not in this order: EKS launches those of the most capacity, and the cheapest of these",
            id="spot",
        ),
    ],
)
def test_the_order_of_several_types_is_kept_on_demand_alone(
    capacity: dict[str, object], reason: str
) -> None:
    types = ["p4d.24xlarge", "p4de.24xlarge"]

    plan = planned("p4d.24xlarge", capacity={**capacity, "instance_types": types})

    [row] = [each for each in plan.decisions if each.field == "other instance types"]
    assert (row.value, row.reason) == ("p4de.24xlarge", reason)
    [fact] = [each for each in nodes_part(plan).facts if each.name == "instance type"]
    assert fact.value == f"p4d.24xlarge{' or ' if capacity else ', else '}p4de.24xlarge"


def test_the_control_plane_has_a_small_subnet_in_another_zone(
    fleet: Callable[..., Fleet],
) -> None:
    [plan] = fleet(text()).clusters

    [subnet] = plan.network.control_plane_subnets
    [of_nodes] = plan.network.subnets
    assert subnet.zone.name != of_nodes.zone.name
    assert subnet.cidr.prefixlen == 28
    assert plan.network.cidr is not None
    assert subnet.cidr.subnet_of(plan.network.cidr)
    assert not subnet.cidr.overlaps(of_nodes.private_cidr)
    assert not subnet.cidr.overlaps(of_nodes.public_cidr)
    assert "TrainControlPlane" not in explain(plan).stacks
    assert "Cluster1ControlPlane" in explain(plan).stacks


def test_it_has_both_subnets_elsewhere_where_eks_has_no_control_plane() -> None:
    plan = planned("p5.48xlarge", region="us-east-1", zone="use1-az3")

    zones = [each.zone.name for each in plan.network.control_plane_subnets]
    assert "use1-az3" in WITHOUT_CONTROL_PLANE
    assert len({*zones, "use1-az3"}) == 3


def test_zones_by_name_have_another_by_name() -> None:
    [subnet] = planned(zone="us-east-1b", region="us-east-1").network.control_plane_subnets

    assert (subnet.zone.name, subnet.zone.is_id) == ("us-east-1a", False)


def test_the_example_is_a_cluster() -> None:
    [plan] = load_fleet([ROOT / "examples/dl1-eks.yaml"]).clusters

    assert plan.orchestrator == "eks"
    assert {each.rule for each in judge(plan) if each.fails} <= {"TS-LIF-001"}


def test_other_orchestrators_have_no_such_subnet() -> None:
    for other in ("batch", "ec2"):
        plan = planned(orchestrator=other)
        assert plan.network.control_plane_subnets == ()
        assert plan.control_plane is None


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_the_ami_is_of_the_version_of_the_control_plane(version: str) -> None:
    plan = planned(
        instance={"type": "trn1.32xlarge", "nodes": {"max": 1}}, kubernetes={"version": version}
    )

    assert plan.ami.cell == f"neuron/eks-{version}"
    assert plan.ami.parameter == f"/trainshed/ami/neuron/eks-{version}/stable"
    assert f"trainshed ami build neuron eks-{version}" in plan.ami.remedy
    [decision] = (each for each in plan.decisions if each.field == "ami")
    assert decision.value == plan.ami.parameter
    assert f"for neuron/eks-{version}" in decision.reason


def test_every_version_that_a_cluster_can_have_has_cells() -> None:
    sold = [each.name for each in kubernetes_versions() if each.standard_until >= today()]

    cells = {f"{family}/eks-{version}" for family in ACCELERATORS for version in sold}
    assert cells <= {*Cell}


def test_where_no_ami_is_baked_the_remedy_says_why() -> None:
    plan = planned(
        instance={"type": "dl1.24xlarge", "nodes": {"max": 1}},
        region="us-west-2",
        kubernetes={"version": "1.36"},
    )

    [decision] = (each for each in plan.decisions if each.field == "ami")
    assert "for habana/eks-1.36, for which trainshed bakes no AMI" in decision.reason
    remedy = plan.ami.remedy
    assert remedy.startswith("name an AMI of your own in instance.ami, because none is baked for ")
    assert "no AMI of Canonical's with Kubernetes 1.36 was found in documents" in remedy
    [found] = (each for each in judge(plan) if each.rule == "TS-AMI-013")
    assert found.message.startswith("no AMI is baked for habana/eks-1.36: Canonical's AMIs")


@pytest.mark.parametrize(
    ("instance_type", "script"), [("dl1.24xlarge", True), ("trn1.32xlarge", False)]
)
def test_nodes_join_by_what_the_base_of_their_ami_has(instance_type: str, script: bool) -> None:
    plan = planned(instance={"type": instance_type, "nodes": {"max": 1}}, region="us-west-2")

    assert isinstance(plan.jobs, EksPlan)
    assert plan.jobs.bootstrap_script == script
    said = [each.value for each in plan.decisions if each.field == "nodes join by"]
    assert said == (["/etc/eks/bootstrap.sh"] if script else [])


def test_defaults_of_the_control_plane() -> None:
    control_plane = planned().control_plane

    assert control_plane is not None
    assert (control_plane.name, control_plane.stack_name) == ("cluster1", "Cluster1ControlPlane")
    assert control_plane.version == default_kubernetes()
    assert str(control_plane.service_cidr) == "10.100.0.0/16"
    assert control_plane.public_cidrs == ()


def test_the_range_of_services_keeps_off_the_vpc() -> None:
    control_plane = planned(network={"cidr": "10.100.0.0/18"}).control_plane

    assert control_plane is not None
    assert str(control_plane.service_cidr) == "172.20.0.0/16"


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ('kubernetes: {version: "1.53"}', "did you mean 1.36"),
        ('kubernetes: {version: "1.33"}', "1.33 had standard support until 2026-07-29"),
        ('kubernetes: {version: "1.31"}', "1.31 had standard support until 2025-11-26"),
        ("kubernetes: {version: latest}", "'latest' is not a version that EKS has"),
        ("kubernetes: {service_cidr: 10.20.128.0/20}", "overlaps the VPC's range 10.20.0.0/16"),
        ("kubernetes: {service_cidr: 8.8.0.0/16}", "8.8.0.0/16 is not allowed"),
        ("kubernetes: {service_cidr: 10.0.0.0/30}", "10.0.0.0/30 is not allowed"),
        ("kubernetes: {public_cidrs: [10.1.0.0/16]}", "10.1.0.0/16 is private or reserved"),
        ("kubernetes: {public_cidrs: [203.0.113.0/24]}", "203.0.113.0/24 is private or reserved"),
        ("kubernetes: {access: [{role: a}, {role: a}]}", "has an entry already, number 1"),
        ("kubernetes: {access: [{role: 'arn:aws:iam::1:user/x'}]}", "for instance MachineLearning"),
        (
            "kubernetes: {access: [{role: 'arn:aws:sts::123456789012:assumed-role/A/me'}]}",
            "did you mean arn:aws:iam::123456789012:role/A?",
        ),
        ("kubernetes: {access: [{role: ' a'}]}", "did you mean a?"),
        ("kubernetes: {access: [{role: a, policy: root}]}", "'root' is not allowed"),
        ("kubernetes: {access: [{role: a, namespace: A}]}", "lower-case letters"),
        ("kubernetes: {name: " + "a" * 101 + "}", "up to 32 lower-case letters"),
        ("kubernetes: {subnet: subnet-0123456789abcdef0}", "is for an existing VPC"),
        ("kubernetes: {versoin: 1}", "did you mean version"),
        ("job: {capacity_wait_hours: 3}", "is for orchestrator batch"),
    ],
)
def test_what_eks_does_not_take_is_refused(problems: Problems, added: str, expected: str) -> None:
    found = problems(text(added))

    assert any(expected in each for each in found), found
    assert len(found) == 1


def test_fewer_nodes_at_times_are_refused(problems: Problems) -> None:
    [found] = problems(text(instance="type: trn1.32xlarge, nodes: {min: 1, max: 2}"))

    assert "are there all the time" in found


@pytest.mark.parametrize("name", ["DefaultCluster", "KubeSystem", "Kueue-SystemCluster"])
def test_a_namespace_of_kubernetes_itself_is_refused(problems: Problems, name: str) -> None:
    [found] = problems(text(name=name))

    assert "which is for Kubernetes or what extends it" in found


def test_an_existing_vpc_needs_a_second_subnet(
    problems: Problems, fleet: Callable[..., Fleet]
) -> None:
    network = "network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}\n"
    second = "kubernetes: {subnet: subnet-1123456789abcdef0}"

    [missing] = problems(text(network))

    assert "needs subnets in two zones" in missing
    [plan] = fleet(text(network + second)).clusters
    assert plan.control_plane is not None
    assert plan.control_plane.subnet_id == "subnet-1123456789abcdef0"


def test_a_version_is_refused_once_its_standard_support_has_ended(
    monkeypatch: pytest.MonkeyPatch, problems: Problems, fleet: Callable[..., Fleet]
) -> None:
    asked = text('kubernetes: {version: "1.34"}')
    pin(monkeypatch, date(2026, 12, 2))
    assert len(fleet(asked).clusters) == 1

    pin(monkeypatch, date(2026, 12, 3))

    assert "had standard support until 2026-12-02" in problems(asked)[0]


@pytest.mark.parametrize("locked", [True, False], ids=["older-lock", "no-lock"])
def test_that_no_chart_is_installed_is_said(tmp_path: Path, locked: bool) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text(text())
    if locked:
        (tmp_path / "cluster1.lock.json").write_text('{"kubernetes": "1.35", "add_ons": {}}')

    [plan] = load_fleet([file]).clusters

    said = {each.field: each.value for each in plan.decisions}
    assert said["charts of JobSet and Kueue"] == "not installed by trainshed"


def test_clusters_share_a_control_plane_by_its_name(fleet: Callable[..., Fleet]) -> None:
    shared = "kubernetes: {name: shared}\nnetwork: {name: shared}"

    found = fleet(text(shared), text(shared, name="Other1", instance="type: p4d.24xlarge"))

    assert list(found.control_planes) == ["SharedControlPlane"]
    # Pods of the two are in namespaces of their own.
    assert len({eks_of(each).namespace for each in found.clusters}) == 2


def test_clusters_that_want_different_control_planes_of_one_name_are_told(
    problems: Problems,
) -> None:
    shared = "network: {name: shared}\nkubernetes: {name: shared"

    [found] = problems(text(shared + "}"), text(shared + ', version: "1.36"}', name="Other1"))

    assert "shares the stack SharedControlPlane with Cluster1" in found


def test_what_differs_in_a_shared_control_plane_is_told_as_files_have_it(
    problems: Problems,
) -> None:
    def shared(entry: str) -> str:
        return f"network: {{name: shared}}\nkubernetes: {{name: shared, access: [{entry}]}}"

    [found] = problems(
        text(shared("{role: A, policy: view}")),
        text(shared("{role: B, namespace: b}"), name="Other1"),
    )

    there, here = (
        f"[{{role: {role}, policy: AmazonEKS{policy}Policy, {more}}}]"
        for role, policy, more in (
            ("A", "View", "group: trainshed:view"),
            ("B", "Edit", "namespace: b, group: trainshed:edit:b"),
        )
    )
    assert found.endswith(f"access is {here} here and {there} there")


def test_a_control_plane_is_not_in_the_subnet_of_the_nodes_alone(problems: Problems) -> None:
    subnet = "subnet-0123456789abcdef0"
    network = f"network: {{vpc: vpc-0123456789abcdef0, subnet: {subnet}}}\nzone: usw2-az4\n"

    [found] = problems(text(f"{network}kubernetes: {{subnet: {subnet}}}"))

    assert f"kubernetes.subnet: {subnet} is the subnet of the nodes, and EKS's" in found


def test_a_subnet_is_of_one_zone_though_two_control_planes_want_it(problems: Problems) -> None:
    small = "network: {name: shared, cidr: 10.0.0.0/22}\nzone: "

    [found] = problems(text(small + "usw2-az4"), text(small + "usw2-az1", name="Other1"))

    assert "would be a subnet of two zones" in found


def test_addresses_of_pods_count(problems: Problems) -> None:
    small = "network: {cidr: 10.0.0.0/22}"
    nodes = "type: trn1.32xlarge, nodes: {max: 12}"

    [found] = problems(text(small, instance=nodes))

    assert "12 nodes x 11" in found


@pytest.mark.parametrize(
    ("kubernetes", "rule"),
    [
        ({}, "TS-EKS-020"),
        ({"access": [{"role": "Ml"}], "public_cidrs": ["0.0.0.0/0"]}, "TS-EKS-021"),
        ({"access": [{"role": "Ml"}], "public_cidrs": ["0.0.0.0/1", "128.0.0.0/1"]}, "TS-EKS-021"),
        ({"access": [{"role": "Ml"}], "version": "1.34"}, "TS-EKS-023"),
        ({"access": [{"role": "Ml"}]}, "TS-EKS-025"),
        (
            {"access": [{"role": "Ml", "policy": "cluster-admin", "namespace": "train"}]},
            "TS-EKS-025",
        ),
    ],
)
def test_its_rules_find_what_they_are_for(kubernetes: object, rule: str) -> None:
    administrator = {"role": "Operator", "policy": "cluster-admin"}
    sound = {"access": [{"role": "Ml"}, administrator], "public_cidrs": ["52.94.76.0/24"]}

    found = {each.rule for each in judge(planned(kubernetes=kubernetes))}
    none = {each.rule for each in judge(planned(kubernetes=sound))}

    assert rule in found
    assert not {each for each in none if each.startswith("TS-EKS")}


def test_more_nodes_than_a_group_may_have_are_found() -> None:
    def found(nodes: int) -> list[str]:
        instance = {"type": "trn1.32xlarge", "nodes": {"max": nodes}}
        ami = {"ami": "ami-0123456789abcdef0"}
        return [each.rule for each in judge(planned(instance={**instance, **ami}))]

    assert "TS-EKS-024" in found(451)
    assert "TS-EKS-024" not in found(450)


def test_gaudi_is_said_to_have_ended() -> None:
    found = {each.rule for each in judge(planned("dl1.24xlarge", region="us-west-2"))}

    assert "TS-EKS-022" in found
