# shellcheck shell=bash disable=SC2153  # the caller sets the upper-case names
# Tells the image's first-boot program which Lustre file system the node mounts.
#
# Runs as a cloud-boothook: at each boot, before the services of the image start. The caller sets
# MOUNT and SETTINGS (JSON). Output: /var/log/cloud-init-output.log and the instance's console.
set -euo pipefail

# Under /run, so that it lasts as long as the boot, and an image made of the node does not keep it.
hold_ecs_agent() {
  mkdir -p /run/systemd/system/ecs.service.d
  printf '[Unit]\nAssertPathIsMountPoint=%s\n' "${MOUNT}" \
    >/run/systemd/system/ecs.service.d/trainshed-lustre.conf
  systemctl daemon-reload
}

main() {
  mkdir -p /etc/trainshed
  printf '%s\n' "${SETTINGS}" >/etc/trainshed/first-boot.json
  if [[ ! -x /opt/trainshed/first-boot ]]; then
    hold_ecs_agent
    echo "trainshed: ERROR: ${MOUNT}: this image has no /opt/trainshed/first-boot to mount it; the" \
      "ECS agent stays down, so that no job runs without its data; use an image baked by" \
      "trainshed ami build, or mount it yourself and then: systemctl start ecs" >&2
    exit 1
  fi
}

main
