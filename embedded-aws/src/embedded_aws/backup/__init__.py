"""AWS Backup: the automatic backups of EFS file systems; vaults and plans of others are moto's."""
