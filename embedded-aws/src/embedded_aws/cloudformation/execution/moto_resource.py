"""A handler for resource types that only moto can make, by its CloudFormation models."""

from functools import cache, partial
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.cloudformation.models import cloudformation_backends
from moto.core.common_models import CloudFormationModel
from moto.core.exceptions import JsonRESTError, ServiceException

from embedded_aws.cloudformation.resource import (
    AttributesOnDemand,
    HandlerError,
    Made,
    Properties,
    Request,
    handler_error_code,
)
from embedded_aws.cloudformation.schema import schema_of


@cache
def moto_handler(resource_type: str) -> "MotoResource | None":
    """Return a handler for a type if moto has a CloudFormation model of it, else None.

    Args:
        resource_type: for instance `AWS::SNS::Topic`.
    """
    model = parsing.get_model_map().get(resource_type)
    if model is None or not _is_complete(model):
        return None
    return MotoResource(model)


def _is_complete(model: type[CloudFormationModel]) -> bool:
    """Return whether a model can make a resource that a stack can refer to.

    moto's list also has base classes, and models whose objects have no physical id.
    """
    creates = not hasattr(model.create_from_cloudformation_json, "__isabstractmethod__")
    return creates and hasattr(model, "physical_resource_id")


class MotoResource:
    """Makes one resource type through moto's model of it.

    The model's objects are stored in moto's CloudFormation backend, so that its reset removes them.

    Args:
        model: a direct subclass of moto's CloudFormationModel.
    """

    def __init__(self, model: type[CloudFormationModel]) -> None:
        self._model = model

    def create(self, request: Request) -> Made:
        """Create the resource.

        Raises:
            HandlerError: moto needs a property that is optional on AWS.
        """
        try:
            made = self._model.create_from_cloudformation_json(
                self._name(request),
                _as_moto_wants(request),
                request.account,
                request.region,
                LogicalId=request.logical_id,
                StackId=request.stack_id,
                ResourceType=request.resource_type,
            )
        except KeyError as error:
            if error.args[0] not in _left_out(request):
                raise
            raise HandlerError(
                f"the embedded AWS makes a resource of type {request.resource_type} only with "
                f"{error.args[0]}, which is optional on AWS"
            ) from error
        return self._remember(request, made)

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Change the resource by moto's update, which may replace it.

        Raises:
            HandlerError: moto has no update of this type.
        """
        update = self._model.update_from_cloudformation_json
        if hasattr(update, "__isabstractmethod__"):
            raise HandlerError(
                f"the embedded AWS cannot update a resource of type {request.resource_type}",
                "NotUpdatable",
            )
        updated = update(
            original_resource=_objects(request)[request.resource_type, physical_id],
            new_resource_name=self._name(request),
            cloudformation_json=_as_moto_wants(request),
            account_id=request.account,
            region_name=request.region,
        )
        if updated is None:
            raise HandlerError(
                f"moto's update of {request.resource_type} returned no resource",
                "InternalFailure",
            )
        return self._remember(request, updated)

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the resource.

        Raises:
            HandlerError: moto has no deletion of this type.
        """
        try:
            self._delete(request, physical_id)
        except (ServiceException, JsonRESTError) as error:
            # A resource that does not exist is fine. moto's services raise two kinds of errors.
            code = error.code if isinstance(error, ServiceException) else error.error_type
            if handler_error_code(code) != "NotFound":
                raise
        _objects(request).pop((request.resource_type, physical_id), None)

    def _delete(self, request: Request, physical_id: str) -> None:
        made = _objects(request).get((request.resource_type, physical_id))
        delete = self._model.delete_from_cloudformation_json
        if not hasattr(delete, "__isabstractmethod__"):
            delete(physical_id, _as_moto_wants(request), request.account, request.region)
        elif made is not None and hasattr(made, "delete"):
            made.delete(request.account, request.region)
        else:
            raise HandlerError(
                f"the embedded AWS cannot delete a resource of type {request.resource_type}",
                "GeneralServiceException",
            )

    def _name(self, request: Request) -> str:
        """The name given in the template, or one generated by moto."""
        given = request.properties.get(self._model.cloudformation_name_type() or "")
        return str(
            given
            or parsing.generate_resource_name(
                request.resource_type, request.stack_name, request.logical_id
            )
        )

    def _remember(self, request: Request, made: Any) -> Made:
        physical_id: str = made.physical_resource_id
        _objects(request)[request.resource_type, physical_id] = made
        # moto cannot list a model's attributes.
        attributes = AttributesOnDemand(partial(_attribute, made, _identity(request)))
        return Made(physical_id=physical_id, attributes=attributes)


def _attribute(made: Any, identity: str | None, name: str) -> Any:
    if name == identity:
        return made.physical_resource_id
    try:
        return made.get_cfn_attribute(name)
    except (UnformattedGetAttTemplateException, NotImplementedError) as error:
        raise KeyError(name) from error


def _identity(request: Request) -> str | None:
    """The attribute that is the physical id, whose name moto's models often do not know."""
    schema = schema_of(request.resource_type, request.region)
    return schema.identifier if schema else None


def _left_out(request: Request) -> set[str]:
    """The properties of the type that the template does not set."""
    schema = schema_of(request.resource_type, request.region)
    return set(schema.document["properties"]).difference(request.properties) if schema else set()


def _as_moto_wants(request: Request) -> dict[str, Any]:
    """The resource as in a template, with the stack's tags among its own."""
    properties = dict(request.properties)
    schema = schema_of(request.resource_type, request.region)
    if schema and schema.taggable and schema.tags_are_a_list:
        own = {tag["Key"]: tag for tag in properties.get("Tags", [])}
        stack = {key: {"Key": key, "Value": value} for key, value in request.tags.items()}
        # Most services accept `aws:` tags from CloudFormation only.
        mine = {key: tag for key, tag in stack.items() if not key.startswith("aws:")}
        if tags := [*{**mine, **own}.values()]:
            properties["Tags"] = tags
    return {"Type": request.resource_type, "Properties": properties}


def _objects(request: Request) -> dict[tuple[str, str], Any]:
    """Moto's objects by type and physical id."""
    backend: Any = cloudformation_backends[request.account][request.region]
    if not hasattr(backend, "made_for_stacks"):
        backend.made_for_stacks = {}
    objects: dict[tuple[str, str], Any] = backend.made_for_stacks
    return objects
