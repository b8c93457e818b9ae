# What can be asked of a bake, and what is refused before anything is launched.
#
# A validation sees its own variable only, in every Packer. So each accelerator has a variable for
# its base, and a cell that no vendor supports is refused by that variable, with the way out.
# Packer before 1.7 has no regex(): regex_replace(...) == "" says the same in all of them.

# The cell.

variable "accelerator" {
  type        = string
  description = "What the AMI drives: habana, neuron or nvidia."

  validation {
    condition     = contains(["gaudi2", "gaudi3", "habana2", "habana3"], var.accelerator) == false
    error_message = "Gaudi 2 and Gaudi 3 are not on EC2; its only Gaudi was the first (dl1.24xlarge). Use accelerator=habana for that one."
  }
  validation {
    condition     = contains(["gaudi", "dl1"], var.accelerator) == false
    error_message = "The first-generation Gaudi of dl1.24xlarge goes by its vendor's name here. Use accelerator=habana."
  }
  validation {
    condition     = contains(["trainium", "trn1", "trn2", "inferentia", "inf2"], var.accelerator) == false
    error_message = "Trainium and Inferentia share one driver, Neuron. Use accelerator=neuron."
  }
  validation {
    condition     = contains(["habana", "neuron", "nvidia", "gaudi", "gaudi2", "gaudi3", "habana2", "habana3", "dl1", "trainium", "trn1", "trn2", "inferentia", "inf2"], var.accelerator)
    error_message = "The accelerator is habana, neuron or nvidia."
  }
}

variable "orchestrator" {
  type        = string
  description = "What starts work on it: ec2 (Docker and nothing more), ecs (AWS Batch, too), or EKS with one Kubernetes version: eks-1.34, eks-1.35 or eks-1.36."

  validation {
    condition     = var.orchestrator != "batch"
    error_message = "AWS Batch starts its jobs through the ECS agent. Use orchestrator=ecs."
  }
  validation {
    condition     = var.orchestrator != "eks"
    error_message = "An AMI for EKS has the kubelet of one Kubernetes version, that of its cluster. Use orchestrator=eks-1.34, eks-1.35 or eks-1.36."
  }
  validation {
    condition     = contains(["ec2", "ecs", "eks-1.34", "eks-1.35", "eks-1.36", "batch", "eks"], var.orchestrator)
    error_message = "The orchestrator is ec2, ecs, or EKS with a Kubernetes version, for instance eks-1.35. For Slurm and other schedulers of your own, use ec2."
  }
}

variable "habana_base" {
  type        = string
  default     = null
  description = "Distribution under a habana AMI; null is ubuntu-22.04 for ec2 and ecs, and ubuntu-24.04_6.8, with kernel 6.8, for eks."

  validation {
    condition     = var.habana_base != "amazon-linux-2"
    error_message = "Amazon Linux 2 ended on 2026-06-30, and Gaudi software for it ended with 1.15. Leave out habana_base."
  }
  validation {
    condition     = var.habana_base != "amazon-linux-2023"
    error_message = "Intel never released Gaudi software for Amazon Linux 2023: the support matrices of 1.14 to 1.21 name Ubuntu, RHEL, SUSE, Debian and TencentOS only. Leave out habana_base."
  }
  validation {
    condition     = var.habana_base != "ubuntu-24.04"
    error_message = "Intel's 1.21, the last release for first-generation Gaudi, lists Ubuntu 24.04 with kernel 6.8 only, and a later one is pinned there. Leave out habana_base: for eks it is ubuntu-24.04_6.8."
  }
  validation {
    # coalesce(), because contains(null) is an error.
    condition     = contains(["ubuntu-22.04", "ubuntu-24.04_6.8", "ubuntu-24.04", "amazon-linux-2", "amazon-linux-2023"], coalesce(var.habana_base, "ubuntu-22.04"))
    error_message = "The base of a habana AMI is ubuntu-22.04 for ec2 and ecs, and ubuntu-24.04_6.8 for eks; this template has pins for these."
  }
}

variable "neuron_base" {
  type        = string
  default     = "amazon-linux-2023"
  description = "Distribution under a neuron AMI: amazon-linux-2023, or ubuntu-24.04 for ec2 and eks."

  validation {
    condition     = var.neuron_base != "amazon-linux-2"
    error_message = "Amazon Linux 2 ended on 2026-06-30, and Neuron's runtime was never released for it. Use neuron_base=amazon-linux-2023."
  }
  validation {
    condition     = var.neuron_base != "ubuntu-22.04"
    error_message = "Neuron's and Canonical's packages are pinned for one Ubuntu only. Use neuron_base=ubuntu-24.04 for ec2 and eks, or neuron_base=amazon-linux-2023."
  }
  validation {
    condition     = contains(["amazon-linux-2023", "amazon-linux-2", "ubuntu-22.04", "ubuntu-24.04"], var.neuron_base)
    error_message = "The base of a neuron AMI is amazon-linux-2023 or, for ec2 and eks, ubuntu-24.04; this template has pins for these."
  }
}

variable "nvidia_base" {
  type        = string
  default     = "amazon-linux-2023"
  description = "Distribution under an nvidia AMI: amazon-linux-2023, or ubuntu-24.04 for ec2 and eks."

  validation {
    condition     = var.nvidia_base != "amazon-linux-2"
    error_message = "Amazon Linux 2 ended on 2026-06-30 and gets no driver that serves CUDA 13. Use nvidia_base=amazon-linux-2023."
  }
  validation {
    condition     = var.nvidia_base != "ubuntu-22.04"
    error_message = "NVIDIA's and Canonical's packages are pinned for one Ubuntu only. Use nvidia_base=ubuntu-24.04 for ec2 and eks, or nvidia_base=amazon-linux-2023."
  }
  validation {
    condition     = contains(["amazon-linux-2023", "amazon-linux-2", "ubuntu-22.04", "ubuntu-24.04"], var.nvidia_base)
    error_message = "The base of an nvidia AMI is amazon-linux-2023 or, for ec2 and eks, ubuntu-24.04; this template has pins for these."
  }
}

variable "nvidia_driver" {
  type        = string
  default     = "open"
  description = "Kernel modules of an nvidia AMI: open (Turing and later) or proprietary (V100 of p3 and p3dn)."

  validation {
    condition     = contains(["open", "proprietary"], var.nvidia_driver)
    error_message = "The nvidia_driver is open, or proprietary for V100 (p3, p3dn), which the open modules do not drive."
  }
}

# The AMI.

variable "name_prefix" {
  type        = string
  default     = "trainshed"
  description = "First part of the AMI's name; the cell and the time follow."

  validation {
    condition     = length(var.name_prefix) > 0 && regex_replace(var.name_prefix, "^[a-z][a-z0-9-]*$", "") == ""
    error_message = "The name_prefix is made of lower-case letters, digits and hyphens, and starts with a letter."
  }
}

variable "root_gib" {
  type        = number
  default     = 100
  description = "Size of the root volume in GiB; an instance may have a larger one."

  validation {
    condition     = var.root_gib >= 30 && var.root_gib <= 16384
    error_message = "The root_gib is between 30, the snapshot of the ECS-optimized AMI, and 16384, the largest gp3 volume."
  }
}

variable "encrypt_boot" {
  type        = bool
  default     = true
  description = "Encrypt the root volume and the snapshots."
}

variable "kms_key_id" {
  type        = string
  default     = null
  description = "KMS key (id, alias/NAME or ARN) to encrypt with; null takes the account's default, which cannot be shared."
}

variable "region_kms_key_ids" {
  type        = map(string)
  default     = {}
  description = "KMS key of each region of ami_regions; region itself takes kms_key_id. Costs one more copy of the AMI."
}

variable "ami_regions" {
  type        = list(string)
  default     = []
  description = "Regions to copy the AMI to."
}

variable "ami_users" {
  type        = list(string)
  default     = []
  description = "Accounts that may launch the AMI and copy its snapshots; needs a kms_key_id they may use."
}

variable "ami_org_arns" {
  type        = list(string)
  default     = []
  description = "Organizations whose accounts may launch the AMI (Packer 1.7 and later); needs a kms_key_id they may use."
}

variable "deprecate_at" {
  type        = string
  default     = null
  description = "When the AMI is deprecated, in UTC, for instance 2027-06-01T00:00:00Z (Packer 1.7 and later); null for never."
}

variable "commit" {
  type        = string
  default     = "unknown"
  description = "Git commit of this template, for the tags."
}

# The build instance.

variable "region" {
  type        = string
  default     = env("AWS_REGION")
  description = "Region to bake in; AWS_REGION, or else the region of the profile."
}

variable "subnet_id" {
  type        = string
  default     = null
  description = "Subnet of the build instance; null takes subnet_filter, or else the default VPC."
}

variable "subnet_filter" {
  type        = map(string)
  default     = {}
  description = "EC2 filters, of whose subnets the one with most free addresses is taken, for instance {\"tag:Name\" = \"build*\"}."
}

variable "instance_type" {
  type        = string
  default     = null
  description = "Type of the build instance; null takes a cheap one without an accelerator, which compiles drivers too."
}

variable "spot" {
  type        = bool
  default     = false
  description = "Bake on a spot instance."
}

variable "ssh_interface" {
  type        = string
  default     = null
  description = "Way to the build instance: session_manager, private_ip or public_ip; null is session_manager on AWS and public_ip on an endpoint of your own."

  validation {
    # coalesce(), because || does not stop at null: contains(null) is an error.
    condition     = contains(["session_manager", "private_ip", "public_ip"], coalesce(var.ssh_interface, "public_ip"))
    error_message = "The ssh_interface is session_manager, private_ip or public_ip."
  }
}

variable "ssh_cidrs" {
  type        = list(string)
  default     = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
  description = "Addresses that may reach port 22 of the build instance, unless through Session Manager, which needs no open port."

  validation {
    condition     = length(var.ssh_cidrs) > 0 && contains(var.ssh_cidrs, "0.0.0.0/0") == false && contains(var.ssh_cidrs, "::/0") == false
    error_message = "Port 22 is not opened to the world. Give the addresses you come from, for instance 198.51.100.7/32, or use ssh_interface=session_manager."
  }
}

variable "iam_instance_profile" {
  type        = string
  default     = null
  description = "Instance profile of the build instance; null makes a temporary one that allows Session Manager and nothing else."
}

variable "endpoint" {
  type        = string
  default     = env("AWS_ENDPOINT_URL")
  description = "EC2 endpoint other than AWS's own, for instance the embedded AWS of trainshed offline."
}

variable "output" {
  type        = string
  default     = "."
  description = "Folder on this machine for manifest.json, selftest.json and packages.txt."
}
