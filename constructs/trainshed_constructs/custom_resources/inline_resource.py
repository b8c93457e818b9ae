"""A custom resource that a function of our own answers."""

from collections.abc import Mapping, Sequence

from aws_cdk import Acknowledgment, CustomResource, Duration, Fn, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function

_FUNCTION_TIMEOUT, _SERVICE_TIMEOUT = Duration.minutes(1), Duration.minutes(2)
_NO_WILDCARDS: Mapping[str, str] = {}


def inline_resource(
    scope: Construct,
    *,
    name: str,
    description: str,
    statements: Sequence[iam.PolicyStatement],
    properties: Mapping[str, object] | None = None,
    wildcards: Mapping[str, str] = _NO_WILDCARDS,
    construct_id: str = "Resource",
) -> CustomResource:
    """Declare a custom resource with its function, role and log.

    CloudFormation waits two minutes for its answer, in place of an hour.

    Args:
        scope: the construct of which the custom resource is the whole.
        name: the folder beside this module whose `handler.py` answers; in PascalCase it is the
            resource's type, for instance `Custom::PinnedAmi` of `pinned_ami`.
        description: what the function does.
        statements: what the function may do beside writing its log.
        properties: what the function is told; by default nothing.
        wildcards: why a statement's resource has a wildcard, by that resource as cdk-nag writes it.
        construct_id: the custom resource's id; another one is another resource.
    """
    function = inline_function(
        scope, name=name, description=description, statements=statements, timeout=_FUNCTION_TIMEOUT
    )
    acknowledge_wildcards(scope, wildcards)
    return CustomResource(
        scope,
        construct_id,
        resource_type=f"Custom::{''.join(map(str.capitalize, name.split('_')))}",
        # Where this is Fn::GetAtt, the CDK CLI looks for the function's log after the rollback has
        # deleted it, and says that it cannot. The reason of a failure is all there is.
        service_token=Fn.sub("${Arn}", {"Arn": function.function_arn}),
        service_timeout=_SERVICE_TIMEOUT,
        properties=properties,
    )


def acknowledge_wildcards(scope: Construct, wildcards: Mapping[str, str]) -> None:
    """Acknowledge cdk-nag's findings about wildcards in the role of a scope's inline function.

    Args:
        scope: the construct that has the function.
        wildcards: the reason by resource, as cdk-nag writes it.
    """
    role = scope.node.find_child("Role").node.find_child("Resource")
    for resource, reason in wildcards.items():
        Validations.of(role).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason)
        )
