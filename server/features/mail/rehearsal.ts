import { randomBytes } from "node:crypto";
import type { Deps } from "../../kernel/deps.ts";
import { newId } from "../../kernel/ids.ts";
import { messageIdOf } from "./service.ts";
import { rehearse, type TranscriptLine } from "./transport.ts";

/** A mail that only shows whether mail arrives. */

export type Rehearsal = { error: Error | null; transcript: TranscriptLine[]; by: "smtp" | "file" };

/** @param candidate settings to try instead of those in force */
export async function rehearseMail(
  { config, clock }: Pick<Deps, "config" | "clock">,
  to: string,
  candidate: { smtpUrl?: string | undefined; mailFrom?: string | undefined },
): Promise<Rehearsal> {
  const smtpUrl = candidate.smtpUrl ?? config.smtpUrl;
  const text = [
    `Signet at ${config.baseUrl} sent this mail to see whether its mail arrives.`,
    "It did. There is nothing to do.",
  ].join("\n\n");
  const outcome = await rehearse(
    { ...config, smtpUrl },
    {
      id: newId("msg"),
      from: candidate.mailFrom ?? config.mailFrom,
      to: { email: to, name: null },
      subject: "Signet: test of the mail settings",
      text: `${text}\n`,
      html: `<!doctype html><html lang="en"><body>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replace("\n\n", "<br><br>")}</body></html>`,
      messageId: messageIdOf(`mail test ${randomBytes(16).toString("hex")}`, config.baseUrl),
      date: new Date(clock.now()),
      language: "en",
      attachments: [],
    },
  );
  return { ...outcome, by: smtpUrl === undefined ? "file" : "smtp" };
}
