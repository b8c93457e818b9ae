"""What the server serves: moto with everything of ours put in, and seeded accounts."""

from datetime import date

from moto.iam.models import get_account_id_from
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from trainshed.offline.gateway import Gateway
from trainshed.offline.settings import OfflineSettings


def application(settings: OfflineSettings) -> Gateway:
    """Return the WSGI application of an embedded AWS, its accounts still empty."""
    return Gateway(
        DomainDispatcherApplication(create_backend_app),
        settings,
        reset=lambda as_of: start_over(settings, as_of),
        resolve_account=get_account_id_from,
    )


def start_over(settings: OfflineSettings, as_of: date | None) -> None:
    """Forget everything and seed every account in every region, as of the given day."""
    moto_api_backend.reset()
