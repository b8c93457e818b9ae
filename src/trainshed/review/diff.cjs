// Compares pairs of CloudFormation templates with the engine behind `cdk diff`.
//
// Input: {"folder": of the project, whose node_modules has the engine,
//         "pairs": {name: [template before, template after]}}
// Output: {name: what differs, as review/differences.py reads it}
// Exit code 3: the engine is not there.
'use strict';

const { readFileSync } = require('node:fs');

const ENGINE = '@aws-cdk/cloudformation-diff';
const SECTIONS = ['Parameters', 'Mappings', 'Conditions', 'Outputs'];

function values(difference) {
  return {
    before: difference.oldValue ?? null,
    after: difference.newValue ?? null,
    impact: difference.changeImpact ?? null,
  };
}

function each(differences, describe) {
  return Object.fromEntries(
    Object.entries(differences).map(([name, difference]) => [name, describe(difference)]),
  );
}

function resource(difference) {
  return {
    impact: difference.changeImpact,
    properties: each(difference.propertyUpdates, values),
    attributes: each(difference.otherChanges, values),
  };
}

function gainedAndLost(collection, describe) {
  return [
    ...collection.additions.map((it) => ({ gained: true, ...describe(it) })),
    ...collection.removals.map((it) => ({ gained: false, ...describe(it) })),
  ];
}

function targets({ values: names, not }) {
  return { names, inverted: not };
}

function statement(it) {
  return {
    effect: it.effect,
    principals: targets(it.principals),
    actions: targets(it.actions),
    resources: targets(it.resources),
    condition: it.condition ?? null,
    // A statement that a function such as Fn::If gives cannot be parsed; this is its text.
    unparsed: it.effect === 'Unknown' ? it.render().resource : null,
  };
}

function rule(inbound) {
  return (it) => ({
    inbound,
    group: it.groupId,
    protocol: it.ipProtocol,
    from_port: it.fromPort ?? null,
    to_port: it.toPort ?? null,
    peer: it.peer ? Object.values(it.peer)[1] : null,
  });
}

// The engine reads the statements of a managed policy only where the policy itself names whom it is
// for. Roles may as well name the policy; here such a policy stands for them.
function unattached({ Resources = {} }) {
  const found = Object.entries(Resources).filter(
    ([, { Type, Properties = {} }]) =>
      Type === 'AWS::IAM::ManagedPolicy' &&
      !['Groups', 'Roles', 'Users'].some((name) => Properties[name]?.length),
  );
  const standing = found.map(([id, { Type, Properties }]) => [
    id,
    { Type, Properties: { ...Properties, Roles: [{ Ref: id }] } },
  ]);
  return { Resources: Object.fromEntries(standing) };
}

// Ranges of several rules may let everybody in together, also where only one of them is new.
function inboundRules(engine, { Resources = {} }) {
  const groups = Object.entries(Resources).filter(([, { Type }]) =>
    ['AWS::EC2::SecurityGroup', 'AWS::EC2::SecurityGroupIngress'].includes(Type),
  );
  const all = engine.fullDiff({}, { Resources: Object.fromEntries(groups) });
  return gainedAndLost(all.securityGroupChanges.ingress, rule(true));
}

function compare(engine, before, after) {
  const diff = engine.fullDiff(before, after);
  const policies = engine.fullDiff(unattached(before), unattached(after));
  const { iamChanges: iam, securityGroupChanges: network } = diff;
  return {
    resources: each(diff.resources.changes, resource),
    sections: Object.fromEntries(
      SECTIONS.map((name) => [name, each(diff[name.toLowerCase()].changes, values)]),
    ),
    statements: [
      ...gainedAndLost(iam.statements, statement),
      ...gainedAndLost(policies.iamChanges.statements, statement),
    ],
    managed_policies: gainedAndLost(iam.managedPolicies, (it) => ({
      identity: it.identityArn,
      policy: it.managedPolicyArn,
    })),
    rules: [
      ...gainedAndLost(network.ingress, rule(true)),
      ...gainedAndLost(network.egress, rule(false)),
    ],
    inbound_after: inboundRules(engine, after),
  };
}

const { folder, pairs } = JSON.parse(readFileSync(0, 'utf8'));
let found;
try {
  found = require.resolve(ENGINE, { paths: [folder] });
} catch {
  process.exit(3);
}
const engine = require(found);
const answer = {};
for (const [name, [before, after]] of Object.entries(pairs)) {
  try {
    answer[name] = compare(engine, before, after);
  } catch (error) {
    process.stderr.write(`stack ${name}: ${error.message}\n`);
    process.exit(1);
  }
}
process.stdout.write(JSON.stringify(answer));
