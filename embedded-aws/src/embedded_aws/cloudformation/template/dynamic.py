"""Dynamic references: `{{resolve:ssm:...}}` and `{{resolve:secretsmanager:...}}` in properties."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.cloudformation.template.scope import mapped

# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
_REFERENCE = re.compile(r"\{\{resolve:(ssm|ssm-secure|secretsmanager):([^{}]+)\}\}")


def with_dynamic_references(
    properties: Mapping[str, Any], client: Callable[[str], Any]
) -> dict[str, Any]:
    """Return properties with every dynamic reference replaced by what it refers to.

    Args:
        properties: with every function resolved.
        client: gives a boto3 client of the embedded AWS.

    Raises:
        HandlerError: the parameter or secret of a reference does not exist.
    """

    def resolved(value: Any) -> Any:
        if isinstance(value, str) and "{{resolve:" in value:
            return _REFERENCE.sub(lambda match: _lookup(match[1], match[2], client), value)
        return value

    return {key: mapped(item, resolved) for key, item in properties.items()}


def _lookup(service: str, reference: str, client: Callable[[str], Any]) -> str:
    try:
        if service == "secretsmanager":
            return _secret(reference, client("secretsmanager"))
        parameter = client("ssm").get_parameter(Name=reference, WithDecryption=True)
    except ClientError as error:
        raise HandlerError(
            f"Could not resolve dynamic reference {{{{resolve:{service}:{reference}}}}}: {error}",
            "NotFound",
        ) from error
    return str(parameter["Parameter"]["Value"])


def _secret(reference: str, secrets: Any) -> str:
    # An ARN has seven colons of its own, and the parts after the id are all optional.
    arn = re.match(r"(arn:(?:[^:]*:){5}[^:]*)(?::(.*))?$", reference)
    secret_id, _, rest = (arn[1], "", arn[2] or "") if arn else reference.partition(":")
    _, key, stage, version = [*rest.split(":"), "", "", "", ""][:4]
    which = {
        name: value for name, value in (("VersionStage", stage), ("VersionId", version)) if value
    }
    secret = secrets.get_secret_value(SecretId=secret_id, **which)["SecretString"]
    return str(json.loads(secret)[key]) if key else str(secret)
