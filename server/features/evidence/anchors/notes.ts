import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import type { Commit } from "../../../kernel/job-runner.ts";
import { enqueue } from "../../../kernel/jobs.ts";
import { anchorSigner, assertInUse, publicAnchorKeys } from "../../keys/service.ts";
import { noteAnchors, noteDedupeKey } from "../jobs.ts";
import { presentAnchor } from "../present.ts";
import * as store from "../store.ts";
import { originOf } from "./checkpoint.ts";
import { signNote } from "./signing.ts";
import { insertNote } from "./witness-store.ts";

/** Checkpoint notes for anchors that were signed before there were any: made once, and never again. */

const atOnce = 100;

/** Queues what is missing, when the appliance starts. */
export async function resumeNotes(deps: Deps): Promise<void> {
  const [first] = await store.listAnchorsWithoutNote(deps.db.read, { after: 0, limit: 1 });
  if (first) await deps.db.tx((tx) => queueNotes(tx, 0));
}

const queueNotes = (tx: Tx, after: number) => enqueue(tx, noteAnchors, { after }, { dedupeKey: noteDedupeKey });

/**
 * Signs the notes of the next anchors. A note is signed with the key of its anchor: one that was retired signs no more, and
 * its anchors stay without.
 */
export async function noteNext(deps: Deps, after: number): Promise<Commit | undefined> {
  const { read } = deps.db;
  const rows = await store.listAnchorsWithoutNote(read, { after, limit: atOnce });
  const last = rows.at(-1);
  if (!last) return undefined;
  const signer = await anchorSigner(deps);
  const by = { signer, keys: await publicAnchorKeys(read) };
  const origin = originOf(deps.config.baseUrl);
  const own = rows.filter(({ kid }) => kid === signer.kid);
  const notes = await Promise.all(
    own.map(async (row) => ({ sequence: row.sequence, note: await signNote(by, origin, presentAnchor(row)) })),
  );
  return async (tx) => {
    if (notes.length > 0) await assertInUse(tx, signer.kid);
    for (const note of notes) await insertNote(tx, note);
    if (rows.length === atOnce) await queueNotes(tx, last.sequence);
  };
}
