# What Packer itself must be. Packer before 1.7 cannot read this file: it is left out there.

packer {
  required_version = ">= 1.9.4"

  required_plugins {
    amazon = {
      source  = "github.com/hashicorp/amazon"
      version = "~> 1.8"
    }
  }
}
