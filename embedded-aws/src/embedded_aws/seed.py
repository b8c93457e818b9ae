"""The contents of a new account: AWS's AMIs and their parameters, AWS's policies and one role.

As on AWS, it has no AMIs of its owner.

The role is that of AWS Batch, which Batch would create with the first compute environment.

It changes moto's backends in the server's process, because the API lets nobody write below
`/aws/service` or register an AMI as Amazon, and hundreds of calls would slow the start.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from moto.core.config import default_user_config
from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.iam.models import SERVICE_NAME_CONVERSION, iam_backends
from moto.ssm.models import Parameter, ssm_backends
from moto.utilities.utils import get_partition

from embedded_aws.plugins import Plugin

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


class NewAccount(Plugin):
    """Seeds what AWS gives a new account; plug-ins of other packages come after it.

    AWS also gives a default VPC, which many owners delete: there is none, so that nothing here
    depends on one.
    """

    def seed(self, client: Callable[[str], Any], account: str, region: str) -> None:
        """Give an account in a region what AWS gives it; may be repeated."""
        _give_policies_and_roles(account, region)
        _take_default_vpc(account, region)
        for ami in seeded_amis():
            _give_ami(ami, account, region)


def _give_policies_and_roles(account: str, region: str) -> None:
    # moto has AWS's managed policies, and loads them where this says so.
    default_user_config.setdefault("iam", {})["load_aws_managed_policies"] = True
    # moto names a service's role AWSServiceRoleForbatch, AWS AWSServiceRoleForBatch.
    SERVICE_NAME_CONVERSION.update(batch="Batch", ecs="ECS", eks="EKS", fsx="FSx", spot="Spot")
    iam = iam_backends[account][get_partition(region)]
    if not iam.aws_managed_policies:
        iam.aws_managed_policies = iam._init_aws_policies()
        iam.managed_policies |= iam._init_managed_policies()
    if not any(role.name == "AWSServiceRoleForBatch" for role in iam.get_roles()):
        role = iam.create_service_linked_role("batch.amazonaws.com", "", "")
        iam.attach_role_policy(
            f"arn:{get_partition(region)}:iam::aws:policy/aws-service-role/BatchServiceRolePolicy",
            role.name,
        )


def _take_default_vpc(account: str, region: str) -> None:
    ec2 = ec2_backends[account][region]
    for vpc in ec2.describe_vpcs(filters={"is-default": ["true"]}):
        for subnet in ec2.describe_subnets(filters={"vpc-id": vpc.id}):
            ec2.delete_subnet(subnet.id)
        ec2.delete_vpc(vpc.id)


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
