"""The guests of the process that answers requests, if its settings ask for them."""

from embedded_aws.ec2.machines import run_on
from embedded_aws.guests.engine import GuestEngine
from embedded_aws.guests.guest_settings import GuestSettings
from embedded_aws.guests.instances import GuestMachines
from embedded_aws.hooks import ServingProcess, when_serving, when_stopping

_engine: GuestEngine | None = None


@when_serving
def _start(process: ServingProcess) -> None:
    global _engine
    settings = process.settings
    if isinstance(settings.machines, GuestSettings):
        _engine = GuestEngine(settings.machines, process.folder, process.lock)
        run_on(GuestMachines(_engine, settings.endpoint))


@when_stopping
def _end() -> None:
    if _engine:
        _engine.close()
