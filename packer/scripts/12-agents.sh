#!/usr/bin/env bash
# Time, Session Manager, CloudWatch and the AWS CLI: what ties an instance to AWS.
set -euo pipefail
# shellcheck source=packer/scripts/lib/bake.sh
source /tmp/trainshed/lib/bake.sh 12-agents

# What EC2 cannot see from outside; training that fails of a full disk or memory shows here. The
# instance's role needs cloudwatch:PutMetricData.
# shellcheck disable=SC2016  # the agent's variable
readonly METRICS='{
  "agent": {"metrics_collection_interval": 60, "run_as_user": "root"},
  "metrics": {
    "namespace": "trainshed",
    "append_dimensions": {"InstanceId": "${aws:InstanceId}"},
    "metrics_collected": {
      "mem": {"measurement": ["mem_used_percent"]},
      "disk": {
        "measurement": ["disk_used_percent", "disk_inodes_free"],
        "resources": ["/", "/scratch"],
        "drop_device": true
      }
    }
  }
}'
readonly AMAZON_TIME='server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4'

configure_agents() {
  install -D -m 644 /dev/stdin /opt/aws/amazon-cloudwatch-agent/etc/amazon-cloudwatch-agent.json \
    <<<"$METRICS"
  enable_units amazon-cloudwatch-agent.service
  if [[ ! -e /etc/systemd/system/replace-ssm-agent.service ]]; then
    enable_units amazon-ssm-agent.service
  fi
}

# Ubuntu's agent is a snap, which refreshes itself whenever it likes; the pinned deb refuses to be
# installed beside it. The build may have come in by it (Session Manager), and would end with it:
# so they change places while the machine boots. 18-after-reboot sees to the rest.
replace_snap_agent_at_boot() {
  local file
  file=$(fetch_archive ssm-agent)
  install -m 644 "$file" /var/tmp/trainshed/ssm-agent.deb
  logged "$WORK/snap" systemctl disable snap.amazon-ssm-agent.amazon-ssm-agent.service
  install -D -m 644 /dev/stdin /etc/systemd/system/replace-ssm-agent.service <<'EOF'
[Unit]
Description=The pinned Session Manager agent in place of the snap
Wants=network-online.target
After=network-online.target snapd.seeded.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=snap remove --purge amazon-ssm-agent
ExecStart=dpkg --install /var/tmp/trainshed/ssm-agent.deb

[Install]
WantedBy=multi-user.target
EOF
  enable_units replace-ssm-agent.service
}

install_aws_cli() {
  local archive
  archive=$(fetch_archive aws-cli)
  unzip -q "$archive" -d "$WORK"
  logged "$WORK/aws-cli" "$WORK/aws/install" --update
}

# The link-local clock of EC2 needs no network and is the same everywhere: nodes of one job agree.
configure_time_sync() {
  if is_ubuntu; then
    sed -i 's/^\(pool\|server\) /# &/' /etc/chrony/chrony.conf
    install -D -m 644 /dev/stdin /etc/chrony/sources.d/amazon.sources <<<"$AMAZON_TIME"
    enable_units chrony.service
  else
    # Most AMIs have it from amazon-chrony-config; chrony passes over what it knows already.
    install -D -m 644 /dev/stdin /etc/chrony.d/amazon.sources <<<"$AMAZON_TIME"
    enable_units chronyd.service
  fi
}

parts=(chrony cloudwatch-agent)
if is_ubuntu && command -v snap >/dev/null && snap list amazon-ssm-agent >/dev/null 2>&1; then
  replace_snap_agent_at_boot
else
  parts+=(ssm-agent)
fi
kind=$(pin aws-cli kind)
if [[ $kind == archive ]]; then install_aws_cli; else parts+=(aws-cli); fi
install_components "${parts[@]}"
configure_time_sync
configure_agents
