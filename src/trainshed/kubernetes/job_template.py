"""The pod of a job as Kubernetes keeps it for submissions: a PodTemplate of the cluster.

It is what a job definition is on AWS Batch. Whoever submits a job puts in its command and image.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lightkube.models.core_v1 import (
    Container,
    EmptyDirVolumeSource,
    EnvVar,
    HostPathVolumeSource,
    PersistentVolumeClaimVolumeSource,
    PodSpec,
    PodTemplateSpec,
    ResourceRequirements,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
)
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import PodTemplate

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.labels import OwnedObjects
from trainshed.nodes.folders import SPOT

TEMPLATE = "jobs"
# The one container of the pod.
CONTAINER = "job"
# What the template says of jobs beside their pods.
ATTEMPTS, TIMEOUT = "trainshed/attempts", "trainshed/timeout-seconds"
_SHARED_MEMORY = "shared-memory"
# What EC2's notice leaves: who drains the node before EC2 takes it back leaves a pod no longer than
# this.
_SPOT_GRACE_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPodPlan:
    """What the pod of a job gets on one node.

    Attributes:
        image: container image, by the name that the plan knows.
        resources: requests, and limits of the same size, by name as Kubernetes has them.
        shared_memory_mib: size of /dev/shm in MiB.
        environment: variables.
        folders: folders of the node that it sees under the same path, by the volume's name.
        attempts: tries of a job that lost a node.
        timeout_seconds: an attempt that takes longer is ended.
    """

    image: str
    resources: Mapping[str, str]
    shared_memory_mib: int
    environment: Mapping[str, str]
    folders: Mapping[str, str]
    attempts: int
    timeout_seconds: int


def job_template(
    owned: OwnedObjects,
    plan: JobPodPlan,
    *,
    service_account: str,
    taint: str,
    claims: Mapping[str, str],
) -> PodTemplate:
    """Return the template of the pods of a cluster's jobs.

    Args:
        owned: names and labels of the cluster's objects.
        plan: what a pod gets.
        service_account: of it.
        taint: key of the nodes' taint.
        claims: claims of volumes that take the place of folders, by path.
    """
    metadata = owned.metadata(TEMPLATE, owned.namespace)
    metadata.annotations = {ATTEMPTS: str(plan.attempts), TIMEOUT: str(plan.timeout_seconds)}
    mounts = {_SHARED_MEMORY: "/dev/shm", **plan.folders}
    shared = EmptyDirVolumeSource(medium="Memory", sizeLimit=f"{plan.shared_memory_mib}Mi")
    pod = PodSpec(
        # A pod that ends is not started again on its node: the whole job is.
        restartPolicy="Never",
        terminationGracePeriodSeconds=(
            _SPOT_GRACE_SECONDS if SPOT in plan.folders.values() else None
        ),
        serviceAccountName=service_account,
        automountServiceAccountToken=False,
        enableServiceLinks=False,
        nodeSelector={CLUSTER_LABEL: owned.cluster},
        tolerations=[Toleration(key=taint, operator="Exists", effect="NoSchedule")],
        containers=[
            Container(
                name=CONTAINER,
                image=plan.image,
                env=[
                    EnvVar(name=name, value=literal(value))
                    for name, value in plan.environment.items()
                ],
                resources=ResourceRequirements(
                    requests=dict(plan.resources), limits=dict(plan.resources)
                ),
                securityContext=SecurityContext(allowPrivilegeEscalation=False),
                volumeMounts=[
                    # A job tells no other one that its node ends.
                    VolumeMount(name=name, mountPath=path, readOnly=True if path == SPOT else None)
                    for name, path in mounts.items()
                ],
            )
        ],
        volumes=[
            Volume(name=_SHARED_MEMORY, emptyDir=shared),
            *(_volume(name, path, claims.get(path)) for name, path in plan.folders.items()),
        ],
    )
    return PodTemplate(
        metadata=metadata,
        template=PodTemplateSpec(
            metadata=ObjectMeta(labels={CLUSTER_LABEL: owned.cluster}), spec=pod
        ),
    )


def literal(text: str) -> str:
    """Return a variable or an argument as a pod must have it, so that it arrives as it is.

    Kubernetes API reference, Container: `$(NAME)` is replaced, and `$$` is `$`.
    """
    return text.replace("$", "$$")


def _volume(name: str, path: str, claim: str | None) -> Volume:
    if claim:
        source = PersistentVolumeClaimVolumeSource(claimName=claim)
        return Volume(name=name, persistentVolumeClaim=source)
    # An AMI that is not ours may lack it; Docker makes it for a job of AWS Batch, too.
    return Volume(name=name, hostPath=HostPathVolumeSource(path=path, type="DirectoryOrCreate"))
