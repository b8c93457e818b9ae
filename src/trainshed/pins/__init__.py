"""The pins: every version, address and key of an AMI, read from packer/pins.json."""
