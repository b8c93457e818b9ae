"""A custom resource that a function of our own answers."""

from collections.abc import Mapping, Sequence

from aws_cdk import CustomResource, Fn
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import (
    NO_WILDCARDS,
    inline_function,
    minutes,
)


def inline_resource(
    scope: Construct,
    *,
    name: str,
    description: str,
    statements: Sequence[iam.PolicyStatement],
    properties: Mapping[str, object] | None = None,
    wildcards: Mapping[str, str] = NO_WILDCARDS,
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
        properties: what the function reads; by default nothing.
        wildcards: why a statement's resource has a wildcard, by that resource.
        construct_id: the custom resource's id; another one is another resource.
    """
    function = inline_function(
        scope,
        name=name,
        description=description,
        statements=statements,
        wildcards=wildcards,
        timeout=minutes(1),
    )
    return resource_of(scope, construct_id, name=name, function=function, properties=properties)


def resource_of(
    scope: Construct,
    construct_id: str,
    *,
    name: str,
    function: lambda_.IFunction,
    properties: Mapping[str, object] | None = None,
) -> CustomResource:
    """Declare a custom resource that a function answers.

    Args:
        scope: parent.
        construct_id: id within the parent.
        name: of the function's folder; in PascalCase it is the resource's type.
        function: answers CloudFormation.
        properties: what the function reads; by default nothing.
    """
    return CustomResource(
        scope,
        construct_id,
        resource_type=f"Custom::{''.join(map(str.capitalize, name.split('_')))}",
        # Where this is Fn::GetAtt, the CDK CLI looks for the function's log after the rollback has
        # deleted it, and says that it cannot. The reason of a failure is all there is.
        service_token=Fn.sub("${Arn}", {"Arn": function.function_arn}),
        service_timeout=minutes(2),
        properties=properties,
    )
