import type { z } from "zod";
import { AuditTrail, Envelope, EnvelopeList } from "../../server/features/envelopes/contract.ts";
import { Template, TemplateFile } from "../../server/features/templates/contract.ts";
import { Problem } from "../../server/kernel/problem.ts";
import type { CallOptions, TestAppliance } from "./appliance.ts";
import { samplePdf } from "./pdfs.ts";

export type TemplateOptions = {
  parallel?: boolean;
  pages?: number;
  settings?: Record<string, unknown>;
  roles?: unknown[];
};

/** A published template: roles `tenant` (turn 1) and `landlord` (turn 2, or 1 when parallel). */
export async function publishTemplate(appliance: TestAppliance, options: TemplateOptions = {}): Promise<string> {
  const made = await appliance.json("/v1/templates", { json: { name: "Rental agreement" } });
  const { id } = Template.parse(made.body);
  const uploaded = await appliance.json(`/v1/templates/${id}/files`, {
    body: Buffer.from(await samplePdf({ pages: options.pages ?? 2 })),
    headers: { "content-type": "application/pdf" },
  });
  const { id: file } = TemplateFile.parse(uploaded.body);
  const box = { page: 1, width: 150, height: 30 };
  const role = (name: string, order: number) => ({
    name,
    label: null,
    kind: "signer",
    order,
    verification: "none",
    countersigner: null,
  });
  const draft = {
    content: {
      mode: "overlay",
      file,
      items: [
        { id: "rent-text", type: "text", text: "Rent: {{rent}}", x: 50, y: 100, ...box },
        { id: "tenant-signature", type: "signature", role: "tenant", x: 50, y: 600, ...box },
        {
          id: "tenant-iban",
          type: "text_input",
          role: "tenant",
          maxLength: 10,
          required: false,
          x: 50,
          y: 200,
          ...box,
        },
        { id: "landlord-signature", type: "signature", role: "landlord", x: 300, y: 600, ...box },
      ],
    },
    roles: options.roles ?? [role("tenant", 1), role("landlord", options.parallel ? 1 : 2)],
    variables: [
      { name: "rent", type: "number", label: null, required: true, default: null, format: null },
      { name: "note", type: "text", label: null, required: false, default: "none", format: null },
    ],
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  };
  const saved = await appliance.json(`/v1/templates/${id}/draft`, { method: "PUT", json: draft });
  if (saved.status !== 200) throw new Error(`draft refused: ${JSON.stringify(saved.body)}`);
  const published = await appliance.json(`/v1/templates/${id}/publish`, { method: "POST" });
  if (published.status !== 201) throw new Error(`publish refused: ${JSON.stringify(published.body)}`);
  return id;
}

export function envelopeInput(template: string, more: Record<string, unknown> = {}) {
  return {
    template,
    recipients: [
      { role: "tenant", name: "Ada Muster", email: "ada@example.com" },
      { role: "landlord", name: "Ben Beispiel", email: "Ben@example.com" },
    ],
    variables: { rent: 1850 },
    ...more,
  };
}

export type EnvelopeValue = z.infer<typeof Envelope>;

export async function createEnvelope(
  appliance: TestAppliance,
  template: string,
  more: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<EnvelopeValue> {
  const { status, body } = await appliance.json("/v1/envelopes", { json: envelopeInput(template, more), ...options });
  if (status !== 201) throw new Error(`create answered ${status}: ${JSON.stringify(body)}`);
  return Envelope.parse(body);
}

/** Creates and waits until the document is drawn and the first turn has begun. */
export async function sentEnvelope(
  appliance: TestAppliance,
  template: string,
  more: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<EnvelopeValue> {
  const { id } = await createEnvelope(appliance, template, more, options);
  await appliance.jobs.idle();
  return await getEnvelope(appliance, id, options);
}

export async function getEnvelope(
  appliance: TestAppliance,
  id: string,
  options: CallOptions = {},
): Promise<EnvelopeValue> {
  return Envelope.parse((await appliance.json(`/v1/envelopes/${id}`, options.key ? { key: options.key } : {})).body);
}

export async function listEnvelopes(
  appliance: TestAppliance,
  query: Record<string, string>,
  options: CallOptions = {},
): Promise<z.infer<typeof EnvelopeList>> {
  const { body } = await appliance.json(`/v1/envelopes?${new URLSearchParams(query)}`, options);
  return EnvelopeList.parse(body);
}

export async function trailOf(appliance: TestAppliance, id: string): Promise<z.infer<typeof AuditTrail>> {
  return AuditTrail.parse((await appliance.json(`/v1/envelopes/${id}/events`)).body);
}

export async function problemOf(
  appliance: TestAppliance,
  path: string,
  options: CallOptions,
): Promise<z.infer<typeof Problem> & { headers: Headers }> {
  const { headers, body } = await appliance.json(path, options);
  return { ...Problem.parse(body), headers };
}

/** Events of a stream as they come, comments left out; ends with the stream. */
export async function* streamed(response: Response): AsyncGenerator<Record<string, string>> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
      if (lines.length === 0) continue;
      yield Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
        }),
      );
    }
  }
}
