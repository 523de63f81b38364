import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import type { Commit } from "../../../kernel/job-runner.ts";
import { enqueue } from "../../../kernel/jobs.ts";
import { rememberTimestampAnchor } from "../../keys/service.ts";
import { stampAnchor } from "../jobs.ts";
import * as store from "../store.ts";
import { outsideAuthorities, trustedRoot } from "../tsa.ts";
import { fromHex } from "./anchor.ts";

/**
 * RFC 3161 tokens over anchors (contract §12 `timestampToken`): an outside authority saw the anchor's hash at that time.
 * They come after the anchor, which never waits for them.
 */

/** Queues the stamping of an anchor, in the transaction that stores it. */
export async function scheduleStamp(tx: Tx, { config }: Pick<Deps, "config">, sequence: number): Promise<void> {
  if (config.anchorTimestamp) await enqueue(tx, stampAnchor, { sequence });
}

/**
 * Asks the authorities of the list in their order; the built-in one would prove nothing that the anchor does not.
 * @returns what stores the first token that holds; undefined when there is one, or none is wanted any more
 * @throws Error when every authority refuses: it is tried again
 */
export async function stampSigned(deps: Deps, sequence: number, signal: AbortSignal): Promise<Commit | undefined> {
  const anchor = await store.findAnchor(deps.db.read, sequence);
  if (!anchor) throw new Error(`there is no anchor ${sequence}`);
  if (anchor.timestamp_token !== null || !deps.config.anchorTimestamp) return undefined;
  let refusal = new Error("there is no outside time-stamping authority");
  for (const source of outsideAuthorities(deps)) {
    const result = await deps.pool.run(
      "timestamp",
      { imprint: fromHex(anchor.anchor_hash), source: source.next(), at: deps.clock.ts() },
      { signal, ports: { ...source, sign: refuse, revocationList: refuse } },
    );
    if (!result.ok) {
      refusal = new Error(`${source.label}: ${result.error.message}`);
      deps.log.warn({ authority: source.label, reason: result.error.message }, "an anchor got no time stamp");
      continue;
    }
    const { token, timestamp } = result.value;
    const root = timestamp.anchorSha256 === null ? undefined : trustedRoot(deps.config, timestamp.anchorSha256);
    return async (tx) => {
      await store.insertAnchorToken(tx, {
        sequence,
        token: Buffer.from(token).toString("base64"),
        at: timestamp.at,
        authority: timestamp.authority,
      });
      if (root) await rememberTimestampAnchor(tx, deps, root);
    };
  }
  throw refusal;
}

const refuse = () => Promise.reject(new Error("nothing is signed for the time stamp of an anchor"));
