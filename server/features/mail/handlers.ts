import { toTs } from "../../kernel/clock.ts";
import type { Tx } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, handle, type JobBinding } from "../../kernel/job-runner.ts";
import { enqueue } from "../../kernel/jobs.ts";
import type { MailContent } from "./contract.ts";
import { accountQueue, codeQueue, noteDeliveryError, sendMail, wipeMails } from "./jobs.ts";
import { oneLine } from "./messages.ts";
import { awaitEarlier } from "./order.ts";
import { lapsedBecause } from "./outlived.ts";
import { renderMail } from "./render.ts";
import { openContent, organizationName, purgeMails } from "./service.ts";
import * as store from "./store.ts";
import { createMailTransport, type Letter, LetterRefused } from "./transport.ts";

/** Larger files are offered by their link only (specification, E-mails). */
const mostAttachedBytes = 7 * 1024 * 1024;
const longestError = 500;

export function handlers(deps: Deps): JobBinding[] {
  const transport = createMailTransport(deps.config);
  return [
    handle(
      sendMail,
      async ({ mail }, context) => {
        const row = await store.findMail(deps.db.read, mail);
        if (row === undefined || (row.status !== "queued" && row.status !== "nobody")) return undefined;
        const content = openContent(deps, row);
        if (content === null) throw new GiveUp("the content of the mail was wiped");
        const outlived = await outlivedBecause(deps, row, content);
        if (outlived !== null) return (tx) => endUnsent(tx, mail, outlived);
        await awaitEarlier(deps, row, context, async (earlier) => {
          const found = await store.findMail(deps.db.read, earlier);
          const said = found === undefined ? null : openContent(deps, found);
          return found === undefined || said === null || (await outlivedBecause(deps, found, said)) !== null;
        });
        const letter = await letterOf(deps, row, content);
        try {
          if (row.organization !== null) await transport.deliver(letter);
          else await transport.deliverApart(letter, row.status === "nobody" ? "nobody" : "addressee");
        } catch (error) {
          if (error instanceof LetterRefused) throw new GiveUp(error.message, { cause: error });
          throw error;
        }
        if (row.status === "nobody") return (tx) => store.deleteForNobody(tx, mail);
        const sentAt = toTs(deps.clock.now());
        // What was written to a file stays readable here too: the file holds the same in the clear.
        const status = transport.kind === "smtp" ? "sent" : "written";
        return (tx) => store.finishMail(tx, mail, { status, sentAt, error: null, wipe: status === "sent" });
      },
      {
        alsoIn: [accountQueue, codeQueue],
        async onDead({ mail }, error, tx) {
          const reason = oneLine(error.message).slice(0, longestError);
          const row = await store.findMail(tx, mail);
          await endUnsent(tx, mail, reason);
          if ((row?.kind !== "signing_request" && row?.kind !== "reminder") || row.envelope === null) return;
          // Whoever sent the envelope sees it with the recipient.
          await enqueue(tx, noteDeliveryError, {
            envelope: row.envelope,
            email: row.to_email,
            code: error.cause instanceof LetterRefused ? "rejected" : "unreachable",
            message: reason,
            writtenAt: row.created_at,
            at: deps.clock.ts(),
          });
        },
      },
    ),
    handle(wipeMails, async () => (tx) => purgeMails(tx, deps)),
  ];
}

/** It goes to nobody any more; the reason stands with it in the list of mails. */
async function endUnsent(tx: Tx, mail: string, reason: string): Promise<void> {
  await store.finishMail(tx, mail, { status: "failed", sentAt: null, error: reason, wipe: true });
  await store.deleteForNobody(tx, mail);
}

/** Why nobody can use this mail any more; null when it is to be delivered. */
async function outlivedBecause(
  deps: Deps,
  { cause, envelope, created_at: createdAt }: store.MailRow,
  content: MailContent,
): Promise<string | null> {
  const lapsed = lapsedBecause(content, createdAt, deps.clock.ts());
  if (lapsed !== null) return lapsed;
  for (const check of (await deps.observers()).outlived) {
    const reason = await check(deps, { cause, envelope, content });
    if (reason !== null) return reason;
  }
  return null;
}

async function letterOf(deps: Deps, row: store.MailRow, content: MailContent): Promise<Letter> {
  const organization = await organizationName(deps.db.read, row.organization);
  const attachments = await attachmentsOf(deps, content);
  const attached = attachments.length > 0;
  const rendered = await renderMail(content, { locale: row.locale, organization, address: row.to_email, attached });
  return {
    id: row.id,
    from: deps.config.mailFrom,
    to: { email: row.to_email, name: row.to_name === null ? null : oneLine(row.to_name) },
    ...rendered,
    messageId: row.message_id,
    date: new Date(row.created_at),
    attachments,
  };
}

/** The sealed file and the certificate, as far as they fit together. */
async function attachmentsOf(deps: Deps, content: MailContent): Promise<Letter["attachments"]> {
  if (content.kind !== "completed" || content.sealFailed) return [];
  const name = oneLine(content.filename)
    .replace(/[\\/]/g, "_")
    .replace(/\.pdf$/i, "");
  const wanted = [
    { sha256: content.sealedSha256, filename: `${name}.pdf` },
    { sha256: content.certificateSha256, filename: `${name} - certificate.pdf` },
  ];
  const attachments: Letter["attachments"] = [];
  let room = mostAttachedBytes;
  for (const { sha256, filename } of wanted) {
    // A seal that was renewed, or documents that were deleted, while the mail waited leave it without that file.
    if (sha256 === null || !(await deps.blobs.has(sha256))) continue;
    const size = await deps.blobs.size(sha256);
    if (size > room) continue;
    room -= size;
    attachments.push({ filename, bytes: await deps.blobs.get(sha256) });
  }
  return attachments;
}
