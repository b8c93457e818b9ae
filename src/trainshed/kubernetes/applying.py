"""Apply the objects of a cluster: server-side, in order, and delete what is no longer wanted.

Each object is asked about first, so that a conflict or a refusal is found before anything changes.
Applying again changes nothing, so an interrupted command is simply run again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from lightkube import ApiError, Client
from lightkube.resources.core_v1 import ConfigMap, Namespace

from trainshed.errors import Failure
from trainshed.kubernetes.applied import delete_applied, find_applied
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.object_diff import FieldChange, field_changes
from trainshed.kubernetes.object_names import kind_of, name_of, named, namespace_of, where
from trainshed.kubernetes.objects import (
    OWNER,
    OWNER_KEY,
    KubernetesObject,
    ObjectsPlan,
    cluster_objects,
)
from trainshed.kubernetes.queue import QueueObject, has_kueue
from trainshed.kubernetes.readiness import why_not_ready

_NOT_FOUND, _CONFLICT, _INVALID = 404, 409, 422


class ApplyOutcome(StrEnum):
    """What becomes of an object."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStep:
    """One object, and what becomes of it.

    Attributes:
        name: kind, namespace and name, for instance `DaemonSet kube-system/trainshed-train-efa`.
        outcome: what becomes of it.
        changes: fields that get other values.
    """

    name: str
    outcome: ApplyOutcome
    changes: tuple[FieldChange, ...] = ()


class Applier:
    """Applies the objects of one cluster, and deletes those that it no longer has.

    Args:
        client: of the API server.
        cluster: as EKS has it.
        plan: what its objects follow from.
    """

    def __init__(self, client: Client, cluster: EksCluster, plan: ObjectsPlan) -> None:
        self._client, self._cluster, self._owned = client, cluster, plan.owned
        self._wanted = cluster_objects(plan)

    @cached_property
    def queues(self) -> bool:
        """Whether the cluster has a queue: it needs Kueue, which is asked for once.

        Raises:
            Failure: the server refuses, or does not answer.
        """
        with asking(self._cluster):
            return has_kueue(self._client)

    @property
    def _objects(self) -> tuple[KubernetesObject, ...]:
        if self.queues:
            return self._wanted
        return tuple(each for each in self._wanted if not isinstance(each, QueueObject))

    def plan(self) -> tuple[ApplyStep, ...]:
        """Ask the server what would become of each object; nothing changes.

        What is in a namespace that is not there yet cannot be asked about, and would be created.

        Raises:
            Failure: the namespace is another cluster's, others own fields, the server refuses, or
                does not answer.
        """
        with asking(self._cluster):
            self._refuse_another_cluster()
            steps, conflicts = [], list[str]()
            for each in self._objects:
                try:
                    steps.append(self._apply(each, dry_run=True))
                except ApiError as error:
                    if error.status.code != _CONFLICT:
                        raise self._refused(each, error) from error
                    conflicts += _conflicts(each, error)
            if conflicts:
                raise Failure(
                    "others own fields of these objects, and nothing was changed; remove the "
                    "fields from their owners, or take them over once: kubectl apply "
                    "--server-side --force-conflicts --field-manager trainshed --filename FILE",
                    *conflicts,
                )
            return (*steps, *(_deleted(each) for each in self._unwanted()))

    def apply(self) -> Iterator[ApplyStep]:
        """Apply each object and delete the unwanted ones; yield each step when it is done.

        Raises:
            Failure: as for `plan`; what was yielded before is done.
        """
        with asking(self._cluster):
            for each in self._objects:
                try:
                    yield self._apply(each, dry_run=False)
                except ApiError as error:
                    raise self._refused(each, error) from error
            for unwanted in self._unwanted():
                delete_applied(self._client, unwanted)
                yield _deleted(unwanted)

    def waiting(self) -> tuple[str, ...]:
        """Return what is not ready yet, and why; empty when everything is.

        Raises:
            Failure: the server refuses, or does not answer.
        """
        with asking(self._cluster):
            found = (why_not_ready(self._get(each)) for each in self._objects)
            return tuple(
                f"{named(each)}: {why}"
                for each, why in zip(self._objects, found, strict=True)
                if why
            )

    def _refuse_another_cluster(self) -> None:
        """Refuse a namespace whose cluster has another name: names of clusters are shortened."""
        wanted = next(each for each in self._objects if isinstance(each, ConfigMap))
        found = self._get(wanted)
        owner = ((found.data or {}) if isinstance(found, ConfigMap) else {}).get(OWNER_KEY)
        if owner not in (None, self._owned.cluster):
            raise Failure(
                f"namespace {self._owned.namespace} of {self._cluster.name} belongs to the cluster "
                f"{owner}, as its ConfigMap {OWNER} says, and this is the file of "
                f"{self._owned.cluster}; name the other file, or rename this cluster"
            )

    def _apply(self, wanted: KubernetesObject, *, dry_run: bool) -> ApplyStep:
        before = self._get(wanted)
        if dry_run and before is None and self._is_early(wanted):
            return ApplyStep(name=named(wanted), outcome=ApplyOutcome.CREATED)
        after = self._client.apply(wanted, dry_run=dry_run)
        if before is None:
            return ApplyStep(name=named(wanted), outcome=ApplyOutcome.CREATED)
        changes = field_changes(before.to_dict(), after.to_dict())
        outcome = ApplyOutcome.CHANGED if changes else ApplyOutcome.UNCHANGED
        return ApplyStep(name=named(wanted), outcome=outcome, changes=changes)

    def _is_early(self, wanted: KubernetesObject) -> bool:
        """Return whether an object's namespace is one of ours that is not there yet."""
        space = namespace_of(wanted)
        ours = (each for each in self._objects if isinstance(each, Namespace))
        return any(name_of(each) == space and self._get(each) is None for each in ours)

    def _get(self, wanted: KubernetesObject) -> KubernetesObject | None:
        try:
            found: KubernetesObject = self._client.get(
                type(wanted), name_of(wanted), **where(wanted)
            )
        except ApiError as error:
            if error.status.code == _NOT_FOUND:
                return None
            raise
        return found

    def _unwanted(self) -> tuple[KubernetesObject, ...]:
        """Return what is ours, by its labels and because we applied it, and not wanted."""
        wanted = {named(each) for each in self._objects}
        found = find_applied(self._client, self._owned)
        return tuple(each for each in found if named(each) not in wanted)

    def _refused(self, wanted: KubernetesObject, error: ApiError) -> Exception:
        if error.status.code != _INVALID:
            return error
        space = f" --namespace {namespace_of(wanted)}" if namespace_of(wanted) else ""
        return Failure(
            f"{named(wanted)} is refused: {error.status.message}; if it cannot be changed, delete "
            f"it and run the command again: kubectl delete {kind_of(wanted).lower()} "
            f"{name_of(wanted)}{space}"
        )


def _deleted(each: KubernetesObject) -> ApplyStep:
    return ApplyStep(name=named(each), outcome=ApplyOutcome.DELETED)


def _conflicts(wanted: KubernetesObject, error: ApiError) -> Iterator[str]:
    causes = (error.status.details and error.status.details.causes) or []
    for cause in causes:
        yield f"{named(wanted)}: {cause.field}: {cause.message}"
    if not causes:
        yield f"{named(wanted)}: {error.status.message}"
