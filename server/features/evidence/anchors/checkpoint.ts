import { fromBase64, fromHex, toBase64 } from "./anchor.ts";
import type { Sha256 } from "./merkle.ts";

/** Anchors as checkpoints of C2SP tlog-checkpoint: signed notes that the tools of public logs read. Isomorphic. */

const utf8 = new TextEncoder();
/** Ed25519, the one signature type that is made here (C2SP signed-note, "Signature types"). */
const ed25519 = 0x01;

/** The log's name: its URL without scheme; nothing that a note's lines could not hold. */
export function originOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${url.host}${url.pathname.replace(/\/+$/, "")}`.replaceAll(/[\s+]/gu, "-");
}

/** The text that is signed: three lines, each with its line feed. */
export function checkpointText(origin: string, tree: { treeSize: number; rootHash: string }): string {
  return `${origin}\n${tree.treeSize}\n${toBase64(fromHex(tree.rootHash))}\n`;
}

/** The note: text, empty line, and a signature line of `— name base64(key id ‖ signature)`. */
export function noteOf(sha256: Sha256, text: string, name: string, x: string, signature: Uint8Array): string {
  const id = keyId(sha256, name, fromBase64(x));
  return `${text}\n— ${name} ${toBase64(Uint8Array.of(...id, ...signature))}\n`;
}

/** First four bytes of SHA-256(name ‖ LF ‖ type ‖ public key). */
export function keyId(sha256: Sha256, name: string, publicKey: Uint8Array): Uint8Array {
  return sha256(Uint8Array.of(...utf8.encode(name), 0x0a, ed25519, ...publicKey)).subarray(0, 4);
}

/** The key as tools of logs are told it: `name+key id+base64(type ‖ public key)`. */
export function verifierKey(sha256: Sha256, name: string, x: string): string {
  const publicKey = fromBase64(x);
  const id = Array.from(keyId(sha256, name, publicKey), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${name}+${id}+${toBase64(Uint8Array.of(ed25519, ...publicKey))}`;
}

export type Checkpoint = {
  /** What is signed. */
  text: Uint8Array;
  origin: string;
  treeSize: number;
  /** Bytes of the root. */
  root: Uint8Array;
  signatures: { name: string; keyId: Uint8Array; signature: Uint8Array }[];
};

/** @throws TypeError when the note is none, or its text no checkpoint */
export function readCheckpoint(note: string): Checkpoint {
  // The last empty line ends the text; what stands above it keeps its line feed.
  const split = note.lastIndexOf("\n\n");
  if (split < 0 || !note.endsWith("\n")) throw new TypeError("not a signed note");
  const text = note.slice(0, split + 1);
  const [origin = "", size = "", root = ""] = text.split("\n");
  if (origin === "" || !/^(0|[1-9]\d{0,15})$/.test(size)) throw new TypeError("not a checkpoint");
  const signatures = note
    .slice(split + 2, -1)
    .split("\n")
    .map((line) => {
      const [dash, name = "", value = "", ...more] = line.split(" ");
      const bytes = fromBase64(value);
      if (dash !== "—" || name === "" || more.length > 0 || bytes.length <= 4) throw new TypeError("not a signed note");
      return { name, keyId: bytes.subarray(0, 4), signature: bytes.subarray(4) };
    });
  return { text: utf8.encode(text), origin, treeSize: Number(size), root: fromBase64(root), signatures };
}
