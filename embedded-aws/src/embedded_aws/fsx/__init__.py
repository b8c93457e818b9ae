"""FSx for Lustre."""
