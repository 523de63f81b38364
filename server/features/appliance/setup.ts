import { type Config, isLoopback } from "../../config.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Actor } from "../../kernel/wire.ts";
import { codeInWords } from "../health/service.ts";
import { hasAnyOwner } from "../identity/service.ts";
import { keyExpiries } from "../keys/service.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { createManagedOrganization } from "../organization/service.ts";
import { issueFirstOwnerLink } from "../sign-in/service.ts";
import { peekTls } from "../tls/service.ts";
import { changeSettings, differingSettings, readSettings, settingsOfNextStart } from "./settings.ts";
import {
  type SetupAnswers,
  type SetupResult,
  type SetupState,
  type SetupStepName,
  setupSteps,
  skippableSteps,
} from "./setup-contract.ts";
import type { SetupCode, setupParams } from "./setup-params.ts";
import { deleteSkip, insertSkip, listSkips } from "./setup-store.ts";

/** The setup: what is there is read off, what is missing is named, nothing else is remembered but what was left out. */

/** A step that has nothing to do is done. */
type Step = Pick<SetupState["steps"][number], "code" | "params" | "detail" | "action">;

/** What is known of a step, in words. */
function say<C extends SetupCode>(code: C, params: Record<(typeof setupParams)[C][number], string>): Step {
  return { code, params, ...codeInWords("setupText", code, params) };
}

/** As it will be once the settings that were changed are in force. */
export async function readSetup(deps: Deps): Promise<SetupState> {
  const next = settingsOfNextStart(deps.config);
  const skips = await listSkips(deps.db.read);
  const steps: SetupState["steps"] = [];
  for (const step of setupSteps) {
    const said = step === "summary" ? summaryOf(steps) : await looks[step](deps, next);
    const state = said.action === null ? "done" : skips.includes(step) ? "skipped" : "open";
    steps.push({ step, state, ...said });
  }
  return {
    complete: steps.every(({ state }) => state !== "open"),
    steps,
    restartNeeded: readSettings(deps.config).restartNeeded,
  };
}

function summaryOf(before: SetupState["steps"]): Step {
  const open = before.filter(({ state }) => state === "open").map(({ step }) => step);
  return open.length === 0 ? say("summary.done", {}) : say("summary.open", { steps: open.join(", ") });
}

const looks: Readonly<Record<Exclude<SetupStepName, "summary">, (deps: Deps, next: Config) => Promise<Step>>> = {
  async owner({ db }) {
    return (await hasAnyOwner(db.read)) ? say("owner.there", {}) : say("owner.missing", {});
  },
  async address(_deps, { baseUrl: url, baseUrlConfigured }) {
    return baseUrlConfigured && !isLoopback(new URL(url).hostname)
      ? say("address.set", { url })
      : say("address.loopback", { url });
  },
  async tls(_deps, next) {
    if (next.tlsCert !== undefined) return say("tls.installed", {});
    if (next.trustedProxies.length > 0) return say("tls.proxy", {});
    if (isLoopback(next.host)) return say("tls.loopback", {});
    // Where none is kept the start makes one.
    const source = (await peekTls(next))?.source ?? "self-signed";
    return say(source === "self-signed" ? "tls.self-signed" : "tls.installed", {});
  },
  async mail(_deps, { smtpUrl, mailFrom }) {
    if (smtpUrl === undefined) return say("mail.files", {});
    // The default, which a server on this machine alone takes: no other lets a sender pass whose domain is nobody's.
    // Where it cannot be read, a test of it says so.
    const host = URL.parse(smtpUrl)?.hostname.replace(/^\[|\]$/g, "") ?? "";
    const foreign = /@localhost>?\s*$/i.test(mailFrom) && !isLoopback(host);
    return foreign ? say("mail.sender", { sender: mailFrom }) : say("mail.server", {});
  },
  async clock({ clock }) {
    const doubt = clock.doubt?.() ?? null;
    return doubt ? say("clock.doubted", { machine: doubt.machine }) : say("clock.right", { now: clock.ts() });
  },
  async keys({ db, clock }) {
    const seal = (await keyExpiries(db.read)).find(({ purpose }) => purpose === "seal");
    if (seal === undefined) return say("keys.begun", {});
    const valid = Date.parse(seal.validUntil) > clock.now();
    return say(valid ? "keys.valid" : "keys.over", { day: seal.validUntil });
  },
  async backup(_deps, { backupDir: folder }) {
    return folder === undefined ? say("backup.missing", {}) : say("backup.set", { folder });
  },
};

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
  const link = await issueFirstOwnerLink(deps, (tx) =>
    recordOperatorAct(tx, deps, { actor, action: "setup.first_link_made" }),
  );
  if (link === null) {
    const detail = "An owner exists already: sign in, or let an owner invite you. No link was made.";
    throw new AppError("conflict", { detail });
  }
  return { link };
}

/**
 * Does what the answers say and is not done yet. What fails leaves what was done before it; the next call goes on from there.
 * @throws AppError `validation-failed`, `conflict`
 */
export async function applySetup(deps: Deps, actor: Actor, answers: SetupAnswers): Promise<SetupResult> {
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
      const made = await createManagedOrganization(deps, actor, {
        name,
        owner: { email, name: person },
        locale,
        timeZone,
      });
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
  return { changed, link: link && reachable(deps, link), setup: await readSetup(deps) };
}

/** The link as it is opened once the settings that were just changed are in force. */
function reachable(deps: Deps, link: string): string {
  const from = settingsOfNextStart(deps.config).appUrl;
  return link.startsWith(deps.config.appUrl) ? `${from}${link.slice(deps.config.appUrl.length)}` : link;
}
