import { PDFDocument, StandardFonts } from "pdf-lib";
import { z } from "zod";
import { AuditTrail } from "../../server/features/envelopes/audit-contract.ts";
import { Envelope } from "../../server/features/envelopes/contract.ts";
import { SigningExchange, SigningView } from "../../server/features/signing/contract.ts";
import type { Deps } from "../../server/kernel/deps.ts";
import type { RequestInfo } from "../../server/kernel/request.ts";
import type { CallOptions, TestAppliance } from "./appliance.ts";
import { png } from "./pictures.ts";

/** Steps of a signing flow over HTTP, for the tests of this folder. */

const Id = z.object({ id: z.string() });

export async function samplePdf(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const text of ["Rental agreement", "Signatures"]) {
    pdf.addPage([595, 842]).drawText(text, { x: 60, y: 760, size: 18, font });
  }
  return await pdf.save();
}

export const box = (page: number, y: number) => ({ page, x: 60, y, width: 200, height: 40 });

/** Fields for two people: the tenant fills in more than the landlord. */
export const items = [
  { id: "city", role: "Tenant", type: "text_input", maxLength: 40, ...box(1, 120) },
  { id: "months", role: "Tenant", type: "number", decimals: 0, min: 1, default: 12, ...box(1, 170) },
  { id: "pets", role: "Tenant", type: "checkbox", required: false, ...box(1, 220) },
  { id: "card", role: "Tenant", type: "attachment", required: false, maxFiles: 2, ...box(1, 270) },
  { id: "stamp", role: "Tenant", type: "image", required: false, ...box(1, 320) },
  { id: "tenant-name", role: "Tenant", type: "full_name", ...box(2, 120) },
  { id: "tenant-day", role: "Tenant", type: "date_signed", ...box(2, 170) },
  { id: "tenant-sign", role: "Tenant", type: "signature", ...box(2, 220) },
  { id: "landlord-sign", role: "Landlord", type: "signature", ...box(2, 320) },
];

export type TemplateOptions = {
  settings?: Record<string, unknown>;
  roles?: unknown[];
  /** Instead of `samplePdf`; of as many pages. */
  pdf?: Uint8Array;
  /** Instead of `items`. */
  items?: readonly object[];
};

/** Uploads, drafts and publishes. @returns the template's id */
export async function publishTemplate(app: TestAppliance, options: TemplateOptions = {}): Promise<string> {
  const template = Id.parse((await ok(app, 201, "/v1/templates", { json: { name: "Rental agreement" } })).body).id;
  const body = Buffer.from(options.pdf ?? (await samplePdf()));
  const file = await ok(app, 201, `/v1/templates/${template}/files`, {
    body,
    headers: { "content-type": "application/pdf" },
  });
  const roles = options.roles ?? [
    { name: "Tenant", order: 1, verification: "email_otp" },
    { name: "Landlord", order: 2, verification: "none" },
  ];
  const json = {
    content: { mode: "overlay", file: Id.parse(file.body).id, items: options.items ?? items },
    roles,
    variables: [],
    ...(options.settings ? { settings: options.settings } : {}),
  };
  await ok(app, 200, `/v1/templates/${template}/draft`, { method: "PUT", json });
  await ok(app, 201, `/v1/templates/${template}/publish`, { method: "POST" });
  return template;
}

export type SentOptions = {
  key?: "live" | "test";
  envelope?: Record<string, unknown>;
  tenant?: Record<string, unknown>;
};

/** Sends an envelope and waits until it is rendered and the first turn has begun. */
export async function send(app: TestAppliance, template: string, options: SentOptions = {}): Promise<Envelope> {
  const json = {
    template,
    title: "Flat 12",
    recipients: [
      { role: "Tenant", name: "Ada Muster", email: "ada@example.com", ...options.tenant },
      { role: "Landlord", name: "Ben Beispiel", email: "ben@example.com" },
    ],
    ...options.envelope,
  };
  const key = options.key ?? "live";
  const { id } = Id.parse((await ok(app, 201, "/v1/envelopes", { json, key })).body);
  await app.jobs.idle();
  return await envelopeOf(app, id, key);
}

export async function envelopeOf(app: TestAppliance, id: string, key: "live" | "test" = "live"): Promise<Envelope> {
  return Envelope.parse((await ok(app, 200, `/v1/envelopes/${id}`, { key })).body);
}

export async function auditOf(
  app: TestAppliance,
  id: string,
  key: "live" | "test" = "live",
): Promise<z.infer<typeof AuditTrail>> {
  return AuditTrail.parse((await ok(app, 200, `/v1/envelopes/${id}/events`, { key })).body);
}

export function recipientOf(envelope: Envelope, role: string): Envelope["recipients"][number] {
  const found = envelope.recipients.find((one) => one.role === role);
  if (!found) throw new Error(`no ${role}`);
  return found;
}

/** Token of the newest link that was mailed to this address. */
export async function linkTokenOf(app: TestAppliance, email: string): Promise<string> {
  const mails = (await app.mail()).filter((one) => one.to.email === email && one.kind === "signing_request");
  const link = mails[0]?.link;
  if (!link) throw new Error(`no link for ${email}`);
  return new URL(link).hash.slice(1);
}

/** The newest code that was mailed to this address. */
export async function codeOf(app: TestAppliance, email: string): Promise<string> {
  const mails = (await app.mail()).filter((one) => one.to.email === email && one.kind === "code");
  const code = mails[0]?.code;
  if (!code) throw new Error(`no code for ${email}`);
  return code;
}

export async function exchange(app: TestAppliance, token: string): Promise<SigningExchange> {
  const reply = await ok(app, 200, "/v1/signing/exchange", { key: null, json: { token } });
  return SigningExchange.parse(reply.body);
}

/** Opens the mailed link and enters the code when one is asked for. @returns the access token */
export async function enter(app: TestAppliance, email: string): Promise<string> {
  const { accessToken, otp } = await exchange(app, await linkTokenOf(app, email));
  if (!otp.verified) await enterCode(app, accessToken, email);
  return accessToken;
}

export async function enterCode(app: TestAppliance, bearer: string, email: string): Promise<void> {
  await ok(app, 202, "/v1/signing/otp", { key: { bearer }, method: "POST" });
  const code = await codeOf(app, email);
  await ok(app, 200, "/v1/signing/otp/verify", { key: { bearer }, json: { code } });
}

export async function viewOf(app: TestAppliance, bearer: string): Promise<SigningView> {
  return SigningView.parse((await ok(app, 200, "/v1/signing/session", { key: { bearer } })).body);
}

/** Loads the document as the page does. @returns its SHA-256, from the ETag */
export async function readDocument(app: TestAppliance, bearer: string): Promise<{ sha256: string; bytes: Buffer }> {
  const response = await app.call("/v1/signing/document", { key: { bearer } });
  if (response.status !== 200) throw new Error(`document: ${response.status} ${await response.text()}`);
  const etag = response.headers.get("etag") ?? "";
  return { sha256: etag.replaceAll('"', ""), bytes: Buffer.from(await response.arrayBuffer()) };
}

export const drawn = { method: "draw", image: `data:image/png;base64,${png(300, 90).toString("base64")}` };
export const typed = { method: "type", text: "Ben Beispiel", font: "Caveat" };

/** A whole submission body; `change` replaces members. */
export async function submission(
  app: TestAppliance,
  bearer: string,
  change: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { sha256 } = await readDocument(app, bearer);
  const { consent, recipient } = await viewOf(app, bearer);
  const tenant = recipient.role === "Tenant";
  return {
    documentSha256: sha256,
    fields: tenant ? { city: "Zürich", months: 24, pets: true } : {},
    signature: tenant ? drawn : typed,
    consent: { accepted: true, version: consent.version, locale: consent.locale },
    timeZone: "Europe/Zurich",
    ...change,
  };
}

/** The call, which must answer with this status. */
export async function ok(app: TestAppliance, status: number, path: string, options?: CallOptions) {
  const reply = await app.json(path, options);
  if (reply.status !== status) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply;
}

const ProblemBody = z.object({
  code: z.string(),
  errors: z.array(z.object({ pointer: z.string().optional(), code: z.string() })).optional(),
  attemptsRemaining: z.number().optional(),
});

/** Status and code of a refusal, and where its errors point. */
export async function refusal(app: TestAppliance, path: string, options?: CallOptions) {
  const { status, body } = await app.json(path, options);
  const { code, errors, attemptsRemaining } = ProblemBody.parse(body);
  return {
    status,
    code,
    ...(errors ? { at: errors.map(({ pointer }) => pointer) } : {}),
    ...(attemptsRemaining === undefined ? {} : { attemptsRemaining }),
  };
}

/** For use cases that are called without HTTP. */
export const visitor: RequestInfo = {
  requestId: "req_1",
  ip: "192.0.2.1",
  userAgent: "test",
  header: () => null,
  signal: new AbortController().signal,
  stillAllowed: async () => true,
  remember: null,
};

/** The same appliance, where something else commits between a use case's reads and its transaction. */
export function interrupted(deps: Deps, first: () => Promise<unknown>): Deps {
  let done: Promise<unknown> | undefined;
  return {
    ...deps,
    db: {
      ...deps.db,
      async tx(fn) {
        done ??= first();
        await done;
        return deps.db.tx(fn);
      },
    },
  };
}
