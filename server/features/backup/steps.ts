import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { checkFile } from "../../kernel/blob-check.ts";
import { headLength, tagLength } from "../../kernel/blob-format.ts";
import type { WrapKey } from "../../kernel/secrets.ts";
import { type Blob, openCopier, pathOf } from "./copier.ts";
import { openSealedFile, sealFile, writeAll } from "./sealed-file.ts";
import { folderGuard, openPlainFile, plainFileSize } from "./target-files.ts";
import type { TargetCall } from "./target-folder.ts";

/**
 * What is done in a process of its own, with calls that wait: copying thousands of small files that way costs a fraction of what
 * promises cost, takes none of the few threads that the database reads with, and may be ended at any instruction.
 */

/** A store of blobs: folders ab/cd below `folder`. */
export type Order =
  | { step: "copy"; from: string; to: string; list: string }
  | { step: "bring"; from: string; to: string; list: List; keys: readonly WrapKey[] }
  | { step: "check"; folder: string; list: List; keys: readonly WrapKey[]; repair: boolean }
  | { step: "seal"; from: string | Uint8Array; to: string; key: Uint8Array }
  | { step: "open"; from: string; to: string | null; key: Uint8Array }
  | { step: "prune"; folder: string; lists: readonly List[] };

/** Something small that is done in the folder of backups. */
export type TargetOrder = { step: "target"; folder: string; asked: TargetCall };
export type Asked = Order | TargetOrder;

/** A list of blobs, which counts only as the manifest names it: whoever owns the share may change it at any moment. */
type List = { file: string; sha256: string };

/** `bytes` and `files` of what was to be done; `copied` of what was not there yet. */
export type Progress = { files: number; bytes: number; allFiles: number; allBytes: number };
export type Outcome = {
  files: number;
  bytes: number;
  copiedBytes: number;
  /** At most 100 files, each with what is wrong with it. */
  problems: { file: string; problem: string }[];
  sha256: string;
};
/** `begun`: the process runs, has heard it and now calls the system. */
export type Message =
  | { begun: true }
  | { progress: Progress }
  | { outcome: Outcome }
  | { value: unknown }
  | { failure: Failure };

/** An error on its way to another process. */
export type Failure = { message: string; code: string | null; cause: Failure | null };

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), code: null, cause: null };
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  return { message: error.message, code, cause: error.cause === undefined ? null : failureOf(error.cause) };
}

type Tell = (progress: Progress) => void;

const nothing = (): Outcome => ({ files: 0, bytes: 0, copiedBytes: 0, problems: [], sha256: "" });
const mostProblems = 100;

export function runStep(order: Order, tell: Tell): Outcome {
  switch (order.step) {
    case "copy":
      return copyNew(order, tell);
    case "bring":
      return bring(order, tell);
    case "check":
      return check(order, tell);
    case "seal": {
      const { bytes, sha256 } = sealFile(order.from, order.to, order.key, byBytes(order.from, tell));
      return { ...nothing(), files: 1, bytes, copiedBytes: bytes, sha256 };
    }
    case "open": {
      const { size } = statSync(order.from);
      const sha256 = openInto(order, byBytes(order.from, tell));
      return { ...nothing(), files: 1, bytes: size, sha256 };
    }
    case "prune":
      return prune(order, tell);
  }
}

/** @param order.to is written only when it is given */
function openInto(order: { from: string; to: string | null; key: Uint8Array }, told: (bytes: number) => void): string {
  const output = order.to === null ? null : openSync(order.to, "w", 0o600);
  try {
    const sha256 = openSealedFile(order.from, order.key, (plain) => {
      if (output !== null) writeAll(output, plain);
      told(plain.length);
    });
    if (output !== null) fsyncSync(output);
    return sha256;
  } finally {
    if (output !== null) closeSync(output);
  }
}

function byBytes(from: string | Uint8Array, tell: Tell): (bytes: number) => void {
  const all = typeof from === "string" ? statSync(from).size : from.length;
  let bytes = 0;
  return (more) => {
    bytes += more;
    tell({ files: 0, bytes, allFiles: 1, allBytes: all });
  };
}

/** Copies what the target has not, and writes the list of everything that the source holds now. */
function copyNew({ from, to, list }: { from: string; to: string; list: string }, tell: Tell): Outcome {
  const all = [...blobsIn(from)];
  const outcome = nothing();
  const allBytes = all.reduce((sum, { size }) => sum + size, 0);
  const guard = folderGuard();
  const missing = new Set(
    all.filter(({ sha256, size }) => {
      const there = pathOf(to, sha256);
      guard(there);
      return plainFileSize(there) !== size;
    }),
  );
  const { copy, flush } = openCopier(to, missing.size);
  for (const blob of all) {
    const { sha256, size } = blob;
    if (missing.has(blob)) {
      copy(pathOf(from, sha256), blob);
      outcome.copiedBytes += size;
    }
    outcome.files += 1;
    outcome.bytes += size;
    tell({ files: outcome.files, bytes: outcome.bytes, allFiles: all.length, allBytes });
  }
  flush();
  const text = all.map(({ sha256, size }) => `${sha256} ${size}\n`).join("");
  // `wx` follows no link that somebody laid there.
  const handle = openSync(list, "wx", 0o600);
  try {
    writeAll(handle, Buffer.from(text));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return { ...outcome, sha256: createHash("sha256").update(text).digest("hex") };
}

/** Copies the listed files out of a backup; each copy is read, decrypted and hashed before it gets its name. */
function bring(order: { from: string; to: string; list: List; keys: readonly WrapKey[] }, tell: Tell): Outcome {
  const { all, allBytes } = readList(order.list);
  const outcome = nothing();
  const { copy, flush } = openCopier(order.to, all.length);
  const guard = folderGuard();
  for (const blob of all) {
    const { sha256, size } = blob;
    const target = pathOf(order.to, sha256);
    const problem = (file: string) => checkFile(file, sha256, order.keys)?.problem;
    // Of a restore that was interrupted.
    const there = sizeOf(target) === size && problem(target) === null;
    if (!there) {
      const from = pathOf(order.from, sha256);
      guard(from);
      const found = plainFileSize(from) === null ? "it is missing" : copy(from, blob, problem);
      if (found !== null) add(outcome, sha256, found);
      else outcome.copiedBytes += size;
    }
    outcome.files += 1;
    outcome.bytes += size;
    tell({ files: outcome.files, bytes: outcome.bytes, allFiles: all.length, allBytes });
  }
  flush();
  return outcome;
}

/** Reads every listed file, decrypts and hashes it. With `repair` a damaged one is removed, so that it is copied again. */
function check(order: { folder: string; list: List; keys: readonly WrapKey[]; repair: boolean }, tell: Tell): Outcome {
  const { all, allBytes } = readList(order.list);
  const outcome = nothing();
  const guard = folderGuard();
  for (const { sha256, size } of all) {
    const file = pathOf(order.folder, sha256);
    guard(file);
    const there = plainFileSize(file) !== null;
    // To repair is to copy it anew; whoever only looks may not call damaged what they cannot read. access(2) would not know of
    // a right to read that the packages' command line has.
    if (there && !order.repair) closeSync(openPlainFile(file));
    const found = there ? checkFile(file, sha256, order.keys) : null;
    const problem = found === null ? "it is missing" : (found.problem ?? sizeProblem(found.size, size));
    if (problem !== null) {
      add(outcome, sha256, problem);
      if (order.repair) rmSync(file, { force: true });
    }
    outcome.files += 1;
    outcome.bytes += size;
    tell({ files: outcome.files, bytes: outcome.bytes, allFiles: all.length, allBytes });
  }
  return outcome;
}

const sizeProblem = (content: number, file: number) =>
  content + headLength + tagLength === file ? null : "it has another size than the list says";

/** Removes the blobs that none of the lists names. */
function prune({ folder, lists }: { folder: string; lists: readonly List[] }, tell: Tell): Outcome {
  const outcome = nothing();
  const guard = folderGuard();
  const kept = new Set(lists.flatMap((list) => readList(list).all.map(({ sha256 }) => sha256)));
  const all = [...blobsIn(folder)];
  for (const [index, { sha256, size }] of all.entries()) {
    if (!kept.has(sha256)) {
      guard(pathOf(folder, sha256));
      rmSync(pathOf(folder, sha256), { force: true });
      outcome.files += 1;
      outcome.bytes += size;
    }
    tell({ files: index + 1, bytes: 0, allFiles: all.length, allBytes: 0 });
  }
  return outcome;
}

function add(outcome: Outcome, file: string, problem: string): void {
  if (outcome.problems.length < mostProblems) outcome.problems.push({ file, problem });
}

function* blobsIn(folder: string): Generator<Blob> {
  for (const first of namesIn(folder, /^[0-9a-f]{2}$/))
    for (const second of namesIn(path.join(folder, first), /^[0-9a-f]{2}$/)) {
      const inside = path.join(folder, first, second);
      for (const sha256 of namesIn(inside, /^[0-9a-f]{64}$/)) {
        const size = sizeOf(path.join(inside, sha256));
        if (size !== null) yield { sha256, size };
      }
    }
}

function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

const sizeOf = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.size ?? null;

function readList({ file, sha256: expected }: List): { all: Blob[]; allBytes: number } {
  const handle = openPlainFile(file);
  let text: string;
  try {
    text = readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
  if (createHash("sha256").update(text).digest("hex") !== expected) throw new Error(`${file} was changed`);
  const all = text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [sha256 = "", size] = line.split(" ");
      if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`${file} holds a line that names no blob`);
      return { sha256, size: Number(size) };
    });
  return { all, allBytes: all.reduce((sum, { size }) => sum + size, 0) };
}
