import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { Config } from "../../../config.ts";
import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { syncFolder } from "../../../kernel/durable.ts";
import type { Commit } from "../../../kernel/job-runner.ts";
import { enqueue } from "../../../kernel/jobs.ts";
import { jsonIn } from "../../../kernel/json-text.ts";
import { messageIdOf, queueMail } from "../../mail/service.ts";
import type { Anchor } from "../contract.ts";
import { tellWitness, type WitnessKind } from "../jobs.ts";
import { presentAnchor } from "../present.ts";
import * as store from "../store.ts";
import { atShare } from "./share.ts";
import { findNote, insertReceipt } from "./witness-store.ts";

/**
 * Whoever holds our anchors elsewhere can show that one was taken back: each goes to every witness that is configured, as
 * often as it takes.
 */

const timeoutMs = 20_000;
const largestReceipt = 16 * 1024;

/** Queues the anchor for each witness, in the transaction that stores it. */
export async function callWitnesses(tx: Tx, { config }: Pick<Deps, "config">, sequence: number): Promise<void> {
  for (const witness of witnessesOf(config)) await enqueue(tx, tellWitness, { sequence, witness });
}

function witnessesOf({ witnessDir, witnessUrl, witnessMail }: Config): WitnessKind[] {
  return [
    ...(witnessDir === undefined ? [] : (["folder"] as const)),
    ...(witnessUrl === undefined ? [] : (["url"] as const)),
    ...(witnessMail === undefined ? [] : (["mail"] as const)),
  ];
}

/**
 * Hands an anchor to a witness. Telling it twice does no harm.
 * @returns what stores the receipt; undefined when the setting is gone meanwhile
 * @throws Error, OutboundError when the witness did not take it: it is tried again
 */
export async function tell(
  deps: Deps,
  { sequence, witness }: { sequence: number; witness: WitnessKind },
): Promise<Commit | undefined> {
  const [row, note] = await Promise.all([store.findAnchor(deps.db.read, sequence), findNote(deps.db.read, sequence)]);
  if (!row || note === undefined) throw new Error(`there is no anchor ${sequence}`);
  const { witnessDir, witnessUrl, witnessMail } = deps.config;
  const anchor = asTold(presentAnchor(row));
  if (witness === "mail") return witnessMail === undefined ? undefined : write(deps, witnessMail, anchor, note);
  const receipt =
    witness === "folder"
      ? witnessDir && (await atShare(witnessDir, () => writeToFolder(witnessDir, anchor, note)))
      : witnessUrl && (await post(deps, witnessUrl, anchor, note));
  if (receipt === undefined) return undefined;
  return async (tx) => await insertReceipt(tx, { sequence, witness, at: heardAt(deps, anchor), receipt });
}

/** Queued with its receipt, which names the mail; what becomes of it stands with the mail. The address may be another one later. */
function write(deps: Deps, email: string, anchor: Anchor, checkpoint: string): Commit {
  const { sequence } = anchor;
  const cause = `anchor_witness:${sequence}:${email}`;
  return async (tx) => {
    await queueMail(tx, deps, {
      cause,
      organization: null,
      envelope: null,
      testMode: false,
      to: { email, name: null },
      locale: deps.config.witnessMailLocale,
      content: { kind: "anchor_witness", sequence, checkpoint },
    });
    const receipt = messageIdOf(cause, deps.config.baseUrl);
    await insertReceipt(tx, { sequence, witness: "mail", at: heardAt(deps, anchor), receipt });
  };
}

/** Never before the anchor, wherever the clock was set to meanwhile. */
function heardAt({ clock }: Pick<Deps, "clock">, { createdAt }: Anchor): string {
  const now = clock.ts();
  return now < createdAt ? createdAt : now;
}

/** An anchor as witnesses are told it: its time stamp comes later, and a second telling must say the same. */
export const asTold = (anchor: Anchor): Anchor => ({ ...anchor, timestampToken: null });

/** Durable when it resolves; names sort like the anchors. @throws Error when another anchor lies there already */
async function writeToFolder(folder: string, anchor: Anchor, note: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = `anchor-${String(anchor.sequence).padStart(9, "0")}`;
  await writeOnce(path.join(folder, `${name}.json`), fileOf(anchor));
  await writeOnce(path.join(folder, `${name}.txt`), note);
  await syncFolder(folder);
  return folderReceipt(anchor);
}

const fileOf = (anchor: Anchor): string => `${JSON.stringify(anchor)}\n`;

/** What is kept of an anchor in a folder: the hash of its file there. */
export const folderReceipt = (anchor: Anchor): string =>
  `sha256:${createHash("sha256").update(fileOf(anchor)).digest("hex")}`;

async function writeOnce(file: string, text: string): Promise<void> {
  const there = await readFile(file, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (there === text) return;
  // A witness that holds something else is the alarm that it is there for: it is never overwritten.
  if (there !== undefined) throw new Error(`${file} holds another anchor`);
  const draft = `${file}.${randomUUID()}.tmp`;
  const handle = await open(draft, "wx", 0o644);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}

async function post({ outbound }: Deps, url: string, anchor: Anchor, checkpoint: string): Promise<string> {
  const answer = await outbound.fetch("witness", url, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": anchor.anchorHash },
    body: JSON.stringify({ anchor, checkpoint }),
    timeoutMs,
    maxBytes: largestReceipt,
  });
  if (answer.status < 200 || answer.status > 299) throw new Error(`the witness answered with status ${answer.status}`);
  const body = Buffer.from(answer.body).toString("base64");
  return JSON.stringify({ status: answer.status, body } satisfies z.infer<typeof Answer>);
}

const Answer = z.strictObject({ status: z.int().min(200).max(299), body: z.base64() });

/** What is kept of a URL's answer. */
export const UrlReceipt = z.string().transform((text, context) => {
  const read = Answer.safeParse(jsonIn(text));
  if (read.success) return read.data;
  context.addIssue("not an answer");
  return z.NEVER;
});
