"""A cluster of plain EC2 nodes planned."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from trainshed.catalogue import all_types, lookup, regions_offering
from trainshed.checks import judge
from trainshed.errors import TrainshedError
from trainshed.explain.cluster import explain
from trainshed.explain.picture import draw_node
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators.ec2.plan import Ec2Plan
from trainshed.plan import ClusterPlan, make_plan
from trainshed.ready_jobs import work_on
from trainshed.spec import ClusterSpec

Problems = Callable[..., list[str]]


def text(added: str = "", nodes: str = "max: 4", interfaces: str = "ec2") -> str:
    return (
        "name: Cluster1\nregion: us-west-2\norchestrator: ec2\n"
        f"instance: {{type: trn1.32xlarge, nodes: {{{nodes}}}, interfaces: {interfaces}}}\n"
        f"{added}\n"
    )


def planned(name: str = "trn1.32xlarge", **changes: object) -> ClusterPlan:
    fields = {
        "name": "Cluster1",
        "region": regions_offering(name)[0],
        "orchestrator": "ec2",
        "instance": {"type": name, "nodes": {"max": 1}, "ami": "ami-0123456789abcdef0"},
    }
    return make_plan(ClusterSpec.model_validate(fields | changes))


def ec2_of(plan: ClusterPlan) -> Ec2Plan:
    assert isinstance(plan.jobs, Ec2Plan)
    return plan.jobs


@pytest.mark.parametrize("name", all_types())
def test_every_type_makes_a_cluster_of_one_node(name: str) -> None:
    instance = lookup(name)

    plan = planned(name)

    assert sum(row.kind.has_efa for row in plan.interfaces) == instance.efa_interfaces_max
    assert plan.profile is InterfaceProfile.EC2
    assert plan.repository is None
    # A job has no interface of its own.
    assert "own interface" not in draw_node(plan)
    assert plan.addresses == sum(row.kind.takes_ip for row in plan.interfaces)
    # Names of interfaces differ between the distributions of the AMIs, and NCCL finds them.
    assert not [each for each in ec2_of(plan).environment if each.endswith("_IFNAME")]
    assert ("FI_EFA_USE_DEVICE_RDMA" in ec2_of(plan).environment) == (
        instance.efa_interfaces_max > 0
        and instance.efa_rdma
        and instance.accelerator.family in ("habana", "neuron")
    )


def test_it_has_amis_of_its_own_and_all_its_nodes_all_the_time() -> None:
    plan = planned(instance={"type": "trn1.32xlarge", "nodes": {"max": 4}})

    assert plan.ami.cell == "neuron/ec2"
    assert plan.ami.parameter == "/trainshed/ami/neuron/ec2/stable"
    assert (plan.nodes.min, plan.nodes.max) == (4, 4)
    assert explain(plan).nodes == "4 x trn1.32xlarge"
    assert explain(plan).stacks == ("Cluster1Prerequisites", "Cluster1Network", "Cluster1")


def test_variables_of_the_file_win_and_a_job_ends_before_run_command_ends_it() -> None:
    plan = planned(job={"environment": {"FI_PROVIDER": "sockets"}, "timeout_hours": 2})

    assert ec2_of(plan).environment["FI_PROVIDER"] == "sockets"
    assert ec2_of(plan).timeout_hours == 2
    assert ec2_of(planned()).timeout_hours == 48


def test_an_existing_network_needs_nothing_of_its_default_group() -> None:
    vpc = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}

    rules = [finding.rule for finding in judge(planned(network=vpc))]

    assert not {"TS-NET-001", "TS-NET-002"}.intersection(rules)


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        (
            text(nodes="min: 1, max: 4"),
            "a.yaml:4: instance.nodes.min: all 4 nodes of a cluster with orchestrator ec2 are "
            "there all the time; leave min out",
        ),
        (
            text("network: {cidr: 10.9.0.0/22}", nodes="max: 50", interfaces="combined"),
            "a.yaml:5: network.cidr: 10.9.0.0/22 gives the subnet 10.9.0.0/25 with 123 usable "
            "addresses, but 50 nodes x 8 (interfaces with an address) + 0 for endpoints and "
            "storage are 400; take 10.9.0.0/20",
        ),
        (
            text(nodes="max: 51"),
            "a.yaml:4: instance.nodes.max: is 51; a job on plain EC2 nodes is a command of Systems "
            "Manager, which takes at most 50 instances; ask for fewer, or use orchestrator batch",
        ),
        (
            text(
                "network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, "
                "default_security_group: sg-0123456789abcdef0}"
            ),
            "a.yaml:5: network.default_security_group: only multi-node jobs of AWS Batch use it, "
            "and orchestrator is ec2; leave it out",
        ),
        (
            text("image: {tag: v2}"),
            "a.yaml:5: image.tag: is for orchestrator batch: with ec2, jobs run on the nodes "
            "themselves, and once; leave it out",
        ),
        (text("image: {tga: v2}"), "a.yaml:5: image.tga: unknown key (allowed: none)"),
        (text("image: train"), "a.yaml:5: image: 'train' is not a mapping (its fields: none)"),
        (text("image:"), "a.yaml:5: image: is empty; leave the key out"),
        (
            text("job: {capacity_wait_hours: 3}"),
            "a.yaml:5: job.capacity_wait_hours: is for orchestrator batch: with ec2, jobs run on "
            "the nodes themselves, and once; leave it out",
        ),
        (
            text("job: {attempts: 2}"),
            "a.yaml:5: job.attempts: is for orchestrator batch: with ec2, jobs run on the nodes "
            "themselves, and once; leave it out",
        ),
        (
            text("job: {timeout_hours: 49}"),
            "a.yaml:5: job.timeout_hours: is 49; jobs on plain EC2 nodes are commands of Systems "
            "Manager, which ends them after 48 hours; take less, and let jobs resume from "
            "checkpoints",
        ),
    ],
)
def test_what_contradicts_it_is_refused(
    problems: Problems, description: str, expected: str
) -> None:
    assert problems(description) == [expected]


def test_a_spec_of_python_is_refused_alike() -> None:
    with pytest.raises(ValidationError, match=r"image\.repository"):
        planned(image={"repository": "mine"})


def test_ready_jobs_are_for_containers() -> None:
    with pytest.raises(TrainshedError, match="runs in our container images, and jobs of Cluster1"):
        work_on(planned(), "health", 1, {})
