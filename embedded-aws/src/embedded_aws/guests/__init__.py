"""Real guests behind the embedded EC2: systemd-nspawn on an overlay of a prepared root.

Only `instances.py` knows moto: it makes guests the machines of EC2's instances.
"""

from embedded_aws.guests.availability import guests_unavailable
from embedded_aws.guests.guest_settings import GuestSettings

__all__ = ["GuestSettings", "guests_unavailable"]
