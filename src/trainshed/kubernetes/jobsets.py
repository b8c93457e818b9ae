"""The JobSets of a namespace, and what Kubernetes has made of them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod, PodTemplate
from lightkube.types import PatchType

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.errors import Failure
from trainshed.kubernetes.client import ApiRefusal, accepting_absence, asking
from trainshed.kubernetes.job_namespace import JobNamespace
from trainshed.kubernetes.job_template import CONTAINER, TEMPLATE
from trainshed.kubernetes.queue import JOB_UID_LABEL, QUEUE, LocalQueue, Workload

GROUP, VERSION = "jobset.x-k8s.io", "v1alpha2"
# JobSet API: its controller labels the pods and Jobs of a JobSet.
_OF_JOBSET = "jobset.sigs.k8s.io/jobset-name"
# What may be the name of an object; others are not asked for.
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NOT_FOUND = 404
# What is answered of a container that has not begun, and from where on of a node that does not
# answer.
_NOT_BEGUN, _NODE_AWAY = 400, 500

_JobSet = create_namespaced_resource(GROUP, VERSION, "JobSet", "jobsets")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSets(JobNamespace):
    """The JobSets of one cluster; objects are as the API has them."""

    def template(self) -> Mapping[str, Any]:
        """Return the template of the pods of jobs.

        Raises:
            Failure: it is not there, or the server refuses or does not answer.
        """
        with accepting_absence(), asking(self.eks):
            return self.client.get(PodTemplate, TEMPLATE, namespace=self.namespace).to_dict()
        raise Failure(
            f"namespace {self.namespace} of {self.eks.name} has no PodTemplate {TEMPLATE}, "
            f"which jobs are made of; run: trainshed kube apply {self.cluster}"
        )

    def create(self, jobset: Mapping[str, Any]) -> None:
        """Create a JobSet.

        Raises:
            Failure: JobSet is not installed, or the server refuses or does not answer.
        """
        with accepting_absence(), asking(self.eks):
            self.client.create(_JobSet.from_dict(dict(jobset)))
            return
        raise Failure(
            f"{self.eks.name} has no JobSet, which runs the jobs; somebody of policy "
            f"cluster-admin installs it: trainshed kube lock {self.cluster}, and then: "
            f"trainshed kube apply {self.cluster}"
        )

    def all(self) -> list[Mapping[str, Any]]:
        """Return all JobSets of the cluster; none where JobSet is not installed."""
        with accepting_absence(), asking(self.eks):
            found: Iterable[Any] = self.client.list(
                _JobSet, namespace=self.namespace, labels={CLUSTER_LABEL: self.cluster}
            )
            return [each.to_dict() for each in found]
        return []

    def get(self, name: str) -> Mapping[str, Any] | None:
        """Return a JobSet; None when there is none, or JobSet is not installed."""
        if not _NAME.fullmatch(name):
            return None
        with accepting_absence(), asking(self.eks):
            found: Any = self.client.get(_JobSet, name, namespace=self.namespace)
            return dict(found.to_dict())
        return None

    def job(self, jobset: str) -> Mapping[str, Any] | None:
        """Return the Job that a JobSet has now, or None."""
        with asking(self.eks):
            found = [*self.client.list(Job, namespace=self.namespace, labels={_OF_JOBSET: jobset})]
        return found[0].to_dict() if found else None

    def pods(self, jobset: str) -> list[Mapping[str, Any]]:
        """Return the pods of a JobSet that are there."""
        with asking(self.eks):
            found = self.client.list(Pod, namespace=self.namespace, labels={_OF_JOBSET: jobset})
            return [each.to_dict() for each in found]

    def workload(self, jobset: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the Workload by which Kueue knows a JobSet; None when there is none."""
        labels: dict[str, Any] = {JOB_UID_LABEL: jobset["metadata"]["uid"]}
        found: list[Any] = []
        with accepting_absence(), asking(self.eks):
            found += self.client.list(Workload, namespace=self.namespace, labels=labels)
        return found[0].to_dict() if found else None

    def has_queue(self) -> bool:
        """Return whether the cluster has a queue."""
        with accepting_absence(), asking(self.eks):
            self.client.get(LocalQueue, QUEUE, namespace=self.namespace)
            return True
        return False

    def take_out_of_queue(self, jobset: Mapping[str, Any], annotations: Mapping[str, str]) -> None:
        """Have Kueue suspend a JobSet for good, which deletes its pods, and annotate it.

        Kueue documentation, "Workload": one that is not active gets no quota. Kueue starts a JobSet
        again that somebody else has suspended.

        Raises:
            Failure: Kueue does not know it yet.
        """
        name = jobset["metadata"]["name"]
        workload = self.workload(jobset)
        if workload is None:
            raise Failure(
                f"Kueue has not looked at {name} in namespace {self.namespace} yet; run the "
                "command again in a moment"
            )
        with asking(self.eks):
            for kind, patched, change in (
                # First: a job that waits is suspended, so that with the annotation alone it would
                # look as if it were over, and begin.
                (Workload, workload["metadata"]["name"], {"spec": {"active": False}}),
                (_JobSet, name, {"metadata": {"annotations": dict(annotations)}}),
            ):
                self.client.patch(
                    kind, patched, change, namespace=self.namespace, patch_type=PatchType.MERGE
                )

    def log(self, pod: str, *, since: int | None = None, tail: int | None = None) -> list[str]:
        """Return what a pod of a job has printed, each line after its time.

        There is nothing where the pod is gone or has not begun, or its node does not answer.

        Args:
            pod: its name.
            since: only what is at most so many seconds old.
            tail: only so many last lines.
        """
        try:
            with asking(self.eks):
                return [
                    *self.client.log(
                        pod,
                        namespace=self.namespace,
                        container=CONTAINER,
                        since=since,
                        tail_lines=tail,
                        timestamps=True,
                        newlines=False,
                    )
                ]
        except ApiRefusal as error:
            if error.code not in (_NOT_BEGUN, _NOT_FOUND) and error.code < _NODE_AWAY:
                raise
            return []

    def suspend(self, name: str, annotations: Mapping[str, str]) -> None:
        """Suspend a JobSet, which deletes its pods, and annotate it."""
        change = {"metadata": {"annotations": dict(annotations)}, "spec": {"suspend": True}}
        with asking(self.eks):
            self.client.patch(
                _JobSet, name, change, namespace=self.namespace, patch_type=PatchType.MERGE
            )

    def delete(self, name: str) -> None:
        """Delete a JobSet with its pods, which get SIGTERM; one that is gone is no error."""
        with accepting_absence(), asking(self.eks):
            self.client.delete(_JobSet, name, namespace=self.namespace)
