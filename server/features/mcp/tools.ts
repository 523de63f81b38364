import { createHash } from "node:crypto";
import { z } from "zod";
import { AuditEntry } from "../envelopes/audit-contract.ts";
import {
  CreateEnvelope,
  createEnvelope,
  EnvelopeStatus,
  getDocument,
  getEnvelope,
  listEnvelopes,
  listEvents,
  resendToRecipient,
  SealStatus,
  streamEvents,
  VoidEnvelope,
  voidEnvelope,
} from "../envelopes/contract.ts";
import { verifyDocument } from "../evidence/contract.ts";
import {
  getTemplate,
  getTemplateVersion,
  isField,
  listTemplates,
  type TemplateVersion,
} from "../templates/contract.ts";
import { type Api, otherwise, Refused } from "./api.ts";
import { addressOfDocument, embedded } from "./documents.ts";
import { type Tool, told, tool } from "./tool.ts";

/**
 * What an assistant may do: prepare, send, follow and end envelopes, and fetch what came of them. People sign: nothing here
 * signs, reads a code or makes a signing session, and no answer has a link to sign with.
 */

const envelope = z.string().min(1).max(64).describe("Id of the envelope: env_…");
const page = {
  limit: z.int().min(1).max(100).default(20),
  cursor: z.string().max(200).optional().describe("`nextCursor` of the page before"),
};
/** In a query, a number is text. */
const pageOf = ({ limit, cursor }: { limit: number; cursor?: string | undefined }) => ({
  limit: String(limit),
  ...(cursor === undefined ? {} : { cursor }),
});
const searched = z.string().max(200).optional();

const findTemplates = tool({
  name: "find_templates",
  title: "Find templates",
  description: "Lists the templates that envelopes are made from, with the names of their roles.",
  reads: true,
  operations: [listTemplates],
  input: z.strictObject({ ...page, q: searched.describe("Part of the name, or an id") }),
  run: async (api, { q, ...rest }, signal) =>
    told(await api.call(listTemplates, { query: { ...pageOf(rest), ...(q === undefined ? {} : { q }) } }, { signal })),
});

const readTemplate = tool({
  name: "get_template",
  title: "Read a template",
  description:
    "Reads what a template asks for: its roles, variables, fields and settings. `version` is the latest published one unless " +
    "a number is given; it is null for a template that was never published and cannot be sent yet.",
  reads: true,
  operations: [getTemplate, getTemplateVersion],
  input: z.strictObject({
    template: z.string().min(1).max(64).describe("Id of the template: tpl_…"),
    version: z.int().min(1).optional(),
  }),
  async run(api, { template: id, version }, signal) {
    const template = await api.call(getTemplate, { params: { id } }, { signal });
    const wanted = version ?? template.latestVersion;
    if (wanted === null) return told({ template, version: null });
    const params = { id, version: String(wanted) };
    return told({ template, version: versionOf(await api.call(getTemplateVersion, { params }, { signal })) });
  },
});

/** What matters for filling a version in. Where its fields stand and what is printed around them does not. */
function versionOf({ version, roles, variables, settings, pageCount, warnings, content }: TemplateVersion) {
  const fields = content.mode === "overlay" ? content.items.filter(isField) : content.fields;
  return {
    version,
    roles,
    variables,
    settings,
    pageCount,
    warnings,
    fields: fields.map((field) => ({
      id: field.id,
      role: field.role,
      type: field.type,
      label: field.label ?? null,
      required: field.required ?? true,
      ...("options" in field ? { options: field.options.map(({ value }) => value) } : {}),
    })),
  };
}

const checkEnvelope = tool({
  name: "check_envelope",
  title: "Check an envelope without sending it",
  description:
    "A dry run: validates and renders what `create_envelope` would send, and says who would be asked and what is missing. " +
    "Nothing is created and nobody gets mail.",
  reads: true,
  operations: [createEnvelope],
  input: z.strictObject({ envelope: CreateEnvelope }),
  run: async (api, { envelope: body }, signal) =>
    told(await api.call(createEnvelope, { query: { dry_run: "1" }, body }, { signal })),
});

const sendEnvelope = tool({
  name: "create_envelope",
  title: "Create and send an envelope",
  description:
    "Creates an envelope and asks the people of the first turn by mail to sign. Check it with `check_envelope` first and have the person you work for " +
    "confirm who gets it.",
  repeatable: true,
  mails: true,
  operations: [createEnvelope],
  input: z.strictObject({
    envelope: CreateEnvelope,
    idempotencyKey: z
      .string()
      .regex(/^[!-~]{8,255}$/, "Use 8 to 255 printable ASCII characters without spaces.")
      .describe(
        "A new text of your own for each envelope, such as a UUID. Repeat the call with the same one when you are not sure that it " +
          "arrived: nothing is sent twice",
      ),
  }),
  run: async (api, { envelope: body, idempotencyKey }, signal) =>
    told(await api.call(createEnvelope, { body }, { signal, headers: { "idempotency-key": idempotencyKey } })),
});

const findEnvelopes = tool({
  name: "find_envelopes",
  title: "Find envelopes",
  description: "Lists envelopes, newest first.",
  reads: true,
  operations: [listEnvelopes],
  input: z.strictObject({
    ...page,
    q: searched.describe("In title, externalId, name or e-mail of a recipient; or the id"),
    status: EnvelopeStatus.optional(),
    seal: SealStatus.optional(),
    template: z.string().max(64).optional().describe("Id of a template"),
  }),
  run: async (api, { limit, cursor, ...filters }, signal) =>
    told(await api.call(listEnvelopes, { query: { ...pageOf({ limit, cursor }), ...filters } }, { signal })),
});

const readEnvelope = tool({
  name: "get_envelope",
  title: "Read an envelope",
  description:
    "Reads an envelope: status, seal, people and what they filled in. `documents` are the addresses of its files, for `resources/read`.",
  reads: true,
  operations: [getEnvelope],
  input: z.strictObject({ envelope }),
  async run(api, { envelope: id }, signal) {
    const found = await api.call(getEnvelope, { params: { id } }, { signal });
    const versions = [
      ...(found.documentSha256 === null ? [] : (["original"] as const)),
      ...(found.sealedSha256 === null ? [] : (["sealed", "certificate"] as const)),
    ];
    return told({ ...found, documents: versions.map((version) => addressOfDocument(id, version)) });
  },
});

const readTrail = tool({
  name: "get_audit_trail",
  title: "Read the audit trail",
  description: "Reads the audit trail of an envelope, oldest first, with the check of its hash chain.",
  reads: true,
  operations: [listEvents],
  input: z.strictObject({ envelope, ...page }),
  run: async (api, { envelope: id, ...rest }, signal) =>
    told(await api.call(listEvents, { params: { id }, query: pageOf(rest) }, { signal })),
});

/** The last event of a stream says nothing. */
const End = z.strictObject({});
/** What comes with the first new entry belongs to it: milliseconds that are waited for more. */
const togetherMs = 250;
const mostEntries = 200;

const followEnvelope = tool({
  name: "follow_envelope",
  title: "Wait for news of an envelope",
  description:
    "Waits until something happens to an envelope and returns the new audit entries behind `seq`; an empty list when nothing did. " +
    "`settled` says that nothing more will. Call it again with `lastSeq`.",
  reads: true,
  operations: [streamEvents],
  input: z.strictObject({
    envelope,
    seq: z
      .int()
      .min(0)
      .max(999_999_999)
      .default(0)
      .describe("The last entry that you know: `lastSeq` of the call before"),
    seconds: z.int().min(0).max(25).default(20).describe("How long to wait at most"),
  }),
  run: async (api, { envelope: id, seq, seconds }, signal) => {
    const { entries, settled } = await entriesBehind(api, { id, seq, seconds }, signal);
    return told({ entries, lastSeq: entries.at(-1)?.seq ?? seq, settled });
  },
});

async function entriesBehind(
  api: Api<typeof streamEvents>,
  { id, seq, seconds }: { id: string; seq: number; seconds: number },
  signal: AbortSignal,
): Promise<{ entries: z.infer<typeof AuditEntry>[]; settled: boolean }> {
  const enough = new AbortController();
  const stop = () => enough.abort();
  let timer = setTimeout(stop, seconds * 1000);
  const entries: z.infer<typeof AuditEntry>[] = [];
  try {
    const options = { headers: { "last-event-id": String(seq) }, signal: AbortSignal.any([signal, enough.signal]) };
    for await (const data of api.follow(streamEvents, { params: { id } }, options)) {
      if (End.safeParse(data).success) return { entries, settled: true };
      if (entries.length === 0) {
        clearTimeout(timer);
        timer = setTimeout(stop, togetherMs);
      }
      const entry = AuditEntry.safeParse(data);
      if (!entry.success) throw otherwise();
      entries.push(entry.data);
      if (entries.length === mostEntries) break;
    }
  } catch (error) {
    if (!enough.signal.aborted || error instanceof Refused) throw error;
  } finally {
    clearTimeout(timer);
  }
  return { entries, settled: false };
}

const resend = tool({
  name: "resend_to_recipient",
  title: "Send the signing link again",
  description: "Mails a fresh signing link to a recipient whose turn it is; earlier links of theirs stop working.",
  mails: true,
  operations: [resendToRecipient],
  input: z.strictObject({ envelope, recipient: z.string().min(1).max(64).describe("Id of the recipient: rcp_…") }),
  run: async (api, { envelope: id, recipient }, signal) =>
    told(await api.call(resendToRecipient, { params: { id, recipient } }, { signal })),
});

const endEnvelope = tool({
  name: "void_envelope",
  title: "Void an envelope",
  description:
    "Ends an envelope in progress for good: nobody can sign it any more, and everybody who was asked is told the reason.",
  destroys: true,
  mails: true,
  operations: [voidEnvelope],
  input: z.strictObject({ envelope, ...VoidEnvelope.shape }),
  run: async (api, { envelope: id, ...body }, signal) =>
    told(await api.call(voidEnvelope, { params: { id }, body }, { signal })),
});

const download = tool({
  name: "download_document",
  title: "Download a document",
  description:
    "Returns the rendered original, the sealed PDF or the certificate of completion as a resource of up to 10 MB, and its SHA-256. The audit trail " +
    "records the download.",
  reads: true,
  operations: [getDocument],
  input: z.strictObject({ envelope, version: z.enum(["original", "sealed", "certificate"]).default("sealed") }),
  async run(api, { envelope: id, version }, signal) {
    const bytes = await api.call(getDocument, { params: { id }, query: { version } }, { signal });
    const uri = addressOfDocument(id, version);
    return told({ uri, size: bytes.length, sha256: sha256(bytes) }, [embedded(uri, bytes)]);
  },
});

const verify = tool({
  name: "verify_document",
  title: "Verify a sealed document",
  description:
    "Looks a sealed document up, as anybody can: `anchored` or `pending` when it was sealed here and is unchanged, `unknown` otherwise. " +
    "Give its SHA-256, or a small file as base64.",
  reads: true,
  operations: [verifyDocument],
  input: z.strictObject({
    sha256: z
      .string()
      .regex(/^[0-9A-Fa-f]{64}$/)
      .optional(),
    pdf: z
      .base64()
      .max(3 * 1024 * 1024)
      .optional()
      .describe("The file, instead of its SHA-256"),
  }),
  async run(api, { sha256: hash, pdf }, signal) {
    const sum = hash ?? (pdf === undefined ? "" : sha256(Buffer.from(pdf, "base64")));
    return told(await api.call(verifyDocument, { body: { sha256: sum } }, { signal }));
  },
});

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const tools: readonly Tool[] = [
  findTemplates,
  readTemplate,
  checkEnvelope,
  sendEnvelope,
  findEnvelopes,
  readEnvelope,
  readTrail,
  followEnvelope,
  resend,
  endEnvelope,
  download,
  verify,
];
