"""One cluster planned: what contradicts AWS is reported, the rest is decided with a reason."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from batch_plans import batch_of

from trainshed.catalogue import all_types, lookup, regions_offering, with_efa_like
from trainshed.checks import judge
from trainshed.plan import ClusterPlan, make_plan
from trainshed.spec import ClusterSpec, SpecError

ROOT = Path(__file__).parents[2]

Problems = Callable[..., list[str]]
Planned = Callable[[str], ClusterPlan]


def text(
    type_: str = "trn1.32xlarge", region: str = "us-west-2", nodes: int = 2, added: str = ""
) -> str:
    head = f"name: Cluster1\nregion: {region}\ninstance: {{type: {type_}, nodes: {{max: {nodes}}}}}"
    return f"{head}\n{added}\n"


def failing(plan: ClusterPlan) -> list[str]:
    """Name the rules whose findings fail a check."""
    return [finding.rule for finding in judge(plan) if finding.fails]


LUSTRE = "storage: {{lustre: {{{}}}}}"


def scratch(type_: str, ebs: str) -> str:
    """A cluster of one node with scratch volumes of EBS."""
    return text(type_, nodes=1).replace("}}", f"}}, scratch: {{ebs: {{{ebs}}}}}}}")


def types(names: str) -> str:
    """A cluster of p4d with several types."""
    added = f"orchestrator: ec2\ncapacity: {{instance_types: [{names}]}}"
    return text("p4d.24xlarge", added=added)


def calendar(window: str, until: str = "2026-12-08T11:30Z") -> str:
    """A calendar of one window, of a block or a reservation."""
    return f"capacity: {{calendar: [{{{window}, from: 2026-12-01T11:30Z, until: {until}}}]}}"


WRONG = {
    "unknown type": (
        text("trn1.32xlarg"),
        "a.yaml:3: instance.type: instance type 'trn1.32xlarg' is not known; did you mean "
        "trn1.32xlarge? (all: trainshed catalogue list)",
    ),
    "no EFA": (
        text("trn1.2xlarge"),
        "a.yaml:3: instance.type: trn1.2xlarge has no EFA, and accelerators of "
        "neuron reach those of other nodes by EFA only; set nodes.max to 1, or take a type with "
        "EFA, for instance trn1.32xlarge",
    ),
    "not in the region": (
        text("trn1.32xlarge", "eu-north-1"),
        "a.yaml:2: region: trn1.32xlarge is not offered in eu-north-1 (offered in: ap-south-1, "
        "ap-southeast-2, ap-southeast-4, us-east-1, us-east-2, us-west-2)",
    ),
    "not in the zone": (
        text(added="zone: usw2-az2"),
        "a.yaml:4: zone: trn1.32xlarge is not offered in usw2-az2 (zones that do: usw2-az1, "
        "usw2-az4)",
    ),
    "unknown zone": (
        text(added="zone: usw2-az9"),
        "a.yaml:4: zone: 'usw2-az9' is not a zone of us-west-2; did you mean usw2-az4? (zones: "
        "usw2-az1, usw2-az2, usw2-az3, usw2-az4)",
    ),
    "zone of another region": (
        text(added="zone: us-west-2z"),
        "a.yaml:4: zone: 'us-west-2z' is not a zone name of us-west-2 (us-west-2a to us-west-2f)",
    ),
    "unknown region": (
        text(region="us-west2"),
        "a.yaml:2: region: 'us-west2' is not a region of the catalogue; did you mean us-west-2?",
    ),
    "variable of AWS Batch": (
        text(added='job:\n  environment:\n    A_B: x\n    AWS_BATCH_JOB_ID: "1"'),
        "a.yaml:7: job.environment.AWS_BATCH_JOB_ID: names that begin with AWS_BATCH are AWS "
        "Batch's own; rename it",
    ),
    "bucket within another": (
        text(
            added="job:\n  buckets:\n    - {bucket: my-runs, access: read-write}\n"
            "    - {bucket: my-runs, prefix: a/}"
        ),
        "a.yaml:7: job.buckets.1: gives nothing that job.buckets.0 does not give: read-write "
        "s3://my-runs/ has read s3://my-runs/a/ in it; leave one of them out",
    ),
    "bucket before a wider one": (
        text(
            added="job:\n  buckets:\n    - {bucket: my-runs, prefix: a/}\n    - {bucket: my-runs}"
        ),
        "a.yaml:6: job.buckets.0: gives nothing that job.buckets.1 does not give: read "
        "s3://my-runs/ has read s3://my-runs/a/ in it; leave one of them out",
    ),
    "bucket twice": (
        text(added="job: {buckets: [{bucket: my-runs}, {bucket: my-runs}]}"),
        "a.yaml:4: job.buckets.1: gives nothing that job.buckets.0 does not give: read "
        "s3://my-runs/ has read s3://my-runs/ in it; leave one of them out",
    ),
    "policy of another account": (
        text(
            added='account: "123456789012"\njob:\n  policies:\n'
            "    - arn:aws:iam::210987654321:policy/x"
        ),
        "a.yaml:7: job.policies.0: arn:aws:iam::210987654321:policy/x is of account 210987654321: "
        "IAM takes policies of the role's own account, 123456789012, and of AWS only; make one "
        "there",
    ),
    "policy of another partition": (
        text(added="job: {policies: ['arn:aws-cn:iam::aws:policy/x']}"),
        "a.yaml:4: job.policies.0: arn:aws-cn:iam::aws:policy/x is of the partition aws-cn; give "
        "one of aws",
    ),
    "image of another partition": (
        text(added="image: {uri: '123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/train:v1'}"),
        "a.yaml:4: image.uri: 123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/train:v1 is in "
        "AWS's China partition, and roles of other partitions cannot log in to its registries; "
        "copy the image to an ECR repository of this partition",
    ),
    "capacity block": (
        text("trn1n.32xlarge", added="capacity: {capacity_block: cr-01234567}"),
        "a.yaml:4: capacity.capacity_block: trn1n.32xlarge is not sold in Capacity Blocks (its "
        "usage classes: on-demand, spot)",
    ),
    "spot with AWS Batch": (
        text(added="capacity: {spot: {}}"),
        "a.yaml:4: capacity.spot: AWS Batch runs no multi-node jobs on Spot; set "
        "instance.nodes.max to 1, use orchestrator ec2 or eks, or buy on demand",
    ),
    "spot of a type that is not on it": (
        text("trn2u.48xlarge", "ap-south-2", added="orchestrator: ec2\ncapacity: {spot: {}}"),
        "a.yaml:5: capacity.spot: trn2u.48xlarge is not sold on Spot (its usage classes: "
        "capacity-block, on-demand)",
    ),
    "several types with AWS Batch": (
        text("p4d.24xlarge", added="capacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}"),
        "a.yaml:4: capacity.instance_types: a multi-node job definition of AWS Batch names one "
        "instance type, for all of its nodes; use orchestrator ec2 or eks",
    ),
    "another type that is first": (
        types("p4de.24xlarge, p4d.24xlarge"),
        "a.yaml:5: capacity.instance_types.0: is p4de.24xlarge, and instance.type is "
        "p4d.24xlarge: the first type is that of the cluster, from which interfaces are planned; "
        "write the same in both",
    ),
    "a type with other accelerators": (
        types("p4d.24xlarge, trn1.32xlarge"),
        "a.yaml:5: capacity.instance_types.1: trn1.32xlarge cannot be launched in place of "
        "p4d.24xlarge (maker of the accelerators: neuron, not nvidia; accelerators: 16, not 8; "
        "NeuronCores of each accelerator: 2, not 0; vCPUs: 128, not 96; network cards: 8, not 4; "
        "slots of the cards: 8 x 5, not 4 x 15; EFA interfaces: 8, not 4; EFA interfaces for "
        "Lustre: 2, not 0; quota: Running On-Demand Trn instances, not Running On-Demand P "
        "instances; quota on Spot: All Trn Spot Instance Requests, not All P4, P3 and P2 Spot "
        "Instance Requests)",
    ),
    "a type twice": (
        types("p4d.24xlarge, p4de.24xlarge, p4de.24xlarge"),
        "a.yaml:5: capacity.instance_types.2: names p4de.24xlarge twice; leave one out",
    ),
    "an unknown type among others": (
        types("p4d.24xlarge, p4df.24xlarge"),
        "a.yaml:5: capacity.instance_types.1: instance type 'p4df.24xlarge' is not known; did you "
        "mean p4d.24xlarge? (all: trainshed catalogue list)",
    ),
    "a type that the region does not have": (
        text(
            "p4de.24xlarge",
            "il-central-1",
            added="orchestrator: ec2\ncapacity: {instance_types: [p4de.24xlarge, p4d.24xlarge]}",
        ),
        "a.yaml:5: capacity.instance_types.1: p4d.24xlarge is not offered in il-central-1 (offered "
        "in: ap-northeast-1, ap-northeast-2, ap-south-1, ap-southeast-2, ca-central-1, "
        "eu-central-1, eu-north-1, eu-west-1, eu-west-2, sa-east-1, us-east-1, us-east-2, "
        "us-west-2)",
    ),
    "a type that the zone does not have": (
        text(
            "p5.48xlarge",
            added="orchestrator: ec2\ncapacity: {instance_types: [p5.48xlarge, p5e.48xlarge]}",
        ),
        "a.yaml:5: capacity.instance_types.1: p5e.48xlarge is not offered in usw2-az1 (zones that "
        "do: usw2-az3)",
    ),
    "a type that is not on Spot": (
        text(
            "trn2.48xlarge",
            "us-east-2",
            added="orchestrator: ec2\n"
            "capacity: {spot: {}, instance_types: [trn2.48xlarge, trn2u.48xlarge]}",
        ),
        "a.yaml:5: capacity.instance_types.1: trn2u.48xlarge is not sold on Spot (its usage "
        "classes: capacity-block, on-demand)",
    ),
    "a calendar of a type that is in no blocks": (
        text("trn1n.32xlarge", added=calendar("capacity_block: cr-01234567")),
        "a.yaml:4: capacity.calendar: trn1n.32xlarge is not sold in Capacity Blocks (its usage "
        "classes: on-demand, spot)",
    ),
    "a window longer than any block": (
        text(added=calendar("capacity_block: cr-01234567", until="2027-12-01T11:30Z")),
        "a.yaml:4: capacity.calendar.0.until: cr-01234567 lasts 8760 hours, and the longest "
        "Capacity Block 4368; give the times that EC2 shows",
    ),
    "a block that is over before its nodes come": (
        text(added=calendar("capacity_block: cr-01234567", until="2026-12-01T12:00Z")),
        "a.yaml:4: capacity.calendar.0.until: cr-01234567 lasts 30 minutes, and EC2 ends the nodes "
        "of a Capacity Block from 30 minutes before its end on: none would ever come; give the "
        "times that EC2 shows",
    ),
    "a calendar with plain EC2 nodes": (
        text(added="orchestrator: ec2\n" + calendar("capacity_block: cr-01234567")),
        "a.yaml:5: capacity.calendar: the nodes of a cluster with orchestrator ec2 are there all "
        "the time, and EC2 Auto Scaling may suspend a group whose launches fail for a day, as they "
        "do between windows; use orchestrator batch",
    ),
    "a calendar with EKS": (
        text(added="orchestrator: eks\n" + calendar("capacity_block: cr-01234567")),
        "a.yaml:5: capacity.calendar: a managed node group of EKS takes the id of one Capacity "
        "Block, before whose end EKS scales it to no nodes, and does not scale it back; use "
        "orchestrator batch",
    ),
    "a group of blocks with EKS": (
        text(
            added="orchestrator: eks\ncapacity: "
            "{capacity_block: 'arn:aws:resource-groups:us-west-2:123456789012:group/Blocks'}"
        ),
        "a.yaml:5: capacity.capacity_block: is a resource group; EKS rejects a node group whose "
        "launch template does not have the id of one Capacity Block (cr-...)",
    ),
    "a wait for capacity with a calendar": (
        text(
            added=calendar("reservation: cr-01234567") + "\njob: {capacity_wait_hours: 4}",
        ),
        "a.yaml:5: job.capacity_wait_hours: is for nodes on demand or of a reservation: jobs wait "
        "for the start of a Capacity Block or a window, which may be weeks ahead; leave it out",
    ),
    "a price of Spot below EC2's lowest": (
        text(added="orchestrator: ec2\ncapacity: {spot: {max_price: 0}}"),
        "a.yaml:5: capacity.spot.max_price: 0 is not allowed; it must be more than 0.001",
    ),
    "a price of Spot in words": (
        text(added="orchestrator: ec2\ncapacity: {spot: {max_price: cheap}}"),
        "a.yaml:5: capacity.spot.max_price: 'cheap' is not a number",
    ),
    "a price of Spot with EKS": (
        text(
            added="orchestrator: eks\nkubernetes: {access: [{role: Operator}]}\n"
            "capacity: {spot: {max_price: 4}}"
        ),
        "a.yaml:6: capacity.spot.max_price: is for orchestrator ec2: managed node groups of EKS "
        "take no price, and their nodes cost at most what they do on demand; leave it out",
    ),
    "a limit for jobs of a Capacity Block": (
        text(
            "p5.48xlarge",
            added="capacity: {capacity_block: cr-01234567}\njob: {capacity_wait_hours: 3}",
        ),
        "a.yaml:5: job.capacity_wait_hours: is for nodes on demand or of a reservation: jobs wait "
        "for the start of a Capacity Block or a window, which may be weeks ahead; leave it out",
    ),
    "public CIDR": (
        text(added="network: {cidr: 8.8.0.0/16}"),
        "a.yaml:4: network.cidr: 8.8.0.0/16 is not allowed; did you mean 10.20.0.0/16? (allowed: "
        "a private range from /16 to /22)",
    ),
    "loopback CIDR": (
        text(added="network: {cidr: 127.0.0.0/16}"),
        "a.yaml:4: network.cidr: 127.0.0.0/16 is not allowed; did you mean 10.20.0.0/16? "
        "(allowed: a private range from /16 to /22)",
    ),
    "CIDR too large": (
        text(added="network: {cidr: 10.0.0.0/8}"),
        "a.yaml:4: network.cidr: 10.0.0.0/8 is not allowed; did you mean 10.0.0.0/16? (allowed: "
        "a private range from /16 to /22)",
    ),
    "CIDR too small": (
        text(added="network: {cidr: 10.9.1.0/24}"),
        "a.yaml:4: network.cidr: 10.9.1.0/24 is not allowed; did you mean 10.9.0.0/22? (allowed: "
        "a private range from /16 to /22)",
    ),
    "subnet too small": (
        text(nodes=100, added="network: {cidr: 10.9.0.0/22}"),
        "a.yaml:4: network.cidr: 10.9.0.0/22 gives the subnet 10.9.0.0/25 with 123 usable "
        "addresses, but 100 nodes x 2 (interfaces with an address, and the job's own) + 0 for "
        "endpoints and storage are 200; take 10.9.0.0/21",
    ),
    "Lustre size": (
        text(added=LUSTRE.format("capacity_gib: 3000")),
        "a.yaml:4: storage.lustre.capacity_gib: 3000 GiB is not allowed; did you mean 2400? "
        "(allowed: multiples of 2400, or 1200)",
    ),
    "Lustre throughput": (
        text(added=LUSTRE.format("throughput: 300")),
        "a.yaml:4: storage.lustre.throughput: 300 MB/s per TiB is not allowed; did you mean 250? "
        "(allowed: 125, 250, 500, 1000)",
    ),
    "Lustre metadata": (
        text(added=LUSTRE.format("metadata_iops: 5000")),
        "a.yaml:4: storage.lustre.metadata_iops: 5000 is not allowed; did you mean 6000? "
        "(allowed: 1500, 3000, 6000, 12000, then steps of 12000 to 192000)",
    ),
    "EBS beside an instance store": (
        scratch("trn1.32xlarge", "gib: 100"),
        "a.yaml:3: instance.scratch: trn1.32xlarge has an instance store of 7600 GB, which is "
        "/scratch; leave it out",
    ),
    "EBS faster than the type": (
        scratch("p3.16xlarge", "gib: 2000, throughput: 1669"),
        "a.yaml:3: instance.scratch.ebs.throughput: 1669 is not allowed: p3.16xlarge moves 1668 "
        "MiB/s to and from all of its volumes (14000 Mbps); give 1668 or less",
    ),
    "EBS with too few IOPS for its throughput": (
        scratch("p3.16xlarge", "gib: 2000, iops: 3999, throughput: 1000"),
        "a.yaml:3: instance.scratch.ebs.throughput: 1000 is not allowed: gp3 has 0.25 MiB/s for "
        "each IOPS at most; give 999 or less, or iops of 4000 or more",
    ),
    "EBS too small for its IOPS": (
        scratch("p3.16xlarge", "gib: 10, iops: 5001"),
        "a.yaml:3: instance.scratch.ebs.iops: 5001 is not allowed: gp3 has 500 IOPS for each GiB "
        "at most, 5000 for 10; give 5000 or less, or gib of 11 or more",
    ),
    "EBS too small for its throughput": (
        scratch("p3.16xlarge", "gib: 8, throughput: 1001"),
        "a.yaml:3: instance.scratch.ebs.throughput: 1001 is not allowed: it needs 4004 IOPS, and "
        "gp3 has 500 IOPS for each GiB at most, 4000 for 8; give 1000 or less, or gib of 9 or more",
    ),
    "EBS with fewer IOPS than gp3 has": (
        scratch("p3.16xlarge", "gib: 10, iops: 2999"),
        "a.yaml:3: instance.scratch.ebs.iops: 2999 is not allowed: each volume of gp3 has 3000; "
        "give that or more, or leave it out",
    ),
    "EBS larger than all volumes of a node": (
        scratch("p3.16xlarge", "gib: 720897"),
        "a.yaml:3: instance.scratch.ebs.gib: 720897 is not allowed: 11 volumes, the most of a "
        "node, have 720896; give that or less",
    ),
    "io2 with more IOPS than all volumes of a node": (
        scratch("p3.16xlarge", "gib: 2000, type: io2, iops: 352001"),
        "a.yaml:3: instance.scratch.ebs.iops: 352001 is not allowed: 11 volumes, the most of a "
        "node, have 352000; give that or less",
    ),
    "io2 smaller than a volume": (
        scratch("p3.16xlarge", "gib: 3, type: io2, iops: 100"),
        "a.yaml:3: instance.scratch.ebs.gib: 3 is not allowed: a volume of io2 has 4 GiB at least",
    ),
    "scratch throughput": (
        text(added=LUSTRE.format("deployment: scratch-2, throughput: 250")),
        "a.yaml:4: storage.lustre.throughput: 250 is not allowed: scratch-2 has 200 MB/s per TiB, "
        "always",
    ),
    "scratch metadata": (
        text(added=LUSTRE.format("deployment: scratch-2, metadata_iops: 1500")),
        "a.yaml:4: storage.lustre.metadata_iops: only persistent-2 takes metadata IOPS",
    ),
    "EFA to scratch": (
        text(added=LUSTRE.format("deployment: scratch-2, efa: true")),
        "a.yaml:4: storage.lustre.efa: only persistent-2 can be reached over EFA",
    ),
    "EFA to Lustre from Nitro v3": (
        text("p4d.24xlarge", added=LUSTRE.format("efa: true, capacity_gib: 19200")),
        "a.yaml:4: storage.lustre.efa: p4d.24xlarge cannot use EFA-enabled Lustre: clients are "
        "EFA types of Nitro v4 or later, without trn2; set efa to false",
    ),
    "EFA Lustre size": (
        text(added=LUSTRE.format("efa: true, capacity_gib: 2400, throughput: 1000")),
        "a.yaml:4: storage.lustre.capacity_gib: 2400 GiB is not allowed over EFA at 1000 MB/s per "
        "TiB; did you mean 4800? (allowed: multiples of 4800)",
    ),
    "AMI id": (
        text().replace("}}", "}, ami: ami-12}"),
        "a.yaml:3: instance.ami: 'ami-12' is not an AMI id (ami- and 8 or 17 hex digits)",
    ),
    "channel": (
        text().replace("}}", "}, ami: Stable}"),
        "a.yaml:3: instance.ami: 'Stable' is not allowed (allowed: a channel like stable, an "
        "SSM parameter /..., either with a version like stable:7, or an AMI id)",
    ),
    "version of a channel": (
        text().replace("}}", "}, ami: 'stable:07'}"),
        "a.yaml:3: instance.ami: 'stable:07' is not allowed: after the colon comes a version of "
        "the SSM parameter, a whole number from 1, for instance stable:7",
    ),
    "label of a parameter": (
        text().replace("}}", "}, ami: '/ours/ami:latest'}"),
        "a.yaml:3: instance.ami: '/ours/ami:latest' is not allowed: after the colon comes a "
        "version of the SSM parameter, a whole number from 1, for instance /ours/ami:7",
    ),
    "version of an AMI id": (
        text().replace("}}", "}, ami: 'ami-12345678:7'}"),
        "a.yaml:3: instance.ami: 'ami-12345678:7' is not an AMI id (ami- and 8 or 17 hex digits)",
    ),
    "name of a parameter": (
        text().replace("}}", "}, ami: /ours//ami}"),
        "a.yaml:3: instance.ami: '/ours//ami' is not the name of an SSM parameter (letters, digits "
        "and . _ -, in levels that each begin with /)",
    ),
    "channel of another maker": (
        text("dl2q.24xlarge"),
        "a.yaml:3: instance.ami: there is no 'stable' AMI for dl2q.24xlarge (qualcomm, x86_64): "
        "ours are x86_64, for habana, neuron, nvidia; give an AMI id or an SSM parameter",
    ),
    "no image for this architecture": (
        text("g5g.xlarge", nodes=1),
        "a.yaml:3: instance.ami: there is no 'stable' AMI for g5g.xlarge (nvidia, arm64): ours "
        "are x86_64, for habana, neuron, nvidia; give an AMI id or an SSM parameter",
    ),
    "shared memory": (
        text(added="job: {shared_memory_gib: 5000}"),
        "a.yaml:4: job.shared_memory_gib: 5000 GiB is more than the container's memory, 463 GiB "
        "on trn1.32xlarge",
    ),
    "a profile that fills card 0": (
        text("p5.48xlarge").replace("}}", "}, interfaces: ec2}"),
        "a.yaml:3: instance.interfaces: this profile fills all 2 slots of network card 0 of "
        "p5.48xlarge, so that the awsvpc interface of a multi-node parallel job has none; use "
        "batch-mnp",
    ),
}


@pytest.mark.parametrize(("given", "line"), WRONG.values(), ids=WRONG)
def test_what_contradicts_aws_is_reported_in_one_line(
    problems: Problems, given: str, line: str
) -> None:
    assert problems(given) == [line]


@pytest.mark.parametrize(
    ("type_name", "nodes", "interfaces", "decision"),
    [
        ("p5.48xlarge", 4, 8, "8 of 32 EFA interfaces"),
        ("p5en.48xlarge", 4, 8, "8 of 16 EFA interfaces"),
        ("p6-b300.48xlarge", 4, 16, "16 of 16 EFA interfaces"),
        ("trn1.32xlarge", 4, 2, "2 of 8 EFA interfaces"),
        ("g6.8xlarge", 4, 1, "1 of 1 EFA interfaces"),
        ("p5.48xlarge", 300, 3, "3 of 32 EFA interfaces"),
        ("p5.48xlarge", 1000, 1, "1 of 32 EFA interfaces"),
    ],
)
def test_lustre_uses_as_many_efa_interfaces_as_the_type_and_the_file_system_allow(
    planned: Planned, type_name: str, nodes: int, interfaces: int, decision: str
) -> None:
    plan = planned(
        text(
            type_name,
            nodes=nodes,
            added=LUSTRE.format("efa: true, capacity_gib: 19200")
            + "\nnetwork: {cidr: 10.0.0.0/16}\n",
        )
    )

    [made] = [each for each in plan.decisions if each.field == "Lustre over EFA"]
    assert plan.lustre_efa_interfaces == interfaces
    assert made.value == decision
    assert nodes * interfaces <= 1024
    assert (f"not 8: {nodes} nodes" in made.reason) is (nodes > 128)


def test_lustre_over_tcp_uses_no_efa_interfaces(planned: Planned) -> None:
    plan = planned(text(added=LUSTRE.format("capacity_gib: 1200")))

    assert plan.lustre_efa_interfaces == 0
    assert "Lustre over EFA" not in [each.field for each in plan.decisions]


def test_a_cluster_that_no_vpc_holds_is_reported_so(problems: Problems) -> None:
    given = text("p5.48xlarge", nodes=300, added="network: {cidr: 10.9.0.0/16}")
    (line,) = problems(given.replace("}}", "}, interfaces: combined}"))

    assert "300 nodes x 33" in line
    assert line.endswith(
        "take fewer nodes, or a profile with efa-only interfaces: no VPC is large enough"
    )


def test_a_region_like_no_other_is_reported_with_all_of_them(problems: Problems) -> None:
    (line,) = problems(text(region="mars"))

    assert "'mars' is not a region of the catalogue (its regions: af-south-1, ap-east-1," in line


def test_no_region_at_all_is_reported() -> None:
    spec = ClusterSpec.model_validate({"name": "Cluster1", "instance": {"type": "trn1.32xlarge"}})

    with pytest.raises(SpecError, match=r"region: is not given; give it here, or set AWS_REGION"):
        make_plan(spec)


def test_a_type_that_the_region_of_the_environment_lacks_is_reported_at_the_type() -> None:
    spec = ClusterSpec.model_validate({"name": "Cluster1", "instance": {"type": "trn1.32xlarge"}})

    with pytest.raises(SpecError, match=r"instance.type: trn1.32xlarge is not offered in eu-we"):
        make_plan(spec, region="eu-west-1")


def test_the_spec_wins_over_the_environment() -> None:
    spec = ClusterSpec.model_validate(
        {
            "name": "Cluster1",
            "account": "111122223333",
            "region": "us-west-2",
            "instance": {"type": "trn1.32xlarge"},
        }
    )

    plan = make_plan(spec, account="444455556666", region="us-east-1")

    assert (plan.account, plan.region, plan.zone.name) == (
        "111122223333",
        "us-west-2",
        "usw2-az1",
    )


def test_problems_of_every_part_are_reported_together(problems: Problems) -> None:
    lines = problems(
        text("trn1.2xlarge", added="capacity: {capacity_block: cr-01234567}")
        + "network: {cidr: 8.8.0.0/16}\n"
        + "storage: {lustre: {throughput: 1}}\njob: {shared_memory_gib: 5000}\n"
    )

    assert [line.split(": ")[1] for line in lines] == [
        "instance.type",
        "network.cidr",
        "storage.lustre.throughput",
        "capacity.capacity_block",
        "job.shared_memory_gib",
    ]


def test_an_unknown_type_does_not_hide_what_else_is_wrong(problems: Problems) -> None:
    lines = problems(text("trn9.32xlarge", added="network: {cidr: 8.8.0.0/16}\nzone: usw2-az9"))

    assert [line.split(": ")[1] for line in lines] == ["instance.type", "zone", "network.cidr"]


@pytest.mark.parametrize("name", ["dl1.24xlarge", "p3.16xlarge"])
def test_a_withdrawn_type_is_planned_with_a_warning(planned: Planned, name: str) -> None:
    plan = planned(text(name, nodes=1))

    (finding,) = [each for each in judge(plan) if each.rule == "TS-LIF-001"]
    assert f"the EC2 API has not listed {name} since 2026-" in finding.message
    assert "it may not launch" in finding.message
    assert finding.remedy.startswith("use ")


WITHOUT_EFA = [name for name in all_types() if not lookup(name).efa_interfaces_max]


@pytest.mark.parametrize("name", WITHOUT_EFA)
def test_the_type_with_efa_that_is_named_is_like_it_and_offered_where_the_cluster_is(
    name: str,
) -> None:
    for region in regions_offering(name):
        near = with_efa_like(lookup(name), region)

        assert near.efa_interfaces_max
        assert region in regions_offering(near.name)
        assert near.accelerator.family is lookup(name).accelerator.family


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("p3.16xlarge", "p4d.24xlarge"),
        ("g5.xlarge", "g5.8xlarge"),
        ("g6e.4xlarge", "g6e.8xlarge"),
        ("trn1.2xlarge", "trn1.32xlarge"),
    ],
)
def test_the_type_with_efa_that_is_named_is_of_the_same_maker_and_size(
    name: str, near: str
) -> None:
    assert with_efa_like(lookup(name), "us-west-2").name == near


def test_nodes_without_efa_work_together_over_tcp(planned: Planned) -> None:
    plan = planned(text("p3.16xlarge", nodes=8))
    (finding,) = [each for each in judge(plan) if each.rule == "TS-EFA-014"]
    container = batch_of(plan).container

    assert plan.capacity.own_placement_group
    assert plan.devices == {"nvidia": 8}
    assert container.devices == ()
    assert container.environment["NCCL_NET"] == "Socket"
    assert container.environment["NCCL_SOCKET_IFNAME"] == "^lo,docker,ecs"
    assert not [name for name in container.environment if name.startswith("FI_")]
    assert finding.fails
    assert "what 8 nodes exchange goes over TCP, at most 25 Gbps for each node" in finding.message
    assert "p4d.24xlarge with 400 Gbps" in finding.remedy


def test_one_node_with_efa_has_a_placement_group(planned: Planned) -> None:
    assert planned(text("p4d.24xlarge", nodes=1)).capacity.own_placement_group


def test_one_node_without_efa_needs_no_network(planned: Planned) -> None:
    plan = planned(text("p3.16xlarge", nodes=1))

    assert not plan.capacity.own_placement_group
    assert "NCCL_NET" not in batch_of(plan).container.environment
    assert "TS-EFA-014" not in [finding.rule for finding in judge(plan)]


def test_a_replacement_that_the_region_lacks_is_reported_with_its_regions(planned: Planned) -> None:
    lines = text("p3.2xlarge", nodes=1).replace("us-west-2", "eu-west-1")

    (finding,) = [each for each in judge(planned(lines)) if each.rule == "TS-LIF-001"]

    assert finding.remedy.startswith("use g6e.2xlarge, which eu-west-1 does not offer (offered in:")


@pytest.mark.parametrize(
    "capacity",
    ["{capacity_block: cr-01234567}", "{reservation: cr-01234567, placement_group: ours}"],
)
def test_reserved_capacity_in_a_zone_that_was_asked_for_is_not_doubted(
    planned: Planned, capacity: str
) -> None:
    plan = planned(text(added=f"zone: usw2-az4\ncapacity: {capacity}"))

    assert failing(plan) == []


def test_a_type_that_is_sold_has_no_findings(planned: Planned) -> None:
    assert failing(planned(text())) == []


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        ("zone: us-west-2a", "TS-ZON-001"),
        ("capacity: {capacity_block: cr-01234567}", "TS-ZON-002"),
        ("capacity: {reservation: cr-01234567, placement_group: ours}", "TS-ZON-002"),
        ("zone: usw2-az4\nnetwork: {vpc: vpc-01234567, subnet: subnet-01234567}", "TS-NET-001"),
        (
            "zone: usw2-az4\nnetwork: {vpc: vpc-01234567, subnet: subnet-01234567, "
            "default_security_group: sg-01234567}",
            "TS-NET-002",
        ),
        ("job: {timeout_hours: 200}", "TS-JOB-001"),
    ],
)
def test_what_is_doubtful_is_a_finding(planned: Planned, added: str, rule: str) -> None:
    assert failing(planned(text(added=added))) == [rule]


def test_an_existing_subnet_leaves_its_zone_in_doubt(planned: Planned) -> None:
    plan = planned(text(added="network: {vpc: vpc-01234567, subnet: subnet-01234567}"))

    assert "TS-ZON-002" in [finding.rule for finding in judge(plan)]


def test_what_is_added_to_a_default_group_is_a_decision_with_its_reason(planned: Planned) -> None:
    network = "{vpc: vpc-01234567, subnet: subnet-01234567, default_security_group: sg-01234567}"

    plan = planned(text(added=f"network: {network}"))

    [decision] = [each for each in plan.decisions if each.field == "default security group"]
    assert decision.value == ("sg-01234567: all traffic between its members, TCP 443 to anywhere")
    assert "what it allows already stays as it is" in decision.reason


def test_a_public_ecs_image_is_taken_with_a_warning(planned: Planned) -> None:
    name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"

    plan = planned(text().replace("}}", f"}}, ami: {name}}}"))

    assert plan.ami.parameter == name
    assert failing(plan) == ["TS-AMI-001"]


@pytest.mark.parametrize(
    ("asked", "parameter", "version", "value"),
    [
        ("stable", "/trainshed/ami/neuron/ecs/stable", None, "/trainshed/ami/neuron/ecs/stable"),
        ("stable:7", "/trainshed/ami/neuron/ecs/stable", 7, "/trainshed/ami/neuron/ecs/stable:7"),
        ("/ours/ami", "/ours/ami", None, "/ours/ami"),
        ("/ours/ami:12", "/ours/ami", 12, "/ours/ami:12"),
    ],
)
def test_an_image_is_taken_at_a_version_or_as_it_is_at_first(
    planned: Planned, asked: str, parameter: str, version: int | None, value: str
) -> None:
    plan = planned(text().replace("}}", f"}}, ami: '{asked}'}}"))

    [decision] = [each for each in plan.decisions if each.field == "ami"]
    assert (plan.ami.parameter, plan.ami.version) == (parameter, version)
    assert decision.value == value
    stays = "at the first deployment stays until instance.ami changes" in decision.reason
    assert stays is (version is None)


@pytest.mark.parametrize(
    ("type_name", "ami", "remedy"),
    [
        pytest.param(
            "trn1.32xlarge",
            "stable:7",
            "bake an AMI and publish it:\n"
            "  trainshed ami build neuron ecs --region us-west-2\n"
            "  trainshed ami publish build/neuron-ecs/manifest.json --channel stable",
            id="channel",
        ),
        pytest.param(
            "p4d.24xlarge",
            "/trainshed/ami/nvidia/ecs/candidate",
            "bake an AMI and publish it:\n"
            "  trainshed ami build nvidia ecs --region us-west-2\n"
            "  trainshed ami publish build/nvidia-ecs/manifest.json --channel candidate",
            id="channel-by-its-parameter",
        ),
        pytest.param(
            "p3dn.24xlarge",
            "volta",
            "bake an AMI and publish it:\n"
            "  trainshed ami build nvidia ecs --region us-west-2 --var nvidia_driver=proprietary\n"
            "  trainshed ami publish build/nvidia-ecs/manifest.json --channel volta",
            id="V100",
        ),
        pytest.param(
            "p3dn.24xlarge",
            "stable",
            "bake an AMI and publish it, and give instance.ami: v100:\n"
            "  trainshed ami build nvidia ecs --region us-west-2 --var nvidia_driver=proprietary\n"
            "  trainshed ami publish build/nvidia-ecs/manifest.json --channel v100",
            id="V100-leaves-the-default-channel-to-others",
        ),
        pytest.param(
            "trn1.32xlarge",
            "/trainshed/ami/nvidia/ecs/candidate",
            "name another AMI in instance.ami; or leave it out, bake an AMI and publish it:\n"
            "  trainshed ami build neuron ecs --region us-west-2\n"
            "  trainshed ami publish build/neuron-ecs/manifest.json --channel stable",
            id="channel-of-another-cell",
        ),
        pytest.param(
            "dl2q.24xlarge", "/ours/ami", "name another AMI in instance.ami", id="not-of-ours"
        ),
    ],
)
def test_the_remedy_for_a_missing_ami_is_the_commands_that_make_it(
    planned: Planned, type_name: str, ami: str, remedy: str
) -> None:
    plan = planned(text(type_name).replace("}}", f"}}, ami: '{ami}'}}", 1))

    assert plan.ami.remedy == remedy


@pytest.mark.parametrize(
    ("type_name", "ami", "rules"),
    [
        pytest.param("p3dn.24xlarge", "stable", ["TS-AMI-003"], id="V100"),
        pytest.param("p3dn.24xlarge", "stable:3", ["TS-AMI-003"], id="V100 at a version"),
        pytest.param("p3dn.24xlarge", "volta", [], id="V100 with a channel of its own"),
        pytest.param("p4d.24xlarge", "stable", [], id="A100"),
    ],
)
def test_v100_lacks_its_driver_in_the_images_of_other_nvidia_types(
    planned: Planned, type_name: str, ami: str, rules: list[str]
) -> None:
    plan = planned(text(type_name).replace("}}", f"}}, ami: '{ami}'}}", 1))

    assert failing(plan) == rules


@pytest.mark.parametrize(
    ("ami", "storage", "rules"),
    [
        pytest.param("ami-12345678", True, ["TS-AMI-002"], id="an id"),
        pytest.param("/ours/ami:3", True, ["TS-AMI-002"], id="a parameter"),
        pytest.param("/trainshed/ami/neuron/ecs/candidate", True, [], id="a channel by its name"),
        pytest.param("candidate:3", True, [], id="a channel"),
        pytest.param("ami-12345678", False, [], id="nothing to mount"),
    ],
)
def test_an_image_that_is_not_ours_is_doubtful_where_lustre_is_mounted(
    planned: Planned, ami: str, storage: bool, rules: list[str]
) -> None:
    lustre = "storage: {lustre: {}}" if storage else ""

    plan = planned(text(added=lustre).replace("}}", f"}}, ami: '{ami}'}}", 1))

    assert failing(plan) == rules


@pytest.mark.parametrize(
    ("name", "cell", "image_type", "root_device"),
    [
        ("trn1.32xlarge", "neuron/ecs", "ECS_AL2023", "/dev/xvda"),
        ("dl1.24xlarge", "habana/ecs", "ECS_AL2023", "/dev/sda1"),
        ("p4d.24xlarge", "nvidia/ecs", "ECS_AL2023_NVIDIA", "/dev/xvda"),
        ("p3dn.24xlarge", "nvidia/ecs", "ECS_AL2023", "/dev/xvda"),
    ],
)
def test_the_image_follows_the_accelerator(
    planned: Planned, name: str, cell: str, image_type: str, root_device: str
) -> None:
    ami = planned(text(name)).ami

    assert ami.cell == cell
    assert (ami.parameter, batch_of(planned(text(name))).image_type) == (
        f"/trainshed/ami/{cell}/stable",
        image_type,
    )
    assert ami.root_device == root_device


@pytest.mark.parametrize("name", ["trn1.32xlarge", "dl1.24xlarge", "p4d.24xlarge"])
def test_the_root_device_is_that_of_the_image_that_is_baked(planned: Planned, name: str) -> None:
    plan = planned(text(name))
    bases = json.loads((ROOT / "packer" / "pins.json").read_text(encoding="utf-8"))["bases"]

    devices = {
        base["root_device"]
        for base in bases.values()
        if plan.instance.accelerator.family in base["accelerators"] and "ecs" in base["source_amis"]
    }
    assert devices == {plan.ami.root_device}


def test_the_root_device_is_that_of_a_projects_own_packer_folder(
    planned: Planned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = json.loads((ROOT / "packer" / "pins.json").read_text(encoding="utf-8"))
    pins["bases"]["ubuntu-22.04"]["root_device"] = "/dev/own"
    (tmp_path / "packer").mkdir()
    (tmp_path / "packer" / "pins.json").write_text(json.dumps(pins), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert planned(text("dl1.24xlarge")).ami.root_device == "/dev/own"


@pytest.mark.parametrize(
    ("name", "gpus", "uverbs", "neuron", "variable"),
    [
        ("trn1.32xlarge", 0, 8, 16, ("FI_PROVIDER", "efa")),
        ("p4d.24xlarge", 8, 4, 0, ("NCCL_SOCKET_IFNAME", "^lo,docker,ecs")),
        ("dl1.24xlarge", 0, 4, 0, ("RDMAV_FORK_SAFE", "1")),
        ("p5.48xlarge", 8, 32, 0, ("NCCL_SOCKET_IFNAME", "^lo,docker,ecs")),
    ],
)
def test_the_container_gets_the_devices_and_variables_of_its_accelerator(
    planned: Planned, name: str, gpus: int, uverbs: int, neuron: int, variable: tuple[str, str]
) -> None:
    container = batch_of(planned(text(name))).container

    assert container.gpus == gpus
    assert [d for d in container.devices if "uverbs" in d] == [
        f"/dev/infiniband/uverbs{index}" for index in range(uverbs)
    ]
    assert sum("neuron" in device for device in container.devices) == neuron
    assert variable in container.environment.items()


@pytest.mark.parametrize(
    ("name", "added", "throughput", "iops", "reason"),
    [
        ("p5.48xlarge", "", 1000, 4000, "each node pulls the container image and unpacks it there"),
        ("g6.4xlarge", "", 953, 3812, "; g6.4xlarge has 8000 Mbps for EBS"),
        ("g5.xlarge", "", 125, 3000, "; g5.xlarge has 700 Mbps for EBS"),
        ("p5.48xlarge", "orchestrator: ec2", 125, 3000, "nodes pull no container image"),
    ],
)
def test_the_root_volume_is_as_fast_as_pulling_a_large_image_needs(
    planned: Planned, name: str, added: str, throughput: int, iops: int, reason: str
) -> None:
    plan = planned(text(name, nodes=1, added=added))

    assert (plan.root_volume.throughput, plan.root_volume.iops) == (throughput, iops)
    [decided] = [each for each in plan.decisions if each.field == "root volume speed"]
    assert decided.value == f"{throughput} MiB/s, {iops} IOPS"
    assert decided.reason.endswith(reason)


def test_what_nodes_change_of_a_file_system_that_is_there_is_reported(planned: Planned) -> None:
    plan = planned(text(added="storage: {lustre: {existing: fs-0123456789abcdef0}}"))

    [decision] = [each for each in plan.decisions if each.field == "file system"]
    assert "let every user write to its root (mode 1777)" in decision.reason


@pytest.mark.parametrize(
    ("name", "storage", "folders", "decided"),
    [
        ("p5.48xlarge", "", {"scratch": "/scratch"}, "/scratch, 30400 GB"),
        (
            "dl1.24xlarge",
            "storage: {lustre: {mount: /data}}",
            {"lustre": "/data", "scratch": "/scratch"},
            "/scratch, 4000 GB",
        ),
        ("p3.8xlarge", "storage: {lustre: {}}", {"lustre": "/fsx"}, "none"),
    ],
)
def test_the_container_sees_the_file_system_and_the_instance_store(
    planned: Planned, name: str, storage: str, folders: dict[str, str], decided: str
) -> None:
    plan = planned(text(name, nodes=1, added=storage))

    assert batch_of(plan).container.folders == {**folders, "unfit": "/run/trainshed/unfit"}
    assert {each.field: each.value for each in plan.decisions}["scratch space"] == decided


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("trn1.32xlarge", ("CCOM_SOCKET_IFNAME", "eth0")),
        ("trn2.48xlarge", ("CCOM_SOCKET_IFNAME", "eth0")),
        ("dl1.24xlarge", ("HCCL_SOCKET_IFNAME", "eth0")),
        ("p5.48xlarge", ("NCCL_SOCKET_IFNAME", "^lo,docker,ecs")),
    ],
)
def test_collectives_keep_off_the_interface_that_ecs_adds(
    planned: Planned, name: str, variable: tuple[str, str]
) -> None:
    region = "us-east-2" if name.startswith("trn2") else "us-west-2"

    container = batch_of(planned(text(name, region))).container

    assert variable in container.environment.items()


@pytest.mark.parametrize(
    ("name", "ami", "warned"),
    [
        pytest.param("p6-b200.48xlarge", "ami-0123abcd", True, id="b200-any-image"),
        pytest.param("p6-b200.48xlarge", "/mine/ami", True, id="b200-any-parameter"),
        pytest.param("p6-b200.48xlarge", "stable", False, id="b200-our-channel"),
        pytest.param("p5.48xlarge", "ami-0123abcd", False, id="a-type-with-efa-only"),
    ],
)
def test_an_image_that_may_not_put_efa_first_is_doubtful_where_there_are_other_devices(
    planned: Planned, name: str, ami: str, warned: bool
) -> None:
    plan = planned(text(name).replace(f"type: {name}", f"type: {name}, ami: {ami}"))

    assert ("TS-EFA-001" in [finding.rule for finding in judge(plan)]) == warned


def test_only_gaudi_gets_the_fork_safe_variable(planned: Planned) -> None:
    for name in ("trn1.32xlarge", "p4d.24xlarge", "p5.48xlarge"):
        assert "RDMAV_FORK_SAFE" not in batch_of(planned(text(name))).container.environment


def test_a_device_without_rdma_is_not_reported_to_use_it(planned: Planned) -> None:
    container = batch_of(planned(text("inf1.24xlarge"))).container

    assert container.environment["FI_PROVIDER"] == "efa"
    assert "FI_EFA_USE_DEVICE_RDMA" not in container.environment


def test_the_users_variables_win(planned: Planned) -> None:
    plan = planned(text(added="job: {environment: {FI_PROVIDER: sockets}}"))

    assert batch_of(plan).container.environment["FI_PROVIDER"] == "sockets"


def test_memory_leaves_room_for_the_kernel_and_ecs(planned: Planned) -> None:
    container = batch_of(planned(text())).container

    assert container.memory_mib == int(512 * 1024 * 0.925) - 5128 * 2
    assert container.shared_memory_mib == container.memory_mib // 8


@pytest.mark.parametrize(
    ("added", "own", "name"),
    [
        ("", True, None),
        ("capacity: {capacity_block: cr-01234567}", False, None),
        ("capacity: {reservation: cr-01234567}", False, None),
        ("capacity: {reservation: cr-01234567, placement_group: pg}", False, "pg"),
    ],
)
def test_a_placement_group_is_made_only_where_none_comes_with_the_capacity(
    planned: Planned, added: str, own: bool, name: str | None
) -> None:
    capacity = planned(text("p5.48xlarge", added=added)).capacity

    assert (capacity.own_placement_group, capacity.placement_group_name) == (own, name)


@pytest.mark.parametrize(
    ("added", "hours"),
    [
        ("", 2),
        ("job: {capacity_wait_hours: 24}", 24),
        ("capacity: {reservation: cr-01234567}", 2),
        ("capacity: {capacity_block: cr-01234567}", None),
    ],
)
def test_a_job_waits_two_hours_for_capacity_and_for_a_block_as_long_as_it_takes(
    planned: Planned, added: str, hours: int | None
) -> None:
    plan = planned(text("p5.48xlarge", added=added))

    told = [each.value for each in plan.decisions if each.field == "wait for capacity"]
    assert batch_of(plan).capacity_wait_hours == hours
    assert told == ([f"{hours} hours"] if hours else [])


def test_addresses_count_the_jobs_own_interface(planned: Planned) -> None:
    split = planned(text(nodes=16))
    combined = planned(text(nodes=16).replace("}}", "}, interfaces: combined}"))

    assert (split.addresses_per_node, split.addresses) == (2, 32)
    assert (combined.addresses_per_node, combined.addresses) == (9, 144)


def test_a_wider_bucket_to_read_and_a_prefix_to_write_are_two_things(planned: Planned) -> None:
    added = (
        "job: {buckets: [{bucket: d, access: read}, {bucket: d, prefix: o/, access: read-write}]}"
    )

    plan = planned(text(added=added.replace("bucket: d", "bucket: my-data")))

    decisions = {decision.field: decision.value for decision in plan.decisions}
    assert decisions["buckets of jobs"] == "read s3://my-data/, read-write s3://my-data/o/"


@pytest.mark.parametrize(
    ("uri", "ecr"),
    [
        pytest.param(
            "210987654321.dkr.ecr.eu-west-1.amazonaws.com/team/train:v1",
            ("210987654321", "eu-west-1", "team/train"),
            id="ecr",
        ),
        pytest.param(
            f"210987654321.dkr-ecr.us-west-2.on.aws/train@sha256:{'0' * 64}",
            ("210987654321", "us-west-2", "train"),
            id="dual-stack",
        ),
        pytest.param(
            "210987654321.dkr.ecr-fips.us-east-1.amazonaws.com/train:v1",
            ("210987654321", "us-east-1", "train"),
            id="fips",
        ),
        pytest.param("public.ecr.aws/hpc-cloud/nccl-tests:latest", None, id="public-ecr"),
        pytest.param("nvcr.io/nvidia/pytorch:25.01-py3", None, id="another-registry"),
        pytest.param("ubuntu:24.04", None, id="docker-hub"),
    ],
)
def test_an_image_of_elsewhere_is_pulled_with_rights_where_it_is_in_ecr(
    planned: Planned, uri: str, ecr: tuple[str, str, str] | None
) -> None:
    plan = planned(text(added=f"image: {{uri: '{uri}'}}"))

    found = batch_of(plan).image.ecr
    assert (found and (found.account, found.region, found.name)) == ecr
    assert batch_of(plan).image.uri == uri
    assert plan.repository is None


def test_every_decision_has_a_reason(planned: Planned) -> None:
    decisions = {decision.field: decision for decision in planned(text()).decisions}

    assert {"zone", "interfaces", "placement group", "ami", "container memory"} <= set(decisions)
    assert all(decision.reason for decision in decisions.values())
    assert decisions["zone"].value == "usw2-az1"


def test_the_plan_of_one_spec_is_always_the_same(planned: Planned) -> None:
    first, second = planned(text()), planned(text())

    assert (first.interfaces, first.network, batch_of(first).container) == (
        second.interfaces,
        second.network,
        batch_of(second).container,
    )
