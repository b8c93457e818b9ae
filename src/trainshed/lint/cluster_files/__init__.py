"""Say what the cluster file of trainshed for an eksctl cluster would be."""
