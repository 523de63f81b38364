import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { simpleParser } from "mailparser";
import { ApiFailure, createClient } from "../../server/commands/demo/client.ts";
import { people, type ReadMail, sendEnvelope, signAs, waitForSeal } from "../../server/commands/demo/main-job.ts";
import type { CrashingAppliance } from "../harness/crashing-appliance.ts";

/** The main job as an integrator and two stubborn people would do it against a server that keeps dying. */

type OutboxMail = ReadMail & { at: number; messageId: string; envelopeTitle: string };

/** Mails that were read before: a file that lies in the outbox under its final name never changes. */
const known = new Map<string, Promise<OutboxMail>>();

/** Mails as they lie in the outbox folder, newest first: what a person has, whatever the server remembers. */
export async function readOutbox(folder: string): Promise<OutboxMail[]> {
  const outbox = path.join(folder, "outbox");
  const names = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith(".eml"));
  const mails = await Promise.all(
    names.map((name) => {
      const file = path.join(outbox, name);
      const mail = known.get(file) ?? readMail(file);
      known.set(file, mail);
      return mail;
    }),
  );
  return mails.sort((a, b) => b.at - a.at);
}

async function readMail(file: string): Promise<OutboxMail> {
  const mail = await simpleParser(await readFile(file));
  const to = [mail.to ?? []].flat()[0]?.value[0]?.address ?? "";
  const text = mail.text ?? "";
  return {
    id: path.basename(file),
    at: mail.date?.getTime() ?? 0,
    to: { email: to },
    kind: /\/sign#/.test(text) ? "signing_request" : "other",
    link: text.match(/https?:\S+\/sign#[A-Za-z0-9_]+/)?.[0] ?? null,
    code: null,
    messageId: mail.messageId ?? "",
    envelopeTitle: mail.subject ?? "",
  };
}

/** Repeats a step until it goes through; only a lost connection or a 5xx is a reason to try again. */
async function persist<T>(appliance: CrashingAppliance, step: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    await appliance.up();
    try {
      return await step();
    } catch (error) {
      if (error instanceof ApiFailure && error.status < 500) throw error;
      // The process died in the middle: the next one is on its way, or this one answers 503 while it stops.
      await delay(20);
    }
  }
  throw new Error("the step never went through");
}

/** Sends one envelope and has both people sign it; returns its id when it is sealed. Each step is repeated until it is done. */
export async function persistentJob(
  appliance: CrashingAppliance,
  options: {
    url: string;
    key: string;
    template: string;
    folder: string;
    number: number;
    /** Is told as soon as there is an envelope. */
    created?: (envelope: string) => void;
  },
): Promise<string> {
  const { url, key, template, folder, number } = options;
  const client = createClient(url, key);
  const title = `Crash envelope ${number}`;
  const envelope = await persist(appliance, () =>
    sendEnvelope(client, template, { title, externalId: `crash-${number}`, dedupeOn: "external_id" }),
  );
  options.created?.(envelope.id);
  for (const person of people) {
    const mailbox = async () => (await readOutbox(folder)).filter((mail) => mail.envelopeTitle.includes(title));
    const token = await persist(appliance, async () => {
      const found = (await mailbox()).find((mail) => mail.to.email === person.email)?.link?.split("#")[1];
      if (!found) throw new Error("no mail yet");
      return found;
    });
    await persist(appliance, async () => {
      try {
        await signAs(url, person, token, mailbox);
      } catch (error) {
        // Signed before the process died; the answer was lost, the signature was not.
        if (
          error instanceof ApiFailure &&
          ["recipient-finished", "token-used", "envelope-not-in-progress"].includes(error.code)
        )
          return;
        if (error instanceof Error && error.message === "the document is not open yet") return;
        throw error;
      }
    });
  }
  await persist(appliance, () => waitForSeal(client, envelope.id, 20_000));
  return envelope.id;
}
