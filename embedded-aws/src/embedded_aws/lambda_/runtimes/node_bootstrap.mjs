// Runs one invocation of a Node.js function, in a process of its own.
//
// Arguments: the handler, and the file for the result. The invocation comes as one line of JSON on
// standard input, which stays open; when it closes, the server is gone and so is this process.
import fs from "node:fs";
import Module from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";
import { answerOverHttp, resolveLocalhost } from "./loopback.mjs";

const [handlerName, resultPath] = process.argv.slice(2);

function finish(answer) {
  fs.writeFileSync(resultPath, JSON.stringify(answer));
  process.exit(0);
}

// AWS's runtime has the SDK, so functions made for it (CDK's own too) do not bring one.
function advice(message) {
  const wanted = message.match(/Cannot find (?:module|package) '(@aws-sdk\/[^'/]+)/)?.[1];
  return wanted
    ? `the embedded AWS has no ${wanted}, which AWS's Node.js runtime has: run ` +
        `"npm install ${wanted}" in the directory in which the embedded AWS was started; ${message}`
    : message;
}

// Some functions, CDK's AwsCustomResource among them, catch a failing require and hide its reason.
function endWhenTheSdkIsMissing() {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    try {
      return resolve.call(this, name, ...rest);
    } catch (problem) {
      if (name.startsWith("@aws-sdk/")) fail(problem);
      throw problem;
    }
  };
}

function fail(problem) {
  console.error(problem);
  finish({
    error: {
      errorMessage: advice(problem?.message ?? String(problem)),
      errorType: problem?.name ?? "Error",
      stackTrace: String(problem?.stack ?? "").split("\n"),
    },
  });
}

async function load() {
  const dot = handlerName.lastIndexOf(".");
  const base = path.resolve(handlerName.slice(0, dot));
  const file = [".js", ".mjs", ".cjs"].map((end) => base + end).find((name) => fs.existsSync(name));
  if (!file) throw new Error(`Cannot find module '${handlerName.slice(0, dot)}'`);
  const module = await import(pathToFileURL(file).href);
  const name = handlerName.slice(dot + 1);
  const handler = module[name] ?? module.default?.[name];
  if (typeof handler !== "function") throw new Error(`${handlerName} is undefined or not exported`);
  return handler;
}

async function run({ event, context: facts }) {
  resolveLocalhost();
  endWhenTheSdkIsMissing();
  if (event?.ResponseURL?.startsWith("http:")) answerOverHttp(event.ResponseURL);
  const handler = await load();
  const deadline = Date.now() + facts.timeout_seconds * 1000;
  setTimeout(() => finish({ timed_out: true }), facts.timeout_seconds * 1000).unref();
  return new Promise((resolve, reject) => {
    const done = (problem, value) => (problem ? reject(problem) : resolve(value));
    const context = {
      functionName: facts.function_name,
      functionVersion: facts.function_version,
      invokedFunctionArn: facts.invoked_function_arn,
      memoryLimitInMB: facts.memory_limit_in_mb,
      awsRequestId: facts.aws_request_id,
      logGroupName: facts.log_group_name,
      logStreamName: facts.log_stream_name,
      callbackWaitsForEmptyEventLoop: true,
      getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
      done,
      succeed: (value) => done(null, value),
      fail: (problem) => done(problem ?? new Error("handler failed")),
    };
    const answer = handler(event, context, done);
    if (typeof answer?.then === "function") answer.then(resolve, reject);
  });
}

process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
const input = readline.createInterface({ input: process.stdin });
input.once("line", (line) => {
  run(JSON.parse(line)).then((result) => finish({ result: result ?? null }), fail);
});
input.on("close", () => process.exit(1));
