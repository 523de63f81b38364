import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { connect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { z } from "zod";
import { createClient } from "../../server/commands/demo/client.ts";
import {
  linkFor,
  people,
  publishTemplate,
  type ReadMail,
  sendEnvelope,
  signAs,
  waitFor,
  waitForAnchor,
  waitForSeal,
} from "../../server/commands/demo/main-job.ts";
import type { Container } from "./container.ts";
import { equal } from "./steps.ts";

/** The service in a container, as its administrators and its users meet it. */

const document = path.resolve(import.meta.dirname, "../fixtures/pdf/lecture.pdf");

const Mails: z.ZodType<ReadMail[]> = z.array(
  z.object({
    id: z.string(),
    to: z.object({ email: z.string() }),
    kind: z.string(),
    link: z.string().nullable(),
    code: z.string().nullable(),
  }),
);

export const urlOf = ({ address }: Container): string => `https://${address}`;

export const mainProcess = async (container: Container): Promise<string> =>
  await container.must(["systemctl", "show", "--property=MainPID", "--value", "signet"]);

export const restarts = async (container: Container): Promise<number> =>
  Number(await container.must(["systemctl", "show", "--property=NRestarts", "--value", "signet"]));

export async function versionInside(container: Container): Promise<string> {
  const status = z.object({ version: z.string() });
  return status.parse(JSON.parse(await container.must(["signet", "status", "--json"]))).version;
}

/** As somebody asks on the machine itself, before it is opened to others. */
export async function answersWithin(container: Container): Promise<void> {
  const ask = "const { status } = await fetch('http://127.0.0.1:8480/readyz'); console.log(status)";
  equal(await container.must(["/opt/signet/current/bin/node", "--input-type=module", "-e", ask]), "200", "/readyz");
}

/** Waits until it answers from outside, over TLS. */
export async function answers(container: Container): Promise<void> {
  await waitFor(
    "an answer from outside",
    async () => ((await fetch(`${urlOf(container)}/readyz`).catch(() => null))?.ok === true ? true : null),
    120_000,
    250,
  );
}

/** Believes the authority of the server's own certificate, as somebody does who was handed it. */
export async function trustServer({ address }: Container): Promise<void> {
  const pem = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: address, port: 443, rejectUnauthorized: false }, () => {
      let shown = socket.getPeerX509Certificate();
      while (shown?.issuerCertificate) shown = shown.issuerCertificate;
      socket.end();
      if (shown) resolve(shown.toString());
      else reject(new Error("the server showed no certificate"));
    });
    socket.once("error", reject);
  });
  setDefaultCACertificates([...getCACertificates(), pem]);
}

/** What was done over the API, and what the steps behind it look for. */
export type Job = { key: string; template: string; envelope: string; pdf: Uint8Array; sha256: string };

export const mailboxOf = (container: Container) => async (): Promise<ReadMail[]> =>
  Mails.parse(JSON.parse(await container.must(["signet", "outbox", "--json"])));

/** Sends a document, signs it for everybody, waits for seal and anchor: all from outside. */
export async function mainJob(container: Container, key: string): Promise<Job> {
  const client = createClient(urlOf(container), key);
  const { template } = await publishTemplate(client, readFileSync(document));
  const envelope = await sendEnvelope(client, template.id);
  await signForAll(container);
  return { key, template: template.id, envelope: envelope.id, ...(await sealed(container, key, envelope.id)) };
}

/** Everybody who was mailed a link opens the newest and signs, one after the other. */
export async function signForAll(container: Container): Promise<void> {
  const mailbox = mailboxOf(container);
  for (const person of people) await signAs(urlOf(container), person, await linkFor(mailbox, person.email), mailbox);
}

/** Waits for seal and anchor. */
export async function sealed(
  container: Container,
  key: string,
  envelope: string,
): Promise<{ pdf: Uint8Array; sha256: string }> {
  const client = createClient(urlOf(container), key);
  await waitForSeal(client, envelope, 180_000);
  const pdf = await client.bytes(`/v1/envelopes/${envelope}/document?version=sealed`);
  const sha256 = createHash("sha256").update(pdf).digest("hex");
  await anchored(container, sha256);
  return { pdf, sha256 };
}

export async function anchored(container: Container, sha256: string): Promise<number> {
  return (await waitForAnchor(urlOf(container), sha256, 180_000)).anchor.sequence;
}
