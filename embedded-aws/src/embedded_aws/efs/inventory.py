"""File systems of EFS in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.FILES)
def _storage(client: Callable[[str], Any]) -> Iterator[Row]:
    for system in client("efs").describe_file_systems()["FileSystems"]:
        targets = system["NumberOfMountTargets"]
        facts = f"{system['ThroughputMode']}, {targets} mount target{'' if targets == 1 else 's'}, "
        yield row("efs file system", system["FileSystemId"], facts + system["LifeCycleState"])
