"""The faults of what guests do by themselves, see `docs/guests.md`."""

from embedded_aws.faults import takes_faults

GUESTS, OPEN_SSH = "guests", "OpenSsh"

takes_faults(GUESTS, OPEN_SSH)
