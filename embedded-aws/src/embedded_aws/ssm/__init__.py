"""Systems Manager: Parameter Store, documents and Run Command."""
