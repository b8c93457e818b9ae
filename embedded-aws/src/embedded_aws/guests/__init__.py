"""Real guests behind the embedded EC2: systemd-nspawn on an overlay of a prepared root.

This package does not use moto: `ec2/guest_instances.py` translates API calls for it.
"""

from embedded_aws.guests.availability import guests_unavailable
from embedded_aws.guests.guest_settings import GuestSettings

__all__ = ["GuestSettings", "guests_unavailable"]
