#!/usr/bin/env bash
# Plain EC2: Docker, and the addresses of the other nodes.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 50-ec2

install_docker
enable_units docker.service trainshed-hosts.timer
