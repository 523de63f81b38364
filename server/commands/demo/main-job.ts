import { setTimeout as delay } from "node:timers/promises";
import type { z } from "zod";
import { Envelope } from "../../features/envelopes/contract.ts";
import { VerifyResult } from "../../features/evidence/contract.ts";
import { OtpSent, OtpVerified, SigningExchange, SigningResult, SigningView } from "../../features/signing/contract.ts";
import { Template, TemplateFile, TemplateVersion } from "../../features/templates/contract.ts";
import { type Client, createClient } from "./client.ts";

/** The main job over HTTP, step by step: what the demo shows, the crash tests repeat and the benchmarks measure. */

export type Person = { role: string; name: string; email: string };
export const people: readonly [Person, Person] = [
  { role: "Client", name: "Clara Client", email: "clara@example.org" },
  { role: "Contractor", name: "Carl Contractor", email: "carl@example.net" },
];

/** What a person reads in a mail: the one link or the one code. */
export type ReadMail = { id: string; to: { email: string }; kind: string; link: string | null; code: string | null };
/** Newest first. */
export type Mailbox = () => Promise<ReadMail[]>;

/** Uploads the PDF and publishes a template with one signer role a person, fields on its pages. */
export async function publishTemplate(
  client: Client,
  pdf: Uint8Array,
  verification: "email_otp" | "none" = "email_otp",
): Promise<{ template: Template; file: TemplateFile }> {
  const template = await client.json(Template, "/v1/templates", { json: { name: "Demonstration agreement" } });
  const file = await client.upload(TemplateFile, `/v1/templates/${template.id}/files`, "application/pdf", pdf);
  const draft = draftFor(file, verification);
  await client.json(TemplateVersion, `/v1/templates/${template.id}/draft`, { method: "PUT", json: draft });
  await client.json(TemplateVersion, `/v1/templates/${template.id}/publish`, { method: "POST" });
  return { template, file };
}

/** Fields at the foot of the first page, initials on a rotated page when there is one, signatures on the last page. */
function draftFor(file: TemplateFile, verification: "email_otp" | "none") {
  const first = file.pages[0];
  const last = file.pages.at(-1);
  const rotated = file.pages.find(({ rotation }) => rotation !== 0) ?? first;
  if (!first || !last || !rotated) throw new Error("the PDF has no pages");
  const foot = (page: typeof first, column: number, height: number, up: number) => ({
    page: page.page,
    x: Math.round(page.width * (0.08 + 0.46 * column)),
    y: Math.round(page.height - up - height),
    width: Math.round(page.width * 0.38),
    height,
  });
  const fields = people.flatMap(({ role }, column) => [
    { id: `name_${column}`, type: "full_name", role, ...foot(first, column, 20, 64) },
    {
      id: `remark_${column}`,
      type: "text_input",
      role,
      label: "Remark",
      required: false,
      maxLength: 200,
      ...foot(first, column, 20, 40),
      size: 10,
    },
    { id: `initials_${column}`, type: "initials", role, ...foot(rotated, column, 24, 20) },
    { id: `signature_${column}`, type: "signature", role, ...foot(last, column, 44, 56) },
    { id: `date_${column}`, type: "date_signed", role, ...foot(last, column, 20, 36) },
    {
      id: `agree_${column}`,
      type: "checkbox",
      role,
      label: "I have read all pages",
      ...foot(last, column, 12, 20),
      width: 12,
    },
  ]);
  const label = {
    page: first.page,
    x: Math.round(first.width * 0.08),
    y: 18,
    width: Math.round(first.width * 0.84),
    height: 14,
  };
  return {
    content: {
      mode: "overlay",
      file: file.id,
      items: [
        {
          id: "reference",
          type: "text",
          text: "Reference {{reference}} · {{amount}}",
          size: 9,
          color: "#1c4e80",
          ...label,
        },
        ...fields,
      ],
    },
    roles: people.map(({ role }, index) => ({
      name: role,
      label: null,
      kind: "signer",
      order: index + 1,
      verification,
      countersigner: null,
    })),
    variables: [
      { name: "reference", type: "text", label: "Reference", required: true, default: null, format: null },
      { name: "amount", type: "number", label: "Amount", required: false, default: 1250, format: "currency:EUR:2" },
    ],
  };
}

export async function sendEnvelope(
  client: Client,
  template: string,
  extra: Record<string, unknown> = {},
): Promise<Envelope> {
  return await client.json(Envelope, "/v1/envelopes", {
    json: {
      template,
      title: "Demonstration agreement",
      recipients: people.map(({ role, name, email }) => ({ role, name, email })),
      variables: { reference: "DEMO-2026-001" },
      ...extra,
    },
  });
}

/** Waits until `found` gives something; asks again as often as `everyMs` says. @throws Error after `withinMs` */
export async function waitFor<T>(
  what: string,
  found: () => Promise<T | null | undefined>,
  withinMs = 60_000,
  everyMs = 25,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await found();
    if (value !== null && value !== undefined) return value;
    if (performance.now() > end) throw new Error(`waited ${withinMs / 1000} s in vain for ${what}`);
    await delay(everyMs);
  }
}

/** The token of the newest signing link that was mailed to this address. */
export async function linkFor(mailbox: Mailbox, email: string): Promise<string> {
  return await waitFor(`the signing mail to ${email}`, async () => {
    const mails = (await mailbox()).filter((mail) => mail.kind === "signing_request" && mail.to.email === email);
    return mails[0]?.link?.split("#")[1];
  });
}

/** Opens the link, enters the mailed code, reads the document, fills every field, signs. */
export async function signAs(
  url: string,
  person: Person,
  token: string,
  mailbox: Mailbox,
): Promise<z.output<typeof SigningResult>> {
  const exchange = await createClient(url, null).json(SigningExchange, "/v1/signing/exchange", { json: { token } });
  const signer = createClient(url, exchange.accessToken);
  if (exchange.otp.required && !exchange.otp.verified) await enterCode(signer, person, mailbox);
  const view = await signer.json(SigningView, "/v1/signing/session");
  await signer.bytes("/v1/signing/document");
  return await signer.json(SigningResult, "/v1/signing/submit", { json: submissionFor(view, person) });
}

async function enterCode(signer: Client, person: Person, mailbox: Mailbox): Promise<void> {
  const before = new Set((await mailbox()).map(({ id }) => id));
  await signer.json(OtpSent, "/v1/signing/otp", { json: {} });
  const code = await waitFor(`the code for ${person.email}`, async () => {
    const mails = (await mailbox()).filter(
      (mail) => mail.kind === "code" && mail.to.email === person.email && !before.has(mail.id),
    );
    return mails[0]?.code;
  });
  await signer.json(OtpVerified, "/v1/signing/otp/verify", { json: { code } });
}

/** What a person who agrees to everything would send. */
export function submissionFor(view: z.output<typeof SigningView>, person: Person) {
  if (!view.document) throw new Error("the document is not open yet");
  const fields: Record<string, string | boolean> = {};
  for (const field of view.fields.filter(({ editable }) => editable)) {
    if (field.type === "text_input") fields[field.id] = `Read and understood, ${person.name}`;
    if (field.type === "checkbox") fields[field.id] = true;
  }
  const initials = person.name
    .split(" ")
    .map((part) => part[0])
    .join("");
  return {
    documentSha256: view.document.sha256,
    fields,
    signature: { method: "type", text: person.name, font: view.signature.fonts[0] },
    initials: { method: "type", text: initials, font: view.signature.fonts[0] },
    consent: { accepted: true, version: view.consent.version, locale: view.consent.locale },
    timeZone: "Europe/Zurich",
  };
}

export async function waitForSeal(client: Client, envelope: string, withinMs = 60_000): Promise<Envelope> {
  return await waitFor(
    `the seal of ${envelope}`,
    async () => {
      const now = await client.json(Envelope, `/v1/envelopes/${envelope}`);
      if (now.failure && (now.seal === "failed" || now.status === "voided"))
        throw new Error(`${now.failure.stage} failed: ${now.failure.message}`);
      return now.seal === "sealed" ? now : null;
    },
    withinMs,
  );
}

export async function waitForAnchor(
  url: string,
  sha256: string,
  withinMs = 60_000,
): Promise<Extract<z.output<typeof VerifyResult>, { status: "anchored" }>> {
  const anyone = createClient(url, null);
  // Slow enough to stay below the public limit of 60 look-ups a minute.
  return await waitFor(
    "the anchor",
    async () => {
      const result = await anyone.json(VerifyResult, "/v1/public/verify", { json: { sha256 } });
      return result.status === "anchored" ? result : null;
    },
    withinMs,
    1100,
  );
}
