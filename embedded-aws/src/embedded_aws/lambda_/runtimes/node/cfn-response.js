// The `cfn-response` module that CloudFormation gives to inline Node.js functions.
const http = require("node:http");
const https = require("node:https");

exports.SUCCESS = "SUCCESS";
exports.FAILED = "FAILED";

exports.send = (event, context, responseStatus, responseData, physicalResourceId, noEcho) =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({
      Status: responseStatus,
      Reason: `See the details in CloudWatch Log Stream: ${context.logStreamName}`,
      PhysicalResourceId: physicalResourceId || context.logStreamName,
      StackId: event.StackId,
      RequestId: event.RequestId,
      LogicalResourceId: event.LogicalResourceId,
      NoEcho: noEcho || false,
      Data: responseData,
    });
    const url = new URL(event.ResponseURL);
    const request = (url.protocol === "https:" ? https : http).request(
      url,
      { method: "PUT", headers: { "content-type": "", "content-length": Buffer.byteLength(body) } },
      (response) => {
        response.resume();
        console.log(`Status code: ${response.statusCode}`);
        context.done();
        resolve();
      },
    );
    request.on("error", reject);
    request.end(body);
  });
