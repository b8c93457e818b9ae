"""What Packer itself says about the template: every cell passes, what cannot be is refused."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from skips import needs

from trainshed.ami.failures import classify
from trainshed.ami.packer import find_packer
from trainshed.ami.packer_compat import needs_compatible_copy, write_compatible
from trainshed.nodes.cells import Cell
from trainshed.pins.reader import read_pins
from trainshed.pins.recipe import ami_recipe, recipe_names

PACKER = Path(__file__).parents[2] / "packer"
PINS = read_pins(PACKER / "pins.json")
HABANA = ("accelerator=habana", "orchestrator=ecs")
NEURON = ("accelerator=neuron", "orchestrator=ecs")
NVIDIA = ("accelerator=nvidia", "orchestrator=ecs")
NVIDIA_EC2 = ("accelerator=nvidia", "orchestrator=ec2")

pytestmark = needs("packer")

Ask = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template as the Packer that is here reads it."""
    packer = find_packer()
    if not needs_compatible_copy(packer.version):
        found = subprocess.run([packer.program, "plugins", "installed"], capture_output=True)
        if b"hashicorp/amazon" not in found.stdout:
            pytest.skip("this packer has no amazon plugin; run packer init packer")
        return PACKER
    folder = tmp_path_factory.mktemp("compatible") / "packer"
    write_compatible(PACKER, folder)
    return folder


@pytest.fixture
def ask(template: Path, tmp_path: Path) -> Ask:
    """Run a command of Packer on the template, in another folder than its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}

    def run(command: str, *variables: str, endpoint: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**clean, "CHECKPOINT_DISABLE": "1", "PACKER_CONFIG_DIR": str(tmp_path)}
        if endpoint:
            environment["AWS_ENDPOINT_URL"] = endpoint
        options = [part for variable in variables for part in ("-var", variable)]
        return subprocess.run(
            ["packer", command, *options, str(template)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )

    return run


def said(done: subprocess.CompletedProcess[str]) -> str:
    """All that Packer said, without the line breaks that it makes in long sentences."""
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), list(recipe_names(PINS)))
def test_every_cell_is_valid(ask: Ask, accelerator: str, orchestrator: str, base: str) -> None:
    cell = (f"accelerator={accelerator}", f"orchestrator={orchestrator}")
    done = ask("validate", *cell, f"{accelerator}_base={base}")

    assert (done.returncode, said(done)) == (0, "")


def test_a_recipe_has_the_pins_of_its_base(ask: Ask) -> None:
    recipe = ami_recipe(PINS, "nvidia", "ec2", "ubuntu-24.04")

    output = ask("inspect", *NVIDIA_EC2, "nvidia_base=ubuntu-24.04").stdout

    assert recipe.source_ami.name in output
    for name, pin in recipe.components.items():
        assert f'\\"trainshed:version:{name}\\" = \\"{pin.version}\\"' in output


@pytest.mark.parametrize(
    "cell", [each for each in Cell if PINS.bases_with(each.accelerator, each.agent)]
)
def test_the_base_that_is_left_out_is_the_pins_first_for_the_cell(ask: Ask, cell: Cell) -> None:
    output = ask("inspect", f"accelerator={cell.accelerator}", f"orchestrator={cell.agent}").stdout

    assert f'local.base_name: "{PINS.base_of(cell.accelerator, cell.agent)}"' in output


# Name, variables, a part of the reason, and a part of the way out.
REFUSALS = [
    ("gaudi-2", ("accelerator=gaudi2", "orchestrator=ec2"), "not on EC2", "accelerator=habana"),
    ("gaudi-1", ("accelerator=gaudi", "orchestrator=ec2"), "first-generation", "=habana"),
    ("trainium", ("accelerator=trn1", "orchestrator=ec2"), "one driver", "accelerator=neuron"),
    ("no-accelerator", ("accelerator=cpu", "orchestrator=ec2"), "accelerator is", "nvidia"),
    ("batch", ("accelerator=neuron", "orchestrator=batch"), "ECS agent", "orchestrator=ecs"),
    ("eks", ("accelerator=neuron", "orchestrator=eks"), "one Kubernetes version", "=eks-1.34"),
    (
        "eks-of-gaudi",
        ("accelerator=habana", "orchestrator=eks-1.36"),
        "habana/eks-1.36 on ubuntu-24.04_6.8: no AMI of Canonical's with Kubernetes 1.36",
        "or choose another orchestrator",
    ),
    ("slurm", ("accelerator=neuron", "orchestrator=slurm"), "orchestrator is", "use ec2"),
    (
        "habana-al2023",
        (*HABANA, "habana_base=amazon-linux-2023"),
        "never released Gaudi software for Amazon Linux 2023",
        "Leave out habana_base",
    ),
    (
        "habana-al2",
        (*HABANA, "habana_base=amazon-linux-2"),
        "ended with 1.15",
        "Leave out habana_base",
    ),
    ("habana-24.04", (*HABANA, "habana_base=ubuntu-24.04"), "kernel 6.8 only", "ubuntu-24.04_6.8"),
    ("habana-other", (*HABANA, "habana_base=rhel-9"), "base of a habana AMI", "ubuntu-22.04"),
    ("neuron-al2", (*NEURON, "neuron_base=amazon-linux-2"), "ended on", "=amazon-linux-2023"),
    (
        "neuron-ubuntu",
        (*NEURON, "neuron_base=ubuntu-22.04"),
        "one Ubuntu only",
        "neuron_base=ubuntu-24.04 for ec2 and eks",
    ),
    (
        "neuron-ecs-on-ubuntu",
        (*NEURON, "neuron_base=ubuntu-24.04"),
        "neuron/ecs on ubuntu-24.04: AWS documents multi-node jobs of AWS Batch",
        "Leave out neuron_base",
    ),
    ("neuron-other", (*NEURON, "neuron_base=rhel-9"), "of a neuron AMI", "amazon-linux-2023"),
    ("nvidia-al2", (*NVIDIA, "nvidia_base=amazon-linux-2"), "no driver", "=amazon-linux-2023"),
    (
        "nvidia-ubuntu",
        (*NVIDIA, "nvidia_base=ubuntu-22.04"),
        "one Ubuntu only",
        "nvidia_base=ubuntu-24.04 for ec2 and eks",
    ),
    (
        "nvidia-ecs-on-ubuntu",
        (*NVIDIA, "nvidia_base=ubuntu-24.04"),
        "nvidia/ecs on ubuntu-24.04: AWS documents multi-node jobs of AWS Batch",
        "Leave out nvidia_base",
    ),
    ("nvidia-other", (*NVIDIA, "nvidia_base=rhel-9"), "of an nvidia AMI", "amazon-linux-2023"),
    ("driver", (*NVIDIA, "nvidia_driver=nouveau"), "open", "proprietary for V100"),
    ("small-root", (*NEURON, "root_gib=8"), "snapshot", "between 30"),
    ("prefix", (*NEURON, "name_prefix=Our_"), "name_prefix", "lower-case"),
    ("interface", (*NEURON, "ssh_interface=telnet"), "ssh_interface", "session_manager"),
    (
        "open-to-the-world",
        (*NEURON, 'ssh_cidrs=["198.51.100.7/32", "0.0.0.0/0"]'),
        "not opened to the world",
        "ssh_interface=session_manager",
    ),
    ("open-to-the-other-world", (*NEURON, 'ssh_cidrs=["::/0"]'), "not opened", "198.51.100.7/32"),
    ("open-to-nobody", (*NEURON, "ssh_cidrs=[]"), "Port 22", "session_manager"),
    (
        "shared-with-the-default-key",
        (*NEURON, 'ami_users=["123456789012"]'),
        "Cannot share AMI encrypted with default KMS key",
        "",
    ),
]


@pytest.mark.parametrize(
    ("variables", "why", "instead"), [pytest.param(*rest, id=name) for name, *rest in REFUSALS]
)
def test_what_cannot_be_is_refused_with_the_reason_and_the_way_out(
    ask: Ask, variables: tuple[str, ...], why: str, instead: str
) -> None:
    done = ask("validate", *variables)

    assert done.returncode == 1
    assert why in said(done)
    assert instead in said(done)


def test_a_cell_that_its_base_refuses_is_reported_in_one_line(ask: Ask) -> None:
    done = ask("validate", *NVIDIA, "nvidia_base=ubuntu-24.04")

    assert str(classify(done.stdout + done.stderr)) == (
        "invalid template: nvidia/ecs on ubuntu-24.04: AWS documents multi-node jobs of AWS Batch, "
        "and ecs-init, for Amazon Linux only. Leave out nvidia_base, or choose another orchestrator"
    )


def test_only_the_refusal_is_printed(ask: Ask) -> None:
    for variables in (("accelerator=gaudi2", "orchestrator=batch"), (*HABANA, "habana_base=rhel")):
        assert "Unsupported attribute" not in said(ask("validate", *variables))
        assert "Invalid index" not in said(ask("validate", *variables))


ACCEPTED = {
    "everything": (
        *NVIDIA,
        "nvidia_driver=proprietary",
        "spot=true",
        "instance_type=c7i.2xlarge",
        "region=us-west-2",
        'subnet_filter={"tag:Name" = "build*"}',
        'ami_regions=["us-east-1"]',
        'region_kms_key_ids={"us-east-1" = "alias/images"}',
        "kms_key_id=alias/images",
        'ami_users=["123456789012"]',
        'ami_org_arns=["arn:aws:organizations::123456789012:organization/o-1234567890"]',
        "deprecate_at=2027-06-01T00:00:00Z",
        "root_gib=500",
        "commit=0123456789abcdef",
    ),
    "shared": (*NEURON, 'ami_users=["123456789012"]', "kms_key_id=alias/images"),
    "unencrypted": (*NEURON, "encrypt_boot=false", 'ami_users=["123456789012"]'),
    "given-profile": (*NEURON, "iam_instance_profile=builder", "subnet_id=subnet-12345678"),
    "over-ssh": (*NEURON, "ssh_interface=public_ip", 'ssh_cidrs=["198.51.100.7/32"]'),
}


@pytest.mark.parametrize("variables", ACCEPTED.values(), ids=ACCEPTED)
def test_every_option_is_valid(ask: Ask, variables: tuple[str, ...]) -> None:
    done = ask("validate", *variables)

    assert (done.returncode, said(done)) == (0, "")


def test_on_aws_no_port_is_opened_unless_asked_for(ask: Ask) -> None:
    assert 'local.ssh_interface: "session_manager"' in said(ask("inspect", *NEURON))
    assert 'local.ssh_interface: "public_ip"' in said(
        ask("inspect", *NEURON, "ssh_interface=public_ip")
    )


def test_an_endpoint_of_the_environment_is_used_and_reached_directly(ask: Ask) -> None:
    output = said(ask("inspect", *NEURON, endpoint="http://127.0.0.1:4566"))

    assert 'var.endpoint: "http://127.0.0.1:4566"' in output
    assert 'local.ssh_interface: "public_ip"' in output


def test_an_ami_is_named_and_tagged_by_its_cell_and_versions(ask: Ask) -> None:
    output = ask("inspect", *HABANA, "commit=0123abc").stdout

    assert 'local.name: "trainshed-habana-ecs-ubuntu-22.04-2' in output
    for tag in ("trainshed:commit", "trainshed:kernel", "trainshed:version:habana-driver"):
        assert f'\\"{tag}\\" = ' in output
    assert '\\"trainshed:version:nvidia-driver\\"' not in output
