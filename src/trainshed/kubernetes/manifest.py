"""Apply the objects of a file that synthesis wrote, where there is no plan: in a rehearsal."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from lightkube import Client
from lightkube.codecs import from_dict

from trainshed.files import read_bytes
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.object_step import ApplyStep, apply_object
from trainshed.kubernetes.objects import KubernetesObject
from trainshed.kubernetes.readiness import not_ready


class Manifest:
    """The objects of a file.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        file: as `objects.manifest` writes it.
    """

    def __init__(self, client: Client, cluster: EksCluster, file: Path) -> None:
        self._client, self._cluster = client, cluster
        documents = yaml.load_all(read_bytes(file), Loader=yaml.CSafeLoader)
        self._objects: list[KubernetesObject] = [from_dict(each) for each in documents]

    @property
    def name(self) -> str:
        """What is applied."""
        return "what the cluster needs"

    def apply(self) -> Iterator[ApplyStep]:
        """Apply it, and yield each step when it is done."""
        with asking(self._cluster):
            for each in self._objects:
                yield apply_object(self._client, each, dry_run=False)

    def waiting(self) -> tuple[str, ...]:
        """Return what is not ready yet, and why."""
        with asking(self._cluster):
            return tuple(not_ready(self._client, self._objects))
