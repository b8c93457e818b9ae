"""The roles that EKS is given: that they exist, trust the right service, and may do what is needed.

EKS user guide, "Amazon EKS cluster IAM role", "Amazon EKS node IAM role", "EKS Pod Identity role".
From memory: the words about roles that cannot be assumed. Inferred: a
cluster's role is judged by three actions of AmazonEKSClusterPolicy, a node's by two of
AmazonEC2ContainerRegistryPullOnly, without which it pulls no image.
"""

import json
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.eks.calls import invalid
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.enforcement import denied
from embedded_aws.iam.policy_evaluation import allows
from embedded_aws.iam.principals import attached_policies, principal_of
from embedded_aws.iam.required_permissions import Permission
from embedded_aws.iam.service_principals import lets_in

CLUSTER, NODES, PODS = "eks.amazonaws.com", "ec2.amazonaws.com", "pods.eks.amazonaws.com"
_NEEDED_BY_CLUSTERS = ("ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs")
_NEEDED_BY_NODES = ("ecr:GetAuthorizationToken", "ecr:BatchGetImage")


def role_of(call: Call, arn: str) -> Any:
    """Return moto's role, or None."""
    return next((each for each in call.backend("iam").get_roles() if each.arn == arn), None)


def check_trust(call: Call, arn: str, service: str) -> None:
    """Refuse a role that a service cannot assume.

    Raises:
        Refusal: InvalidParameterException.
    """
    role = role_of(call, arn)
    if role is None or not lets_in(json.loads(role.assume_role_policy_document), service):
        raise invalid(
            f"Role with arn: {arn}, could not be assumed because it does not exist or the trusted "
            "entity is not correct"
        )


def missing_of_cluster(call: Call, arn: str) -> list[str]:
    """Return the actions that a cluster's role needs and does not have."""
    return _missing(call, arn, _NEEDED_BY_CLUSTERS)


def missing_of_nodes(call: Call, arn: str) -> list[str]:
    """Return the actions that a node's role needs and does not have."""
    return _missing(call, arn, _NEEDED_BY_NODES)


def may_describe_clusters(call: Call, arn: str) -> bool:
    """Whether a node's role allows what a node asks EKS that was told nothing of its cluster."""
    return not _missing(call, arn, ("eks:DescribeCluster",))


def _missing(call: Call, arn: str, actions: tuple[str, ...]) -> list[str]:
    policies = attached_policies(role_of(call, arn))
    return [each for each in actions if not allows(policies, each, "*", lambda _: [])]


def caller_arn(call: Call) -> str:
    """Return the ARN of the role, the user or the account that makes a call."""
    return principal_of(call.account, call.response.access_key).entity_arn


def check_passable(call: Call, arn: str, service: str) -> None:
    """Refuse a role that the caller may not pass to a service.

    Raises:
        Refusal: AccessDeniedException.
    """
    passing = ApiCall(
        service="iam",
        operation="PassRole",
        account=call.account,
        region=call.region,
        protocol="rest-json",
        params={"PassedToService": service},
    )
    permission = Permission(action="iam:PassRole", resources=(arn,), call=passing)
    if refused := denied(principal_of(call.account, call.response.access_key), permission):
        raise Refusal("AccessDeniedException", refused.message)


def make_service_role(call: Call, service: str, policy: str) -> None:
    """Make the service-linked role of EKS, unless it is there.

    User guide, "Using service-linked roles for Amazon EKS": with the first cluster,
    AWSServiceRoleForAmazonEKS, and with the first node group AWSServiceRoleForAmazonEKSNodegroup.

    Args:
        call: in whose account.
        service: that assumes the role.
        policy: name of the policy that AWS publishes for it.
    """
    iam, path = call.backend("iam"), f"/aws-service-role/{service}/"
    if any(role.path == path for role in iam.get_roles()):
        return
    role = iam.create_service_linked_role(service, "", "")
    iam.attach_role_policy(f"arn:aws:iam::aws:policy/aws-service-role/{policy}", role.name)
