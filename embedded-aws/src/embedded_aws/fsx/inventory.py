"""File systems in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row

_CONFIGURATIONS = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}


@lists(Part.FILES)
def _storage(client: Callable[[str], Any]) -> Iterator[Row]:
    for system in client("fsx").describe_file_systems()["FileSystems"]:
        kind = system["FileSystemType"]
        facts = [f"{system['StorageCapacity']} GiB", system.get("Lifecycle", "AVAILABLE")]
        if kind in _CONFIGURATIONS:
            facts.insert(0, system[_CONFIGURATIONS[kind]]["DeploymentType"])
        yield row(f"{kind.lower()} file system", system["FileSystemId"], ", ".join(facts))
