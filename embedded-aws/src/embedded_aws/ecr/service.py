"""What ECR answers beside calls: the registry API, if there is a registry for the layers."""

from werkzeug import Request

from embedded_aws.ecr.registry import Registry
from embedded_aws.service_settings import current
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application


@answers_unsigned
def _answer(request: Request, _: Application) -> Application | None:
    settings = current()
    if settings.registry and Registry.serves(request):
        return Registry(settings.registry, settings.secret_key)
    return None
