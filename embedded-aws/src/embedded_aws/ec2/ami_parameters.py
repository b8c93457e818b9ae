"""AWS's and Canonical's AMIs that public parameters name, with these parameters.

It changes moto's backends in the server's process, because the API lets nobody write below
`/aws/service` or register an AMI as Amazon, and hundreds of calls would slow the start.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ssm.models import Parameter, ssm_backends

from embedded_aws.hooks import when_account_made

# The Kubernetes versions that EKS had AMIs of on _BORN (newest: aws-cdk-lib 2.275.0's enum).
_KUBERNETES_VERSIONS = ("1.32", "1.33", "1.34", "1.35", "1.36")

# Accounts of AWS's that own the AMIs, as DescribeImages names them.
_DEEP_LEARNING = "898082745236"
_EKS = "602401143452"
_CANONICAL = "099720109477"

_BORN = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededAmi:
    """A public AMI with its parameter.

    Attributes:
        parameter: name in the parameter store.
        architecture: `x86_64` or `arm64`.
        name: the AMI's name.
        owner: account of AWS's or Canonical's that owns it.
        root_device: the root volume's device name.
    """

    parameter: str
    architecture: str
    name: str
    owner: str
    root_device: str = "/dev/xvda"

    def ami_id(self, region: str) -> str:
        """Return the AMI's id, which differs by region."""
        return f"ami-0{hashlib.sha256(f'{region}{self.parameter}'.encode()).hexdigest()[:16]}"


def seeded_amis() -> Iterator[SeededAmi]:
    """Yield every AMI that is added to those of moto.

    moto has dumps of the live API with the public AMIs and parameters of Amazon Linux and ECS.
    Others are listed here, with the documents that describe their parameters.
    """
    yield from _deep_learning_amis()
    yield from _eks_amis()
    yield from _ubuntu_amis()


def _deep_learning_amis() -> Iterator[SeededAmi]:
    # https://docs.aws.amazon.com/dlami/latest/devguide/appendix-ami-release-notes.html
    for architecture in ("x86_64", "arm64"):
        for system in ("amazon-linux-2023", "ubuntu-22.04", "ubuntu-24.04"):
            base = f"base-oss-nvidia-driver-gpu-{system}"
            yield SeededAmi(
                parameter=f"/aws/service/deeplearning/ami/{architecture}/{base}/latest/ami-id",
                architecture=architecture,
                name=f"Deep Learning {base} {architecture} seeded",
                owner=_DEEP_LEARNING,
                root_device=_root_device(system),
            )
    # https://awsdocs-neuron.readthedocs-hosted.com/en/latest/dlami/index.html
    for flavour in (
        "base/amazon-linux-2023",
        "base/ubuntu-24.04",
        "jax-0.10/amazon-linux-2023",
        "jax-0.10/ubuntu-24.04",
        "multi-framework/ubuntu-24.04",
    ):
        yield SeededAmi(
            parameter=f"/aws/service/neuron/dlami/{flavour}/latest/image_id",
            architecture="x86_64",
            name=f"Deep Learning Neuron {flavour.replace('/', ' ')} seeded",
            owner=_DEEP_LEARNING,
            root_device=_root_device(flavour),
        )


def _root_device(system: str) -> str:
    """Return the root device of Canonical's AMIs and their derivatives, or of Amazon Linux's."""
    return "/dev/sda1" if "ubuntu" in system else "/dev/xvda"


def _eks_amis() -> Iterator[SeededAmi]:
    # https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
    variants = {"x86_64": ("standard", "nvidia", "neuron"), "arm64": ("standard", "nvidia")}
    for version in _KUBERNETES_VERSIONS:
        for architecture, names in variants.items():
            for variant in names:
                path = f"{version}/amazon-linux-2023/{architecture}/{variant}"
                yield SeededAmi(
                    parameter=f"/aws/service/eks/optimized-ami/{path}/recommended/image_id",
                    architecture=architecture,
                    name=f"amazon-eks-node-al2023-{architecture}-{variant}-{version}-seeded",
                    owner=_EKS,
                )


def _ubuntu_amis() -> Iterator[SeededAmi]:
    # https://documentation.ubuntu.com/aws/aws-how-to/instances/find-ubuntu-images/
    for release, volume, folder in (
        ("jammy-22.04", "ebs-gp2", "hvm-ssd"),
        ("noble-24.04", "ebs-gp3", "hvm-ssd-gp3"),
    ):
        number = release.partition("-")[2]
        for architecture, its_name in (("x86_64", "amd64"), ("arm64", "arm64")):
            path = f"{number}/stable/current/{its_name}/hvm/{volume}"
            yield SeededAmi(
                parameter=f"/aws/service/canonical/ubuntu/server/{path}/ami-id",
                architecture=architecture,
                name=f"ubuntu/images/{folder}/ubuntu-{release}-{its_name}-server-{_BORN:%Y%m%d}",
                owner=_CANONICAL,
                root_device="/dev/sda1",
            )


@when_account_made
def _give_amis(account: str, region: str) -> None:
    for ami in seeded_amis():
        _give_ami(ami, account, region)


def _give_ami(ami: SeededAmi, account: str, region: str) -> None:
    ec2, ami_id = ec2_backends[account][region], ami.ami_id(region)
    if ami_id not in ec2.amis:
        ec2.amis[ami_id] = Ami(ec2, ami_id, **_description(ami, region))
    parameters = ssm_backends[account][region]._parameters
    if not parameters[ami.parameter]:
        parameters[ami.parameter].append(
            Parameter(  # type: ignore[abstract]  # as moto makes its own
                account_id=account,
                name=ami.parameter,
                value=ami_id,
                parameter_type="String",
                description=None,
                allowed_pattern=None,
                keyid=None,
                last_modified_date=_BORN,
                version=1,
                data_type="text",
                tier="Standard",
            )
        )


def _description(ami: SeededAmi, region: str) -> dict[str, Any]:
    return {
        "name": ami.name,
        "description": ami.name,
        "owner_id": ami.owner,
        "owner_alias": "amazon" if ami.owner in (_DEEP_LEARNING, _EKS) else None,
        "public": True,
        "virtualization_type": "hvm",
        "architecture": ami.architecture,
        "hypervisor": "xen",
        "image_location": f"{ami.owner}/{ami.name}",
        "root_device_type": "ebs",
        "root_device_name": ami.root_device,
        "creation_date": _BORN,
        "region_name": f"{region}a",
    }
