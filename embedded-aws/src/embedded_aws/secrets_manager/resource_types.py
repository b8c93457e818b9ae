"""Secrets of Secrets Manager."""

import json
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.names import random_suffix
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource

_KEY, _TEMPLATE = "GenerateStringKey", "SecretStringTemplate"


@resource("AWS::SecretsManager::Secret")
class Secret(Handler):
    """A secret with a given or a generated value, or none; its Ref is the ARN.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-secretsmanager-secret.html
    """

    service = "secretsmanager"
    name = "Name"
    creation = "CreateSecret", "ARN"
    tagging = Tagging(target="SecretId")

    later = ("GenerateSecretString",)

    _settings = ("Description", "KmsKeyId")
    _value = ("GenerateSecretString", "SecretString")
    known = ("Name", "Tags", *_settings, *_value)

    def _wanted(self, request: Request) -> dict[str, Any]:
        return super()._wanted(request) | _secret_string(request)

    def _generated_name(self, request: Request) -> str:
        return f"{request.logical_id}-{random_suffix()}"

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        value = _secret_string(request) if changed(request, before, *self._value) else {}
        settings = {
            name: request.properties.get(name, "")
            for name in self._settings
            if changed(request, before, name)
        }
        if value or settings:
            request.client("secretsmanager").update_secret(
                SecretId=physical_id, **settings, **value
            )

    def _delete(self, request: Request, physical_id: str) -> None:
        # A recovery window would block the name for the next stack. That CloudFormation uses none
        # is inferred: stacks with named secrets can be deleted and made again.
        request.client("secretsmanager").delete_secret(
            SecretId=physical_id, ForceDeleteWithoutRecovery=True
        )


def _secret_string(request: Request) -> dict[str, str]:
    """Return the value for the API; a generated one differs each time."""
    properties = request.properties
    if "GenerateSecretString" not in properties:
        return present(properties, "SecretString")
    if "SecretString" in properties:
        raise HandlerError("You can't specify both SecretString and GenerateSecretString.")
    wanted = properties["GenerateSecretString"]
    client = request.client("secretsmanager")
    taken = arguments(client, "GetRandomPassword", wanted, leave=(_KEY, _TEMPLATE))
    password: str = client.get_random_password(**taken)["RandomPassword"]
    if _KEY not in wanted and _TEMPLATE not in wanted:
        return {"SecretString": password}
    if not (_KEY in wanted and _TEMPLATE in wanted):
        raise HandlerError(f"{_KEY} and {_TEMPLATE} must be specified together.")
    try:
        parts = json.loads(wanted[_TEMPLATE])
    except json.JSONDecodeError:
        parts = None
    if not isinstance(parts, dict):
        raise HandlerError(f"{_TEMPLATE} must be a JSON object.")
    return {"SecretString": json.dumps({**parts, wanted[_KEY]: password})}
