"""Deleting stacks, one after the other, each until it is gone."""

import time
from collections.abc import Callable

from trainshed.account.deployed_stacks import DeployedStack, status_of
from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.scheduler import scheduler_of
from trainshed.orchestrators.batch.former import remove_former
from trainshed.teardown.control_planes import unprotect
from trainshed.teardown.kubernetes import delete_left_interfaces
from trainshed.teardown.shared_control_plane import remove_content
from trainshed.teardown.survey import Survey

_PAUSE_SECONDS = 5


def remove(region: Region, survey: Survey, *, show: Callable[[str], None]) -> None:
    """Delete what a survey names; what the stacks' policies keep stays.

    What Kubernetes has of the cluster goes first, where the control plane stays. The protections
    of a stack, and of the EKS cluster in it, end right before its deletion.

    Can be called again after it failed or was interrupted.

    Args:
        region: where they are.
        survey: what goes.
        show: gets each step, and an empty text while nothing new happens.

    Raises:
        Failure: with the resources that CloudFormation could not delete, and why.
    """
    if survey.eks_cluster and survey.in_kubernetes:
        # While nodes are there: jobs get SIGTERM.
        remove_content(region, survey.eks_cluster, survey.in_kubernetes, show=show)
    for name in survey.former:
        # While the roles and the launch template in the stack are there.
        remove_former(region, name, show)
    for stack in survey.removed:
        # Networks go last; until then the rules of other stacks may name these groups.
        for group in survey.groups.get(stack.name, ()):
            show(f"{group}: deleting the security group")
            region.call("ec2", "delete_security_group", GroupId=group)
        for subnet in survey.subnets.get(stack.name, ()):
            show(f"{subnet}: deleting the subnet")
            region.call("ec2", "delete_subnet", SubnetId=subnet)
        if stack.protected:
            show(f"{stack.name}: ending its termination protection")
            region.call(
                "cloudformation",
                "update_termination_protection",
                StackName=stack.stack_id,
                EnableTerminationProtection=False,
            )
        unprotect(region, stack, show=show)
        _delete_left_interfaces(region, survey, show)
        show(f"{stack.name}: deleting")
        region.call("cloudformation", "delete_stack", StackName=stack.stack_id)
        while (status := status_of(region, stack.stack_id)) == "DELETE_IN_PROGRESS":
            show("")
            time.sleep(_PAUSE_SECONDS)
            # Nodes end now, and may leave some.
            _delete_left_interfaces(region, survey, show)
        if status != "DELETE_COMPLETE":
            raise Failure(
                f"{stack.name} is {status}: {_reasons(region, stack)}; fix that, and run the same "
                "command again"
            )
        if scheduler := scheduler_of(region, stack.name, stack.outputs):
            scheduler.tidy()
        show(f"{stack.name}: deleted")


def _delete_left_interfaces(region: Region, survey: Survey, show: Callable[[str], None]) -> None:
    if survey.eks_cluster:
        delete_left_interfaces(region, survey.eks_cluster, show=show)


def _reasons(region: Region, stack: DeployedStack) -> str:
    failed: list[str] = []
    for event in region.pages(
        "cloudformation", "describe_stack_events", "StackEvents", StackName=stack.stack_id
    ):
        # The newest come first; this operation began here.
        if (event["ResourceStatus"], event.get("PhysicalResourceId")) == (
            "DELETE_IN_PROGRESS",
            stack.stack_id,
        ):
            break
        if event["ResourceStatus"] == "DELETE_FAILED" and event.get("PhysicalResourceId") not in (
            None,
            stack.stack_id,
        ):
            reason = event.get("ResourceStatusReason", "no reason given")
            failed.append(f"{event['LogicalResourceId']}: {reason}")
    return "; ".join(failed) or "its events have the reason"
