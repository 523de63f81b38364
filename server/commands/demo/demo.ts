import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startAppliance } from "../../compose.ts";
import { loadConfig } from "../../config.ts";
import { createApiKey, createOrganization } from "../../features/identity/service.ts";
import { listMail } from "../../features/mail/service.ts";
import { createLog } from "../../kernel/log.ts";
import { permissions } from "../../kernel/wire.ts";
import { type Command, type CommandContext, optional, print, table } from "../command.ts";
import { entryOf } from "../list.ts";
import { createClient } from "./client.ts";
import { judgeSealedPdf, type Verdict } from "./judges.ts";
import { linkFor, people, publishTemplate, sendEnvelope, signAs, waitForAnchor, waitForSeal } from "./main-job.ts";

const sample = path.resolve(import.meta.dirname, "../../../test/fixtures/pdf/lecture.pdf");

export const demo: Command = {
  ...entryOf("demo"),
  usage: ["signet demo [--pdf FILE] [--out FOLDER]"],
  async run(context) {
    const source = optional(context, "pdf") ?? sample;
    const pdf = await readFile(source);
    const out = path.resolve(optional(context, "out") ?? "out/demo");
    await mkdir(out, { recursive: true });
    const folder = await mkdtemp(path.join(tmpdir(), "signet-demo-"));
    try {
      return await onOwnAppliance(context, folder, { pdf, source, out });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function onOwnAppliance(
  context: CommandContext,
  folder: string,
  job: { pdf: Buffer; source: string; out: string },
): Promise<number> {
  const config = loadConfig({
    SIGNET_DATA_DIR: folder,
    SIGNET_PORT: "0",
    SIGNET_ANCHOR_INTERVAL_SECONDS: "1",
    SIGNET_LOG_LEVEL: "error",
    SIGNET_DISK_RESERVE_MB: "0",
    SIGNET_AIR_GAP: String(context.config.airGap),
  });
  const appliance = await startAppliance({ config, log: createLog(config.logLevel) });
  try {
    const { deps, url } = appliance;
    const owner = { email: "owner@example.com", name: "Olive Owner", password: null };
    const made = await createOrganization(deps, { name: "Example Ltd", owner });
    const actor = { type: "user" as const, id: made.user, name: owner.name, email: owner.email };
    const { key } = await createApiKey(deps, made.organization, actor, new Set(permissions), {
      name: "demo",
      mode: "live",
      scopes: [...permissions],
    });
    const mailbox = () => listMail(deps.db.read, deps, {});
    return await mainJob(context, { url, key, mailbox, ...job });
  } finally {
    await appliance.stop(5000);
  }
}

type Job = {
  url: string;
  key: string;
  mailbox: Parameters<typeof linkFor>[0];
  pdf: Buffer;
  source: string;
  out: string;
};

async function mainJob(context: CommandContext, { url, key, mailbox, pdf, source, out }: Job): Promise<number> {
  const steps: { step: string; ms: number }[] = [];
  const step = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const value = await run();
    const ms = Math.round(performance.now() - started);
    steps.push({ step: name, ms });
    if (!context.json) context.stdout(`${`${ms} ms`.padStart(9)}  ${name}\n`);
    return value;
  };
  const client = createClient(url, key);
  const { template, file } = await step(`publish a template from ${path.basename(source)}`, () =>
    publishTemplate(client, pdf),
  );
  const envelope = await step(
    `send an envelope of ${file.pageCount} pages to ${people.map(({ name }) => name).join(" and ")}`,
    () => sendEnvelope(client, template.id),
  );
  for (const person of people) {
    const token = await step(`wait for the mail to ${person.email}`, () => linkFor(mailbox, person.email));
    await step(`${person.name} opens the link, enters the code, signs`, () => signAs(url, person, token, mailbox));
  }
  const sealed = await step("last signature to sealed", () => waitForSeal(client, envelope.id));
  const bytes = await client.bytes(`/v1/envelopes/${envelope.id}/document?version=sealed`);
  const original = await client.bytes(`/v1/envelopes/${envelope.id}/document?version=original`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const anchored = await step("wait for the anchor", () => waitForAnchor(url, sha256));
  const files = {
    sealed: path.join(out, "sealed.pdf"),
    certificate: path.join(out, "certificate.pdf"),
    authorities: path.join(out, "certificates.pem"),
    proof: path.join(out, "proof.json"),
  };
  await writeFile(files.sealed, bytes);
  await writeFile(files.certificate, await client.bytes(`/v1/envelopes/${envelope.id}/document?version=certificate`));
  await writeFile(files.authorities, await client.bytes("/.well-known/svc/certificates.pem"));
  await writeFile(files.proof, `${JSON.stringify(anchored, null, 2)}\n`);
  const verdicts: Verdict[] = [
    ...(await judgeSealedPdf(files.sealed, files.authorities)),
    check("prefix", startsWith(bytes, original), "the original is byte for byte the beginning of the sealed file"),
    check("hash", sealed.sealedSha256 === sha256, `SHA-256 ${sha256}`),
    check(
      "anchor",
      anchored.leaf.documentSha256 === sha256,
      `leaf ${anchored.proof.leafIndex} of anchor ${anchored.anchor.sequence}`,
    ),
  ];
  // A judge that is not installed has said nothing; the table shows it.
  const ok = verdicts.every((verdict) => verdict.ok || verdict.skipped);
  const rows = verdicts.map(({ judge, ok: good, skipped, detail }) => [
    good ? "  ok" : skipped ? "  —" : "  FAILED",
    judge,
    detail,
  ]);
  print(
    context,
    { ok, envelope: envelope.id, sealLevel: sealed.sealLevel, sha256, steps, verdicts, files },
    `\n${table(rows)}\n\nThe sealed PDF lies at ${files.sealed} (${sealed.sealLevel}).`,
  );
  return ok ? 0 : 1;
}

function check(judge: string, ok: boolean, detail: string): Verdict {
  return { judge, ok, skipped: false, detail };
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, beginning.length)).equals(Buffer.from(beginning));
}
