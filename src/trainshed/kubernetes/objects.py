"""What Kubernetes has for a cluster: typed objects, in the order in which they are applied."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, TypeAlias

from lightkube.models.core_v1 import (
    LocalVolumeSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectReference,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    VolumeNodeAffinity,
    VolumeResourceRequirements,
)
from lightkube.models.rbac_v1 import PolicyRule, RoleRef, Subject
from lightkube.resources.admissionregistration_v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apiregistration_v1 import APIService
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.core_v1 import (
    ConfigMap,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodTemplate,
    Secret,
    Service,
    ServiceAccount,
)
from lightkube.resources.rbac_authorization_v1 import (
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
)
from ruamel.yaml import YAML

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.device_plugins import device_plugins
from trainshed.kubernetes.job_template import TEMPLATE, JobPodPlan, job_template
from trainshed.kubernetes.labels import OwnedObjects
from trainshed.kubernetes.queue import GROUP as KUEUE
from trainshed.kubernetes.queue import QueueObject, queue_objects

# In the namespace of a cluster: whose it is.
OWNER, OWNER_KEY = "trainshed", "cluster"
_EDIT = "edit-jobs"
_RBAC = "rbac.authorization.k8s.io"
_YAML_WIDTH = 1000
# A volume must have a size, which nobody compares with the file system's. Not that of the file
# system: it may grow, and a claim's size is fixed.
_SIZE = "1200Gi"
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]

KubernetesObject: TypeAlias = (
    Namespace
    | ConfigMap
    | ServiceAccount
    | PersistentVolume
    | PersistentVolumeClaim
    | PodTemplate
    | Role
    | RoleBinding
    | ClusterRole
    | ClusterRoleBinding
    | DaemonSet
    | QueueObject
    # Of charts alone.
    | Secret
    | Service
    | Deployment
    | CustomResourceDefinition
    | MutatingWebhookConfiguration
    | ValidatingWebhookConfiguration
    | APIService
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsPlan:
    """What the objects of a cluster follow from.

    Attributes:
        cluster: its name, as in the label of its nodes.
        region: that it is in.
        namespace: of its jobs.
        service_account: of its jobs.
        accelerator: resource, and key of the nodes' taint.
        efa: its nodes have EFA.
        shared: where its nodes mount shared storage, by the name of its claim.
        editors: groups that submit and end jobs.
        viewers: groups that look at them.
        nodes: how many it has at most.
        job: what the pod of a job gets.
        charts: version and digest of each locked chart, by its name: so that a review of the
            objects shows what a new lock changes.
    """

    cluster: str
    region: str
    namespace: str
    service_account: str
    accelerator: str
    efa: bool
    shared: Mapping[str, str]
    editors: tuple[str, ...]
    viewers: tuple[str, ...]
    nodes: int
    job: JobPodPlan
    charts: Mapping[str, str] = field(default_factory=dict)

    @property
    def owned(self) -> OwnedObjects:
        """What the objects have in common."""
        return OwnedObjects(cluster=self.cluster, namespace=self.namespace)


def cluster_objects(plan: ObjectsPlan) -> tuple[KubernetesObject, ...]:
    """Return all objects of a cluster; nothing comes before what it needs."""
    owned = plan.owned
    return (
        Namespace(metadata=owned.metadata(plan.namespace)),
        ConfigMap(
            metadata=owned.metadata(OWNER, plan.namespace),
            data={OWNER_KEY: plan.cluster}
            | {f"chart.{name}": version for name, version in plan.charts.items()},
        ),
        # The role of AWS comes by EKS Pod Identity; jobs need nothing of Kubernetes itself.
        ServiceAccount(
            metadata=owned.metadata(plan.service_account, plan.namespace),
            automountServiceAccountToken=False,
        ),
        *_access(plan, owned),
        *(each for claim, path in plan.shared.items() for each in _shared(plan, claim, path)),
        job_template(
            owned,
            plan.job,
            service_account=plan.service_account,
            taint=plan.accelerator,
            claims={path: claim for claim, path in plan.shared.items()},
        ),
        *device_plugins(owned, region=plan.region, accelerator=plan.accelerator, efa=plan.efa),
        *queue_objects(owned, nodes=plan.nodes, resources=plan.job.resources),
    )


def manifest(objects: tuple[KubernetesObject, ...]) -> str:
    """Return objects as YAML, as kubectl reads it."""
    yaml, text = YAML(), StringIO()
    # Images are not broken over two lines.
    yaml.width = _YAML_WIDTH
    yaml.dump_all([_headed(each) for each in objects], text)
    return text.getvalue()


def _headed(each: KubernetesObject) -> dict[str, Any]:
    """Return an object with what names it first."""
    fields = each.to_dict()
    head = {name: fields.pop(name) for name in ("apiVersion", "kind", "metadata")}
    return head | fields


def _access(
    plan: ObjectsPlan, owned: OwnedObjects
) -> Iterator[Role | RoleBinding | ClusterRole | ClusterRoleBinding]:
    """Allow what access policies of EKS do not: JobSets, their template, and to look at nodes.

    EKS user guide, "Review access policy permissions": their rules name no other kinds than
    Kubernetes' own, and neither nodes nor PodTemplates.
    """
    for name, groups, verbs in (
        (_EDIT, plan.editors, [*_READ, *_WRITE]),
        ("view-jobs", plan.viewers, _READ),
    ):
        if not groups:
            continue
        rules = [
            PolicyRule(apiGroups=["jobset.x-k8s.io"], resources=["jobsets"], verbs=verbs),
            PolicyRule(apiGroups=[KUEUE], resources=["localqueues", "workloads"], verbs=_READ),
        ]
        if name == _EDIT:
            # To end a job is to deactivate its workload.
            rules.append(PolicyRule(apiGroups=[KUEUE], resources=["workloads"], verbs=["patch"]))
            rules.append(
                PolicyRule(
                    apiGroups=[""],
                    resources=["podtemplates"],
                    resourceNames=[TEMPLATE],
                    verbs=["get"],
                )
            )
        yield Role(metadata=owned.metadata(name, plan.namespace), rules=rules)
        yield RoleBinding(
            metadata=owned.metadata(name, plan.namespace),
            roleRef=RoleRef(apiGroup=_RBAC, kind="Role", name=name),
            subjects=_groups(groups),
        )
    if everybody := (*plan.editors, *plan.viewers):
        nodes = owned.name("view-nodes")
        rule = PolicyRule(apiGroups=[""], resources=["nodes"], verbs=_READ)
        yield ClusterRole(metadata=owned.metadata(nodes), rules=[rule])
        yield ClusterRoleBinding(
            metadata=owned.metadata(nodes),
            roleRef=RoleRef(apiGroup=_RBAC, kind="ClusterRole", name=nodes),
            subjects=_groups(everybody),
        )


def _groups(names: tuple[str, ...]) -> list[Subject]:
    return [Subject(apiGroup=_RBAC, kind="Group", name=name) for name in names]


def _shared(
    plan: ObjectsPlan, claim: str, path: str
) -> Iterator[PersistentVolume | PersistentVolumeClaim]:
    """Give jobs the storage that each node mounts at its first boot: no driver is needed.

    The kubelet starts after the mount (docs/node-programs.md), so a pod never finds it empty.
    """
    owned = plan.owned
    volume = owned.name(claim)
    size, modes = {"storage": _SIZE}, ["ReadWriteMany"]
    here = NodeSelectorRequirement(key=CLUSTER_LABEL, operator="In", values=[plan.cluster])
    yield PersistentVolume(
        metadata=owned.metadata(volume),
        spec=PersistentVolumeSpec(
            accessModes=modes,
            capacity=size,
            # Data is never deleted with what points to it.
            persistentVolumeReclaimPolicy="Retain",
            storageClassName="",
            local=LocalVolumeSource(path=path),
            nodeAffinity=VolumeNodeAffinity(
                required=NodeSelector(nodeSelectorTerms=[NodeSelectorTerm(matchExpressions=[here])])
            ),
            claimRef=ObjectReference(name=claim, namespace=plan.namespace),
        ),
    )
    yield PersistentVolumeClaim(
        metadata=owned.metadata(claim, plan.namespace),
        spec=PersistentVolumeClaimSpec(
            accessModes=modes,
            resources=VolumeResourceRequirements(requests=size),
            storageClassName="",
            volumeName=volume,
        ),
    )
