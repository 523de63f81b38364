import { createHash } from "node:crypto";
import { z } from "zod";
import { toTs } from "./clock.ts";
import type { Tx } from "./db.ts";
import type { Deps } from "./deps.ts";
import type { AnyReply } from "./endpoint.ts";
import { AppError } from "./errors.ts";

declare module "./db.ts" {
  interface Tables {
    idempotency_replies: {
      organization: string;
      caller: string;
      key: string;
      fingerprint: string;
      /** The reply, encrypted: it may hold a secret that is shown once. */
      reply: string;
      expires_at: string;
    };
  }
}

const keptMs = 24 * 60 * 60 * 1000;

export type IdempotencyScope = { organization: string; caller: string; key: string };
/** The request as far as "the same request" goes: method, path, sorted query, body (contract §1). */
export type FingerprintInput = { method: string; path: string; query: URLSearchParams; body: Uint8Array };

const StoredReply = z.union([
  z.object({
    status: z.int(),
    blob: z.string(),
    contentType: z.string(),
    etag: z.string().optional(),
    disposition: z.enum(["inline", "attachment"]).optional(),
    filename: z.string().optional(),
  }),
  z.object({ status: z.int(), body: z.unknown().optional(), headers: z.record(z.string(), z.string()).optional() }),
]);

/**
 * Idempotency-Key: one running request a key, the first answer below 500 kept for 24 hours.
 * What runs is known in memory only, since one process serves: nothing stays "in progress" after a crash. The answer is stored
 * in the transaction of the effect where the use case calls `remember`, else right after it.
 */
export function createIdempotency(deps: Deps) {
  const running = new Map<string, string>();

  /** @throws AppError `invalid-idempotency-key` unless 1 to 255 printable ASCII characters */
  function readKey(header: string): string {
    if (!/^[\x20-\x7e]{1,255}$/.test(header)) throw new AppError("invalid-idempotency-key");
    return header;
  }

  /**
   * Runs `use` unless this request was answered before.
   * @throws AppError `idempotency-in-progress`, `idempotency-key-reused`
   */
  async function once(
    scope: IdempotencyScope,
    request: FingerprintInput,
    use: (remember: (tx: Tx, reply: AnyReply) => Promise<void>) => Promise<AnyReply>,
  ): Promise<{ reply: AnyReply; replayed: boolean }> {
    const fingerprint = fingerprintOf(request);
    const slot = `${scope.organization}\n${scope.caller}\n${scope.key}`;
    const other = running.get(slot);
    if (other !== undefined) {
      if (other !== fingerprint) throw new AppError("idempotency-key-reused");
      throw new AppError("idempotency-in-progress", { retryAfter: 1 });
    }
    running.set(slot, fingerprint);
    try {
      const earlier = await find(scope, fingerprint);
      if (earlier) return { reply: earlier, replayed: true };
      let remembered = false;
      const reply = await use(async (tx, answer) => {
        await store(tx, scope, fingerprint, answer);
        // Not before: a transaction that is rolled back takes the reply with it.
        deps.db.afterCommit(tx, () => {
          remembered = true;
        });
      });
      if (!remembered) await remember(scope, fingerprint, reply);
      return { reply, replayed: false };
    } finally {
      running.delete(slot);
    }
  }

  async function find(scope: IdempotencyScope, fingerprint: string): Promise<AnyReply | null> {
    const row = await deps.db.read
      .selectFrom("idempotency_replies")
      .select(["fingerprint", "reply"])
      .where("organization", "=", scope.organization)
      .where("caller", "=", scope.caller)
      .where("key", "=", scope.key)
      .where("expires_at", ">", deps.clock.ts())
      .executeTakeFirst();
    if (!row) return null;
    if (row.fingerprint !== fingerprint) throw new AppError("idempotency-key-reused");
    return await replyOf(deps, row.reply, scope.key);
  }

  async function remember(scope: IdempotencyScope, fingerprint: string, reply: AnyReply): Promise<void> {
    // A 429 says to come again later: kept, it would refuse for a day.
    if (reply.status >= 500 || reply.status === 429 || "events" in reply || "pieces" in reply) return;
    if ("bytes" in reply) await deps.blobs.put(wholeOf(reply));
    await deps.db.tx((tx) => store(tx, scope, fingerprint, reply));
  }

  async function store(tx: Tx, scope: IdempotencyScope, fingerprint: string, reply: AnyReply): Promise<void> {
    const sealed = deps.secrets.seal(JSON.stringify(storable(reply)), contextOf(scope.key));
    const expires = toTs(deps.clock.now() + keptMs);
    await tx
      .insertInto("idempotency_replies")
      .values({ ...scope, fingerprint, reply: sealed, expires_at: expires })
      .onConflict((conflict) =>
        conflict
          .columns(["organization", "caller", "key"])
          .doUpdateSet({ fingerprint, reply: sealed, expires_at: expires }),
      )
      .execute();
  }

  return { readKey, once };
}

/** Deletes the replies whose time is over. @returns how many */
export async function purgeIdempotency(tx: Tx, { clock }: Pick<Deps, "clock">): Promise<number> {
  const done = await tx.deleteFrom("idempotency_replies").where("expires_at", "<=", clock.ts()).executeTakeFirst();
  return Number(done.numDeletedRows);
}

const contextOf = (key: string) => `idempotency:${key}`;

/** The answer that was kept under this key. */
async function replyOf({ secrets, blobs }: Deps, sealed: string, key: string): Promise<AnyReply> {
  const text = Buffer.from(secrets.open(sealed, contextOf(key))).toString("utf8");
  const stored = StoredReply.parse(JSON.parse(text));
  if ("blob" in stored) {
    const { status, blob, contentType, etag, disposition, filename } = stored;
    return {
      status,
      bytes: await blobs.get(blob),
      contentType,
      ...(etag === undefined ? {} : { etag }),
      ...(disposition === undefined ? {} : { disposition }),
      ...(filename === undefined ? {} : { filename }),
    };
  }
  const headers = stored.headers === undefined ? {} : { headers: stored.headers };
  return "body" in stored
    ? { status: stored.status, body: stored.body, ...headers }
    : { status: stored.status, ...headers };
}

/** What is stored already is asked for by GET, which needs no such key. */
function wholeOf({ bytes }: Extract<AnyReply, { bytes: unknown }>): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes;
  throw new Error("a reply that is kept for repetition must be given as a whole");
}

function storable(reply: AnyReply): z.input<typeof StoredReply> {
  if ("bytes" in reply) {
    const blob = createHash("sha256").update(wholeOf(reply)).digest("hex");
    const { status, contentType, etag, disposition, filename } = reply;
    return { status, blob, contentType, etag, disposition, filename };
  }
  if ("body" in reply) return { status: reply.status, body: reply.body, headers: reply.headers };
  return { status: reply.status, headers: "headers" in reply ? reply.headers : undefined };
}

function fingerprintOf({ method, path, query, body }: FingerprintInput): string {
  const sorted = new URLSearchParams(query);
  sorted.sort();
  const bodyHash = createHash("sha256").update(body).digest("hex");
  return createHash("sha256").update(`${method}\n${path}\n${sorted}\n${bodyHash}`).digest("hex");
}
