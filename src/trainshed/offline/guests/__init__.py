"""Real guests behind the embedded EC2: systemd-nspawn on an overlay of a prepared root.

Nothing here knows moto: `services` says what an API call means for a guest, this package does it.
"""

from trainshed.offline.guests.availability import guests_unavailable
from trainshed.offline.guests.settings import GuestSettings

__all__ = ["GuestSettings", "guests_unavailable"]
