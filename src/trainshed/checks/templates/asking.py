"""How `trainshed check` asks an app for checks that a plain synthesis leaves out."""

# Context of the app: have cdk-nag and cdk-preflight judge the templates.
ASKED = "trainshed:check"
# Metadata of a cluster's stack: the tools that judged, with their versions.
JUDGED_BY = "trainshed:judged-by"
