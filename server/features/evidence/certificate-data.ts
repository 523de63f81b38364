import { locales } from "../../../locales/read.ts";
import { answeringLanguage } from "../../../locales/translate.ts";
import type { CertificateData, CertificatePerson } from "../../../workers/protocol.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type EnvelopeRecord, lastingWarnings, type RecipientRow, versionOf } from "../envelopes/service.ts";
import { organizationById } from "../identity/service.ts";
import { reassignmentsOf, type SubmissionRecord, submissionsOf } from "../signing/service.ts";

/** What the certificate of completion says of everything but the seal itself. */
export async function certificateData(deps: Deps, record: EnvelopeRecord): Promise<Omit<CertificateData, "seal">> {
  const { envelope } = record;
  const { read } = deps.db;
  if (envelope.completed_at === null) throw new Error(`${envelope.id} is not completed`);
  const [version, organization, submissions, reassigned] = await Promise.all([
    versionOf(deps, read, envelope),
    organizationById(read, envelope.organization),
    submissionsOf(read, envelope.id),
    reassignmentsOf(read, envelope.id),
  ]);
  const lastPage = version.pages.at(-1);
  const nameOf = (id: string | null) => record.recipients.find((recipient) => recipient.id === id)?.name ?? "unknown";
  const language = answeringLanguage([envelope.locale], locales().languages);
  return {
    language,
    words: locales().words(language, "certificate"),
    envelope: envelope.id,
    title: envelope.title,
    organization: organization.name,
    template: version.template.name,
    templateVersion: version.version,
    testMode: envelope.test_mode === 1,
    createdAt: envelope.created_at,
    completedAt: envelope.completed_at,
    revisions: record.revisions.map(({ number, sha256, recipient }) => ({
      after: number === 0 ? null : nameOf(recipient),
      sha256,
    })),
    people: await Promise.all(
      record.recipients.map((row) =>
        personOf(
          deps,
          row,
          submissions.find(({ recipient }) => recipient === row.id),
        ),
      ),
    ),
    cc: record.cc.map(({ name, email }) => ({ name, email })),
    viewers: record.viewers.map(({ name, email }) => ({ name, email })),
    audit: { length: envelope.audit_length, headHash: envelope.audit_head },
    remarks: [
      ...lastingWarnings(version.warnings).map(({ code }) => ({ code })),
      ...reassigned.map(({ from, to, reason, at }) => ({ code: "reassigned" as const, from, to, reason, at })),
    ],
    verifyUrl: `${deps.config.appUrl}/verify`,
    pageSize: { width: lastPage?.width ?? 595.28, height: lastPage?.height ?? 841.89 },
  };
}

async function personOf(
  deps: Deps,
  row: RecipientRow,
  submission: SubmissionRecord | undefined,
): Promise<CertificatePerson> {
  const signature = submission?.signature ?? null;
  const picture = signature !== null && "imageSha256" in signature ? signature.imageSha256 : null;
  return {
    name: row.name,
    email: row.email,
    role: row.role,
    kind: row.kind,
    order: row.turn,
    verification: row.kind === "countersigner" ? "automatic" : row.verification,
    verifiedAt: row.verified_at,
    sentAt: row.sent_at,
    viewedAt: row.viewed_at,
    consentedAt: submission?.consent ? submission.at : null,
    completedAt: row.completed_at,
    declinedAt: row.declined_at,
    ip: submission?.ip ?? null,
    userAgent: submission?.userAgent ?? null,
    signatureImage: picture === null ? null : await deps.blobs.get(picture),
    signatureText: signature !== null && "text" in signature ? { text: signature.text, font: signature.font } : null,
    consentLocale: submission?.consent?.locale ?? null,
    consentSha256: submission?.consent?.textSha256 ?? null,
    attachments: (submission?.attachments ?? []).map(({ filename, sha256, size }) => ({ filename, sha256, size })),
  };
}
