#!/usr/bin/env bash
# What the AMI does when an instance boots, and what jobs start with.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 60-first-boot

enable_units trainshed-first-boot.service trainshed-selftest.service trainshed-spot.service \
  trainshed-idle-check.timer
ln -s /opt/trainshed/trainshed-launch /usr/local/bin/
