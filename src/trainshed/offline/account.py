"""What the server serves: moto with everything of ours put in, and seeded accounts."""

from datetime import date

from moto.iam.models import iam_backends
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

import trainshed.offline.resources  # noqa: F401  (registers the resource types)
from trainshed.offline import cloudformation, services
from trainshed.offline.gateway import Gateway
from trainshed.offline.seed import seed
from trainshed.offline.settings import OfflineSettings


def application(settings: OfflineSettings) -> Gateway:
    """Return the WSGI application of an embedded AWS, its accounts still empty."""
    cloudformation.install()
    return Gateway(
        DomainDispatcherApplication(create_backend_app),
        settings,
        reset=lambda as_of: start_over(settings, as_of),
        issuer=_issuer,
    )


def start_over(settings: OfflineSettings, as_of: date | None) -> None:
    """Forget everything and seed every account in every region, as of the given day."""
    moto_api_backend.reset()
    services.install(services.ServiceSettings(as_of=as_of))
    for account in settings.accounts:
        for region in settings.regions:
            seed(account, region)


def _issuer(key: str) -> str | None:
    """Return the account whose user or role was given this access key id, or None."""
    for account, partitions in list(iam_backends.items()):
        if any(key in iam.access_keys for iam in list(partitions.values())):
            return account
    return None
