"""What Service Quotas does beside answering calls: it takes what AWS would grant."""

from http import HTTPStatus

from werkzeug import Request, Response

from embedded_aws.offered_controls import control, posted
from embedded_aws.service_quotas.grants import QUOTAS_PATH, grants_from_json
from embedded_aws.settings import ServerSettings


@control("POST", QUOTAS_PATH)
def _grant(request: Request, settings: ServerSettings) -> Response:
    for grant in grants_from_json(posted(request), settings.accounts, settings.regions):
        grant.apply()
    return Response(status=HTTPStatus.NO_CONTENT)
