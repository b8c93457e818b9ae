"""Weak references between stacks: `Fn::GetStackOutput`."""

from collections.abc import Mapping

from botocore.exceptions import ClientError

from embedded_aws.cloudformation.clients import client
from embedded_aws.cloudformation.errors import ValidationError


def stack_output(asked: Mapping[str, str], *, account: str, region: str) -> str:
    """Return the value of an output of a stack, exported or not.

    CloudFormation template reference, `Fn::GetStackOutput`: it is read when the stack that uses
    it is created or updated; the stack that has it may be changed or deleted at any time.

    Args:
        asked: the function's arguments: StackName, OutputName, Region, RoleArn.
        account: of the stack that uses it; a role of another account reads in that one.
        region: of the stack that uses it, unless the arguments name another.

    Raises:
        ValidationError: there is no such stack or output.
    """
    role = asked.get("RoleArn")
    cloudformation = client(
        "cloudformation",
        account=role.split(":")[4] if role else account,
        region=asked.get("Region", region),
    )
    try:
        [stack] = cloudformation.describe_stacks(StackName=asked["StackName"])["Stacks"]
    except ClientError as error:
        raise ValidationError(error.response["Error"]["Message"]) from error
    for output in stack.get("Outputs", ()):
        if output["OutputKey"] == asked["OutputName"]:
            return str(output["OutputValue"])
    raise ValidationError(
        f"Output {asked['OutputName']} does not exist in stack {asked['StackName']}"
    )
