# What follows from the variables and the pins: base, names, tags, scripts.

locals {
  # Canonical's AMIs for EKS are on Ubuntu 24.04, on which Intel supports kernel 6.8.
  habana_base = local.agent == "eks" ? "ubuntu-24.04_6.8" : "ubuntu-22.04"
  # The build instance only compiles for an accelerator; NVIDIA's modules take longest.
  accelerators = {
    habana = { base = coalesce(var.habana_base, local.habana_base), instance_type = "m6i.xlarge" }
    neuron = { base = var.neuron_base, instance_type = "m6i.xlarge" }
    nvidia = { base = var.nvidia_base, instance_type = "m6i.2xlarge" }
  }
  # Packer evaluates all this for a refused variable, too. Falling back to anything keeps its answer
  # to what the refusal says.
  accelerator = lookup(local.accelerators, var.accelerator, local.accelerators.habana)
  base_name   = local.accelerator.base

  # What the AMI consists of, as `make recipes` resolved it from pins.json. Names are relative to this
  # folder, whatever folder Packer is started in.
  cell        = "${var.accelerator}-${var.orchestrator}"
  recipe_name = "recipes/${local.cell}-${local.base_name}.json"
  recipe_file = fileexists(local.recipe_name) ? local.recipe_name : "recipes/habana-ec2-ubuntu-22.04.json"
  recipe      = jsondecode(file(local.recipe_file))

  # A validation sees one variable only. Why a base refuses an orchestrator is said by the error of a
  # function that repeats what it was given and is never given a number here.
  refused    = lookup(local.recipe, "refused", "")
  refusal    = "${var.accelerator}/${var.orchestrator} on ${local.base_name}: ${local.refused}. Leave out ${var.accelerator}_base, or choose another orchestrator."
  source_ami = local.refused == "" ? local.recipe.source_ami : parseint(local.refusal, 10)

  stamp = "${formatdate("YYYYMMDD'T'hhmmss", timestamp())}Z"
  name  = "${var.name_prefix}-${local.cell}-${local.base_name}-${local.stamp}"

  # What the AMI knows of itself beside its recipe; its own programs read it.
  ami = {
    commit        = var.commit
    build         = local.stamp
    nvidia_driver = var.nvidia_driver
  }

  tags = merge(
    {
      Name                     = local.name
      "trainshed:accelerator"  = var.accelerator
      "trainshed:orchestrator" = var.orchestrator
      "trainshed:base"         = local.base_name
      "trainshed:commit"       = var.commit
      "trainshed:build"        = local.stamp
      "trainshed:source-ami"   = "{{ .SourceAMI }}"
      "trainshed:kernel"       = local.recipe.kernel
    },
    { for name, pin in local.recipe.components : "trainshed:version:${name}" => pin.version }
  )
  run_tags = {
    Name              = "${local.name}-builder"
    "trainshed:build" = local.stamp
    "trainshed:role"  = "ami-builder"
  }

  # Embedded AWS has no Session Manager, and answers at once.
  on_aws          = var.endpoint == ""
  ssh_interface   = coalesce(var.ssh_interface, local.on_aws ? "session_manager" : "public_ip")
  session_manager = local.ssh_interface == "session_manager"
  # With encrypt_boot alone, Packer takes the default key for granted and refuses to share.
  copy_to_encrypt = var.encrypt_boot && (
    length(var.region_kms_key_ids) > 0 || (length(var.ami_users) > 0 && var.kms_key_id == null)
  )

  # Without the Kubernetes version of eks-1.35.
  agent = split("-", var.orchestrator)[0]

  # In the order they run. A reboot into the pinned kernel follows the first group: drivers build
  # for the kernel that runs.
  scripts = {
    base = ["10-base.sh", "12-agents.sh", "15-kernel.sh"]
    provision = [
      "18-after-reboot.sh", "20-efa.sh", "30-storage.sh",
      "40-${var.accelerator}.sh", "50-${local.agent}.sh",
      "60-first-boot.sh", "65-hardening.sh",
    ]
    verify = ["80-selftest.sh", "85-report.sh"]
    clean  = ["90-clean.sh"]
  }
  environment = [
    "TRAINSHED_ACCELERATOR=${var.accelerator}",
    "TRAINSHED_BASE=${local.base_name}",
    "TRAINSHED_NVIDIA_DRIVER=${var.nvidia_driver}",
  ]

  # /tmp is emptied by a reboot, /var/tmp is not; scripts know the files as /tmp/trainshed.
  upload  = "/var/tmp/trainshed"
  link    = "sudo ln -sfn ${local.upload} /tmp/trainshed"
  execute = "${local.link} && sudo env {{ .Vars }} bash -euo pipefail '{{ .Path }}'"
  # Neither to return nor to accept connections any more is what makes the next provisioner meet the
  # new boot and never the old one.
  reboot = "sudo sh -c 'systemctl stop sshd.service; systemctl reboot' && sleep 600"
}
