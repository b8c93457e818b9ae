# What happens on the build instance, in this order.

build {
  sources = ["source.amazon-ebs.ami"]

  # The files, the recipe and what is known of the build, where scripts and programs expect them.

  provisioner "shell" {
    inline = [
      "cloud-init status --wait >/dev/null || true",
      "mkdir -p ${local.upload}/lib",
      "echo '${jsonencode(local.ami)}' >${local.upload}/ami.json",
    ]
  }

  provisioner "file" {
    source      = "${path.root}/files/"
    destination = local.upload
  }

  provisioner "file" {
    source      = "${path.root}/scripts/lib/"
    destination = "${local.upload}/lib"
  }

  provisioner "file" {
    source      = "${path.root}/${local.recipe_file}"
    destination = "${local.upload}/recipe.json"
  }

  # The distribution and its kernel, then a reboot into that kernel. Packer's ssh client may wait
  # for ever when it opens a session just as the connection ends: so it does not remove its script
  # then (`clean` does), and the next provisioner pauses.

  provisioner "shell" {
    scripts          = [for script in local.scripts.base : "${path.root}/scripts/${script}"]
    environment_vars = local.environment
    execute_command  = local.execute
  }

  provisioner "shell" {
    inline            = [local.reboot]
    expect_disconnect = true
    skip_clean        = true
  }

  # Everything else is built for that kernel. The reboot after it is for drivers that ask for one.

  provisioner "shell" {
    scripts             = [for script in local.scripts.provision : "${path.root}/scripts/${script}"]
    environment_vars    = local.environment
    execute_command     = local.execute
    pause_before        = "5s"
    start_retry_timeout = "10m"
  }

  provisioner "shell" {
    inline            = ["test ! -e /run/reboot-required || { ${local.reboot}; }"]
    expect_disconnect = true
    skip_clean        = true
  }

  # The AMI tests itself and says what it is made of; both answers come to this machine.

  provisioner "shell" {
    scripts             = [for script in local.scripts.verify : "${path.root}/scripts/${script}"]
    environment_vars    = local.environment
    execute_command     = local.execute
    pause_before        = "5s"
    start_retry_timeout = "10m"
  }

  provisioner "file" {
    direction   = "download"
    source      = "${local.upload}/selftest.json"
    destination = "${var.output}/selftest.json"
  }

  provisioner "file" {
    direction   = "download"
    source      = "${local.upload}/packages.txt"
    destination = "${var.output}/packages.txt"
  }

  # Nothing of this build stays, and the AMI proves it.

  provisioner "shell" {
    scripts          = [for script in local.scripts.clean : "${path.root}/scripts/${script}"]
    environment_vars = local.environment
    execute_command  = local.execute
  }

  provisioner "shell" {
    inline = ["sudo /opt/trainshed/clean --prove"]
  }

  post-processor "manifest" {
    output     = "${var.output}/manifest.json"
    strip_path = true
    custom_data = merge(
      { accelerator = var.accelerator, orchestrator = var.orchestrator, base = local.base_name },
      local.ami,
      { name = local.name, kernel = local.recipe.kernel, source_ami = local.source_ami.name },
      { for name, pin in local.recipe.components : "version:${name}" => pin.version }
    )
  }
}
