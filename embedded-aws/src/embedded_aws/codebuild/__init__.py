"""CodeBuild: projects and webhooks."""
