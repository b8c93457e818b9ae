"""File systems in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.FILES)
def _storage(client: Callable[[str], Any]) -> Iterator[Row]:
    for system in client("fsx").describe_file_systems()["FileSystems"]:
        lustre = system["LustreConfiguration"]
        facts = f"{lustre['DeploymentType']}, {system['StorageCapacity']} GiB, "
        facts += str(system["Lifecycle"])
        yield row("lustre file system", system["FileSystemId"], facts)
