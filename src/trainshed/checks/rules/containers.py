"""Whether nodes get the container image that was meant, and all of them at once."""

from collections.abc import Iterator

from trainshed.checks import clusters
from trainshed.checks.image_names import image_name
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import ClusterPlan

_PATH = ("image", "uri")
# Amazon ECR Public, service quotas: pulls per second to EC2 and ECS, of one account.
_PUBLIC_ECR_PULLS = 10
# Docker Hub, "Usage and limits": pulls without a login in six hours, of one address.
_DOCKER_HUB_PULLS = 100


def _uri(plan: ClusterPlan) -> str:
    return (plan.jobs.image and plan.jobs.image.uri) or ""


def _registry(uri: str) -> str:
    """Return the host in front of an image, as Docker tells one: it has a dot or a port."""
    host, slash, _ = uri.partition("/")
    return host if slash and (set(".:") & set(host) or host == "localhost") else "docker.io"


@rule(
    "TS-CIM-001",
    over=clusters,
    title="The tag `latest` is another image tomorrow",
    why="""
Each node pulls the image when a job starts there. When somebody moves the tag, the nodes of one
job, or the attempts of one, run different programs, and no one can say later what a job ran.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.docker.com/build/building/best-practices/",),
    example="""
instance: {type: p4d.24xlarge}
image: {uri: "123456789012.dkr.ecr.us-west-2.amazonaws.com/team/train:latest"}
""",
)
def latest(plan: ClusterPlan) -> Iterator[Violation]:
    """All nodes of a job should run the same image."""
    uri = _uri(plan)
    if uri.endswith(":latest"):
        yield Violation(
            path=_PATH,
            message=f"{uri} is whatever was pushed last when a node pulls it",
            remedy="name a version, or the digest: REPOSITORY@sha256:...",
        )


@rule(
    "TS-CIM-002",
    over=clusters,
    title="Docker Hub limits how often nodes may pull",
    why="""
Nodes pull without a login, and all of a private subnet come from the address of one NAT gateway.
Docker Hub allows 100 such pulls in six hours, and everybody behind the address counts. Beyond that
a job fails with `CannotPullContainerError: toomanyrequests`.
""",
    sources=("https://docs.docker.com/docker-hub/usage/pulls/",),
    example="""
instance: {type: p4d.24xlarge}
image: {uri: "pytorch/pytorch:2.9.0-cuda13.0-cudnn9-runtime"}
""",
)
def docker_hub(plan: ClusterPlan) -> Iterator[Violation]:
    """An image should come from a registry without such a limit."""
    uri, nodes = _uri(plan), plan.nodes.max
    if uri and _registry(uri) in ("docker.io", "registry-1.docker.io"):
        yield Violation(
            path=_PATH,
            message=f"{uri} is on Docker Hub, which allows {_DOCKER_HUB_PULLS} pulls in six hours "
            f"from the nodes' one address: {_DOCKER_HUB_PULLS // nodes} starts of a job of "
            f"{nodes} nodes",
            remedy="copy the image to an ECR repository of your account, and name that",
        )


@rule(
    "TS-CIM-003",
    over=clusters,
    title="More nodes start at once than ECR Public lets pull in a second",
    why="""
The nodes of a job start together. ECR Public gives EC2 instances ten pulls per second, and AWS
does not raise that; those beyond it are refused, and a refused pull can fail the job.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/AmazonECR/latest/public/public-service-quotas.html",),
    example="""
instance: {type: trn1.32xlarge, nodes: {max: 16}}
image:
  uri: public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04
""",
)
def public_ecr(plan: ClusterPlan) -> Iterator[Violation]:
    """All nodes must be able to pull at once."""
    uri, nodes = _uri(plan), plan.nodes.max
    if _registry(uri) == "public.ecr.aws" and nodes > _PUBLIC_ECR_PULLS:
        yield Violation(
            path=_PATH,
            message=f"{nodes} nodes pull {uri} at once, and ECR Public allows {_PUBLIC_ECR_PULLS} "
            "pulls per second",
            remedy="copy the image to an ECR repository of your account, and name that",
        )


@rule(
    "TS-CIM-004",
    over=clusters,
    title="The image looks like one for another accelerator",
    why="""
An image has the libraries of one accelerator: CUDA, Neuron's runtime or SynapseAI. On another one,
programs find no device, or train on the CPU.
""",
    basis=Basis.INFERRED,
    sources=("https://aws.github.io/deep-learning-containers/",),
    example="""
instance: {type: trn1.32xlarge}
image: {tag: "2.10.0-cu130"}
""",
)
def other_accelerator(plan: ClusterPlan) -> Iterator[Violation]:
    """The words of an image's name should fit the nodes."""
    image, accelerator = image_name(plan), plan.instance.accelerator
    if image and image.families and accelerator.family not in image.families:
        named = " and ".join(sorted(image.families))
        yield Violation(
            path=image.path,
            message=f"{image.name} is for {named} by its name, and {plan.instance.name} has "
            f"{accelerator.name} ({accelerator.family})",
            remedy=f"name an image for {accelerator.family}, or the type that this one is for",
        )


@rule(
    "TS-CIM-005",
    over=clusters,
    title="Nodes pull the image from another region",
    severity=Severity.INFO,
    why="""
Each node that starts pulls the whole image, often 10 GB and more. Between regions that takes
longer, costs for each GB, and goes through the NAT gateway, since endpoints serve their own region
only.
""",
    basis=Basis.INFERRED,
    sources=("https://docs.aws.amazon.com/AmazonECR/latest/userguide/replication.html",),
    example="""
instance: {type: p4d.24xlarge}
image: {uri: "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/train:2.9.0"}
""",
)
def other_region(plan: ClusterPlan) -> Iterator[Violation]:
    """The image should be near the nodes."""
    ecr = plan.jobs.image and plan.jobs.image.ecr
    if ecr and ecr.region != plan.region:
        yield Violation(
            path=_PATH,
            message=f"{ecr.name} is in {ecr.region}, and the nodes are in {plan.region}",
            remedy=f"have ECR replicate the repository to {plan.region}, and name it there",
        )
