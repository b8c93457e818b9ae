"""Rules over the plans of clusters of Amazon EKS."""

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from trainshed.catalogue import AcceleratorFamily, increase_command
from trainshed.catalogue.kubernetes import default_kubernetes
from trainshed.catalogue.quotas import EKS_NODES
from trainshed.checks import clusters
from trainshed.day import today
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator
from trainshed.orchestrators.eks.control_plane import policy_name
from trainshed.orchestrators.eks.plan import EksPlan
from trainshed.orchestrators.eks.traits import AccessPolicy
from trainshed.plan import ClusterPlan

_EVERYWHERE = IPv4Network("0.0.0.0/0")
_ACCESS = "https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html"
_POLICIES = "https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html"
# EKS user guide, "View and manage Amazon EKS and Fargate service quotas".
_NODES_BY_DEFAULT = 450
_QUOTAS = "https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html"
_ENDPOINT = "https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"


def _eks(plan: ClusterPlan) -> EksPlan:
    assert isinstance(plan.jobs, EksPlan)
    return plan.jobs


@rule(
    "TS-EKS-023",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="Standard support of the cluster's Kubernetes version ends soon",
    why="""
Clusters of trainshed ask for standard support, which is a sixth of the price of extended support.
At its end EKS upgrades the control plane by itself. The nodes stay as they are: their AMI has the
kubelet of its own version. It is found from 90 days before; a version whose standard support has
ended is refused. `aws eks describe-cluster-versions` has today's dates.
""",
    remedy="Move to a newer version, one minor version at a time, with an AMI of that version",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html",),
    example="""
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes: {access: [{role: MachineLearning}], version: "1.34"}
""",
)
def kubernetes_version(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster should run a version whose standard support lasts."""
    version = _eks(plan).control_plane.version
    if version.ends_soon(today()):
        yield Violation(
            path=("kubernetes", "version"),
            message=f"Kubernetes {version.name} has standard support until "
            f"{version.standard_until}; then EKS upgrades the control plane by itself, and the "
            "nodes stay as they are",
            remedy=f"take {default_kubernetes().name} or later, one minor version at a time, and "
            "an AMI of that version",
        )


@rule(
    "TS-EKS-020",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="Nobody may use the cluster",
    why="""
EKS lets in whom an access entry names. An older cluster also had whoever created it as an
administrator, which is a role of the deployment that no person should have; clusters of trainshed
do not do that. Without an entry nobody can submit a job or look at a pod.
""",
    remedy="Name a role in kubernetes.access",
    sources=(_ACCESS,),
    example="""
orchestrator: eks
instance: {type: trn1.32xlarge}
""",
)
def nobody_has_access(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster is for somebody."""
    if not _eks(plan).control_plane.access:
        yield Violation(
            path=("kubernetes", "access"),
            message="nobody may use the cluster, not even who deploys it",
            remedy="name a role, for instance access: [{role: MachineLearning, policy: edit}]",
        )


@rule(
    "TS-EKS-025",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="Nobody may apply what Kubernetes needs",
    why="""
Device plugins, the queue and the rights of those who submit jobs are applied by `trainshed kube
apply`, as charts of JobSet and Kueue are. Only AWS's policy for administrators of a whole cluster
allows that, and whoever deploys the stacks is none. Without it, no job can run.
""",
    severity=Severity.INFO,
    remedy="Name a role with policy cluster-admin in kubernetes.access",
    sources=(_ACCESS, _POLICIES),
    example="""
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes: {access: [{role: MachineLearning, policy: edit}]}
""",
)
def nobody_may_apply(plan: ClusterPlan) -> Iterator[Violation]:
    """Somebody has to give Kubernetes what the cluster needs."""
    access = _eks(plan).control_plane.access
    everything = (policy_name(AccessPolicy.CLUSTER_ADMIN), None)
    if access and everything not in [(each.policy, each.namespace) for each in access]:
        yield Violation(
            path=("kubernetes", "access"),
            message="no role in it may run trainshed kube apply, without which no job can run",
            remedy="add one with policy cluster-admin and without a namespace, for instance "
            "{role: Operator, policy: cluster-admin}",
        )


@rule(
    "TS-EKS-021",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="The API server is open to the internet",
    why="""
Whoever reaches the API server still needs an access entry. But every flaw of the server, and every
token that is lost, is then within reach of everybody.
""",
    remedy="Name the ranges of your offices or of your VPN, or reach it from the VPC",
    sources=(_ENDPOINT,),
    example="""
orchestrator: eks
instance: {type: trn1.32xlarge}
kubernetes:
  access: [{role: MachineLearning}]
  public_cidrs: [0.0.0.0/0]
""",
)
def open_to_the_internet(plan: ClusterPlan) -> Iterator[Violation]:
    """The ranges are those of somebody."""
    # Two halves are all, too.
    if _EVERYWHERE in collapse_addresses(_eks(plan).control_plane.public_cidrs):
        yield Violation(
            path=("kubernetes", "public_cidrs"),
            message="every address of the internet reaches the API server",
            remedy="name the ranges of your offices or of your VPN",
        )


@rule(
    "TS-EKS-022",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="Gaudi on EKS has no AMI of AWS, and software that has ended",
    why="""
EKS publishes no AMI for Gaudi: the nodes need one that `trainshed ami build` bakes, for Kubernetes
1.34 or 1.35, on Canonical's AMI of Ubuntu 24.04. Habana's
software for the first Gaudi, the device plugin and the operator with it, ended with release 1.21 in
2025, which Intel lists with Kubernetes 1.30 to 1.32: no newer one is supported by it. EFA's device
plugin left dl1 out of its list of types in July 2026, when the EC2 API had stopped listing the
type; trainshed runs the plugin on the cluster's own nodes, whatever their type. No document of AWS
describes dl1 on a current EKS.
""",
    severity=Severity.INFO,
    basis=Basis.OBSERVED,
    remedy="Use it as long as you need it, and plan the move to trn1 or p4d",
    sources=(
        "https://docs.habana.ai/en/v1.21.0/Installation_Guide/Additional_Installation/"
        "Kubernetes_Installation/index.html",
        "https://docs.habana.ai/en/latest/Support_Matrix/Support_Matrix_v1.21.0.html",
        "https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin",
    ),
    example="""
orchestrator: eks
instance: {type: dl1.24xlarge}
kubernetes: {access: [{role: MachineLearning}]}
""",
)
def gaudi(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever builds on it should know."""
    if plan.instance.accelerator.family is AcceleratorFamily.HABANA:
        yield Violation(
            path=("instance", "type"),
            message=f"EKS has no AMI for {plan.instance.name}, Habana's last software for it is "
            "1.21 of 2025, which Intel lists with Kubernetes 1.30 to 1.32, and EFA's device plugin "
            "has not named it since July 2026",
            remedy="see in trainshed explain which AMI to bake, and whether there is one for this "
            "version of Kubernetes; for new work, take trn1 or p4d",
        )


@rule(
    "TS-EKS-024",
    over=clusters,
    orchestrators=(Orchestrator.EKS,),
    title="More nodes than a managed node group may have by default",
    why="""
The nodes of a cluster are one managed node group, so that all are launched by one template. A node
group has at most 450 nodes by default; EKS refuses a larger one, and the deployment is rolled back.
AWS may take days to grant a larger quota.
""",
    sources=(_QUOTAS,),
    example="""
orchestrator: eks
instance: {type: trn1.32xlarge, nodes: {max: 451}}
kubernetes: {access: [{role: MachineLearning}]}
""",
)
def nodes_of_a_group(plan: ClusterPlan) -> Iterator[Violation]:
    """The account must have room for every node in one group."""
    if plan.nodes.max > _NODES_BY_DEFAULT:
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"{plan.nodes.max} nodes are one managed node group, which has at most "
            f"{_NODES_BY_DEFAULT} by default",
            remedy="if the account's quota is lower, ask for more: "
            f"{increase_command(EKS_NODES, plan.nodes.max, plan.region)}",
        )
