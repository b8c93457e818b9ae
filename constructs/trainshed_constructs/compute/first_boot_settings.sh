# shellcheck shell=bash disable=SC2153  # the caller sets the upper-case names
# Gives the AMI's first-boot program its settings, and ends the node if it cannot follow them.
#
# Runs as a cloud-boothook: at each boot, before the services of the AMI start. The caller sets
# SETTINGS (JSON) and MOUNT, which is empty without a file system. The launch template says that a
# node which powers off is terminated. Drop-ins are under /run, so that they last as long as the
# boot, and an AMI made of the node does not keep them.
set -Eeuo pipefail

add_drop_in() {
  local unit=$1 line=$2
  mkdir -p "/run/systemd/system/${unit}.d"
  printf '[Unit]\n%s\n' "${line}" >"/run/systemd/system/${unit}.d/trainshed-node.conf"
  systemctl daemon-reload
}

fail() {
  trap - ERR
  local message="trainshed: ERROR: $1; this node powers off, so that it is terminated and replaced"
  # To the journal, too: of a boothook that fails, cloud-init keeps little.
  echo "${message}" >&2
  systemd-cat --identifier=trainshed --priority=err echo "${message}" || true
  # Also on the console, which EC2 keeps for an hour after a node is gone.
  echo "${message}" >/dev/console || true
  systemctl --no-block poweroff
  exit 1
}

main() {
  trap 'fail "user data failed in line ${LINENO}"' ERR
  mkdir -p /etc/trainshed
  printf '%s\n' "${SETTINGS}" >/etc/trainshed/first-boot.json
  if [[ -x /opt/trainshed/first-boot ]]; then
    add_drop_in trainshed-first-boot.service FailureAction=poweroff
  elif [[ -n ${MOUNT} ]]; then
    # No job starts in the meantime either.
    add_drop_in ecs.service "AssertPathIsMountPoint=${MOUNT}"
    fail "${MOUNT}: this AMI has no /opt/trainshed/first-boot to mount it: use an AMI baked by trainshed ami build"
  fi
}

main
