import type { RunningHost } from "../../feature.ts";
import type { Binding } from "../../kernel/binding.ts";
import { bind } from "../../kernel/binding.ts";
import * as access from "./access.ts";
import * as accessContract from "./access-contract.ts";
import { readAnchors, resumeHeldAnchors, signAnchorNow } from "./anchors.ts";
import * as anchorsContract from "./anchors-contract.ts";
import { runChecks } from "./checks.ts";
import { getChecks } from "./checks-contract.ts";
import { acceptClock, readClock } from "./clock.ts";
import * as clockContract from "./clock-contract.ts";
import * as keyActs from "./key-acts.ts";
import { readKeys, slotsOf } from "./keys.ts";
import * as keysContract from "./keys-contract.ts";
import { followLog, readLog } from "./logs.ts";
import * as logsContract from "./logs-contract.ts";
import { readMailQueue, testMail } from "./mail.ts";
import * as mailContract from "./mail-contract.ts";
import * as organizations from "./organizations.ts";
import * as organizationsContract from "./organizations-contract.ts";
import { changeSettings, readSettings } from "./settings.ts";
import * as settingsContract from "./settings-contract.ts";
import { applySetup, makeFirstLink, readSetup, skipStep } from "./setup.ts";
import * as setupContract from "./setup-contract.ts";
import { readStatus } from "./status.ts";
import { getStatus } from "./status-contract.ts";
import { preparedSupport, prepareSupport, zipSupport } from "./support-bundle.ts";
import * as supportContract from "./support-contract.ts";
import { givePin } from "./token-pin.ts";
import { listStuckWork, retryAllStuckWork, retryStuckWork } from "./work.ts";
import * as workContract from "./work-contract.ts";

export function createBindings(host: RunningHost): Binding[] {
  return [
    ...healthBindings(host),
    ...workBindings,
    ...organizationBindings,
    ...accessBindings,
    ...mailBindings,
    ...keyBindings,
    ...logBindings(host),
    ...supportBindings(host),
    ...setupBindings,
    ...settingsBindings,
  ];
}

const healthBindings = (host: RunningHost): Binding[] => [
  bind(getStatus)({
    handle: async (deps) => ({ status: 200, body: await readStatus(deps, host) }),
  }),
  bind(getChecks)({
    handle: async (deps, { query }) => ({
      status: 200,
      body: await runChecks(deps, { tls: host.tls.current(), thorough: query.thorough === true }),
    }),
  }),
  bind(clockContract.getClock)({
    handle: async (deps) => ({ status: 200, body: await readClock(deps) }),
  }),
  bind(clockContract.acceptClock)({
    async handle(deps, { caller }) {
      await acceptClock(deps, caller.actor);
      return { status: 200, body: await readClock(deps) };
    },
  }),
];

const workBindings: Binding[] = [
  bind(workContract.listStuckWork)({
    handle: async ({ db }, { query }) => ({ status: 200, body: await listStuckWork(db.read, query.limit) }),
  }),
  bind(workContract.retryAllWork)({
    handle: async (deps, { caller }) => ({ status: 200, body: await retryAllStuckWork(deps, caller.actor) }),
  }),
  bind(workContract.retryWork)({
    handle: async (deps, { caller, params }) => ({
      status: 200,
      body: await retryStuckWork(deps, caller.actor, params.id),
    }),
  }),
];

const organizationBindings: Binding[] = [
  bind(organizationsContract.listManagedOrganizations)({
    handle: async (deps) => ({ status: 200, body: await organizations.listOrganizations(deps) }),
  }),
  bind(organizationsContract.createManagedOrganization)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await organizations.createOrganization(deps, caller.actor, body),
    }),
  }),
  bind(organizationsContract.changeManagedOrganization)({
    handle: async (deps, { caller, params, body }) => ({
      status: 200,
      body: await organizations.changeOrganization(deps, caller.actor, params.id, body),
    }),
  }),
];

const accessBindings: Binding[] = [
  bind(accessContract.listAccess)({
    handle: async (deps, { query }) => ({ status: 200, body: await access.listAccess(deps, query) }),
  }),
  bind(accessContract.endAnySession)({
    async handle(deps, { caller, params }) {
      await access.endSession(deps, caller.actor, params.id);
      return { status: 204 };
    },
  }),
  bind(accessContract.revokeAnyKey)({
    async handle(deps, { caller, params }) {
      await access.revokeKey(deps, caller.actor, params.id);
      return { status: 204 };
    },
  }),
  bind(accessContract.revokeAccess)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await access.revokeAccess(deps, caller.actor, body),
    }),
  }),
  bind(accessContract.recoverOwner)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await access.recoverOwner(deps, caller.actor, body.email),
    }),
  }),
];

const mailBindings: Binding[] = [
  bind(mailContract.getMailQueue)({
    handle: async (deps, { query }) => ({ status: 200, body: await readMailQueue(deps, query.limit) }),
  }),
  bind(mailContract.testMail)({
    handle: async (deps, { caller, body }) => ({ status: 200, body: await testMail(deps, caller.actor, body) }),
  }),
];

const keyBindings: Binding[] = [
  bind(keysContract.listManagedKeys)({
    handle: async (deps) => ({ status: 200, body: await readKeys(deps) }),
  }),
  bind(keysContract.testSignKeys)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: { data: await keyActs.proveManaged(deps, caller.actor, body) },
    }),
  }),
  bind(keysContract.generateManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await keyActs.generateManaged(deps, caller.actor, body),
    }),
  }),
  bind(keysContract.importManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await keyActs.importManaged(deps, caller.actor, { ...body, file: Buffer.from(body.file, "base64") }),
    }),
  }),
  bind(keysContract.installKeyCertificate)({
    handle: async (deps, { caller, body }) => ({
      status: 201,
      body: await keyActs.installManaged(deps, caller.actor, { ...body, file: Buffer.from(body.file, "base64") }),
    }),
  }),
  bind(keysContract.requestKeyCertificate)({
    handle: async (deps, { caller, params, body }) => ({
      status: 200,
      body: await keyActs.requestManaged(deps, caller.actor, { ...params, ...body }),
    }),
  }),
  bind(keysContract.rotateManagedKey)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await keyActs.rotateManaged(deps, caller.actor, body),
    }),
  }),
  bind(keysContract.rotateManagedAuthority)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await keyActs.rotateManagedCa(deps, caller.actor, body),
    }),
  }),
  bind(keysContract.listKeyRecords)({
    handle: async (deps) => ({ status: 200, body: await keyActs.readRecords(deps) }),
  }),
  bind(keysContract.giveTokenPin)({
    handle: async (deps, { caller, body }) => ({ status: 200, body: await givePin(deps, caller.actor, body) }),
  }),
  bind(keysContract.listTokenSlots)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: { data: await slotsOf(deps, caller.actor, body.module) },
    }),
  }),
  bind(anchorsContract.listManagedAnchors)({
    handle: async (deps, { query }) => ({ status: 200, body: await readAnchors(deps, query.limit) }),
  }),
  bind(anchorsContract.anchorNow)({
    handle: async (deps, { caller }) => ({ status: 200, body: await signAnchorNow(deps, caller.actor) }),
  }),
  bind(anchorsContract.resumeAnchors)({
    handle: async (deps, { caller }) => ({ status: 200, body: await resumeHeldAnchors(deps, caller.actor) }),
  }),
];

const logBindings = (host: RunningHost): Binding[] => [
  bind(logsContract.readLog)({
    handle: async ({ config }, { query }) => ({ status: 200, body: readLog(host, config.logLevel, query) }),
  }),
  bind(logsContract.followLog)({
    handle: async (_deps, { query, request }) => ({ status: 200, events: followLog(host, query, request) }),
  }),
];

/** Of the log, as many lines as one reads. */
const supportLines = 1000;

const supportBindings = (host: RunningHost): Binding[] => [
  bind(supportContract.prepareSupportBundle)({
    async handle(deps, { caller }) {
      const { config, clock } = deps;
      const checks = await runChecks(deps, { tls: host.tls.current(), thorough: false });
      const status = await readStatus(deps, host);
      const log = readLog(host, config.logLevel, { limit: supportLines }).data;
      const about = { config, nowMs: clock.now(), checks, deps, status, log };
      return { status: 200, body: await prepareSupport(deps, caller.actor, about) };
    },
  }),
  bind(supportContract.saveSupportBundle)({
    async handle(deps, { params }) {
      const bundle = preparedSupport(deps, params.id);
      return {
        status: 200,
        pieces: zipSupport(bundle),
        contentType: "application/zip",
        filename: bundle.filename,
      };
    },
  }),
];

const setupBindings: Binding[] = [
  bind(setupContract.getSetup)({
    handle: async (deps) => ({ status: 200, body: await readSetup(deps) }),
  }),
  bind(setupContract.applySetup)({
    handle: async (deps, { caller, body }) => ({ status: 200, body: await applySetup(deps, caller.actor, body) }),
  }),
  bind(setupContract.makeFirstLink)({
    handle: async (deps, { caller }) => ({ status: 200, body: await makeFirstLink(deps, caller.actor) }),
  }),
  bind(setupContract.skipSetupStep)({
    async handle(deps, { caller, params, body }) {
      await skipStep(deps, caller.actor, params.step, body.skip);
      return { status: 200, body: await readSetup(deps) };
    },
  }),
];

const settingsBindings: Binding[] = [
  bind(settingsContract.listSettings)({
    handle: async ({ config }) => ({ status: 200, body: readSettings(config) }),
  }),
  bind(settingsContract.changeSettings)({
    handle: async (deps, { caller, body }) => ({
      status: 200,
      body: await changeSettings(deps, caller.actor, body.changes),
    }),
  }),
];
