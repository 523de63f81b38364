import type { RunningHost } from "../../feature.ts";
import { type Binding, bind } from "../../kernel/binding.ts";
import { getChecks } from "../health/contract.ts";
import { giveTokenPin } from "../keys/managed-contract.ts";
import { runChecks } from "./checks.ts";
import { acceptClock, readClock } from "./clock.ts";
import * as clockContract from "./clock-contract.ts";
import { followLog, readLog } from "./logs.ts";
import * as logsContract from "./logs-contract.ts";
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
  bind(giveTokenPin)({
    handle: async (deps, { caller, body }) => ({ status: 200, body: await givePin(deps, caller.actor, body) }),
  }),
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
