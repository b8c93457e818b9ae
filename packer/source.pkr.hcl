# The build instance, and the AMI that is made of it.

source "amazon-ebs" "ami" {
  ami_name        = local.name
  ami_description = "${var.accelerator} nodes for ${var.orchestrator} on ${local.base_name}, kernel ${local.recipe.kernel}"

  region              = var.region
  custom_endpoint_ec2 = var.endpoint
  # EC2 says that it has no capacity by an HTTP 500: 11 retries, the default, last a minute.
  max_retries   = 7
  subnet_id     = var.subnet_id
  instance_type = coalesce(var.instance_type, local.accelerator.instance_type)
  spot_price    = var.spot ? "auto" : null

  # One AMI by its exact name, not the newest of many: the base is pinned like all the rest.
  source_ami_filter {
    filters = {
      name                = local.source_ami.name
      architecture        = "x86_64"
      root-device-type    = "ebs"
      virtualization-type = "hvm"
    }
    owners = [local.source_ami.owner]
  }

  dynamic "subnet_filter" {
    for_each = length(var.subnet_filter) > 0 ? [var.subnet_filter] : []
    content {
      filters   = subnet_filter.value
      most_free = true
    }
  }

  # Encrypted from its first byte: no copy is needed to encrypt it afterwards.
  launch_block_device_mappings {
    device_name           = local.recipe.root_device
    volume_size           = var.root_gib
    volume_type           = "gp3"
    iops                  = 3000
    throughput            = 250
    encrypted             = var.encrypt_boot
    kms_key_id            = var.kms_key_id
    delete_on_termination = true
  }

  encrypt_boot       = local.copy_to_encrypt ? true : null
  kms_key_id         = local.copy_to_encrypt ? var.kms_key_id : null
  region_kms_key_ids = length(var.region_kms_key_ids) > 0 ? var.region_kms_key_ids : null

  ami_regions    = var.ami_regions
  ami_users      = var.ami_users
  snapshot_users = var.ami_users

  # compat:begin packer>=1.7
  ami_org_arns = var.ami_org_arns
  deprecate_at = var.deprecate_at
  imds_support = "v2.0"
  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }
  # compat:end

  ssh_username  = local.recipe.ssh_user
  ssh_interface = local.ssh_interface
  ssh_timeout   = "10m"
  # Through Session Manager, a connection that a reboot has cut may stay open at this end. Packer
  # asks for a sign of life every 5 seconds, so only a dead one is silent for so long.
  ssh_read_write_timeout                = "5m"
  temporary_key_pair_type               = "ed25519"
  temporary_security_group_source_cidrs = var.ssh_cidrs

  iam_instance_profile = var.iam_instance_profile
  # Session Manager for this instance, and nothing else: a driver needs no permission in AWS.
  dynamic "temporary_iam_instance_profile_policy_document" {
    for_each = local.session_manager && var.iam_instance_profile == null ? [1] : []
    content {
      Version = "2012-10-17"
      Statement {
        Effect   = "Allow"
        Action   = jsondecode(file("session-manager.json"))
        Resource = ["*"]
      }
    }
  }

  # Copies of a large AMI to other regions take the better part of an hour.
  aws_polling {
    delay_seconds = local.on_aws ? 15 : 1
    max_attempts  = local.on_aws ? 240 : 600
  }

  tags            = local.tags
  snapshot_tags   = local.tags
  run_tags        = local.run_tags
  run_volume_tags = local.run_tags
}
