import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { hashSecret, newSecret } from "../../kernel/ids.ts";
import { Actor } from "../../kernel/wire.ts";
import { type EnvelopeRecord, markCopiesNotified } from "../envelopes/service.ts";
import { senderAddresses } from "../identity/service.ts";
import { queueMail } from "../mail/service.ts";
import { insertDownloadTokens } from "./store.ts";

const downloadMs = 30 * 24 * 60 * 60 * 1000;

type Person = { email: string; name: string | null; locale: string };

/**
 * The all-parties-signed mail to signers, copies and the sender, one to each address; with a download link of its own, or
 * without a file when sealing failed. The cause is the same both times: nobody gets two.
 */
export async function tellCompleted(
  tx: Tx,
  deps: Deps,
  record: EnvelopeRecord,
  files: { sealedSha256: string; certificateSha256: string } | null,
): Promise<void> {
  const { envelope } = record;
  const now = deps.clock.now();
  const people = await involved(tx, record);
  const letters = people.map((person) => ({ person, token: files === null ? null : newSecret("svcd") }));
  const tokens = letters.flatMap(({ token }) => (token === null ? [] : [token]));
  if (tokens.length > 0) {
    const times = { created_at: toTs(now), expires_at: toTs(now + downloadMs) };
    await insertDownloadTokens(
      tx,
      tokens.map((token) => ({ token_sha256: hashSecret(token), envelope: envelope.id, ...times })),
    );
  }
  const written = new Set<string>();
  for (const { person, token } of letters) {
    const first = await queueMail(tx, deps, {
      cause: `completed:${envelope.id}:${person.email.toLowerCase()}`,
      organization: envelope.organization,
      envelope: envelope.id,
      testMode: envelope.test_mode === 1,
      to: { email: person.email, name: person.name },
      locale: person.locale,
      content: {
        kind: "completed",
        title: envelope.title,
        link: token === null ? null : `${deps.config.baseUrl}/v1/public/documents/${token}`,
        sealedSha256: files?.sealedSha256 ?? null,
        // `completionAttachments` is `sealed` by default (specification, E-mail).
        certificateSha256: null,
        filename: filenameOf(envelope.title),
        sealFailed: files === null,
      },
    });
    if (first) written.add(person.email.toLowerCase());
  }
  // Nothing was written to them again when a seal that had failed is there after all.
  const told = record.cc.filter(({ email }) => written.has(email.toLowerCase()));
  await markCopiesNotified(
    tx,
    deps,
    envelope.id,
    told.map(({ id }) => id),
  );
}

/** Everybody whom the outcome concerns, once by address. */
async function involved(tx: Tx, { envelope, recipients, cc }: EnvelopeRecord): Promise<Person[]> {
  const sender = await senderAddresses(tx, envelope.organization, Actor.parse(JSON.parse(envelope.created_by)));
  const people = new Map<string, Person>();
  for (const { email, name, locale } of [...recipients, ...cc, ...sender.map((one) => ({ ...one, locale: null }))]) {
    const key = email.toLowerCase();
    if (!people.has(key)) people.set(key, { email, name, locale: locale ?? envelope.locale });
  }
  return [...people.values()];
}

/** The title as a name that every file system takes. */
export function filenameOf(title: string): string {
  const safe = title
    .replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 120)
    .replace(/[. ]+$/, "");
  return `${safe || "document"}.pdf`;
}
