"""A Lambda function of our own: code inline, a log of its own, few rights."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed_constructs.wildcards import acknowledge_wildcards

_FOLDER = Path(__file__).parent
_PATIENTLY = f"from {__package__}.patiently import patiently\n"
NO_WILDCARDS: Final[Mapping[str, str]] = {}


def inline_function(
    scope: Construct,
    *,
    name: str,
    description: str,
    statements: Sequence[iam.PolicyStatement],
    timeout: Duration,
    wildcards: Mapping[str, str] = NO_WILDCARDS,
    environment: Mapping[str, str] | None = None,
) -> lambda_.Function:
    """Declare a function, with its role and its log.

    Args:
        scope: the construct that needs it, for instance for a custom resource.
        name: the folder beside this module whose `handler.py` it runs: at most 4096 characters,
            CloudFormation's limit for inline code.
        description: what it does.
        statements: what it may do beside writing its log.
        timeout: how long one answer may take.
        wildcards: why a statement's resource has a wildcard, by that resource.
        environment: variables that it finds.
    """
    log_group = logs.LogGroup(
        scope,
        "Log",
        retention=logs.RetentionDays.ONE_MONTH,
        removal_policy=RemovalPolicy.DESTROY,
    )
    write_log = iam.PolicyStatement(
        actions=["logs:CreateLogStream", "logs:PutLogEvents"],
        resources=[log_group.log_group_arn],
    )
    # Not the managed AWSLambdaBasicExecutionRole, which may write every log of the account.
    role = iam.Role(
        scope,
        "Role",
        assumed_by=_lambda_service(),
        inline_policies={
            "TaskAndLog": iam.PolicyDocument(statements=[*statements, write_log]),
        },
    )
    acknowledge_wildcards(role, wildcards)
    return lambda_.Function(
        scope,
        "Function",
        description=description,
        runtime=_runtime(),
        handler="index.handler",
        code=_code(name),
        role=role,
        log_group=log_group,
        timeout=timeout,
        environment=environment,
    )


# A cluster has ten functions, and each call to CDK takes time: what they share is made once.
@cache
def _runtime() -> lambda_.Runtime:
    return lambda_.Runtime.PYTHON_3_14


@cache
def _lambda_service() -> iam.ServicePrincipal:
    return iam.ServicePrincipal("lambda.amazonaws.com")


@cache
def _code(name: str) -> lambda_.InlineCode:
    # Inline, because only then Lambda adds the module cfnresponse, and no asset is needed.
    return lambda_.Code.from_inline(inline_source(name))


def inline_source(name: str) -> str:
    """Return the one file that Lambda runs: a handler, with `patiently` if it imports that.

    Args:
        name: the folder beside this module that has the handler.
    """
    handler = (_FOLDER / name / "handler.py").read_text(encoding="utf-8")
    if _PATIENTLY not in handler:
        return handler
    shared = (_FOLDER / "patiently.py").read_text(encoding="utf-8")
    head, _, function = shared.partition("\n\n\n")
    imports = [line for line in head.split("\n") if re.match("import|from", line)]
    added = [f"{line}\n" for line in imports if f"{line}\n" not in handler]
    return handler.replace(f"\n{_PATIENTLY}", "".join(added)) + f"\n\n{function}"


@cache
def minutes(amount: int) -> Duration:
    """Return a duration."""
    return Duration.minutes(amount)
