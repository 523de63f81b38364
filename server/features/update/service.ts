import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { createBell } from "../../kernel/bell.ts";
import type { ServerSentEvent } from "../../kernel/endpoint.ts";
import { AppError } from "../../kernel/errors.ts";
import { version } from "../../version.ts";
import { readBundle } from "./bundle.ts";
import { checkFits, thisPlatform } from "./checks.ts";
import type { UpdateFacts, UpdateProgress, UpdateRun, UpdateState } from "./contract.ts";
import { type Installation, noInstallation, requireInstallation, updateFolder } from "./installation.ts";
import { type Journal, readHistory, readJournal } from "./journal.ts";
import { readStanding } from "./lock.ts";
import { bytesOf } from "./manifest.ts";
import { readReleaseKeys } from "./release-keys.ts";

/** What administrators may know of updates, whether the appliance runs or not. */

export async function readUpdate(
  installation: Installation | null,
  maintenance: UpdateState["maintenance"],
): Promise<UpdateState> {
  const about = { version, platform: thisPlatform, maintenance };
  if (installation === null)
    return { ...about, installation: null, obstacle: noInstallation, latest: null, interrupted: false };
  const { root, release } = installation;
  const { journal, interrupted } = await readStanding(root);
  const previous = (await readHistory(root)).find(({ outcome, to }) => outcome === "applied" && to.version === version);
  const pinned = await readReleaseKeys(release).catch((error: unknown) => {
    if (error instanceof AppError) return error;
    throw error;
  });
  return {
    ...about,
    installation:
      pinned instanceof AppError
        ? null
        : {
            root,
            previous: previous?.from.version ?? null,
            keys: pinned.keys.map(({ id }) => id),
            threshold: pinned.threshold,
          },
    obstacle: pinned instanceof AppError ? pinned.message : null,
    latest: journal && presentRun(journal),
    interrupted,
  };
}

export async function listUpdateRuns(installation: Installation | null): Promise<UpdateRun[]> {
  return installation === null ? [] : (await readHistory(installation.root)).map(presentRun);
}

export function presentRun({
  id,
  kind,
  phase,
  startedAt,
  at,
  operator,
  file,
  from,
  to,
  backup,
  loss,
  outcome,
  cause,
}: Journal): UpdateRun {
  const versions = { from: from.version, to: to.version };
  return { id, kind, phase, startedAt, at, operator, file, ...versions, backup, loss, outcome, cause };
}

/**
 * Reads an update to its end.
 * @throws AppError `validation-failed` when it is not whole or not signed; `conflict` when it may not be applied here
 */
export async function verifyUpdateFile(
  installation: Installation | null,
  file: string,
  progress?: (share: number) => void,
): Promise<UpdateFacts> {
  const { release } = requireInstallation(installation);
  const pinned = await readReleaseKeys(release);
  try {
    const { manifest, manifestSha256, signedBy } = await readBundle(file, pinned, {
      async manifest({ manifest: found }) {
        checkFits(found, version);
      },
      ...(progress ? { progress } : {}),
    });
    const { version: next, minimumVersion, platform, createdAt, files } = manifest;
    const about = { minimumVersion, platform, createdAt, signedBy, manifestSha256 };
    return { version: next, files: files.length, bytes: bytesOf(manifest), ...about };
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "EACCES", "ENOTDIR"].includes(String(error.code)))
      throw new AppError("not-found", { detail: `${file} cannot be read.`, cause: error });
    throw error;
  }
}

const progressFile = (root: string) => path.join(updateFolder(root), "progress.json");
const Share = z.object({ share: z.number().nullable() });

/** How far a phase is, for whoever watches; lost without harm. */
export async function writeProgress(root: string, share: number | null): Promise<void> {
  await writeFile(progressFile(root), JSON.stringify({ share }), { mode: 0o644 });
}

async function readShare(root: string): Promise<number | null> {
  try {
    return Share.parse(JSON.parse(await readFile(progressFile(root), "utf8"))).share;
  } catch {
    return null;
  }
}

const lookEveryMs = 300;
const aliveMs = 15_000;

/** Each change of the update that is under way; begins with how it stands. */
export async function* followRuns(
  installation: Installation | null,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const bell = createBell(signal);
  let last = "";
  let saidAt = performance.now();
  try {
    while (!signal.aborted) {
      const journal = installation && (await readJournal(installation.root));
      const share = installation && journal && journal.phase !== "done" ? await readShare(installation.root) : null;
      const progress: UpdateProgress = { run: journal && presentRun(journal), share };
      const data = JSON.stringify(progress);
      if (data !== last) yield { data };
      else if (performance.now() - saidAt > aliveMs) yield { comment: "ping" };
      if (data !== last || performance.now() - saidAt > aliveMs) saidAt = performance.now();
      last = data;
      await bell.wait(lookEveryMs);
    }
  } finally {
    bell.close();
  }
}
