"""What is known of Amazon EKS before anything is planned."""

from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from trainshed.documents.model import Model
from trainshed.interfaces import InterfaceProfile
from trainshed.orchestrators import Traits
from trainshed.spec import forms
from trainshed.spec.image import ImageSpec
from trainshed.spec.job import ContainerJobSpec

# What runs the jobs, for messages.
SERVICE = "Kubernetes"
# What the VPC CNI takes on each node, of the primary interface: an address for each pod with a
# network of its own (the job's, device plugins) and spare ones, by MINIMUM_IP_TARGET. By default it
# takes a whole interface's, 49 on p5.48xlarge (EKS user guide, "Amazon VPC CNI").
POD_ADDRESSES = 10

ShareName = Annotated[str, Field(pattern=forms.SHARE_NAME.pattern)]


class AccessPolicy(StrEnum):
    """What a role may do in a cluster, by the access policies of EKS."""

    VIEW = "view"
    EDIT = "edit"
    ADMIN = "admin"
    CLUSTER_ADMIN = "cluster-admin"


class AccessGrant(Model):
    """An IAM role that may use the cluster."""

    role: Annotated[str, Field(pattern=forms.ROLE.pattern)]
    """Name of a role of the cluster's account, or the ARN of any role."""
    policy: AccessPolicy = AccessPolicy.EDIT
    """view, edit, admin or cluster-admin: the role's AmazonEKS...Policy."""
    namespace: Annotated[str, Field(pattern=forms.NAMESPACE.pattern)] | None = None
    """Only in this namespace; default: in all of them."""


class KubernetesSpec(Model):
    """The control plane of an EKS cluster, and who may use it."""

    name: ShareName | None = None
    """Clusters share a control plane by this name; fixed once deployed; default: from the
    cluster's name."""
    version: str | None = None
    """Minor version of Kubernetes, in quotes, for instance "1.35"; default: the one that
    `trainshed explain` names."""
    access: tuple[AccessGrant, ...] = ()
    """Roles that may use the cluster, for instance [{role: MachineLearning, policy: edit}];
    nobody else may, not even who deploys it."""
    public_cidrs: tuple[IPv4Network, ...] = Field(default=(), max_length=40)
    """Address ranges from which the API server is reached over the internet; default: none, it is
    reached from its VPC alone."""
    service_cidr: IPv4Network | None = None
    """Address range of the services in the cluster; default: 10.100.0.0/16, or 172.20.0.0/16 where
    the VPC has that."""
    subnet: Annotated[str, Field(pattern=forms.SUBNET.pattern)] | None = None
    """With network.vpc: id of a private subnet in another zone, for the control plane alone."""


TRAITS = Traits(
    agent="eks",
    profile=InterfaceProfile.EKS,
    profile_reason="leaves the other slots of card 0 to the interfaces of the VPC CNI",
    job_interface=False,
    job_addresses=POD_ADDRESSES,
    in_containers=True,
    keeps_nodes=True,
    when_stopped="jobs that run end: EKS drains their nodes, and others wait",
    when_expired=None,
    # EKS user guide, "Deploy private clusters with limited internet access".
    services=("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "s3", "ssm", "sts"),
    uses_default_group=False,
    control_plane=True,
    sections={"image": ImageSpec, "job": ContainerJobSpec, "kubernetes": KubernetesSpec},
    fields={"AWS::EKS::Nodegroup": "instance", "AWS::EKS::": "kubernetes"},
    job_logs="EksLogs",
    most_on_spot=None,
    not_on_spot=None,
    one_type=None,
    # EKS user guide, "Simplify node lifecycle with managed node groups", capacity types.
    spot_order="EKS launches those of the most capacity, and the cheapest of these",
    # EKS user guide, "Create a managed node group with Capacity Blocks for ML".
    no_calendar="a managed node group of EKS takes the id of one Capacity Block, before whose end "
    "EKS scales it to no nodes, and does not scale it back",
    without="jobs run in pods of Kubernetes",
)
