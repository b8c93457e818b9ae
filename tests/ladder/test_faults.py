"""A bake that fails says why and leaves nothing: not in EC2, not on this machine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bake_bench import Bake, Oven
from leftovers import Holdings, holdings
from vendors.bench import Vendors
from vendors.faults import Fault

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault as AwsFault
from embedded_aws.guests.own_faults import GUESTS, OPEN_SSH

pytestmark = pytest.mark.ladder


@pytest.fixture
def before(aws: EmbeddedAws, guests_folder: Path, oven: Oven) -> Iterator[Holdings]:
    """What there was; AWS's faults end with the test."""
    yield holdings(aws, guests_folder)
    aws.fail()


@pytest.fixture
def copy(oven: Oven, tmp_path: Path) -> Path:
    """A copy of the template that a test may change."""
    return Path(shutil.copytree(oven.template, tmp_path / "template", symlinks=True))


class Failures:
    """Bakes that must fail and leave nothing."""

    def __init__(self, oven: Oven, aws: EmbeddedAws, folder: Path, before: Holdings) -> None:
        self._oven = oven
        self._aws = aws
        self._folder = folder
        self._before = before

    def bake(self, accelerator: str, orchestrator: str, name: str, **more: object) -> Bake:
        """Bake, and compare what there is with what there was."""
        bake = self._oven.bake(accelerator, orchestrator, name=name, **more)  # type: ignore[arg-type]

        assert bake.code == 1, bake.said()
        assert list(bake.output.iterdir()) == []
        assert holdings(self._aws, self._folder) == self._before
        return bake


@pytest.fixture
def failures(oven: Oven, aws: EmbeddedAws, guests_folder: Path, before: Holdings) -> Failures:
    return Failures(oven, aws, guests_folder, before)


def test_no_capacity_is_reported_after_a_few_attempts(failures: Failures, aws: EmbeddedAws) -> None:
    aws.fail(
        AwsFault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            message="We currently do not have sufficient m6i.xlarge capacity",
            count=None,
        )
    )

    bake = failures.bake("habana", "ec2", "no-capacity")

    assert "InsufficientInstanceCapacity" in bake.log
    assert "do not have sufficient m6i.xlarge capacity" in bake.log
    # The SDK repeats it, because its HTTP status is 500: max_retries of the template bounds that.
    assert bake.recorder.actions.count("RunInstances") == 1 + 7


def test_a_denied_launch_is_not_repeated(failures: Failures, aws: EmbeddedAws) -> None:
    aws.fail(
        AwsFault(
            service="ec2",
            operation="RunInstances",
            code="UnauthorizedOperation",
            message="You are not authorized to perform this operation",
            count=None,
        )
    )

    bake = failures.bake("neuron", "ec2", "denied")

    assert "UnauthorizedOperation: You are not authorized" in bake.log
    assert bake.recorder.actions.count("RunInstances") == 1


def test_a_source_image_that_is_not_there_stops_the_bake_before_anything_is_made(
    failures: Failures, copy: Path
) -> None:
    recipe = copy / "recipes" / "nvidia-ec2-amazon-linux-2023.json"
    text = recipe.read_text()
    recipe.unlink()
    recipe.write_text(text.replace("al2023-ami-2023.12.2026", "al2023-ami-2023.12.1999"))

    bake = failures.bake("nvidia", "ec2", "no-source", template=copy)

    assert "No AMI was found matching filters" in bake.log
    assert not {"CreateKeyPair", "CreateSecurityGroup", "RunInstances"} & set(bake.recorder.actions)


def test_a_machine_that_never_opens_ssh_is_given_up(
    failures: Failures, aws: EmbeddedAws, copy: Path
) -> None:
    source = copy / "source.pkr.hcl"
    patient = source.read_text()
    source.write_text(patient.replace('= "10m"', '= "5s"'))
    assert source.read_text() != patient
    aws.fail(AwsFault(service=GUESTS, operation=OPEN_SSH))

    bake = failures.bake("habana", "eks-1.35", "no-ssh", template=copy)

    assert "Timeout waiting for SSH" in bake.log
    assert "TerminateInstances" in bake.recorder.actions


def test_an_interrupted_bake_cleans_up(failures: Failures) -> None:
    bake = failures.bake(
        "habana",
        "ec2",
        "interrupted",
        interrupt=lambda line: "Provisioning with shell script: ./scripts/10-base.sh" in line,
    )

    assert "Cleanly cancelled builds after being interrupted" in bake.log
    actions = bake.recorder.actions
    assert "CreateImage" not in actions
    assert {"TerminateInstances", "DeleteSecurityGroup", "DeleteKeyPair"} <= set(actions)


def test_a_script_that_fails_ends_the_bake(failures: Failures, copy: Path) -> None:
    scripts = copy / "scripts"
    changed = shutil.copytree(scripts.resolve(), copy / "changed")
    scripts.unlink()
    changed.rename(scripts)
    script = scripts / "10-base.sh"
    script.write_text(script.read_text() + "\nls /there/is/no/such/folder\n")

    bake = failures.bake("habana", "ec2", "failing-script", template=copy)

    assert _error_lines(bake) == [
        'trainshed: ERROR: 10-base: "ls /there/is/no/such/folder" failed with 2; '
        "see the output above"
    ]


@pytest.mark.parametrize(
    ("accelerator", "component", "fault", "words"),
    [
        pytest.param("habana", "ssm-agent", Fault.WRONG_BYTES, "wrong checksum: ", id="checksum"),
        pytest.param(
            "habana", "cloudwatch-agent", Fault.BAD_SIGNATURE, "bad signature: ", id="signature"
        ),
        pytest.param("habana", "cloudwatch-agent", Fault.UNKNOWN_KEY, "unknown key: ", id="key"),
        pytest.param("habana", "aws-cli", Fault.UNKNOWN_SIGNER, "bad signature: ", id="signer"),
        pytest.param("habana", "ssm-agent", Fault.NOT_FOUND, "answered 404; ", id="404"),
        pytest.param(
            "habana", "lustre-client", Fault.MISSING_VERSION, "is not offered", id="apt-version"
        ),
        pytest.param(
            "neuron", "neuron-dkms", Fault.MISSING_VERSION, "is not offered", id="dnf-version"
        ),
        pytest.param(
            "neuron", "neuron-dkms", Fault.BAD_SIGNATURE, "bad signature: ", id="dnf-signature"
        ),
    ],
)
def test_what_cannot_be_verified_stops_the_bake_with_one_line(
    failures: Failures,
    vendors: Vendors,
    accelerator: str,
    component: str,
    fault: Fault,
    words: str,
) -> None:
    with vendors.faulty(component, fault):
        bake = failures.bake(accelerator, "ec2", f"{component}-{fault}")

    (line,) = _error_lines(bake)
    assert line.startswith(f"trainshed: ERROR: {component}: ")
    assert words in line
    assert "CreateImage" not in bake.recorder.actions


def _error_lines(bake: Bake) -> list[str]:
    """The lines in which scripts say what is wrong, without what Packer puts before them."""
    mark = "trainshed: ERROR: "
    return [mark + line.partition(mark)[2] for line in bake.log.splitlines() if mark in line]
