#!/usr/bin/env bash
# The ECS agent, set up for AWS Batch.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 50-ecs

install_docker
# Ubuntu: AWS documents Batch's multi-node jobs for Amazon Linux only. The agent is the same and
# comes signed by Amazon, but nobody has proven multi-node jobs on it.
install_components ecs-init

# Batch and other user data append ECS_CLUSTER to this file. Documented in the README of
# aws/amazon-ecs-agent:
# - images of finished jobs are tens of gigabytes: look every 10 minutes, keep for one hour;
# - a container must not take the instance's role from the metadata service;
# - no file with cluster, task and instance ARNs in each container;
# - a reclaimed spot instance takes no further job.
install -D -m 644 /dev/stdin /etc/ecs/ecs.config <<'EOF'
ECS_IMAGE_CLEANUP_INTERVAL=10m
ECS_IMAGE_MINIMUM_CLEANUP_AGE=1h
ECS_NUM_IMAGES_DELETE_PER_CYCLE=10
ECS_ENGINE_TASK_CLEANUP_WAIT_DURATION=1h
ECS_AWSVPC_BLOCK_IMDS=true
ECS_ENABLE_CONTAINER_METADATA=false
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
EOF
# Neuron: nothing to add. ECS_ENABLE_INF_SUPPORT is for Inferentia 1 with a Docker runtime of its
# own; on Trainium, Batch hands over /dev/neuron* as devices. Gaudi: Docker's default runtime.
if [[ $TRAINSHED_ACCELERATOR == nvidia ]]; then
  echo 'ECS_ENABLE_GPU_SUPPORT=true' >>/etc/ecs/ecs.config
fi

# The image must register anew: nothing of what an agent learnt here may stay.
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
