import { toTs } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import { GiveUp, handle, type JobBinding } from "../../kernel/job-runner.ts";
import { enqueue } from "../../kernel/jobs.ts";
import { noteDeliveryError } from "../envelopes/jobs.ts";
import type { MailContent } from "./contract.ts";
import { sendMail } from "./jobs.ts";
import { oneLine } from "./messages.ts";
import { renderMail } from "./render.ts";
import { openContent, organizationName } from "./service.ts";
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
      async ({ mail }) => {
        const row = await store.findMail(deps.db.read, mail);
        if (row === undefined || row.status !== "queued") return undefined;
        const letter = await letterOf(deps, row);
        try {
          await transport.deliver(letter);
        } catch (error) {
          if (error instanceof LetterRefused) throw new GiveUp(error.message, { cause: error });
          throw error;
        }
        const sentAt = toTs(deps.clock.now());
        // What was written to a file stays readable here too: the file holds the same in the clear.
        const status = transport.kind === "smtp" ? "sent" : "written";
        return (tx) => store.finishMail(tx, mail, { status, sentAt, error: null, wipe: status === "sent" });
      },
      {
        async onDead({ mail }, error, tx) {
          const reason = oneLine(error.message).slice(0, longestError);
          const row = await store.findMail(tx, mail);
          await store.finishMail(tx, mail, { status: "failed", sentAt: null, error: reason, wipe: true });
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
  ];
}

async function letterOf(deps: Deps, row: store.MailRow): Promise<Letter> {
  const content = openContent(deps, row);
  if (content === null) throw new GiveUp("the content of the mail was wiped");
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
