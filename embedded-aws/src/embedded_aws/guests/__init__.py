"""Real guests behind the embedded EC2: systemd-nspawn on an overlay of a prepared root.

Nothing here knows moto: `services` says what an API call means for a guest, this package does it.
"""

from embedded_aws.guests.availability import guests_unavailable
from embedded_aws.guests.guest_settings import GuestSettings

__all__ = ["GuestSettings", "guests_unavailable"]
