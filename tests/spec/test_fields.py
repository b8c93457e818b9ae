"""Values of the wrong form: one line each, with field, value, what is allowed, what is near."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trainshed.pins.forms  # noqa: F401  # it adds the forms of pins.json
from trainshed.documents.forms import FORMS, Form
from trainshed.spec import ClusterSpec, InstanceSpec, NetworkSpec
from trainshed.spec.forms import CLUSTER_NAME, REPOSITORY, SHARE_NAME

GOOD = "name: Cluster1\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
Problems = Callable[..., list[str]]

# What is added to GOOD, on its fourth line, and what is said of it after `a.yaml:4: `.
WRONG = {
    "unknown key": (
        "storag: {}",
        "storag: unknown key; did you mean storage? "
        f"(allowed: {', '.join(ClusterSpec.model_fields)})",
    ),
    "unknown nested key": (
        "job: {attempt: 1}",
        "job.attempt: unknown key; did you mean attempts? (allowed: environment, "
        "buckets, policies, timeout_hours, shared_memory_gib, attempts, capacity_wait_hours)",
    ),
    "a key that belongs further in": (
        "nodes: {max: 2}",
        "nodes: unknown key; did you mean instance.nodes? "
        f"(allowed: {', '.join(ClusterSpec.model_fields)})",
    ),
    "number as a key": (
        "1: 2",
        f"1: unknown key (allowed: {', '.join(ClusterSpec.model_fields)})",
    ),
    "nothing for a mapping": (
        "network:",
        "network: is empty; leave the key out for its defaults, or give it fields "
        f"({', '.join(NetworkSpec.model_fields)})",
    ),
    "nothing for a mapping whose default is nothing": (
        "storage:",
        "storage: is empty; leave the key out for none, or give it fields (lustre, efs, openzfs, "
        "bucket)",
    ),
    "nothing for a mapping that is none by default": (
        "storage: {lustre: }",
        "storage.lustre: is empty; write lustre: {} for one with the defaults, or leave the key "
        "out for none",
    ),
    "nothing for a mapping that needs a field": (
        "storage: {lustre: {s3: }}",
        "storage.lustre.s3: is empty; give it at least bucket, or leave the key out for none",
    ),
    "nothing for a text that is none by default": (
        "zone:",
        "zone: is empty; give it a value, or leave the key out for its default",
    ),
    "nothing within an unknown key": (
        "jobs: {attempts: }",
        f"jobs: unknown key; did you mean job? (allowed: {', '.join(ClusterSpec.model_fields)})",
    ),
    "spot": (
        "capacity: spot",
        "capacity: 'spot' is not allowed; did you mean {spot: {}}? "
        "(allowed: on-demand, {reservation: cr-...}, {capacity_block: cr-...}, {spot: {}}, "
        "{calendar: [...]}, {instance_types: [...]})",
    ),
    "mount over the container runtime's data": (
        "storage: {lustre: {mount: /var/lib/docker}}",
        "storage.lustre.mount: '/var/lib/docker' is not allowed: nodes and containers need their "
        "own files in /var; give a folder that nothing else uses, for instance /fsx",
    ),
    "mount that climbs": (
        "storage: {lustre: {mount: /fsx/../etc}}",
        "storage.lustre.mount: '/fsx/../etc' is not allowed: . and .. are not names; give the path "
        "itself, like /fsx",
    ),
    "mount over everything": (
        "storage: {lustre: {mount: /}}",
        "storage.lustre.mount: '/' is not allowed; for instance /fsx (allowed: an absolute path of "
        "letters, digits and . _ -)",
    ),
    "mount without its slash, which would be no better with it": (
        "storage: {lustre: {mount: etc}}",
        "storage.lustre.mount: 'etc' is not allowed; for instance /fsx (allowed: an absolute path "
        "of letters, digits and . _ -)",
    ),
    "nothing for a text": (
        "owner: ~",
        "owner: is empty; give it a value, or leave the key out for its default",
    ),
    "text for a mapping": (
        "image: train",
        "image: 'train' is not a mapping (its fields: repository, existing, tag, digest, uri)",
    ),
    "list for a mapping": (
        "storage: [lustre]",
        "storage: a list is not a mapping (its fields: lustre, efs, openzfs, bucket)",
    ),
    "number for a text": ("zone: 4", "zone: 4 is not text: put it in quotes"),
    "version for a text": (
        "image: {tag: 2.9}",
        "image.tag: 2.9 is not text: put it in quotes",
    ),
    "version for a text that ends with a zero": (
        "image: {tag: 2.10}",
        "image.tag: 2.10 is not text: put it in quotes",
    ),
    "digest of another form": (
        "image: {digest: sha512:00}",
        "image.digest: 'sha512:00' is not allowed; for instance "
        f"sha256:{'0123456789abcdef' * 4} (allowed: the digest of an image, sha256: and 64 "
        "hexadecimal digits)",
    ),
    "tag and digest": (
        f"image: {{tag: v2, digest: 'sha256:{'0' * 64}'}}",
        "image.digest: names an image, and so does tag, 'v2'; leave one out",
    ),
    "true for a text": ("owner: true", "owner: true is not text: put it in quotes"),
    "mapping for a text": ("owner: {a: b}", "owner: a mapping is not text"),
    "text for a number": (
        "job: {attempts: '3'}",
        "job.attempts: '3' is not a whole number: leave the quotes out",
    ),
    "entries of which none is a number": (
        "guard: {budget: {monthly_usd: 500, at_percent: [50.5]}}\nnotify: [a@example.com]",
        "guard.budget.at_percent.0: 50.5 is not a whole number",
    ),
    "no entries": (
        "guard: {budget: {monthly_usd: 500, at_percent: []}}\nnotify: [a@example.com]",
        "guard.budget.at_percent: is empty; give it at least one entry",
    ),
    "zone of the machine": (
        "guard: {working_hours: {from: '08:00', to: '20:00', time_zone: localtime}}",
        "guard.working_hours.time_zone: 'localtime' is no time zone of the IANA "
        "database; for instance Europe/Berlin",
    ),
    "zone of some machines": (
        "guard: {working_hours: {from: '08:00', to: '20:00', time_zone: posix/Europe/Berlin}}",
        "guard.working_hours.time_zone: 'posix/Europe/Berlin' is no time zone of the IANA "
        "database; for instance Europe/Berlin",
    ),
    "true for a number": ("job: {attempts: true}", "job.attempts: true is not a whole number"),
    "fraction": (
        "job: {timeout_hours: 1.5}",
        "job.timeout_hours: 1.5 is not a whole number",
    ),
    "infinity": (
        "job: {timeout_hours: .inf}",
        "job.timeout_hours: .inf is not a whole number",
    ),
    "text for true": (
        "storage: {lustre: {efa: yes}}",
        "storage.lustre.efa: 'yes' is neither true nor false",
    ),
    "text for a list": (
        "network: {endpoints: ecr}",
        "network.endpoints: 'ecr' is not a list; write it as [ecr]",
    ),
    "list for a map": (
        "job: {environment: [A=1]}",
        "job.environment: a list is not a mapping; write it as {NAME: value}",
    ),
    "number in the environment": (
        "job: {environment: {A: 1}}",
        "job.environment.A: 1 is not text: put it in quotes",
    ),
    "entry of a list": (
        "network: {endpoints: [ecs, ecrr]}",
        "network.endpoints.1: 'ecrr' is not allowed; did you mean ecr? (allowed: batch, "
        "cloudformation, ec2, ecr, ecs, logs, ssm)",
    ),
    "choice": (
        "storage: {lustre: {deployment: scratch2}}",
        "storage.lustre.deployment: 'scratch2' is not allowed; did you mean scratch-2? (allowed: "
        "scratch-2, persistent-2)",
    ),
    "too small": (
        "job: {attempts: 0}",
        "job.attempts: 0 is not allowed; the smallest allowed is 1",
    ),
    "too large": (
        "job: {attempts: 11}",
        "job.attempts: 11 is not allowed; the largest allowed is 10",
    ),
    "account without quotes": (
        "account: 123456789012",
        "account: 123456789012 is not text: put it in quotes",
    ),
    "account without quotes that begins with a zero": (
        "account: 012345678901",
        "account: 012345678901 is not text: put it in quotes",
    ),
    "account too short": (
        "account: '12345'",
        "account: '12345' is not allowed; for instance \"123456789012\" (allowed: an AWS account, "
        "12 digits in quotes)",
    ),
    "id": (
        "capacity: {reservation: cr-1}",
        "capacity.reservation: 'cr-1' is not allowed; for instance cr-0123456789abcdef0 (allowed: "
        "the id of a capacity reservation, cr- and 8 to 17 hexadecimal digits)",
    ),
    "block": (
        "capacity: {capacity_block: Blocks}",
        "capacity.capacity_block: 'Blocks' is not allowed; for instance "
        "cr-0fedcba9876543210 (allowed: the id of a "
        "Capacity Block, cr- and 8 to 17 hexadecimal digits, or the ARN of a resource group of "
        "blocks, arn:aws:resource-groups:...:group/...)",
    ),
    "mount": (
        "storage: {lustre: {mount: fsx}}",
        "storage.lustre.mount: 'fsx' is not allowed; did you mean /fsx? (allowed: an absolute path "
        "of letters, digits and . _ -)",
    ),
    "bucket as a url": (
        "storage: {lustre: {s3: {bucket: 's3://my-data'}}}",
        "storage.lustre.s3.bucket: 's3://my-data' is not allowed; did you mean my-data? (allowed: "
        "the name of a bucket, 3 to 63 lower-case letters, digits, dots and hyphens)",
    ),
    "repository": (
        "image: {repository: Train}",
        "image.repository: 'Train' is not allowed; did you mean train? (allowed: 2 to 100 "
        "lower-case letters and digits, with single . _ / - between them, beginning with a letter)",
    ),
    "owner": (
        "owner: R&D",
        "owner: 'R&D' is not allowed; did you mean R-D? (allowed: letters, digits, spaces and "
        "_ . : / = + - @)",
    ),
    "long owner": (
        f"owner: {'x' * 300}",
        f"owner: '{'x' * 59}... is too long; at most 256 characters",
    ),
    "capacity": (
        "capacity: ondemand",
        "capacity: 'ondemand' is not allowed; did you mean on-demand? (allowed: on-demand, "
        "{reservation: cr-...}, {capacity_block: cr-...}, {spot: {}}, "
        "{calendar: [...]}, {instance_types: [...]})",
    ),
    "capacity as a list": (
        "capacity: [spot]",
        "capacity: a list is not allowed (allowed: on-demand, {reservation: cr-...}, "
        "{capacity_block: cr-...}, {spot: {}}, "
        "{calendar: [...]}, {instance_types: [...]})",
    ),
    "capacity of an unknown kind": (
        "capacity: {capacity_blok: cr-01234567}",
        "capacity: {capacity_blok: ...} is not allowed; did you mean capacity_block? "
        "(allowed: on-demand, {reservation: cr-...}, {capacity_block: cr-...}, {spot: {}}, "
        "{calendar: [...]}, {instance_types: [...]})",
    ),
    "two kinds of capacity": (
        "capacity: {capacity_block: cr-01234567, reservation: cr-01234567}",
        "capacity.reservation: unknown key (allowed: capacity_block)",
    ),
    "unknown key of a reservation": (
        "capacity: {reservation: cr-01234567, group: x}",
        "capacity.group: unknown key; did you mean placement_group? (allowed: reservation, "
        "placement_group)",
    ),
    "empty calendar": (
        "capacity: {calendar: []}",
        "capacity: calendar is empty; give it at least one window",
    ),
    "window of nothing": (
        "capacity: {calendar: [{from: 2026-12-01T11:30Z, until: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0: give either capacity_block or reservation",
    ),
    "window of a block and a reservation": (
        "capacity: {calendar: [{capacity_block: cr-01234567, reservation: cr-12345678, "
        "from: 2026-12-01T11:30Z, until: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0: give either capacity_block or reservation",
    ),
    "window that ends before it begins": (
        "capacity: {calendar: [{capacity_block: cr-01234567, "
        "from: 2026-12-08T11:30Z, until: 2026-12-01T11:30Z}]}",
        "capacity.calendar.0: until is 2026-12-01T11:30Z, and must be after from, "
        "2026-12-08T11:30Z",
    ),
    "window without its zone": (
        "capacity: {calendar: [{capacity_block: cr-01234567, "
        "from: 2026-12-01 11:30, until: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0.from: '2026-12-01 11:30' is not allowed; did you mean "
        "2026-12-01T11:30Z? (allowed: a time in UTC, as YYYY-MM-DDTHH:MMZ)",
    ),
    **{
        f"window from {time}": (
            "capacity: {calendar: [{capacity_block: cr-01234567, "
            f"from: {time}, until: 2026-12-08T11:30Z}}]}}",
            f"capacity.calendar.0.from: '{time}' is not allowed; {hint} (allowed: a time in UTC, "
            "as YYYY-MM-DDTHH:MMZ)",
        )
        for time, hint in (
            # As the AWS CLI prints it in version 1 and 2.
            ("2026-12-02T11:30:00.000Z", "did you mean 2026-12-02T11:30Z?"),
            ("2026-12-02T11:30:00+00:00", "did you mean 2026-12-02T11:30Z?"),
            ("2026-12-02T11:30+01:00", "did you mean 2026-12-02T10:30Z?"),
            ("2026-12-02", "did you mean 2026-12-02T00:00Z?"),
            ("2 Dec", "for instance 2026-12-01T11:30Z"),
        )
    },
    "window on a day that does not exist": (
        "capacity: {calendar: [{capacity_block: cr-01234567, "
        "from: 2026-11-31T11:30Z, until: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0.from: '2026-11-31T11:30Z' is not allowed: day is out of range for "
        "month",
    ),
    "window of a resource group": (
        "capacity: {calendar: [{capacity_block: 'arn:aws:resource-groups:us-west-2:123456789012:"
        "group/Blocks', from: 2026-12-01T11:30Z, until: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0.capacity_block: 'arn:aws:resource-groups:us-west-2:123456789012:"
        "group/Blocks... is not allowed; for instance cr-0123456789abcdef0 (allowed: the id of a "
        "capacity reservation, cr- and 8 to 17 hexadecimal digits)",
    ),
    "block with two windows": (
        "capacity: {calendar: [{capacity_block: cr-01234567, from: 2026-12-01T11:30Z, "
        "until: 2026-12-08T11:30Z}, {capacity_block: cr-01234567, from: 2026-12-08T11:30Z, "
        "until: 2026-12-09T11:30Z}]}",
        "capacity: names cr-01234567 twice; a block or reservation has one window",
    ),
    "blocks and reservations": (
        "capacity: {calendar: [{capacity_block: cr-01234567, from: 2026-12-01T11:30Z, "
        "until: 2026-12-08T11:30Z}, {reservation: cr-12345678, from: 2026-12-08T11:30Z, "
        "until: 2026-12-09T11:30Z}]}",
        "capacity: has Capacity Blocks and reservations: nodes are launched into one kind; keep "
        "the windows of one of them",
    ),
    "calendar with another key": (
        "capacity: {calendar: [{capacity_block: cr-01234567, from: 2026-12-01T11:30Z, "
        "until: 2026-12-08T11:30Z, to: 2026-12-08T11:30Z}]}",
        "capacity.calendar.0.to: unknown key (allowed: capacity_block, reservation, from, until)",
    ),
    "variable that is no name": (
        "job: {environment: {NCCL-DEBUG: INFO}}",
        "job.environment.NCCL-DEBUG: 'NCCL-DEBUG' is not allowed; for instance NCCL_DEBUG "
        "(allowed: letters, digits and _, not beginning with a digit)",
    ),
    "bucket prefix without its slash": (
        "job: {buckets: [{bucket: my-runs, prefix: runs}]}",
        "job.buckets.0.prefix: 'runs' is not allowed; did you mean runs/? (allowed: folders of "
        "letters, digits and ! _ . ' ( ) -, each with a slash at its end, and none at the "
        "beginning)",
    ),
    "bucket prefix as a url": (
        "job: {buckets: [{bucket: my-runs, prefix: 's3://my-runs/a/b'}]}",
        "job.buckets.0.prefix: 's3://my-runs/a/b' is not allowed; did you mean a/b/? (allowed: "
        "folders of letters, digits and ! _ . ' ( ) -, each with a slash at its end, and none at "
        "the beginning)",
    ),
    "bucket prefix with a wildcard": (
        "job: {buckets: [{bucket: my-runs, prefix: 'a*/'}]}",
        "job.buckets.0.prefix: 'a*/' is not allowed; for instance runs/llama/ (allowed: folders "
        "of letters, digits and ! _ . ' ( ) -, each with a slash at its end, and none at the "
        "beginning)",
    ),
    "access to a bucket": (
        "job: {buckets: [{bucket: my-runs, access: write}]}",
        "job.buckets.0.access: 'write' is not allowed; did you mean read-write? (allowed: read, "
        "read-write, read-write-delete)",
    ),
    "unknown key of a bucket": (
        "job: {buckets: [{bucket: my-runs, path: x/}]}",
        "job.buckets.0.path: unknown key (allowed: bucket, prefix, access)",
    ),
    "too many buckets": (
        f"job: {{buckets: [{', '.join(['{bucket: my-runs}'] * 21)}]}}",
        "job.buckets: has 21 entries; at most 20",
    ),
    "policy that is no ARN": (
        "job: {policies: [AmazonS3ReadOnlyAccess]}",
        "job.policies.0: 'AmazonS3ReadOnlyAccess' is not allowed; for instance "
        "arn:aws:iam::123456789012:policy/read-datasets (allowed: the ARN of a managed policy, "
        "arn:aws:iam::...:policy/...)",
    ),
    "image without its tag": (
        "image: {uri: nvcr.io/nvidia/pytorch}",
        "image.uri: 'nvcr.io/nvidia/pytorch' is not allowed; for instance "
        "123456789012.dkr.ecr.us-west-2.amazonaws.com/team/train:2.9.0 (allowed: an image with its "
        "tag or digest, REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:...)",
    ),
    "image beside a repository": (
        "image: {repository: train, uri: 'nvcr.io/nvidia/pytorch:25.01-py3'}",
        "image.uri: names the whole image, registry and tag or digest with it; leave out "
        "repository, or uri",
    ),
    "no CIDR": (
        "network: {cidr: 10.0.0.0/33}",
        "network.cidr: '10.0.0.0/33' is not an IPv4 range; for instance 10.20.0.0/16",
    ),
    "CIDR with host bits": (
        "network: {cidr: 10.0.0.1/16}",
        "network.cidr: '10.0.0.1/16' is not an IPv4 range; did you mean 10.0.0.0/16?",
    ),
    "IPv6": (
        "network: {cidr: 'fd00::/16'}",
        "network.cidr: 'fd00::/16' is not an IPv4 range; for instance 10.20.0.0/16",
    ),
    "VPC without subnet": (
        "network: {vpc: vpc-01234567}",
        "network: vpc and subnet go together: give both, or neither for a new VPC",
    ),
    "size of an existing file system": (
        "storage: {lustre: {existing: fs-01234567, throughput: 250, capacity_gib: 2400}}",
        "storage.lustre: capacity_gib, throughput: for a new file system; leave out with existing",
    ),
}


@pytest.mark.parametrize(("added", "line"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_reported_in_one_line(problems: Problems, added: str, line: str) -> None:
    assert problems(f"{GOOD}{added}\n") == [f"a.yaml:4: {line}"]


def test_a_missing_field_is_reported_where_it_should_be(problems: Problems) -> None:
    lines = problems("name: Cluster1\nregion: us-west-2\ninstance:\n  root_gib: 100\n")

    assert lines == ["a.yaml:3: instance.type: is required"]


def test_everything_required_is_reported_of_a_file_without_it(problems: Problems) -> None:
    assert problems("region: us-west-2\n") == [
        "a.yaml:1: name: is required",
        "a.yaml:1: instance: is required",
    ]


@pytest.mark.parametrize(
    ("ebs", "message"),
    [
        (
            "gib: 9, multi_attach: true",
            "ebs: multi_attach is not allowed: XFS and ext4 on a volume that several nodes mount "
            "lose data, as each node writes without knowing of the others; storage.lustre is "
            "shared",
        ),
        (
            "gib: 9, type: io2",
            "ebs: io2 has as many IOPS as are asked for: give iops",
        ),
        (
            "gib: 9, type: io2, iops: 100, throughput: 200",
            "ebs: throughput is for gp3: that of io2 follows from iops; leave it out, or take gp3",
        ),
        ("type: gp3", "ebs.gib: is required"),
        (
            "gib: 9, type: st1",
            "ebs.type: 'st1' is not allowed (allowed: gp3, io2)",
        ),
    ],
)
def test_scratch_volumes_that_cannot_be_are_reported(
    problems: Problems, ebs: str, message: str
) -> None:
    good = GOOD.replace("trn1.32xlarge", "p3.16xlarge")

    lines = problems(good.replace("}", f", scratch: {{ebs: {{{ebs}}}}}}}"))

    assert lines == [f"a.yaml:3: instance.scratch.{message}"]


def test_the_order_of_min_and_max_is_reported(problems: Problems) -> None:
    lines = problems(GOOD.replace("}", ", nodes: {min: 5, max: 2}}"))

    assert lines == ["a.yaml:3: instance.nodes: min is 5, more than max, which is 2"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("my cluster", "did you mean my-cluster?"),
        ("1st", "for instance TrainCluster"),
        ("A" * 10_000, "for instance TrainCluster"),
    ],
)
def test_a_bad_name_is_reported_in_words_and_never_longer_than_a_line(
    problems: Problems, name: str, near: str
) -> None:
    (line,) = problems(GOOD.replace("Cluster1", name))

    assert near in line
    assert line.endswith(
        "(allowed: 2 to 50 letters and digits, with single hyphens between them, beginning with "
        "a letter)"
    )
    assert len(line) < 250


def test_two_problems_of_form_are_both_reported(problems: Problems) -> None:
    lines = problems(GOOD + "job: {attempts: 0}\nstorag: {}\n")

    assert [line.split(": ")[:2] for line in lines] == [
        ["a.yaml:4", "job.attempts"],
        ["a.yaml:5", "storag"],
    ]


def test_a_problem_of_form_does_not_hide_one_of_planning(problems: Problems) -> None:
    lines = problems(GOOD.replace("trn1.32xlarge", "trn9.32xlarge") + "job: {attempts: 0}\n")

    assert [line.split(": ")[:2] for line in lines] == [
        ["a.yaml:4", "job.attempts"],
        ["a.yaml:3", "instance.type"],
    ]


def test_problems_of_two_files_are_all_reported(problems: Problems) -> None:
    lines = problems(GOOD + "job: {attempts: 0}\n", GOOD.replace("Cluster1", "2"))

    assert [line.split(": ")[:2] for line in lines] == [
        ["a.yaml:4", "job.attempts"],
        ["b.yaml:1", "name"],
    ]


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.example)
def test_every_example_has_the_form_it_stands_for(form: Form) -> None:
    assert re.fullmatch(form.pattern, form.example.strip('"'))


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("TrainCluster", "train"),
        ("Dl1Cluster", "dl1"),
        ("my-cluster", "my"),
        ("Cluster", "cluster"),
        ("XCluster", "xcluster"),
        ("BigModelCluster", "big-model"),
        ("A-Cluster", "a-cluster"),
    ],
)
def test_shared_things_are_called_after_the_cluster(name: str, short: str) -> None:
    spec = ClusterSpec(name=name, instance=InstanceSpec(type="trn1.32xlarge"))

    assert spec.short_name == short


@given(st.from_regex(CLUSTER_NAME.pattern, fullmatch=True))
def test_every_name_gives_shared_things_a_valid_name(name: str) -> None:
    short = ClusterSpec(name=name, instance=InstanceSpec(type="trn1.32xlarge")).short_name

    assert re.fullmatch(SHARE_NAME.pattern, short)
    assert re.fullmatch(REPOSITORY.pattern, short)


def test_the_same_fields_work_from_python() -> None:
    spec = ClusterSpec.model_validate(
        {"name": "Cluster1", "instance": {"type": "trn1.32xlarge", "nodes": {"max": 4}}}
    )

    assert str(spec.where.file) == "ClusterSpec('Cluster1')"
    assert spec.instance.nodes.max == 4
