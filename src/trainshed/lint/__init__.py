"""Judge CloudFormation templates, eksctl cluster files and ParallelCluster configurations.

These are files that trainshed did not make. Each kind has a reader, which says what the file asks
of AWS in the words of `model`; the rules judge that.
"""
