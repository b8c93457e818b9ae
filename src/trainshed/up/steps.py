"""The steps of a cluster, in their order."""

from collections.abc import Iterator
from functools import partial

from trainshed.up import account, first_job, images, kubernetes, stacks
from trainshed.up.model import Step
from trainshed.up.site import Site


def steps_of(site: Site) -> tuple[Step, ...]:
    """Return the steps from an account to a first job of a cluster, in their order."""
    following = tuple(_following(site))
    mended = frozenset[str]().union(*(each.mends for each in following))
    return (
        Step(
            name="credentials",
            title="Credentials",
            look=partial(account.look_at_credentials, site),
        ),
        Step(
            name="preflight",
            title="What the account would refuse",
            look=partial(account.look_at_limits, site, mended),
        ),
        *following,
    )


def _following(site: Site) -> Iterator[Step]:
    """Yield the steps that make something."""
    yield Step(
        name="bootstrap",
        title="CDK bootstrap",
        look=partial(account.look_at_bootstrap, site),
        mends=frozenset({"TS-ACC-080"}),
    )
    yield Step(
        name="ami",
        title="AMI of the nodes",
        look=partial(images.look_at_ami, site),
        mends=frozenset({"TS-ACC-040"}),
    )
    if site.plan.control_plane:
        yield Step(
            name="lock",
            title="Versions of add-ons and charts of Kubernetes",
            look=partial(kubernetes.look_at_lock, site),
        )
    if site.plan.repository:
        yield Step(
            name="repository",
            title="Repository of the container image",
            look=partial(images.look_at_repository, site),
        )
        yield Step(
            name="image",
            title="Container image of the jobs",
            look=partial(images.look_at_image, site),
            mends=frozenset({"TS-ACC-050"}),
        )
    yield Step(
        name="stacks",
        title="Network, storage and compute",
        look=partial(stacks.look_at_stacks, site),
    )
    if site.plan.control_plane:
        yield Step(
            name="kubernetes",
            title="Charts, device plugins and queue of Kubernetes",
            look=partial(kubernetes.look_at_objects, site),
        )
    yield Step(
        name="health",
        title=f"First job: a check of {site.nodes} node{'s' if site.nodes > 1 else ''}",
        look=partial(first_job.look_at_first_job, site),
    )
