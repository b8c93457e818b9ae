"""How `trainshed check` asks an app for what it does not do in a plain synthesis."""

# Context of the app: have cdk-nag and cdk-preflight judge the templates.
ASKED = "trainshed:check"
# Metadata of a cluster's stack: the tools that judged, with their versions.
JUDGED_BY = "trainshed:judged-by"
