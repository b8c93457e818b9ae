"""Parameters of S3's requests by S3's own model; moto reads them in its own way."""

from collections.abc import Mapping
from typing import Any

from moto.core.parse import RequestParserError
from moto.core.utils import get_service_model
from moto.s3.exceptions import MalformedXML

from embedded_aws.actions import parameters_of
from embedded_aws.constraints import violations


def parameters(response: Any, operation: str, **in_path: str) -> Mapping[str, Any]:
    """Return the parameters of a request.

    Args:
        response: moto's object for the request.
        operation: for instance `RestoreObject`.
        in_path: the bucket, and the key.

    Raises:
        MalformedXML: the model does not allow them.
    """
    model = get_service_model("s3").operation_model(operation)
    try:
        found = parameters_of(model, response.normalized_request, in_path)
    except (RequestParserError, ValueError, KeyError, TypeError) as error:
        raise MalformedXML from error
    for name, part in found.items():
        shape: Any = model.input_shape
        if shape.members[name].type_name == "structure" and any(
            violations(shape.members[name], part, "")
        ):
            raise MalformedXML
    return found
