# What Packer itself must be. Packer before 1.7 cannot read this file: it is left out there.
# This block can use no variable; the plugin's version is the one of pins.json, a test sees to it.

packer {
  required_version = ">= 1.9.4"

  required_plugins {
    amazon = {
      source  = "github.com/hashicorp/amazon"
      version = "= 1.8.1"
    }
  }
}
