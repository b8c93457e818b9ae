"""Apply the objects of a cluster: server-side, in order, and delete what is no longer wanted.

Each object is asked about first, so that a conflict or a refusal is found before anything changes.
Applying again changes nothing, so an interrupted command is simply run again.
"""

from collections.abc import Callable, Iterator
from functools import cached_property

from lightkube import Client
from lightkube.resources.core_v1 import ConfigMap

from trainshed.errors import Failure
from trainshed.kubernetes.applied import delete_applied, find_applied
from trainshed.kubernetes.chart_installer import ChartInstaller, chart_installers
from trainshed.kubernetes.charts import KUEUE
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.object_names import named
from trainshed.kubernetes.object_step import (
    ApplyOutcome,
    ApplyStep,
    apply_object,
    ask_about,
    created,
    find_object,
)
from trainshed.kubernetes.objects import (
    OWNER,
    OWNER_KEY,
    KubernetesObject,
    ObjectsPlan,
    cluster_objects,
)
from trainshed.kubernetes.queue import QueueObject, has_kueue
from trainshed.kubernetes.readiness import not_ready
from trainshed.plan.control_plane import ControlPlanePlan


class Applier:
    """Applies the objects of one cluster, and deletes those that it no longer has.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        plan: what its objects follow from.
        kueue_comes: Kueue is installed before the objects are applied.
    """

    def __init__(
        self,
        client: Client,
        cluster: EksCluster,
        plan: ObjectsPlan,
        *,
        kueue_comes: bool = False,
    ) -> None:
        self._client, self._cluster, self._owned = client, cluster, plan.owned
        self._wanted, self._kueue_comes = cluster_objects(plan), kueue_comes

    @property
    def name(self) -> str:
        """What is applied."""
        return f"what {self._owned.cluster} needs"

    @property
    def queues(self) -> bool:
        """Whether the cluster gets a queue: it needs Kueue.

        Raises:
            Failure: the server refuses, or does not answer.
        """
        return self._kueue_comes or self._has_kueue

    @cached_property
    def _has_kueue(self) -> bool:
        """Whether Kueue is there, before anything is applied; it is asked once."""
        with asking(self._cluster):
            return has_kueue(self._client)

    @property
    def _objects(self) -> tuple[KubernetesObject, ...]:
        if self.queues:
            return self._wanted
        return tuple(each for each in self._wanted if not _is_of_kueue(each))

    def plan(self) -> tuple[ApplyStep, ...]:
        """Ask the server what would become of each object; nothing changes.

        What is in a namespace that is not there yet, or of a kind of Kueue, which is not installed
        yet, cannot be asked about, and would be created.

        Raises:
            Failure: the namespace is another cluster's, others own fields, the server refuses, or
                does not answer.
        """
        with asking(self._cluster):
            self._refuse_another_cluster()
            early = () if self._has_kueue else tuple(filter(_is_of_kueue, self._objects))
            # They come last.
            asked = self._objects[: len(self._objects) - len(early)]
            # A Kueue that is installed or mended first does not run yet.
            steps = ask_about(
                self._client, asked, lambda each: self._kueue_comes and _is_of_kueue(each)
            )
            unwanted = (_deleted(each) for each in self._unwanted())
            return (*steps, *map(created, early), *unwanted)

    def apply(self) -> Iterator[ApplyStep]:
        """Apply each object and delete the unwanted ones; yield each step when it is done.

        Raises:
            Failure: as for `plan`; what was yielded before is done.
        """
        with asking(self._cluster):
            for each in self._objects:
                yield apply_object(self._client, each, dry_run=False)
            for unwanted in self._unwanted():
                delete_applied(self._client, unwanted)
                yield _deleted(unwanted)

    def waiting(self) -> tuple[str, ...]:
        """Return what is not ready yet, and why; empty when everything is.

        Raises:
            Failure: the server refuses, or does not answer.
        """
        with asking(self._cluster):
            return tuple(not_ready(self._client, self._objects))

    def _refuse_another_cluster(self) -> None:
        """Refuse a namespace whose cluster has another name: names of clusters are shortened."""
        wanted = next(each for each in self._objects if isinstance(each, ConfigMap))
        found = find_object(self._client, wanted)
        owner = ((found.data or {}) if isinstance(found, ConfigMap) else {}).get(OWNER_KEY)
        if owner not in (None, self._owned.cluster):
            raise Failure(
                f"namespace {self._owned.namespace} of {self._cluster.name} belongs to the cluster "
                f"{owner}, as its ConfigMap {OWNER} says, and this is the file of "
                f"{self._owned.cluster}; name the other file, or rename this cluster"
            )

    def _unwanted(self) -> tuple[KubernetesObject, ...]:
        """Return what is ours, by its labels and because we applied it, and not wanted."""
        wanted = {named(each) for each in self._objects}
        found = find_applied(self._client, self._owned.labels)
        return tuple(each for each in found if named(each) not in wanted)


def _deleted(each: KubernetesObject) -> ApplyStep:
    return ApplyStep(name=named(each), outcome=ApplyOutcome.DELETED)


def _is_of_kueue(each: KubernetesObject) -> bool:
    return isinstance(each, QueueObject)


def stages_of(
    client: Client,
    cluster: EksCluster,
    control_plane: ControlPlanePlan,
    plan: ObjectsPlan,
    show: Callable[[str], None],
) -> tuple[tuple[ChartInstaller, ...], Applier]:
    """Return what installs the charts of a cluster's lock, and then what applies its objects.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        control_plane: has the lock.
        plan: what its objects follow from.
        show: called with each step.

    Raises:
        Failure: as `chart_installers`.
    """
    charts = chart_installers(client, cluster, control_plane, show)
    comes = any(each.chart is KUEUE for each in charts)
    return charts, Applier(client, cluster, plan, kueue_comes=comes)
