"""What file systems of FSx have in common, whatever their kind."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, existing
from embedded_aws.clock import now
from embedded_aws.fsx.lustre import FileSystemParams, storage_type
from embedded_aws.fsx.networks import Network


class StoredFileSystem(ABC):
    """A file system, stored in moto's own list for Describe and tags.

    Attributes:
        file_system_type: for instance `LUSTRE`.
        name: of the kind, in the descriptions of network interfaces.
        configuration: the member of requests and answers with what is of this kind.
        keeps_backups_days: of automatic backups, if the request does not say.
        skips_final_backup: whether its deletion takes a last backup only if asked to.
        params: of CreateFileSystem, with later updates.
        created: when it was created.
    """

    file_system_type: ClassVar[str]
    name: ClassVar[str]
    configuration: ClassVar[str]
    keeps_backups_days: ClassVar[int] = 0
    skips_final_backup: ClassVar[bool] = True

    def __init__(self, call: Call, network: Network) -> None:
        self.params: dict[str, Any] = dict(call.params)
        self.file_system_id = f"fs-{mock_random.get_random_hex(17)}"
        self.resource_arn = call.arn("fsx", f"file-system/{self.file_system_id}")
        self.created = now()
        self._owner = call.account
        self._vpc_id = network.subnet.vpc_id
        self._dns_name = f"{self.file_system_id}.fsx.{call.region}.amazonaws.com"
        self._backend = call.backend("fsx")
        self.interface_ids = [self._interface(call, network) for _ in range(self._servers())]

    def _interface(self, call: Call, network: Network) -> str:
        interface = call.backend("ec2").create_network_interface(
            network.subnet,
            network.subnet.get_available_subnet_ip(None),
            group_ids=[group.id for group in network.groups],
            description=f"Amazon FSx for {self.name} file system {self.file_system_id}",
        )
        interface.requester_managed = True
        return str(interface.id)

    @staticmethod
    @abstractmethod
    def check(params: FileSystemParams) -> None:
        """Refuse the properties of a file system, a new one or one after an update.

        Raises:
            Refusal: as FSx does.
        """

    @staticmethod
    @abstractmethod
    def network(call: Call) -> Network:
        """Return the network of a new file system.

        Raises:
            Refusal: InvalidNetworkSettings.
        """

    @abstractmethod
    def _servers(self) -> int:
        """Return how many network interfaces it has."""

    @abstractmethod
    def check_update(self, after: FileSystemParams) -> None:
        """Refuse an update to other properties, each of which is possible.

        Raises:
            Refusal: as FSx does.
        """

    @abstractmethod
    def _configured(self) -> dict[str, Any]:
        """Return its configuration as DescribeFileSystems does."""

    def change(self, after: dict[str, Any]) -> None:
        """Take other properties."""
        self.params = after

    def to_dict(self) -> dict[str, Any]:
        """Return the file system as DescribeFileSystems does."""
        described = {
            "OwnerId": self._owner,
            "CreationTime": self.created.timestamp(),
            "FileSystemId": self.file_system_id,
            "FileSystemType": self.file_system_type,
            "Lifecycle": "AVAILABLE",
            "StorageCapacity": self.params.get("StorageCapacity"),
            "StorageType": storage_type(self.params),
            "VpcId": self._vpc_id,
            "SubnetIds": self.params["SubnetIds"],
            "NetworkInterfaceIds": self.interface_ids,
            "DNSName": self._dns_name,
            "KmsKeyId": self.params.get("KmsKeyId"),
            "ResourceARN": self.resource_arn,
            "Tags": self._backend.list_tags_for_resource(self.resource_arn),
            self.configuration: self._configured(),
        }
        return {key: value for key, value in described.items() if value is not None}

    def given(self, name: str, default: Any = None) -> Any:
        """Return a member of the configuration as it was requested."""
        return self.params.get(self.configuration, {}).get(name, default)


def find(call: Call, file_system_id: str) -> Any:
    """Return a file system of moto's list.

    Raises:
        Refusal: there is none.
    """
    found = call.backend("fsx").file_systems.get(file_system_id)
    message = f"File system '{file_system_id}' does not exist."
    return existing(found, "FileSystemNotFound", message)
