"""Container images: built from `images/`, compared with AMIs, pushed to a cluster's ECR."""
