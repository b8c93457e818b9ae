# shellcheck shell=bash disable=SC2153  # the caller sets the upper-case names
# Mounts the cluster's Lustre file system before jobs can start on the node.
#
# Runs once, as user data, in cloud-final.service; ecs.service is ordered after that. The caller
# sets MOUNT, DNS_NAME and MOUNT_NAME (SSM parameters), REGION, ATTEMPTS and DELAY (seconds).
# Output: /var/log/cloud-init-output.log and the instance's console.
set -euo pipefail

log() {
  echo "trainshed: ${MOUNT}: $*"
}

die() {
  log "ERROR: $*; the ECS agent stays down, so that no job runs without its data" >&2
  exit 1
}

# Before anything can fail: without the mount the agent never starts, now or after a reboot.
hold_ecs_agent() {
  mkdir -p /etc/systemd/system/ecs.service.d
  printf '[Unit]\nRequiresMountsFor=%s\nAssertPathIsMountPoint=%s\n' "${MOUNT}" "${MOUNT}" \
    >/etc/systemd/system/ecs.service.d/lustre.conf
  systemctl daemon-reload
}

# Sets `source` to what is mounted. The parameters come when the file system is ready, which may be
# after this node: compute and storage are deployed side by side.
find_source() {
  local values dns_name mount_name
  values="$(aws ssm get-parameters --region "${REGION}" --names "${DNS_NAME}" "${MOUNT_NAME}" \
    --query 'sort_by(Parameters, &Name)[].Value' --output text)" || return 1
  read -r dns_name mount_name <<<"${values}"
  if [[ -z "${dns_name}" || -z "${mount_name}" ]]; then
    log "${DNS_NAME} and ${MOUNT_NAME} are not both published yet"
    return 1
  fi
  source="${dns_name}@tcp:/${mount_name}"
}

# DNS of a new file system may lag behind its creation.
try_mount() {
  find_source || return 1
  mount -t lustre -o noatime,flock "${source}" "${MOUNT}" || return 1
}

main() {
  local attempt source=""
  hold_ecs_agent
  command -v aws >/dev/null || die "this image has no AWS CLI"
  command -v mount.lustre >/dev/null || die "this image has no Lustre client"
  mkdir -p "${MOUNT}"
  for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
    if try_mount; then
      echo "${source} ${MOUNT} lustre defaults,noatime,flock,_netdev 0 0" >>/etc/fstab
      log "mounted ${source}"
      return
    fi
    log "attempt ${attempt} of ${ATTEMPTS} failed"
    sleep "${DELAY}"
  done
  die "not mounted after ${ATTEMPTS} attempts"
}

main
