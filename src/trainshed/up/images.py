"""What nodes boot from, and what their jobs run in: AMI, container repository, container image."""

from trainshed.account.deployed_stacks import find_stack
from trainshed.ami.ami import Ami, find_ami, own_amis
from trainshed.ami.channel import Channel
from trainshed.ami.channel_store import channels
from trainshed.aws import accepting
from trainshed.containers.engine import find_engine
from trainshed.errors import Failure
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

_BAKE_MINUTES, _IMAGE_MINUTES = 40, 30


def look_at_ami(site: Site) -> Look:
    """Whether there is an AMI where `instance.ami` asks for it; else how to get one there."""
    ami = site.plan.ami
    # Nothing is published to a version that is there.
    channel = Channel.of_parameter(ami.parameter) if ami.parameter and not ami.version else None
    name = f"{ami.asked}:{ami.version}" if ami.version else ami.asked
    if site.given_ami and (refusal := _refusal(site, site.given_ami, name, channel)):
        return refusal
    if ami.parameter is None:
        return _named(site, ami.asked)
    with accepting("ParameterNotFound", "ParameterVersionNotFound"):
        held = site.region.call("ssm", "get_parameter", Name=name)["Parameter"]["Value"]
        if site.given_ami in (None, held) and find_ami(site.region, held, anyone=True):
            return Look(state=StepState.DONE, says=f"{name} holds {held}")
    if channel is None or not ami.bake:
        return Look(state=StepState.BLOCKED, says=f"{name} holds no AMI; {ami.remedy}")
    return _to_publish(site, channel)


def _refusal(site: Site, given: str, name: str, channel: Channel | None) -> Look | None:
    """Say why a given AMI cannot be published to what `instance.ami` names; None when it can."""
    found, here = find_ami(site.region, given), site.region.name
    if channel is None:
        says = (
            f"--ami {given} is published to a channel, and instance.ami names {name}; leave "
            "--ami out, or give instance.ami a channel, for instance stable"
        )
    elif found is None:
        says = (
            f"--ami {given} is not an AMI of this account in {here}; see "
            f"trainshed ami list --region {here}"
        )
    elif found.cell != channel.cell:
        says = (
            f"--ami {given} is of the cell {found.cell}, and the nodes need {channel.cell}; see "
            f"trainshed ami list --region {here}"
        )
    else:
        return None
    return Look(state=StepState.BLOCKED, says=says)


def _named(site: Site, image_id: str) -> Look:
    if find_ami(site.region, image_id, anyone=True):
        return Look(state=StepState.DONE, says=f"{image_id} is there")
    says = f"{image_id} is not in {site.region.name}, or this account may not launch it"
    return Look(state=StepState.BLOCKED, says=f"{says}; {site.plan.ami.remedy}")


def _to_publish(site: Site, channel: Channel) -> Look:
    """Say how an AMI comes into its channel: one that is given, that is baked, or that is new."""
    if site.given_ami:
        return _published(site, site.given_ami, channel, f"{site.given_ami} is not published yet")
    accelerator, _, agent = channel.cell.partition("/")
    if site.is_embedded:
        stand_in = site.in_region(f"trainshed offline ami {accelerator} {agent}")
        return _published(
            site, f"$({stand_in})", channel, "none is published; a stand-in will do here"
        )
    if baked := _baked(site, channel):
        return _published(
            site, baked.image_id, channel, f"{baked.image_id} is baked, not published"
        )
    says = f"none is baked for {channel.cell}"
    return Look(
        state=StepState.TO_DO,
        says=says,
        commands=site.plan.ami.bake,
        minutes=_BAKE_MINUTES,
        price="an instance without accelerators while it bakes, then the snapshot",
    )


def _published(site: Site, ami: str, channel: Channel, says: str) -> Look:
    command = f"trainshed ami publish {ami} --channel {channel.name} --region {site.region.name}"
    return Look(state=StepState.TO_DO, says=says, commands=(command,))


def _baked(site: Site, channel: Channel) -> Ami | None:
    """Return the newest AMI of a cell that is in no channel; None for one with special drivers."""
    if "--var" in site.plan.ami.bake[0]:
        return None
    published = {*channels(site.region).values()}
    for each in own_amis(site.region):
        if each.cell == channel.cell and each.state == "available":
            return None if each.image_id in published else each
    return None


def look_at_repository(site: Site) -> Look:
    """Whether the repository of the cluster's container image is there."""
    repository = site.plan.repository
    assert repository
    stack = None if repository.existing else find_stack(site.region, repository.stack_name)
    if stack and stack.is_at_work:
        says = f"{stack.name} is {stack.status}"
        return Look(state=StepState.AT_WORK, says=says)
    with accepting("RepositoryNotFoundException"):
        found = site.region.call("ecr", "describe_repositories", repositoryNames=[repository.name])
        return Look(state=StepState.DONE, says=str(found["repositories"][0]["repositoryUri"]))
    says = f"there is no repository {repository.name}"
    if repository.existing:
        create = f"aws ecr create-repository --repository-name {repository.name}"
        return Look(state=StepState.BLOCKED, says=f"{says}, and image.existing says so; {create}")
    deploy = site.cdk("deploy", repository.stack_name, "--exclusively", "--require-approval=never")
    return Look(state=StepState.TO_DO, says=says, commands=(deploy,), minutes=1)


def look_at_image(site: Site) -> Look:
    """Whether the container image of the cluster's jobs is in its repository."""
    image, repository = site.plan.jobs.image, site.plan.repository
    assert image and repository
    name = f"{repository.name}{'@' if image.digest else ':'}{image.tag_or_digest}"
    key = {"imageDigest": image.digest} if image.digest else {"imageTag": image.tag}
    with accepting("RepositoryNotFoundException", "ImageNotFoundException"):
        site.region.call("ecr", "describe_images", repositoryName=repository.name, imageIds=[key])
        return Look(state=StepState.DONE, says=f"{name} is there")
    says = f"{name} is not in the repository"
    if image.digest:
        return Look(
            state=StepState.BLOCKED, says=f"{says}; push it, or name a tag that is to be built"
        )
    if site.is_embedded:
        # Its jobs run on this machine's own files.
        stand_in = site.ours("offline", "image")
        return Look(
            state=StepState.TO_DO, says=f"{says}; a stand-in will do here", commands=(stand_in,)
        )
    try:
        find_engine()
    except Failure as error:
        return Look(state=StepState.BLOCKED, says=f"{says}: {error}")
    commands = (site.ours("container", "build"), site.ours("container", "push"))
    return Look(state=StepState.TO_DO, says=says, commands=commands, minutes=_IMAGE_MINUTES)
