"""What a node runs on: an instance, launched from a template, for a node group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.ec2.instance_types import Record, require
from embedded_aws.ec2.network_interfaces import kind_of
from embedded_aws.plugins import find_for_ami


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a node runs on.

    Attributes:
        instance: moto's.
        group: its node group.
        template: data of the launch template that it was launched from.
    """

    instance: Any
    group: Row
    template: Mapping[str, Any]

    @property
    def record(self) -> Record:
        """Of its instance type."""
        return require(self.instance.instance_type)

    def has_driver(self, maker: str) -> bool:
        """Whether the AMI is for accelerators of a maker, as its name or its type says."""
        return maker in f"{self.group['amiType']} {self.ami_name}".lower()

    @property
    def ami_name(self) -> str:
        """Name of the AMI; empty when it has none."""
        ami = self.instance.ec2_backend.amis.get(self.instance.image_id)
        return getattr(ami, "name", None) or ""

    @property
    def huge_pages(self) -> int:
        """How many huge pages of 2 MiB the AMI reserves for the devices that it finds."""
        by_device = find_for_ami(self.instance, lambda plugin: plugin.huge_pages()) or {}
        gpus = self.record.get("GpuInfo", {}).get("Gpus", [])
        found = {gpu["Manufacturer"].lower() for gpu in gpus}
        if any(kind_of(each).startswith("efa") for each in self.interfaces):
            found.add("efa")
        return max((pages for device, pages in by_device.items() if device in found), default=0)

    @property
    def kubelet(self) -> str | None:
        """Minor version of the AMI's kubelet, or None when its name does not say it."""
        return find_for_ami(self.instance, lambda plugin: plugin.kubelets())

    @property
    def interfaces(self) -> Sequence[Mapping[str, Any]]:
        """Its network interfaces, as the template has them."""
        found: Sequence[Mapping[str, Any]] = self.template.get("NetworkInterfaces", [])
        return found
