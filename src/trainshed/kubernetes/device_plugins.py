"""Device plugins: the programs on each node that tell Kubernetes which devices it has.

Each is a DaemonSet of ours, written after the vendor's own manifest, because those do not run on
nodes like ours: they choose nodes by lists of instance types, from which types go missing, and
tolerate no taint, or another one. Ours run on the nodes of one cluster, by their label, and
tolerate the taint that these register with.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lightkube.models.apps_v1 import DaemonSetSpec, DaemonSetUpdateStrategy, RollingUpdateDaemonSet
from lightkube.models.core_v1 import (
    Capabilities,
    Container,
    EnvVar,
    EnvVarSource,
    HostPathVolumeSource,
    ObjectFieldSelector,
    PodSpec,
    PodTemplateSpec,
    ResourceRequirements,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
)
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.models.rbac_v1 import PolicyRule, RoleRef, Subject
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import ServiceAccount
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.labels import OwnedObjects

# Where vendors' manifests put them. Kueue's webhook, when it does not answer, spares this one.
_NAMESPACE = "kube-system"
_PLUGINS_FOLDER = "/var/lib/kubelet/device-plugins"
# EKS user guide, "View Amazon container image registries for Amazon EKS add-ons".
_EKS_ACCOUNT = "602401143452"
_EKS_ACCOUNTS = {
    "af-south-1": "877085696533",
    "ap-east-1": "800184023465",
    "ap-south-2": "900889452093",
    "ap-southeast-3": "296578399912",
    "ap-southeast-4": "491585149902",
    "ap-southeast-5": "151610086707",
    "ca-west-1": "761377655185",
    "eu-central-2": "900612956339",
    "eu-south-1": "590381155156",
    "eu-south-2": "455263428931",
    "il-central-1": "066635153087",
    "me-central-1": "759879836304",
    "me-south-1": "558608220178",
}
# The values of the chart aws-efa-k8s-device-plugin 0.5.30 of 2026-08. Older than 0.5.10, it counts
# devices on p6-b200 that are not EFA (aws/sagemaker-hyperpod-cli#282).
_EFA_VERSION = "v0.5.20"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plugin:
    """What differs between device plugins.

    Attributes:
        name: what it is called here.
        image: by the name that its vendor gives it.
        environment: variables.
        folders: of the node that it uses, beside that of the kubelet's sockets.
        optional: further ones, which are made where they are not there.
        privileged: it needs all devices; the others need no right at all.
        host_network: it uses the node's addresses and takes none of the pods'.
        rules: what it does in Kubernetes; empty for nothing.
    """

    name: str
    image: str
    environment: Mapping[str, str]
    folders: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    privileged: bool = False
    host_network: bool = False
    rules: tuple[PolicyRule, ...] = ()


# By the resource that they announce.
_ACCELERATORS = {
    # docs.habana.ai, "Intel Gaudi Device Plugin for Kubernetes": habana-k8s-device-plugin.yaml. It
    # asks for the newest version, but 1.22 and later do not know the first Gaudi. That the tag is
    # called as the release of the driver: inferred, as in 1.22.1-6.
    "habana.ai/gaudi": _Plugin(
        name="gaudi",
        image="vault.habana.ai/docker-k8s-device-plugin/docker-k8s-device-plugin:1.21.3-57",
        environment={},
        privileged=True,
    ),
    # Neuron documentation, "Neuron device plugin": k8s-neuron-device-plugin.yml and its RBAC; the
    # version is the one of eksctl 0.2xx of 2026-08. It needs no scheduler of Neuron's own where
    # pods take whole nodes.
    "aws.amazon.com/neuron": _Plugin(
        name="neuron",
        image="public.ecr.aws/neuron/neuron-device-plugin:2.23.30.0",
        environment={"KUBECONFIG": "/etc/kubernetes/kubelet.conf"},
        folders=("/run",),
        rules=(
            PolicyRule(apiGroups=[""], resources=["nodes"], verbs=["get", "list", "watch"]),
            PolicyRule(apiGroups=[""], resources=["events"], verbs=["create", "patch"]),
            PolicyRule(
                apiGroups=[""],
                resources=["pods"],
                verbs=["get", "list", "patch", "update", "watch"],
            ),
            PolicyRule(apiGroups=[""], resources=["nodes/status"], verbs=["patch", "update"]),
        ),
    ),
    # NVIDIA/k8s-device-plugin, deployments/static/nvidia-device-plugin.yml. 0.19.0 to 0.19.2 give
    # every pod all verbs devices, EFA's too; since 0.19.3 both features must be asked for (#1692).
    "nvidia.com/gpu": _Plugin(
        name="nvidia",
        image="nvcr.io/nvidia/k8s-device-plugin:v0.20.0",
        environment={
            "FAIL_ON_INIT_ERROR": "false",
            "GDRCOPY_ENABLED": "true",
            "MOFED_ENABLED": "false",
        },
    ),
}


def device_plugins(
    owned: OwnedObjects, *, region: str, accelerator: str, efa: bool
) -> Iterator[ServiceAccount | ClusterRole | ClusterRoleBinding | DaemonSet]:
    """Yield the plugins of a cluster's nodes, each after what it needs.

    Args:
        owned: names and labels of the cluster's objects.
        region: whose registry has EFA's.
        accelerator: resource, and key of the nodes' taint.
        efa: the nodes have EFA.
    """
    plugins = [_ACCELERATORS[accelerator]]
    if efa:
        plugins.append(_efa(region))
    for plugin in plugins:
        if plugin.rules:
            yield from _rights(owned, plugin)
        yield _daemon_set(owned, plugin, taint=accelerator)


def _efa(region: str) -> _Plugin:
    """EFA's: aws/eks-charts, stable/aws-efa-k8s-device-plugin, its template and values."""
    account = _EKS_ACCOUNTS.get(region, _EKS_ACCOUNT)
    registry = f"{account}.dkr.ecr.{region}.amazonaws.com"
    return _Plugin(
        name="efa",
        image=f"{registry}/eks/aws-efa-k8s-device-plugin:{_EFA_VERSION}",
        environment={},
        folders=("/dev/infiniband",),
        optional=("/opt/aws/neuron",),
        privileged=True,
        host_network=True,
    )


def _rights(
    owned: OwnedObjects, plugin: _Plugin
) -> Iterator[ServiceAccount | ClusterRole | ClusterRoleBinding]:
    name = owned.name(plugin.name)
    yield ServiceAccount(metadata=owned.metadata(name, _NAMESPACE))
    yield ClusterRole(metadata=owned.metadata(name), rules=list(plugin.rules))
    yield ClusterRoleBinding(
        metadata=owned.metadata(name),
        roleRef=RoleRef(apiGroup="rbac.authorization.k8s.io", kind="ClusterRole", name=name),
        subjects=[Subject(kind="ServiceAccount", name=name, namespace=_NAMESPACE)],
    )


def _daemon_set(owned: OwnedObjects, plugin: _Plugin, *, taint: str) -> DaemonSet:
    name = owned.name(plugin.name)
    # Of the pods: it cannot change, so no version is in it.
    selector = {"app.kubernetes.io/name": name}
    folders = dict.fromkeys((_PLUGINS_FOLDER, *plugin.folders), "Directory")
    folders |= dict.fromkeys(plugin.optional, "DirectoryOrCreate")
    pod = PodSpec(
        serviceAccountName=name if plugin.rules else None,
        automountServiceAccountToken=bool(plugin.rules),
        hostNetwork=True if plugin.host_network else None,
        nodeSelector={CLUSTER_LABEL: owned.cluster},
        tolerations=[Toleration(key=taint, operator="Exists", effect="NoSchedule")],
        priorityClassName="system-node-critical",
        containers=[
            Container(
                name=plugin.name,
                image=plugin.image,
                env=_environment(plugin) or None,
                resources=ResourceRequirements(requests={"cpu": "10m", "memory": "20Mi"}),
                securityContext=_privileged() if plugin.privileged else _without_rights(),
                volumeMounts=[VolumeMount(name=_volume(path), mountPath=path) for path in folders],
            )
        ],
        volumes=[
            Volume(name=_volume(path), hostPath=HostPathVolumeSource(path=path, type=kind))
            for path, kind in folders.items()
        ],
    )
    return DaemonSet(
        metadata=owned.metadata(name, _NAMESPACE),
        spec=DaemonSetSpec(
            selector=LabelSelector(matchLabels=selector),
            # Pods that run keep their devices while a plugin starts anew.
            updateStrategy=DaemonSetUpdateStrategy(
                type="RollingUpdate", rollingUpdate=RollingUpdateDaemonSet(maxUnavailable="25%")
            ),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=selector), spec=pod),
        ),
    )


def _volume(path: str) -> str:
    return path.strip("/").replace("/", "-")


def _environment(plugin: _Plugin) -> list[EnvVar]:
    given = [EnvVar(name=name, value=value) for name, value in plugin.environment.items()]
    if not plugin.rules:
        return given
    node = EnvVarSource(fieldRef=ObjectFieldSelector(fieldPath="spec.nodeName"))
    return [*given, EnvVar(name="NODE_NAME", valueFrom=node)]


def _privileged() -> SecurityContext:
    return SecurityContext(privileged=True, runAsUser=0)


def _without_rights() -> SecurityContext:
    return SecurityContext(allowPrivilegeEscalation=False, capabilities=Capabilities(drop=["ALL"]))
