"""When the rules on jobs, images, AMIs and storage find something, and when they do not.

That each finds something in its own example is in tests/findings/test_pages.py.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.checks import judge
from trainshed.checks.image_names import ImageName
from trainshed.checks.rules import amis
from trainshed.pins.reader import project_pins
from trainshed.plan import ClusterPlan

ROOT = Path(__file__).parents[2]
HEAD = "name: Example\nregion: us-west-2\n"
TRN1 = HEAD + "instance: {type: trn1.32xlarge}\n"
TRN1_16 = HEAD + "instance: {type: trn1.32xlarge, nodes: {max: 16}}\n"
P4D = HEAD + "instance: {type: p4d.24xlarge}\n"
G6E = HEAD + "instance: {type: g6e.8xlarge}\n"
P5 = HEAD + "instance: {type: p5.48xlarge}\n"
P3DN = HEAD + "instance: {type: p3dn.24xlarge}\n"
DL1 = HEAD + "instance: {type: dl1.24xlarge}\n"
PLAIN = HEAD + "orchestrator: ec2\ninstance: {type: p4d.24xlarge}\n"
SPOT = TRN1 + "capacity: {spot: {}}\n"
BLOCK = TRN1 + "zone: usw2-az4\ncapacity: {capacity_block: cr-01234567}\n"
DLC = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training"
DIGEST = "sha256:" + "0" * 64
ECS = "/aws/service/ecs/optimized-ami/amazon-linux-2023"

Found = Callable[[str, str], list[str]]


@pytest.fixture
def found(planned: Callable[[str], ClusterPlan]) -> Found:
    """Return the ids of what is found in a cluster, of one topic."""

    def find(text: str, topic: str) -> list[str]:
        rules = [finding.rule for finding in judge(planned(text))]
        return sorted(rule for rule in rules if rule.startswith(topic))

    return find


def test_our_amis_are_baked_with_as_much_as_the_template_says() -> None:
    variables = (ROOT / "packer/variables.pkr.hcl").read_text(encoding="utf-8")

    [(default,)] = [
        re.findall(r"^ +default += (\d+)$", body, re.M)
        for body in re.findall(r'^variable "root_gib" {\n(.*?)^}', variables, re.M | re.S)
    ]
    assert int(default) == amis.BAKED_ROOT_GIB


def test_a_rule_names_the_time_after_which_the_jobs_of_plain_nodes_end(
    planned: Callable[[str], ClusterPlan],
) -> None:
    plan = planned(PLAIN + "storage: {lustre: {deployment: scratch-2}}\n")

    [found] = [finding for finding in judge(plan) if finding.rule == "TS-LUS-001"]

    assert "what jobs write in up to 48 hours" in found.message


def with_ami(type_name: str, ami: str, added: str = "") -> str:
    return f"{HEAD}{added}instance: {{type: {type_name}, ami: {ami}}}\n"


def calendar(count: int, kind: str = "capacity_block") -> str:
    """A cluster with windows of a week, each a month after the one before."""
    windows = [
        f"  - {{{kind}: cr-{month:08x}, from: 2126-{month:02}-01T11:30Z, "
        f"until: 2126-{month:02}-08T11:30Z}}\n"
        for month in range(1, count + 1)
    ]
    return f"{TRN1}zone: usw2-az4\ncapacity:\n  calendar:\n{''.join(windows)}"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        pytest.param(TRN1, [], id="defaults"),
        pytest.param(PLAIN, [], id="plain-ec2"),
        pytest.param(TRN1 + "job: {attempts: 1}", [], id="one-node"),
        pytest.param(TRN1_16 + "job: {attempts: 2}", [], id="two-attempts"),
        pytest.param(SPOT + "job: {attempts: 2}", ["TS-BAT-017"], id="on-spot"),
        pytest.param(SPOT + "job: {attempts: 1}", ["TS-BAT-001", "TS-BAT-017"], id="once-on-spot"),
        pytest.param(TRN1_16 + "job: {attempts: 1}", ["TS-BAT-001"], id="one-attempt"),
        pytest.param(BLOCK + "job: {attempts: 2, timeout_hours: 4368}", [], id="block"),
        pytest.param(BLOCK + "job: {timeout_hours: 4369}", ["TS-BAT-003"], id="longer-than-block"),
        pytest.param(calendar(3), [], id="as-many-attempts-as-windows"),
        pytest.param(calendar(4), ["TS-BAT-016"], id="more-windows-than-attempts"),
        pytest.param(calendar(4, "reservation"), [], id="reservations-take-no-attempt"),
        pytest.param(calendar(11) + "job: {attempts: 9}", ["TS-BAT-016"], id="could-have-more"),
        pytest.param(calendar(11) + "job: {attempts: 10}", [], id="no-job-has-more-attempts"),
        pytest.param(TRN1 + "job: {timeout_hours: 4369}", [], id="on-demand-is-no-block"),
        pytest.param(TRN1 + "job: {shared_memory_gib: 231}", [], id="half-the-memory"),
        pytest.param(TRN1 + "job: {shared_memory_gib: 232}", ["TS-BAT-004"], id="more-than-half"),
        pytest.param(P4D + "job: {shared_memory_gib: 8}", [], id="a-gib-each"),
        pytest.param(
            P4D + "job: {shared_memory_gib: 7}", ["TS-BAT-005"], id="less-than-a-gib-each"
        ),
    ],
)
def test_what_aws_batch_keeps_and_tries_again(found: Found, text: str, rules: list[str]) -> None:
    assert found(text, "TS-BAT") == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        pytest.param(TRN1, ["TS-JOB-028"], id="defaults"),
        pytest.param(TRN1 + "job: {timeout_hours: 2}", [], id="as-long-as-the-stack-waits"),
        pytest.param(TRN1 + "job: {timeout_hours: 3}", ["TS-JOB-028"], id="longer"),
        pytest.param(
            TRN1 + "job: {timeout_hours: 121}",
            ["TS-JOB-001", "TS-JOB-028"],
            id="longer-than-any-update-waits",
        ),
        pytest.param(PLAIN, [], id="plain-ec2"),
        pytest.param(BLOCK + "job: {timeout_hours: 240}", [], id="block"),
    ],
)
def test_what_a_change_of_the_nodes_does_to_jobs(found: Found, text: str, rules: list[str]) -> None:
    assert found(text, "TS-JOB") == rules


@pytest.mark.parametrize(
    ("capacity", "named"),
    [
        pytest.param("", True, id="on-demand"),
        pytest.param("capacity: {spot: {}}\n", True, id="spot"),
        pytest.param("capacity: {reservation: cr-01234567}\n", False, id="reservation"),
    ],
)
def test_new_nodes_beside_the_old_ones_are_a_remedy_where_there_is_capacity_for_both(
    planned: Callable[[str], ClusterPlan], capacity: str, named: bool
) -> None:
    plan = planned(f"{TRN1}{capacity}job: {{timeout_hours: 121}}")

    remedies = [each.remedy for each in judge(plan) if each.rule in {"TS-JOB-001", "TS-JOB-028"}]

    assert len(remedies) == 2
    for remedy in remedies:
        assert ("trainshed apply Example --blue-green" in remedy) == named


@pytest.mark.parametrize(
    ("cluster", "variable", "rules"),
    [
        (P4D, "FI_PROVIDER: efa", []),
        (P4D, 'FI_PROVIDER: "efa,tcp"', []),
        (P4D, "FI_PROVIDER: ^tcp", []),
        (P4D, "FI_PROVIDER: ^efa", ["TS-ENV-001"]),
        (P4D, "FI_PROVIDER: sockets", ["TS-ENV-001"]),
        (PLAIN, "FI_PROVIDER: sockets", ["TS-ENV-001"]),
        (HEAD + "instance: {type: g5.xlarge}\n", "FI_PROVIDER: tcp", []),
        (P4D, "NCCL_NET: AWS Libfabric", []),
        (P4D, "NCCL_NET_PLUGIN: none", ["TS-ENV-002"]),
        (P4D, "NCCL_NET_PLUGIN: aws-ofi", []),
        (TRN1, "NCCL_NET: Socket", []),
        (P4D, 'NCCL_P2P_DISABLE: "0"', []),
        (P4D, 'NCCL_SHM_DISABLE: "1"', ["TS-ENV-003"]),
        (HEAD + "instance: {type: g7.12xlarge}\n", 'NCCL_P2P_DISABLE: "1"', ["TS-ENV-003"]),
        (HEAD + "instance: {type: g5.8xlarge}\n", 'NCCL_P2P_DISABLE: "1"', []),
        (P4D, "NCCL_PROTO: Simple", ["TS-ENV-004"]),
        (P4D, 'NCCL_PROTO: "LL,LL128,Simple"', []),
        (P4D, 'FI_EFA_USE_DEVICE_RDMA: "1"', []),
        (P3DN, 'FI_EFA_USE_DEVICE_RDMA: "0"', []),
        (P3DN, 'FI_EFA_USE_DEVICE_RDMA: "False"', []),
        (P3DN, 'FI_EFA_USE_DEVICE_RDMA: "yes"', ["TS-ENV-005"]),
        (P4D, 'FI_EFA_USE_DEVICE_RDMA: "off"', ["TS-ENV-006"]),
        (P4D, 'FI_EFA_USE_DEVICE_RDMA: "0"', ["TS-ENV-006"]),
        (DL1, 'RDMAV_FORK_SAFE: "1"', []),
        (TRN1, 'RDMAV_FORK_SAFE: "1"', ["TS-ENV-007"]),
        (DL1, 'HCCL_OVER_TCP: "0"', []),
        (DL1, 'HCCL_OVER_TCP: "1"', ["TS-ENV-008"]),
        (DL1, 'HCCL_OVER_OFI: "0"', []),
        (DL1, 'HCCL_OVER_OFI: "1"', ["TS-ENV-012"]),
        (DL1, 'HCCL_OVER_OFI: "1", HCCL_GAUDI_DIRECT: "0"', ["TS-ENV-012"]),
        (DL1, 'HCCL_OVER_OFI: "1", HCCL_GAUDI_DIRECT: "1"', []),
        (P4D, 'HCCL_OVER_OFI: "1"', []),
        (P4D, "NCCL_SOCKET_IFNAME: eth0", []),
        (P4D, "NCCL_SOCKET_IFNAME: =eth0", []),
        (P4D, "NCCL_SOCKET_IFNAME: eth", []),
        (P4D, 'NCCL_SOCKET_IFNAME: "^lo,docker"', []),
        (P4D, "NCCL_SOCKET_IFNAME: ecs-eth0", ["TS-ENV-009"]),
        (P4D, "NCCL_SOCKET_IFNAME: =eth1", ["TS-ENV-009"]),
        (P4D, "NCCL_SOCKET_IFNAME: ^eth", ["TS-ENV-009"]),
        (PLAIN, "GLOO_SOCKET_IFNAME: eth0", ["TS-ENV-009"]),
        (PLAIN, "GLOO_SOCKET_IFNAME: ens5", []),
        (PLAIN, 'NCCL_SOCKET_IFNAME: "^lo,docker"', []),
        (TRN1, 'NEURON_RT_ROOT_COMM_ID: "localhost:41000"', []),
        (TRN1_16, 'WORLD_SIZE: "512"', ["TS-ENV-010"]),
        (DL1, "HABANA_VISIBLE_DEVICES: all", []),
        (DL1, 'HABANA_VISIBLE_DEVICES: "0,1"', ["TS-ENV-011"]),
        (TRN1, 'CUDA_VISIBLE_DEVICES: "0"', []),
        (TRN1, 'NEURON_RT_STOCHASTIC_ROUNDING_EN: "1"', []),
    ],
)
def test_variables_that_break_a_library(
    found: Found, cluster: str, variable: str, rules: list[str]
) -> None:
    assert found(f"{cluster}job: {{environment: {{{variable}}}}}\n", "TS-ENV") == rules


@pytest.mark.parametrize(
    ("job", "rules"),
    [
        ("{}", []),
        ('{policies: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]}', []),
        ('{policies: ["arn:aws:iam::123456789012:policy/OursFullAccess"]}', []),
        ('{policies: ["arn:aws:iam::aws:policy/AdministratorAccess"]}', ["TS-SEC-002"]),
        ("{buckets: [{bucket: runs, access: read-write}]}", []),
        ("{buckets: [{bucket: runs, access: read-write-delete, prefix: a/}]}", []),
        ("{environment: {TOKENIZERS_PARALLELISM: 'true', AWS_ACCESS_KEY_ID: x}}", []),
        ("{environment: {WANDB_API_KEY: x}}", ["TS-SEC-004"]),
        ("{environment: {DB_PASS: x}}", ["TS-SEC-004"]),
        ("{environment: {ENCRYPTION_KEY: x}}", ["TS-SEC-004"]),
        ("{environment: {DB_SECRET_ARN: x}}", []),
        ("{environment: {AWS_SECRET_ACCESS_KEY: x}}", ["TS-SEC-004"]),
    ],
)
def test_rights_and_secrets_of_jobs(found: Found, job: str, rules: list[str]) -> None:
    assert found(f"{TRN1}job: {job}\n", "TS-SEC") == rules


def test_a_secret_is_not_repeated(planned: Callable[[str], ClusterPlan]) -> None:
    found = judge(planned(TRN1 + "job: {environment: {WANDB_API_KEY: 0a1b2c3d}}\n"))

    assert "TS-SEC-004" in [finding.rule for finding in found]
    assert "0a1b2c3d" not in str(found)


@pytest.mark.parametrize(
    ("cluster", "lustre", "rules"),
    [
        (TRN1, "{existing: fs-0123456789abcdef0}", []),
        (TRN1, "{deployment: scratch-2, capacity_gib: 2400}", ["TS-LUS-001"]),
        (TRN1, "{deployment: scratch-2, capacity_gib: 2400, s3: {bucket: runs}}", ["TS-LUS-006"]),
        (TRN1, "{throughput: 500}", []),
        # 512 GiB of accelerators' memory at 292 MB/s: 31 minutes.
        (TRN1, "{}", ["TS-LUS-002"]),
        (TRN1_16, "{}", ["TS-LUS-002", "TS-LUS-005"]),
        (TRN1_16, "{metadata_iops: 6000}", ["TS-LUS-002"]),
        # 8 TiB at 5,859 MB/s: 25 minutes; 24,000 GiB at 250 is no size of an EFA file system.
        (TRN1_16, "{capacity_gib: 24000}", []),
        (TRN1_16, "{capacity_gib: 19200}", ["TS-LUS-002", "TS-LUS-004"]),
        (TRN1_16, "{capacity_gib: 19200, throughput: 500, efa: true}", []),
        # One node takes 12,500 MB/s.
        (P4D, "{capacity_gib: 12000, throughput: 1000}", []),
        (P4D, "{capacity_gib: 14400, throughput: 1000}", ["TS-LUS-003"]),
        (P5, "{capacity_gib: 14400, throughput: 1000, efa: true}", []),
        (P4D, "{capacity_gib: 4800, throughput: 1000}", []),
        (
            P5.replace("}", ", nodes: {max: 128}}"),
            "{capacity_gib: 144000, efa: true, throughput: 1000}",
            [],
        ),
        (
            P5.replace("}", ", nodes: {max: 129}}"),
            "{capacity_gib: 144000, efa: true, throughput: 1000}",
            ["TS-LUS-007"],
        ),
    ],
)
def test_file_systems_that_lose_data_or_are_slow(
    found: Found, cluster: str, lustre: str, rules: list[str]
) -> None:
    network = "network: {cidr: 10.0.0.0/16}\n"

    assert found(f"{cluster}{network}storage: {{lustre: {lustre}}}\n", "TS-LUS") == rules


@pytest.mark.parametrize(
    ("bucket", "linked", "remedy"),
    [
        ("{}", "trainshed-example-123456789012-us-west-2", "its versions, which are kept for 90"),
        ("{}", "trainshed-beta-123456789012-us-west-2", "turn on versioning"),
        ("{existing: my-runs}", "my-runs", "turn on versioning"),
    ],
)
def test_the_versions_of_a_linked_bucket_are_there_or_to_be_turned_on(
    planned: Callable[[str], ClusterPlan], bucket: str, linked: str, remedy: str
) -> None:
    storage = f"storage: {{bucket: {bucket}, lustre: {{s3: {{bucket: {linked}}}}}}}\n"

    (found,) = [each for each in judge(planned(TRN1 + storage)) if each.rule == "TS-LUS-006"]

    assert found.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("lustre", "training", "slow"),
    [
        # 980 GB at 9,375 MB/s take 105 seconds: 10.4 % with 15 minutes, 9.9 % with 16.
        (
            "{capacity_gib: 9600, throughput: 1000}",
            "parameters: 70e9, checkpoint_minutes: 15",
            True,
        ),
        (
            "{capacity_gib: 9600, throughput: 1000}",
            "parameters: 70e9, checkpoint_minutes: 16",
            False,
        ),
        ("{}", "parameters: 1e8, checkpoint_minutes: 20", False),
        ("{existing: fs-0123456789abcdef0}", "parameters: 70e9, checkpoint_minutes: 1", False),
    ],
)
def test_checkpoints_of_a_training_that_is_described(
    found: Found, lustre: str, training: str, slow: bool
) -> None:
    text = f"{TRN1_16}storage: {{lustre: {lustre}}}\ntraining: {{{training}}}\n"

    # Not TS-LUS-002, of checkpoints whose size nobody knows.
    assert ("TS-LUS-015" in found(text, "TS-LUS-015"), found(text, "TS-LUS-002")) == (slow, [])


@pytest.mark.parametrize(
    ("storage", "rules"),
    [
        # EFS writes 5 GiB/s in us-west-2: 980 GB take 3 minutes.
        ("{efs: {}}", ["TS-LUS-015"]),
        ("{efs: {}, lustre: {capacity_gib: 43200, throughput: 1000}}", []),
        # OpenZFS writes what is bought: 980 GB at 160 MB/s take 102 minutes.
        ("{openzfs: {capacity_gib: 2000}}", ["TS-LUS-015"]),
        ("{openzfs: {capacity_gib: 2000, throughput: 10240}}", []),
        # It may be faster.
        ("{efs: {}, lustre: {existing: fs-0123456789abcdef0}}", []),
        ("{efs: {existing: fs-0123456789abcdef0}}", []),
        ("{openzfs: {existing: fs-0123456789abcdef0}}", []),
        ("{}", []),
        # Nobody knows how fast a bucket is.
        ("{bucket: {}}", []),
        ("{efs: {}, bucket: {existing: ours}}", ["TS-LUS-015"]),
    ],
)
def test_checkpoints_go_to_the_fastest_storage(
    found: Found, storage: str, rules: list[str]
) -> None:
    training = "training: {parameters: 70e9, checkpoint_minutes: 20}"

    assert found(f"{TRN1_16}storage: {storage}\n{training}\n", "TS-LUS-015") == rules


@pytest.mark.parametrize(
    ("nodes", "remedy"),
    [
        (16, "with 43200 GiB at 1000 MB/s per TiB they wait 1.9 %; or write "),
        (1, "the nodes write 12,500 MB/s, the most that they can, and they wait 6.1 %; or write "),
    ],
)
def test_the_remedy_for_slow_checkpoints_is_a_file_system_and_what_it_is_not_enough_for(
    planned: Callable[[str], ClusterPlan], nodes: int, remedy: str
) -> None:
    cluster = TRN1_16.replace("max: 16", f"max: {nodes}")
    training = "training: {parameters: 70e9, checkpoint_minutes: 20}\n"

    [slow] = [
        finding
        for finding in judge(planned(f"{cluster}storage: {{lustre: {{}}}}\n{training}"))
        if finding.rule == "TS-LUS-015"
    ]

    assert remedy in slow.remedy
    assert slow.remedy.endswith("in the background, which needs 817 MB/s, and accept this")


@pytest.mark.parametrize(("access", "named"), [("read", False), ("read-write", True)])
def test_the_remedy_for_slow_checkpoints_may_be_the_bucket(
    planned: Callable[[str], ClusterPlan], access: str, named: bool
) -> None:
    training = "training: {parameters: 70e9, checkpoint_minutes: 20}\n"
    storage = f"storage: {{lustre: {{}}, bucket: {{access: {access}}}}}\n"

    found = judge(planned(f"{TRN1_16}{storage}{training}"))

    [slow] = [finding for finding in found if finding.rule == "TS-LUS-015"]
    assert ("or measure whether the bucket, by S3's API, is faster; or in" in slow.remedy) is named


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (TRN1, []),
        (TRN1_16, ["TS-LUS-008"]),
        (TRN1_16 + "job: {buckets: [{bucket: runs}]}", ["TS-LUS-008"]),
        (TRN1_16 + "job: {buckets: [{bucket: runs, access: read-write}]}", []),
        (TRN1_16 + 'job: {policies: ["arn:aws:iam::123456789012:policy/runs"]}', []),
        (TRN1_16 + "storage: {lustre: {existing: fs-0123456789abcdef0}}", []),
        (TRN1_16 + "storage: {efs: {}}", []),
        (TRN1_16 + "storage: {openzfs: {}}", []),
        (TRN1_16 + "storage: {bucket: {}}", []),
        (TRN1_16 + "storage: {bucket: {access: read}}", ["TS-LUS-008"]),
    ],
)
def test_nodes_without_storage_that_outlives_them(
    found: Found, text: str, rules: list[str]
) -> None:
    assert found(text, "TS-LUS") == rules


@pytest.mark.parametrize(
    ("rule", "rules"),
    [
        ("glacier_days: 90, expire_days: 179", ["TS-BUC-001"]),
        ("glacier_days: 90, expire_days: 180", []),
        ("infrequent_access_days: 30, expire_days: 59", ["TS-BUC-001"]),
        # 140 days after they were written, 80 of Glacier's 90.
        ("infrequent_access_days: 30, glacier_days: 60, expire_days: 140", ["TS-BUC-001"]),
        ("glacier_days: 90", []),
        ("expire_days: 9", []),
    ],
)
def test_objects_that_are_paid_for_longer_than_they_are_kept(
    found: Found, rule: str, rules: list[str]
) -> None:
    text = f"{TRN1_16}storage: {{bucket: {{lifecycle: [{{{rule}}}]}}}}\n"

    assert found(text, "TS-BUC") == rules


@pytest.mark.parametrize(
    ("cluster", "image", "rules"),
    [
        (P4D, "{}", []),
        (P4D, f"{{digest: '{DIGEST}'}}", []),
        (P4D, "{uri: 'team/train:latest'}", ["TS-CIM-001", "TS-CIM-002"]),
        (P4D, "{uri: 'localhost:5000/train:1'}", []),
        (P4D, "{uri: 'ghcr.io/team/train:1'}", []),
        (TRN1, "{uri: 'public.ecr.aws/neuron/jax:1'}", []),
        (TRN1_16.replace("16", "10"), "{uri: 'public.ecr.aws/neuron/jax:1'}", []),
        (TRN1_16, "{uri: 'public.ecr.aws/neuron/jax:1'}", ["TS-CIM-003"]),
        (P4D, "{tag: 2.10.0-cu130}", []),
        (P4D, "{tag: 2.9.0-neuronx}", ["TS-CIM-004"]),
        (DL1, "{uri: 'nvcr.io/nvidia/pytorch:25.01-py3'}", ["TS-CIM-004"]),
        (DL1, "{tag: 1.21.4-pytorch-2.6.0}", []),
        (P4D, f"{{uri: '{DLC}:2.10.0-gpu-py313-cu130-ubuntu22.04-ec2'}}", []),
        (HEAD + "orchestrator: ec2\ninstance: {type: p4d.24xlarge}\n", "{}", []),
    ],
)
def test_images_that_nodes_may_not_get(
    found: Found, cluster: str, image: str, rules: list[str]
) -> None:
    assert found(f"{cluster}image: {image}\n", "TS-CIM") == rules


@pytest.mark.parametrize(
    ("cluster", "image", "rules"),
    [
        (DL1, "{tag: 1.21.4-pytorch-2.6.0}", []),
        (
            DL1,
            "{uri: 'vault.habana.ai/gaudi-docker/1.23.0/ubuntu22.04/habanalabs/"
            "pytorch-installer-2.7.1:latest'}",
            ["TS-SW-001"],
        ),
        (with_ami("dl1.24xlarge", "older"), "{tag: 1.20.0-pytorch-2.6.0}", []),
        (P4D, "{tag: 1.22.0-pytorch-2.7.1}", []),
        (TRN1, "{tag: 2.9.0-neuronx-py312-sdk2.30.0}", []),
        (TRN1, "{tag: jax-sdk2.31.0}", []),
        (P4D, "{tag: jax-sdk2.32.0}", []),
        (TRN1, f"{{digest: '{DIGEST}'}}", []),
        (DL1, f"{{digest: '{DIGEST}'}}", []),
        (P4D, f"{{digest: '{DIGEST}'}}", []),
        (TRN1, "{tag: jax-sdk2.32.0}", ["TS-SW-003"]),
        (with_ami("trn1.32xlarge", "candidate"), "{tag: jax-sdk2.32.0}", []),
        (
            TRN1,
            "{uri: 'public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0'}",
            [],
        ),
        (P3DN, "{tag: 2.6.0-cu126}", []),
        (P3DN, "{tag: 2.8.0-cu129}", []),
        (P4D, "{tag: 2.10.0-cu130}", []),
        (P5, "{uri: 'nvcr.io/nvidia/cuda:11.7.1-devel-ubuntu22.04'}", ["TS-SW-006"]),
        (P5, "{uri: 'nvcr.io/nvidia/cuda:11.8.0-devel-ubuntu22.04'}", []),
        (G6E, "{tag: 2.7.0-cu126}", []),
        (
            f"{G6E}capacity: {{spot: {{}}, instance_types: [g6e.8xlarge, g7e.8xlarge]}}\n",
            "{tag: 2.7.0-cu126}",
            ["TS-SW-006"],
        ),
        (P4D, "{tag: cuda13.0-efa1.50.0}", []),
        (P4D, "{tag: cuda13.0-efa1.51.0}", ["TS-SW-007"]),
        (with_ami("p4d.24xlarge", "candidate"), "{tag: cuda13.0-efa1.51.0}", []),
        (HEAD + "instance: {type: g5.xlarge}\n", "{tag: cuda13.0-efa1.51.0}", []),
        (P4D, f"{{uri: '{DLC}:2.10.0-gpu-py313-cu130-ubuntu22.04-ec2'}}", ["TS-SW-008"]),
        (P4D, f"{{uri: '{DLC}:2.5.1-gpu-py311-cu124-ubuntu22.04-ec2'}}", []),
    ],
)
def test_software_that_does_not_go_together(
    found: Found, cluster: str, image: str, rules: list[str]
) -> None:
    assert found(f"{cluster}image: {image}\n", "TS-SW") == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (with_ami("trn1.32xlarge", f"{ECS}/neuron/recommended/image_id"), ["001", "010"]),
        (with_ami("trn1.32xlarge", f"'{ECS}/neuron/recommended/image_id:7'"), ["001"]),
        (with_ami("p4d.24xlarge", f"{ECS}/recommended/image_id"), ["001", "005", "010"]),
        (with_ami("p4d.24xlarge", f"{ECS}/gpu/recommended/image_id"), ["001", "010"]),
        (with_ami("g5g.xlarge", f"{ECS}/arm64/gpu/recommended/image_id"), ["001", "010"]),
        (
            with_ami(
                "p4d.24xlarge",
                "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/nvidia/recommended/"
                "image_id",
            ),
            ["004", "010"],
        ),
        (
            with_ami(
                "p4d.24xlarge",
                "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/"
                "latest/ami-id",
                "orchestrator: ec2\n",
            ),
            ["010"],
        ),
        # Of these, one has an ECS agent, and of the other nothing is known.
        (
            with_ami(
                "p4d.24xlarge",
                "/aws/service/bottlerocket/aws-ecs-2-nvidia/x86_64/latest/image_id",
            ),
            ["010"],
        ),
        (with_ami("p4d.24xlarge", "/aws/service/marketplace/prod-abcdefghij123/1.0"), ["010"]),
        (
            with_ami(
                "p4d.24xlarge",
                "/aws/service/bottlerocket/aws-k8s-1.34-nvidia/x86_64/latest/image_id",
            ),
            ["004", "010"],
        ),
        (with_ami("p3dn.24xlarge", f"{ECS}/gpu/recommended/image_id"), ["001", "006", "010"]),
        (
            with_ami(
                "p3dn.24xlarge",
                "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/"
                "latest/ami-id",
                "orchestrator: ec2\n",
            ),
            ["006", "010"],
        ),
        (with_ami("trn1.32xlarge", "/trainshed/ami/neuron/ecs/candidate"), []),
        (with_ami("trn1.32xlarge", "/trainshed/ami/neuron/ec2/stable"), ["008"]),
        (with_ami("trn1.32xlarge", "/ours/arm64/image"), []),
        (with_ami("inf1.6xlarge", "inf1"), []),
        (HEAD + "instance: {type: trn1.32xlarge, root_gib: 100}\n", []),
        (HEAD + "instance: {type: trn1.32xlarge, root_gib: 99}\n", ["011"]),
        (HEAD + "instance: {type: trn1.32xlarge, root_gib: 50, ami: ami-01234567}\n", []),
        (with_ami("inf2.xlarge", "stable"), []),
        (with_ami("trn1.32xlarge", "ami-01234567", "storage: {bucket: {}}\n"), []),
        (with_ami("trn1.32xlarge", "ami-01234567", "storage: {bucket: {mount: /data}}\n"), ["002"]),
        (
            HEAD + "orchestrator: eks\ninstance: {type: dl1.24xlarge}\nstorage: {efs: {}}\n"
            'kubernetes: {access: [{role: Operator, policy: cluster-admin}], version: "1.36"}\n',
            ["013"],
        ),
    ],
)
def test_amis_that_cannot_run_the_jobs(found: Found, text: str, rules: list[str]) -> None:
    assert found(text, "TS-AMI") == [f"TS-AMI-{rule}" for rule in rules]


def test_a_project_that_pins_the_last_driver_for_inf1_may_use_it(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = project_pins()
    driver = pins.components["neuron-dkms"].model_copy(update={"version": "2.24.7.0"})
    older = pins.model_copy(update={"components": {"neuron-dkms": driver}})
    monkeypatch.setattr(amis, "project_pins", lambda: older)

    assert found(HEAD + "instance: {type: inf1.6xlarge}\n", "TS-AMI") == []


@pytest.mark.parametrize(
    ("ami", "rules"),
    [
        ("/aws/service/ami-amazon-linux-latest/amzn2-ami-hvm-x86_64-gp2", ["TS-LIF-003"]),
        ("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64", []),
        ("/aws/service/eks/optimized-ami/1.30/amazon-linux-2-gpu/recommended", ["TS-LIF-003"]),
        ("/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/neuron/recommended", []),
        ("/aws/service/canonical/ubuntu/server/20.04/stable/current/amd64", ["TS-LIF-004"]),
        ("/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64", []),
        ("/aws/service/neuron/dlami/jax-0.10/ubuntu-24.04/latest/image_id", ["TS-LIF-005"]),
        ("/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id", []),
        ("/aws/service/neuron/dlami/multi-framework/ubuntu-24.04/latest/image_id", []),
    ],
)
def test_amis_that_get_no_updates(found: Found, ami: str, rules: list[str]) -> None:
    text = with_ami("trn1.32xlarge", ami, "orchestrator: ec2\n")

    assert found(text, "TS-LIF") == rules


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("dl1:1.21.4-pytorch-2.6.0", ((1, 21), None, None, None)),
        ("a/gaudi-docker/1.22.0/ubuntu22.04/x:latest", ((1, 22), None, None, None)),
        ("p4d:2.10.0-cu130", (None, (13, 0), None, None)),
        ("nccl-tests:cuda12.8.1-efa1.42.0-ofiv1.16.0", (None, (12, 8), (1, 42), None)),
        ("nvcr.io/nvidia/cuda:13.0.2-devel-ubuntu22.04", (None, (13, 0), None, None)),
        ("x:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04", (None, None, None, (2, 30))),
        ("train:v1", (None, None, None, None)),
        ("train:1.2.3", (None, None, None, None)),
    ],
)
def test_what_a_name_says(name: str, read: tuple[object, ...]) -> None:
    image = ImageName(name=name, path=())

    assert (image.synapse, image.cuda, image.efa_installer, image.neuron_sdk) == read
