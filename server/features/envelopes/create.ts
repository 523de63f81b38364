import { hashOf, sizeOf } from "../../kernel/blobs.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { chainStart } from "../../kernel/hash-chain.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { ProblemError } from "../../kernel/problem.ts";
import type { Remember } from "../../kernel/request.ts";
import { planOf } from "../identity/service.ts";
import { availableVerifications, type Warning } from "../templates/contract.ts";
import {
  markTemplateUsed,
  NoSuchVersion,
  type PublishedVersion,
  placeFields,
  publishedVersion,
  uploadWarnings,
} from "../templates/service.ts";
import { draftEntries, storeEntries } from "./audit.ts";
import { type Checked, checkAgainstVersion, checkRequest, inDocumentOrder, versionWarnings } from "./checks.ts";
import type { EnvelopeDryRun } from "./contract.ts";
import { expireEnvelope, renderEnvelope } from "./jobs.ts";
import { insertPeople } from "./people-store.ts";
import { planRefusal, plans } from "./plan.ts";
import { presentEnvelope } from "./present.ts";
import { type Creation, personOf, rowsOf } from "./rows.ts";
import {
  countCompleted,
  type EnvelopeRecord,
  insertDedupe,
  insertEnvelope,
  readDeduplicated,
  readEnvelope,
} from "./store.ts";
import { textWarnings } from "./text-warnings.ts";

export type Created = { record: EnvelopeRecord; warnings: readonly Warning[]; deduplicated: boolean };

/** Thrown inside the transaction to roll it back when another envelope took the externalId first. */
class AlreadyCreated extends Error {}

/**
 * Creates an envelope, rows, audit entry and jobs in one transaction; the document is drawn by a job.
 * @returns `deduplicated`: the envelope that already had this externalId
 * @throws AppError validation-failed, plan-upgrade-required, payment-required, no-published-version
 */
export async function createEnvelope(deps: Deps, creation: Creation, remember: Remember | null): Promise<Created> {
  const { input, organization, testMode } = creation;
  await checkAlone(deps, creation);
  const key = input.externalId === undefined ? undefined : { organization, testMode, externalId: input.externalId };
  if (key !== undefined && input.dedupeOn !== undefined) {
    const earlier = await readDeduplicated(deps.db.read, key);
    if (earlier !== undefined) return await existing(deps, earlier);
  }
  await checkPlan(deps, creation);
  const { version, checked } = await prepare(deps, creation);
  const { record, drafts } = rowsOf(creation, version, checked, deps.clock.ts());
  const { envelope } = record;
  const end = { length: 0, head: chainStart };
  const chain = draftEntries(envelope.id, end, envelope.created_at, drafts);
  record.envelope = { ...envelope, audit_length: chain.end.length, audit_head: chain.end.head };
  try {
    await deps.db.tx(async (tx) => {
      await markTemplateUsed(tx, envelope.template);
      await insertEnvelope(tx, record.envelope);
      if (key !== undefined && !(await insertDedupe(tx, key, envelope.id)) && input.dedupeOn !== undefined) {
        throw new AlreadyCreated();
      }
      await insertPeople(tx, record);
      await storeEntries(tx, deps, {
        envelope: envelope.id,
        entries: chain.entries,
        beside: { notify: true },
        record: async () => record,
      });
      await enqueue(tx, renderEnvelope, { envelope: envelope.id });
      if (envelope.expires_at !== null) {
        await enqueue(tx, expireEnvelope, { envelope: envelope.id }, { runAt: Date.parse(envelope.expires_at) });
      }
      await remember?.(tx, { status: 201, body: presentEnvelope(record, version.warnings) });
    });
  } catch (error) {
    if (!(error instanceof AlreadyCreated) || key === undefined) throw error;
    const earlier = await readDeduplicated(deps.db.read, key);
    if (earlier === undefined) throw error;
    return await existing(deps, earlier);
  }
  return { record, warnings: version.warnings, deduplicated: false };
}

/** All checks and the rendering, nothing written. @throws as createEnvelope, and AppError render-failed */
export async function dryRun(deps: Deps, creation: Creation): Promise<EnvelopeDryRun> {
  await checkAlone(deps, creation);
  await checkPlan(deps, creation);
  const { version, checked } = await prepare(deps, creation);
  const { input, testMode } = creation;
  const locale = input.locale ?? version.settings.locale;
  const drawn = await version.render(deps, {
    variables: checked.variables,
    locale,
    testMode,
    at: deps.clock.ts(),
  });
  if (!drawn.ok) {
    throw new AppError("render-failed", {
      detail: drawn.error.message,
      errors: [{ pointer: "#", code: "conflict", detail: drawn.error.message }],
    });
  }
  const fields = placeFields(version.fields, drawn.value.boxes);
  const people = checked.assignments.map(personOf);
  const unreadable = await textWarnings(deps, fields, people, input.values, locale);
  return {
    dryRun: true,
    template: version.template.id,
    templateVersion: version.version,
    testMode,
    pageCount: drawn.value.pageCount,
    documentSha256: await hashOf(drawn.value.parts),
    size: sizeOf(drawn.value.parts),
    recipients: checked.assignments.map((assignment) => {
      const { role, name, email, turn, delivery, verification } = personOf(assignment);
      const count = fields.filter((field) => field.role === role).length;
      return { role, name, email, order: turn, delivery, verification, fields: count };
    }),
    unusedVariables: checked.unusedVariables,
    warnings: [...version.warnings, ...versionWarnings(version), ...drawn.value.warnings, ...unreadable],
    wouldCount: !testMode,
  };
}

async function existing(deps: Deps, id: string): Promise<Created> {
  const record = await readEnvelope(deps.db.read, id);
  if (record === undefined) throw new Error(`envelope ${id} holds an externalId and does not exist`);
  const warnings = await uploadWarnings(deps, deps.db.read, record.envelope);
  return { record, warnings, deduplicated: true };
}

/** The rules that come before de-duplication. When one is broken, those of the template are reported with it. */
async function checkAlone(deps: Deps, creation: Creation): Promise<void> {
  const { input, testMode } = creation;
  const errors = checkRequest(input, { now: deps.clock.now(), testMode });
  if (errors.length === 0) return;
  const version = await findVersion(deps, creation).catch(() => undefined);
  const further = version === undefined ? [] : checkAgainstVersion(input, version).errors;
  throw invalid(inDocumentOrder([...errors, ...further], input));
}

async function checkPlan(deps: Deps, { organization, testMode, input }: Creation): Promise<void> {
  const upgradeUrl = `${deps.config.appUrl}/settings/billing`;
  const plan = plans[await planOf(deps.db.read, deps, organization)];
  const detail = planRefusal(plan, {
    viewers: input.viewers.length,
    viewerDocumentAccess: input.viewerDocumentAccess,
  });
  if (detail !== undefined) throw new AppError("plan-upgrade-required", { detail, upgradeUrl });
  if (plan.stopsAt === null || testMode) return;
  const month = `${deps.clock.ts().slice(0, 7)}-01T00:00:00.000Z`;
  const completed = await countCompleted(deps.db.read, organization, month);
  if (completed >= plan.stopsAt) throw new AppError("payment-required", { upgradeUrl });
}

async function prepare(deps: Deps, creation: Creation): Promise<{ version: PublishedVersion; checked: Checked }> {
  const version = await findVersion(deps, creation);
  const checked = checkAgainstVersion(creation.input, version);
  if (checked.errors.length > 0) throw invalid(inDocumentOrder(checked.errors, creation.input));
  for (const assignment of checked.assignments) {
    const { verification } = personOf(assignment);
    if (availableVerifications.includes(verification) || assignment.role.kind === "countersigner") continue;
    throw new AppError("feature-disabled", {
      detail: `Verification \`${verification}\` is not set up on this appliance.`,
    });
  }
  return { version, checked };
}

async function findVersion(deps: Deps, { organization, input }: Creation): Promise<PublishedVersion> {
  try {
    return await publishedVersion(deps, deps.db.read, organization, input.template, input.templateVersion);
  } catch (error) {
    if (!(error instanceof NoSuchVersion)) throw error;
    switch (error.reason) {
      case "no-published-version":
        throw new AppError("no-published-version", { cause: error });
      case "template-not-found":
        throw invalid([reference("#/template", "There is no such template.")]);
      case "version-not-found":
        throw invalid([reference("#/templateVersion", "The template has no such published version.")]);
    }
  }
}

const reference = (pointer: string, detail: string): ProblemError => ({ pointer, code: "reference", detail });
