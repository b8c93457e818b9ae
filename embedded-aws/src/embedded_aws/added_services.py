"""Services that moto does not have.

moto finds a service by the modules `moto.NAME.models` and `moto.NAME.urls`, and by the pattern of
its URLs. With these, actions and state of a service are as those of all others.
"""

import re
import sys
from types import ModuleType

from moto.backend_index import backend_url_patterns
from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.responses import BaseResponse


def add_service(name: str, *regions: str) -> None:
    """Add a service to moto that does nothing yet.

    Args:
        name: botocore's name of it, by which its requests are signed, too.
        regions: where it has an endpoint.
    """

    class Response(BaseResponse):
        def __init__(self) -> None:
            super().__init__(service_name=name)

    package, models, urls = (ModuleType(f"moto.{name}{end}") for end in ("", ".models", ".urls"))
    # From a backend's module, moto derives the name of the one with its URLs.
    backend = type("Backend", (BaseBackend,), {"__module__": models.__name__})
    backends: BackendDict[BaseBackend] = BackendDict(
        backend, name, use_boto3_regions=False, additional_regions=[*regions]
    )
    base = rf"https?://{name}\.(.+)\.amazonaws\.com"
    vars(package)[f"{name}_backends"] = backends
    paths = ("{0}/$", "{0}/(?P<operation>[^/]+)$")
    vars(urls).update(url_bases=[base], url_paths=dict.fromkeys(paths, Response.dispatch))
    sys.modules.update({module.__name__: module for module in (package, models, urls)})
    backend_url_patterns.append((name, re.compile(base)))
