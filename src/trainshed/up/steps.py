"""The steps of a cluster, in their order."""

from collections.abc import Iterator
from functools import partial

from trainshed.cost import cluster_cost
from trainshed.orchestrators import traits
from trainshed.up import account, first_job, images, kubernetes, stacks
from trainshed.up.model import Step
from trainshed.up.site import Site

_BAKE_MINUTES, _IMAGE_MINUTES = 40, 30
_STACK_MINUTES = 20
# Amazon EKS user guide, "Create an Amazon EKS cluster": "several minutes"; the toolkits that make
# one speak of ten.
_CONTROL_PLANE_MINUTES = 10
_JOB_MINUTES = 20


def steps_of(site: Site) -> tuple[Step, ...]:
    """Return the steps from an account to a first job of a cluster, in their order."""
    following = tuple(_following(site))
    mended = frozenset[str]().union(*(each.mends for each in following))
    return (
        Step(
            name="credentials",
            title="Credentials",
            look=partial(account.look_at_credentials, site),
            minutes=0,
        ),
        Step(
            name="preflight",
            title="What the account would refuse",
            look=partial(account.look_at_limits, site, mended),
            minutes=0,
        ),
        *following,
    )


def _following(site: Site) -> Iterator[Step]:
    """Yield the steps that make something."""
    plan, parts = site.plan, traits(site.plan.orchestrator)
    yield Step(
        name="bootstrap",
        title="CDK bootstrap",
        look=partial(account.look_at_bootstrap, site),
        minutes=1,
        mends=frozenset({"TS-ACC-080"}),
    )
    yield Step(
        name="ami",
        title="AMI of the nodes",
        look=partial(images.look_at_ami, site),
        minutes=_BAKE_MINUTES if plan.ami.bake else 0,
        price="an instance without accelerators while it bakes, then the snapshot"
        if plan.ami.bake
        else None,
        mends=frozenset({"TS-ACC-040"}),
    )
    if parts.control_plane:
        yield Step(
            name="lock",
            title="Versions of add-ons and charts of Kubernetes",
            look=partial(kubernetes.look_at_lock, site),
            minutes=0,
        )
    if plan.repository:
        yield Step(
            name="repository",
            title="Repository of the container image",
            look=partial(images.look_at_repository, site),
            minutes=1,
        )
        yield Step(
            name="image",
            title="Container image of the jobs",
            look=partial(images.look_at_image, site),
            minutes=_IMAGE_MINUTES,
            mends=frozenset({"TS-ACC-050"}),
        )
    cost = cluster_cost(plan, site.prices)
    yield Step(
        name="stacks",
        title="Network, storage and compute",
        look=partial(stacks.look_at_stacks, site),
        minutes=_STACK_MINUTES + (_CONTROL_PLANE_MINUTES if parts.control_plane else 0),
        price=f"{cost.idle} an hour while no job runs, {cost.full} with {plan.nodes.max} nodes",
    )
    if parts.control_plane:
        yield Step(
            name="kubernetes",
            title="Charts, device plugins and queue of Kubernetes",
            look=partial(kubernetes.look_at_objects, site),
            minutes=3,
        )
    run = cluster_cost(plan, site.prices, nodes=site.nodes, hours=_JOB_MINUTES / 60).run
    assert run
    yield Step(
        name="health",
        title=f"First job: a check of {site.nodes} node{'s' if site.nodes > 1 else ''}",
        look=partial(first_job.look_at_first_job, site),
        minutes=_JOB_MINUTES,
        price=f"{run.cost} for that time",
    )
