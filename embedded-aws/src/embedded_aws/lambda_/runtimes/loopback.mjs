// Leads functions that were written for AWS's host names and ports to the embedded AWS.
import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

// The SDK addresses a bucket as BUCKET.localhost. RFC 6761 says that this is loopback; not every
// system's resolver knows it.
export function resolveLocalhost() {
  const lookup = dns.lookup;
  dns.lookup = (name, ...rest) => lookup(name.endsWith(".localhost") ? "localhost" : name, ...rest);
  syncBuiltinESMExports();
}

// CDK's own custom resources keep host and path of the response URL and send their answer by HTTPS
// to port 443, where AWS listens. Here that URL is plain HTTP on another port.
export function answerOverHttp(responseUrl) {
  const { hostname, pathname, port, search } = new URL(responseUrl);
  const request = https.request;
  https.request = (options, ...rest) =>
    options.hostname === hostname && options.path === pathname + search && !options.port
      ? http.request({ ...options, agent: undefined, port, protocol: "http:" }, ...rest)
      : request(options, ...rest);
  syncBuiltinESMExports();
}
