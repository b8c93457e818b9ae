"""What ECR answers beside calls: the registry API, if there is a registry for the layers."""

from werkzeug import Request

from embedded_aws.constraints import checks_arguments
from embedded_aws.ecr.layer_store import layer_store
from embedded_aws.ecr.registry import Registry
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application

checks_arguments("ecr", "InvalidParameterException")


@answers_unsigned
def _answer(request: Request, _: Application) -> Application | None:
    store = layer_store()
    return Registry(store) if store and Registry.serves(request) else None
