"""The AMI pipeline on CodeBuild."""
