import { isLoopback } from "../../config.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { hasAnyOwner } from "../identity/memberships.ts";
import { keyExpiries } from "../keys/service.ts";
import { issueFirstOwnerLink } from "../sign-in/first-owner.ts";
import type { ServedPair } from "../tls/keeper.ts";
import { recordOperatorAct } from "./operator-audit.ts";
import { createOrganization } from "./organizations.ts";
import { changeSettings, differingSettings, readSettings } from "./settings.ts";
import {
  type SetupAnswers,
  type SetupResult,
  type SetupState,
  type SetupStepName,
  setupSteps,
  skippableSteps,
} from "./setup-contract.ts";
import { deleteSkip, insertSkip, listSkips } from "./setup-store.ts";

/** The setup: what is there is read off, what is missing is named, nothing else is remembered but what was left out. */

/** @param tls what clients are shown; null for plain HTTP */
export type SetupAbout = { tls: Pick<ServedPair, "source"> | null };

type Step = { done: boolean; detail: string; action: string };

export async function readSetup(deps: Deps, about: SetupAbout): Promise<SetupState> {
  const skips = await listSkips(deps.db.read);
  const steps: SetupState["steps"] = [];
  for (const step of setupSteps) {
    const { done, detail, action } = step === "summary" ? summaryOf(steps) : await looks[step](deps, about);
    const state = done ? "done" : skips.includes(step) ? "skipped" : "open";
    steps.push({ step, state, detail, action: done ? null : action });
  }
  return {
    complete: steps.every(({ state }) => state !== "open"),
    steps,
    restartNeeded: readSettings(deps.config).restartNeeded,
  };
}

function summaryOf(before: SetupState["steps"]): Step {
  const open = before.filter(({ state }) => state === "open").map(({ step }) => step);
  const detail = open.length === 0 ? "Everything is set up" : `Open: ${open.join(", ")}`;
  return { done: open.length === 0, detail, action: "Do what is open, or leave it out." };
}

const looks: Readonly<Record<Exclude<SetupStepName, "summary">, (deps: Deps, about: SetupAbout) => Promise<Step>>> = {
  async owner({ db }) {
    const done = await hasAnyOwner(db.read);
    const detail = done ? "An organization has its owner" : "Nobody owns an organization yet";
    return { done, detail, action: "Open the one-time link of the first owner." };
  },
  async address(deps) {
    const baseUrl = settingOf(deps, "baseUrl");
    const done = baseUrl !== null && !isLoopback(new URL(baseUrl).hostname);
    const detail = done ? baseUrl : `${deps.config.baseUrl}: links work on this machine only`;
    return { done, detail, action: "Set the base URL to the address that people open." };
  },
  async tls({ config }, { tls }) {
    if (tls === null && isLoopback(config.host) && config.trustedProxies.length === 0)
      return {
        done: false,
        detail: "Plain HTTP on this machine only",
        action: "Let it listen on the network, or name the proxy before it.",
      };
    if (tls === null) return { done: true, detail: "A proxy terminates TLS", action: "" };
    const done = tls.source !== "self-signed";
    const detail = done ? "A certificate is installed" : "The certificate is self-signed: browsers warn";
    return { done, detail, action: "Install a certificate, or let clients trust the appliance's own authority." };
  },
  async mail(deps) {
    const setting = readSettings(deps.config).data.find(({ key }) => key === "smtpUrl");
    const done = setting?.isSet === true;
    const detail = done ? "A mail server is set" : "Mails are written to files and sent to nobody";
    return { done, detail, action: "Set the mail server and send a test." };
  },
  async clock({ clock }) {
    const doubt = clock.doubt?.() ?? null;
    const detail = doubt ? `The machine says ${doubt.machine}, which cannot be right` : `It is ${clock.ts()}`;
    return { done: doubt === null, detail, action: "Set the machine's clock right, or accept it." };
  },
  async keys({ db, clock }) {
    const keys = await keyExpiries(db.read);
    const seal = keys.find(({ purpose }) => purpose === "seal");
    const done = seal !== undefined && Date.parse(seal.validUntil) > clock.now();
    const detail = seal ? `The seal key is valid until ${seal.validUntil.slice(0, 10)}` : "The keys are being made";
    return { done, detail, action: seal ? "Replace the seal key." : "Wait a moment." };
  },
  async backup(deps) {
    const target = settingOf(deps, "backupDir");
    const detail = target === null ? "No folder for backups is set" : target;
    return { done: target !== null, detail, action: "Set where backups go, away from this machine." };
  },
};

/** What is in force after the next start. */
const settingOf = ({ config }: Deps, wanted: string): string | null =>
  readSettings(config).data.find(({ key, isSet }) => key === wanted && isSet)?.value ?? null;

/** @throws AppError `conflict` for a step that nobody can do without */
export async function skipStep(deps: Deps, actor: Actor, step: SetupStepName, skip: boolean): Promise<void> {
  if (!skippableSteps.includes(step))
    throw new AppError("conflict", { detail: `Nobody can do without this step: ${step}.` });
  await deps.db.tx(async (tx) => {
    if (skip === (await listSkips(tx)).includes(step)) return;
    if (skip) await insertSkip(tx, { step, at: deps.clock.ts() });
    else await deleteSkip(tx, step);
    const action = skip ? "setup.step_skipped" : "setup.step_reopened";
    await recordOperatorAct(tx, deps, { actor, action, target: step });
  });
}

/** @throws AppError `conflict` when there is an owner */
export async function makeFirstLink(deps: Deps, actor: Actor): Promise<{ link: string }> {
  const link = await issueFirstOwnerLink(deps);
  if (link === null) {
    const detail = "An owner exists already: sign in, or let an owner invite you. No link was made.";
    throw new AppError("conflict", { detail });
  }
  await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "setup.first_link_made" }));
  return { link };
}

/**
 * Does what the answers say and is not done yet. What fails leaves what was done before it; the next call goes on from there.
 * @throws AppError `validation-failed`, `conflict`
 */
export async function applySetup(
  deps: Deps,
  actor: Actor,
  answers: SetupAnswers,
  about: SetupAbout,
): Promise<SetupResult> {
  const changed: string[] = [];
  const changes = differingSettings(deps.config, answers.settings ?? {});
  if (Object.keys(changes).length > 0) {
    await changeSettings(deps, actor, changes);
    changed.push(...Object.keys(changes).map((key) => `settings.${key}`));
  }
  let link: string | null = null;
  if (!(await hasAnyOwner(deps.db.read))) {
    const { owner } = answers;
    if (owner) {
      const { organization: name, email, name: person, locale, timeZone } = owner;
      const made = await createOrganization(deps, actor, { name, owner: { email, name: person }, locale, timeZone });
      link = made.link;
      changed.push("owner");
    } else link = (await makeFirstLink(deps, actor)).link;
  }
  const skipped = await listSkips(deps.db.read);
  for (const step of answers.skip ?? []) {
    if (skipped.includes(step)) continue;
    await skipStep(deps, actor, step, true);
    changed.push(`skip.${step}`);
  }
  return { changed, link: link && reachable(deps, link), setup: await readSetup(deps, about) };
}

/** The link as it is opened once the settings that were just changed are in force. */
function reachable(deps: Deps, link: string): string {
  const from = settingOf(deps, "appUrl") ?? settingOf(deps, "baseUrl") ?? deps.config.appUrl;
  return link.startsWith(deps.config.appUrl) ? `${from}${link.slice(deps.config.appUrl.length)}` : link;
}
