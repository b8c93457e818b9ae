"""The AMI pipeline's file, its mistakes, and the tools that it needs pinned."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.errors import TrainshedError
from trainshed.nodes.cells import Cell
from trainshed.pins.reader import PinError
from trainshed.plan.pipeline import AmiPipelinePlan, load_ami_pipeline
from trainshed.spec import SpecError, ami_pipeline_file

ROOT = Path(__file__).parents[2]
PINS = ROOT / "packer/pins.json"
CONNECTION = (
    "arn:aws:codeconnections:us-west-2:123456789012:connection/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
)
GOOD = f"""\
region: us-west-2
repository: https://github.com/example/trainshed
connection: {CONNECTION}
cells: [neuron/ecs]
schedule: rate(7 days)
"""

Planned = Callable[..., AmiPipelinePlan]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    """Plans what a file of this text says."""
    monkeypatch.chdir(tmp_path)

    def plan(text: str = GOOD, region: str | None = None) -> AmiPipelinePlan:
        file = Path("p.yaml")
        file.write_text(text)
        return load_ami_pipeline(file, pins=PINS, region=region)

    return plan


def test_a_file_of_what_is_required_is_enough(planned: Planned) -> None:
    plan = planned()

    assert plan.spec.cells == (Cell("neuron/ecs"),)
    assert (plan.region, plan.spec.channel, plan.spec.branch) == ("us-west-2", "candidate", "main")
    assert plan.tools.image.startswith("aws/codebuild/standard:7.0-")
    assert plan.tools.packer.sha256


def test_the_environment_gives_the_region_that_the_file_leaves_out(planned: Planned) -> None:
    text = GOOD.removeprefix("region: us-west-2\n")

    assert planned(text, region="eu-west-1").region == "eu-west-1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            GOOD.replace("neuron/ecs", "neuron/eks-1.3"),
            "p.yaml:4: cells.0: 'neuron/eks-1.3' is not allowed; did you mean neuron/eks-1.36? "
            "(allowed: habana/ec2, habana/ecs, habana/eks-1.34, habana/eks-1.35, "
            "habana/eks-1.36, neuron/ec2, neuron/ecs, neuron/eks-1.34, neuron/eks-1.35, "
            "neuron/eks-1.36, nvidia/ec2, nvidia/ecs, nvidia/eks-1.34, nvidia/eks-1.35, "
            "nvidia/eks-1.36)",
            id="cell",
        ),
        pytest.param(
            GOOD.replace("neuron/ecs", "habana/eks-1.36"),
            "p.yaml:4: cells: there is no AMI for habana/eks-1.36: Canonical's AMIs of EKS on "
            "Ubuntu 22.04 end with Kubernetes 1.32, and no AMI of Canonical's with Kubernetes 1.36 "
            "was found in documents; leave it out",
            id="cell without an AMI",
        ),
        pytest.param(
            GOOD.replace("[neuron/ecs]", "neuron/ecs"),
            "p.yaml:4: cells: 'neuron/ecs' is not a list; write it as [neuron/ecs]",
            id="one cell",
        ),
        pytest.param(
            GOOD.replace("[neuron/ecs]", "[neuron/ecs, neuron/ecs]"),
            "p.yaml:1: name at least one cell, and none twice",
            id="the same cell twice",
        ),
        pytest.param(
            GOOD.replace("[neuron/ecs]", "[]"),
            "p.yaml:1: name at least one cell, and none twice",
            id="no cell",
        ),
        pytest.param(
            GOOD.replace("https://github.com/", "git@github.com:"),
            "p.yaml:2: repository: 'git@github.com:example/trainshed' is not allowed; for instance "
            "https://github.com/example/trainshed (allowed: the https address of a GitHub "
            "repository)",
            id="repository",
        ),
        pytest.param(
            GOOD.replace("rate(7 days)", "0 3 * * 0"),
            "p.yaml:5: schedule: '0 3 * * 0' is not allowed; for instance cron(0 3 ? * SUN *) "
            "(allowed: cron(...) of six fields, in UTC, or rate(...) in minutes, hours or days)",
            id="schedule",
        ),
        pytest.param(
            GOOD.replace("schedule: rate(7 days)", "owner: me"),
            "p.yaml:1: nothing starts it: give schedule, on_commit: true, or both",
            id="nothing starts it",
        ),
        pytest.param(
            GOOD + "notfiy: [a@example.com]\n",
            "p.yaml:6: notfiy: unknown key; did you mean notify? (allowed: name, account, region, "
            "owner, tags, repository, connection, branch, cells, channel, schedule, on_commit, "
            "notify, regions, subnets, kms_key, iam, timeout_minutes)",
            id="key",
        ),
        pytest.param(
            GOOD.replace("us-west-2\n", "us-wset-2\n", 1),
            "p.yaml:1: region: 'us-wset-2' is not a region of the catalogue; did you mean "
            "us-west-2?",
            id="region",
        ),
        pytest.param(
            GOOD + "regions: [us-west-2]\n",
            "p.yaml:6: regions: has us-west-2, which AMIs are baked in anyway",
            id="region twice",
        ),
        pytest.param(
            GOOD.removeprefix("region: us-west-2\n"),
            "p.yaml:1: region: is not given; give it here, or set AWS_REGION, or the region of "
            "your AWS profile",
            id="no region",
        ),
        pytest.param(
            GOOD + "kms_key: arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-4e5f-6789-abcd-"
            "ef0123456789\n",
            "p.yaml:6: kms_key: is a key of us-east-1; give one of us-west-2",
            id="key of another region",
        ),
        pytest.param(
            GOOD + "iam: {boundary: 'arn:aws-cn:iam::aws:policy/x'}\n",
            "p.yaml:6: iam.boundary: arn:aws-cn:iam::aws:policy/x is of the partition aws-cn; give "
            "one of aws",
            id="boundary of another partition",
        ),
        pytest.param(
            "",
            "p.yaml: is empty; an AMI pipeline needs at least `repository`, `connection` and "
            "`cells`",
            id="empty",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_line(planned: Planned, text: str, message: str) -> None:
    with pytest.raises(SpecError) as error:
        planned(text)

    assert str(error.value).splitlines() == [message]


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read: no such file"):
        load_ami_pipeline(tmp_path / "none.yaml", pins=PINS)


def test_a_tool_without_a_pin_is_reported(tmp_path: Path) -> None:
    pins = json.loads(PINS.read_text())
    del pins["tools"]["packer"]
    (tmp_path / "pins.json").write_text(json.dumps(pins))

    with pytest.raises(PinError, match=r"pins\.json:\d+: tools.packer: is required"):
        load_ami_pipeline(ROOT / "examples/ami-pipeline.yaml", pins=tmp_path / "pins.json")


def test_the_usual_file_is_taken_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    before = ami_pipeline_file(None)
    Path("ami-pipeline.yaml").touch()

    assert before is None
    assert ami_pipeline_file(None) == Path("ami-pipeline.yaml")
    assert ami_pipeline_file("other.yaml") == Path("other.yaml")
    with pytest.raises(TrainshedError, match="ami_pipeline: True is not a path"):
        ami_pipeline_file(True)
