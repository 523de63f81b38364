import { verify as verifyEd25519 } from "@noble/ed25519";
import type { AnchorKey } from "../../keys/contract.ts";
import type { Anchor, AnchorWitnesses } from "../contract.ts";
import { type Finding, guarded, type Step, sha256, stepOf } from "../verify.ts";
import { fromBase64, toHex } from "./anchor.ts";
import { keyId, noteOf, readCheckpoint } from "./checkpoint.ts";

/** The anchor as a signed note, as the tools of logs and witnesses have it, says the same as the anchor. Isomorphic. */

/** @param note null where there is none, as of anchors of the first versions */
export const checkpointStep = (note: string | null, about: { anchor: Anchor; keys: readonly AnchorKey[] }): Step =>
  guarded("checkpoint", () => checkNote(note, about));

/** Who took the anchor, as the service says: whether they did, they alone can tell. Nothing when nobody was told. */
export function witnessSteps({ data }: AnchorWitnesses): Step[] {
  if (data.length === 0) return [];
  const bytes = data.map(({ witness, at }) => ({ label: `witness-${witness}`, value: at }));
  return [stepOf("witnesses", { ok: null, code: "witnesses-told", values: { count: data.length }, bytes })];
}

/** The note is of the anchor, signed by its key. @throws Error when it cannot be read */
function checkNote(given: string | null, { anchor, keys }: { anchor: Anchor; keys: readonly AnchorKey[] }): Finding {
  if (given === null) return { ok: null, code: "checkpoint-absent" };
  const note = readCheckpoint(given);
  const key = keys.find(({ kid }) => kid === anchor.kid);
  const publicKey = key ? fromBase64(key.x) : new Uint8Array(0);
  const own = note.signatures.find(({ name }) => name === note.origin);
  const ok =
    note.treeSize === anchor.treeSize &&
    toHex(note.root) === anchor.rootHash &&
    own !== undefined &&
    // One signature, and each part written in the one way: nothing else in the note is anybody's word.
    given === noteOf(sha256, new TextDecoder().decode(note.text), own.name, key?.x ?? "", own.signature) &&
    toHex(own.keyId) === toHex(keyId(sha256, own.name, publicKey)) &&
    verifyEd25519(own.signature, note.text, publicKey, { zip215: false });
  return {
    ok,
    code: ok ? "checkpoint-fits" : "checkpoint-differs",
    bytes: [{ label: "origin", value: note.origin }],
  };
}
