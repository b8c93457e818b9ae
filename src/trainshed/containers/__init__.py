"""Container images: built from `containers/`, compared with AMIs, pushed to a cluster's ECR."""
