"""What CloudFormation answers beside calls: functions send what became of custom resources."""

import re

from werkzeug import Request

from embedded_aws.cloudformation.execution.custom import RESPONSE_PATH
from embedded_aws.unsigned import answers_unsigned
from embedded_aws.wsgi import Application

_RESPONSE_PATH = re.compile(RESPONSE_PATH.format(region="[^/]+"))


@answers_unsigned
def _take_response(request: Request, moto: Application) -> Application | None:
    # Its token is as secret as a signature.
    return moto if request.method == "PUT" and _RESPONSE_PATH.fullmatch(request.path) else None
