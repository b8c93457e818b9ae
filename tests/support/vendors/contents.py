"""Which contents a package or an archive of pins.json gets."""

import re
from collections.abc import Callable

from vendors.accelerators import HABANA_AND_NEURON
from vendors.distribution import (
    amazon_kernel,
    amazon_kernel_headers,
    amazon_modules_extra,
    aws_cli,
    chrony,
    cloudwatch_agent,
    lustre_client,
    systems_manager_agent,
    ubuntu_kernel_headers,
    ubuntu_kernel_image,
    ubuntu_lustre_modules,
)
from vendors.efa import efa_installer
from vendors.modules import dkms_driver
from vendors.nodes import NODES
from vendors.nvidia import NVIDIA
from vendors.package import Contents, File, Package, bare, program
from vendors.sources import gdrcopy, nccl_tests
from vendors.storage import STORAGE

_BY_NAME = (
    HABANA_AND_NEURON
    | NVIDIA
    | NODES
    | STORAGE
    | {
        "awscli-2": aws_cli,
        "chrony": chrony,
        "amazon-ssm-agent": systems_manager_agent,
        "amazon-cloudwatch-agent": cloudwatch_agent,
        "lustre-client": lustre_client,
        "lustre-client-utils": lustre_client,
    }
)
# Where the name holds a release; tried in this order.
_BY_PATTERN: dict[str, Callable[[str, str], Contents]] = {
    r"linux-image-\d.*": ubuntu_kernel_image,
    r"linux-headers-\d.*": ubuntu_kernel_headers,
    r"kernel(\d+\.\d+)?": amazon_kernel,
    r"kernel(\d+\.\d+)?-devel": amazon_kernel_headers,
    r"kernel(\d+\.\d+)?-modules-extra": amazon_modules_extra,
    r"lustre-client-modules-\d.*": ubuntu_lustre_modules,
}
# Components that vendors offer as the file of a package, and the package's name.
_PACKAGE_OF = {
    "ssm-agent": "amazon-ssm-agent",
    "cloudwatch-agent": "amazon-cloudwatch-agent",
    "ecs-init": "amazon-ecs-init",
    "mountpoint-s3": "mount-s3",
    "nvidia-dcgm-exporter": "datacenter-gpu-manager-exporter",
}


def package_contents(name: str, version: str) -> Contents:
    """What a pinned package brings.

    A package that nothing here knows gets a file of its own and nothing else, or, when it is
    called a dkms package, a module of its own: so a new component is served as it is pinned.
    """
    if recipe := _BY_NAME.get(name):
        return recipe(version)
    for pattern, by_name in _BY_PATTERN.items():
        if re.fullmatch(pattern, name):
            return by_name(name, version)
    if name.endswith("-dkms"):
        module = name.removesuffix("-dkms")
        return dkms_driver(module, bare(version), (module.replace("-", "_"),))
    return Contents(files={f"/usr/share/stub-vendors/{name}": File(text=f"{version}\n")})


def packaged_archive(component: str, version: str) -> Package:
    """The one package of a component that vendors offer as a file."""
    name = _PACKAGE_OF.get(component, component)
    return Package(name=name, version=version, contents=package_contents(name, version))


def archive_files(component: str, version: str) -> dict[str, File]:
    """The files of a component that vendors offer as a tarball, a zip file or a program."""
    if component == "efa-installer":
        return efa_installer(version)
    if component == "nccl-tests":
        return nccl_tests(version)
    if component == "gdrcopy":
        return gdrcopy(version)
    if component == "aws-cli":
        (cli,) = aws_cli(version).files.values()
        return {
            "aws/install": program('cp "$(dirname "$0")/dist/aws" /usr/local/bin/aws\n'),
            "aws/dist/aws": cli,
        }
    return {component: program(f"echo '{component} {version}'\n")}
