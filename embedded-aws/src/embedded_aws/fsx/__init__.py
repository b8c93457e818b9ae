"""Amazon FSx: Lustre and OpenZFS."""
