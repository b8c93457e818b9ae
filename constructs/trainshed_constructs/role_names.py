"""Names of IAM roles and instance profiles that begin as an organisation asks."""

import jsii
from aws_cdk import Aspects, CfnResource, IAspect, Names, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

# IAM API reference, CreateRole: RoleName has up to 64 characters.
_LONGEST = 64


def prefix_role_names(scope: Construct, *, prefix: str) -> None:
    """Name every role and instance profile in a scope: the prefix, the region, a unique rest.

    The region is in the name because IAM's names are the account's, so that the same stack in two
    regions would collide.

    Args:
        scope: a stack, or a construct in one with an explicit region.
        prefix: up to 24 characters.
    """
    Aspects.of(scope).add(_PrefixRoleNames(prefix))


@jsii.implements(IAspect)
class _PrefixRoleNames:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, iam.CfnRole):
            node.role_name = self._name(node)
        elif isinstance(node, iam.CfnInstanceProfile):
            node.instance_profile_name = self._name(node)

    def _name(self, node: CfnResource) -> str:
        head = f"{self._prefix}{Stack.of(node).region}-"
        rest = Names.unique_resource_name(
            node, max_length=_LONGEST - len(head), separator="-", allowed_special_characters="-"
        )
        return head + rest
