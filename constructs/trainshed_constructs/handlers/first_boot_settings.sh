# shellcheck shell=bash disable=SC2153  # the caller sets the upper-case names
# Tells the image's first-boot program which Lustre file system the node mounts.
#
# Runs as a cloud-boothook: at each boot, before the services of the image start. The caller sets
# MOUNT and SETTINGS (JSON).
set -euo pipefail

# Under /run, so that it lasts as long as the boot, and an image made of the node does not keep it.
hold_ecs_agent() {
  mkdir -p /run/systemd/system/ecs.service.d
  printf '[Unit]\nAssertPathIsMountPoint=%s\n' "${MOUNT}" \
    >/run/systemd/system/ecs.service.d/trainshed-lustre.conf
  systemctl daemon-reload
}

main() {
  local message="trainshed: ERROR: ${MOUNT}: this image has no /opt/trainshed/first-boot to mount it;"
  message+=" the ECS agent stays down, so that no job runs without its data; use an image baked by"
  message+=" trainshed ami build, or mount it yourself and then: systemctl start ecs"
  mkdir -p /etc/trainshed
  printf '%s\n' "${SETTINGS}" >/etc/trainshed/first-boot.json
  if [[ ! -x /opt/trainshed/first-boot ]]; then
    hold_ecs_agent
    # To the journal, too: of a boothook that fails, cloud-init keeps little.
    echo "${message}" >&2
    systemd-cat --identifier=trainshed --priority=err echo "${message}"
    exit 1
  fi
}

main
