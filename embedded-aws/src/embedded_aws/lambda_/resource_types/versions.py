"""Published versions of Lambda functions, their aliases, and layers."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import HandlerError, Properties, Request, resource


@resource("AWS::Lambda::Version")
class Version(Handler):
    """A published version of a function; its Ref is the version's ARN."""

    service = "lambda"
    parts = "FunctionName", ":", "Qualifier"
    deletion = "DeleteFunction"
    known = ("CodeSha256", "Description", "FunctionName")

    def _create(self, request: Request) -> str:
        client = request.client("lambda")
        function = request.properties["FunctionName"]
        known = client.list_versions_by_function(FunctionName=function)["Versions"]
        version = self._call(request, "PublishVersion", request.properties)["Version"]
        # Lambda returns the last version when nothing has changed since.
        # https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
        if version in [each["Version"] for each in known]:
            raise HandlerError(
                f"A version for this Lambda function exists ( {version} ). Modify the function "
                "to create a new version.",
                "AlreadyExists",
            )
        # moto's PublishVersion returns the ARN of the function.
        reply = client.get_function(FunctionName=function, Qualifier=version)
        return str(reply["Configuration"]["FunctionArn"])

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Version": physical_id.rpartition(":")[2]}


@resource("AWS::Lambda::Alias")
class FunctionAlias(Handler):
    """A name for a version; its Ref is the alias's ARN."""

    service = "lambda"
    parts = "FunctionName", ":", "Name"
    deletion = "DeleteAlias"
    creation = "CreateAlias", "AliasArn"
    fixed = ("ProvisionedConcurrencyConfig",)

    known = ("Description", "FunctionName", "FunctionVersion", "Name", "RoutingConfig")

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        defaults = {"Description": "", "RoutingConfig": {}}
        self._call(request, "UpdateAlias", {**defaults, **self._wanted(request)})

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        if routing := wanted.get("RoutingConfig"):
            # A list in templates, a map in the API.
            weights = {
                each["FunctionVersion"]: each["FunctionWeight"]
                for each in routing.get("AdditionalVersionWeights", [])
            }
            wanted["RoutingConfig"] = {"AdditionalVersionWeights": weights}
        return wanted


@resource("AWS::Lambda::LayerVersion")
class LayerVersion(Handler):
    """A version of a layer; its Ref is the version's ARN."""

    service = "lambda"
    parts = "LayerName", ":", "VersionNumber"
    deletion = "DeleteLayerVersion"
    name, name_limit = "LayerName", 64
    creation = "PublishLayerVersion", "LayerVersionArn"
