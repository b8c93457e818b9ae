#!/usr/bin/env bash
# The ECS agent, set up for AWS Batch.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 50-ecs

install_docker
# Ubuntu: AWS documents Batch's multi-node jobs for Amazon Linux only. The agent is the same and
# is signed by Amazon, but multi-node jobs on it are not proven.
install_components ecs-init

# User data appends to this file, and of two values the last one counts. AWS Batch appends the
# cluster, and how images and containers of finished jobs are cleaned up: those settings are
# Batch's, and would mean nothing here. Documented in the README of aws/amazon-ecs-agent:
# - a container must not take the instance's role from the metadata service;
# - no file with cluster, task and instance ARNs in each container;
# - a reclaimed spot instance takes no further job.
install -D -m 644 /dev/stdin /etc/ecs/ecs.config <<'EOF'
ECS_AWSVPC_BLOCK_IMDS=true
ECS_ENABLE_CONTAINER_METADATA=false
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
EOF
# Neuron: nothing to add. ECS_ENABLE_INF_SUPPORT is for Inferentia 1 with a Docker runtime of its
# own; on Trainium, Batch hands over /dev/neuron* as devices. Gaudi: Docker's default runtime.
#
# GPUs: in the file of the AMI's maker, as in AWS's own GPU AMIs. There ecs-init looks for the
# devices first; in /etc/ecs/ecs.config the agent would look for GPUs before the driver has made them.
if [[ $TRAINSHED_ACCELERATOR == nvidia ]]; then
  install -D -m 644 /dev/stdin /var/lib/ecs/ecs.config <<<'ECS_ENABLE_GPU_SUPPORT=true'
fi

# The AMI must register again: nothing that an agent learnt here may stay.
systemctl stop ecs.service
find /var/lib/ecs/data /var/log/ecs -mindepth 1 -delete 2>/dev/null || true
enable_units docker.service
if is_ubuntu; then
  # The agent waits for cloud-final.service, which waits for multi-user.target there: an agent that
  # is part of that target would close a circle, and systemd would start one of them not at all.
  logged "$WORK/units" systemctl disable ecs.service
  logged "$WORK/units" systemctl add-wants cloud-init.target ecs.service
else
  enable_units ecs.service
fi
