/** Applies an update, or goes back, in a process of its own, which kills itself at a boundary: `node update-child.ts '{"point":"trying:done", …}'`. */
import { applyUpdate, rollBack } from "../../../server/features/update/apply.ts";
import { releaseFolder } from "../../../server/features/update/installation.ts";
import { readReleaseKeys } from "../../../server/features/update/release-keys.ts";
import { installed, oldVersion, siteOf } from "../../harness/releases.ts";

type Plan = {
  root: string;
  dataDir: string;
  env: Record<string, string>;
  /** Null goes back from `version`, and so many things may be lost by that. */
  file: string | null;
  version: string;
  accepted: number;
  point: string;
  gateSeconds: number;
};
const { root, dataDir, env, file, version, accepted, point, gateSeconds }: Plan = JSON.parse(process.argv[2] ?? "{}");
const pinned = await readReleaseKeys(releaseFolder(root, oldVersion));
const onBoundary = (passed: string) => {
  if (passed === point) process.kill(process.pid, "SIGKILL");
};
const site = { ...(await siteOf({ root, dataDir, env: { ...env, DIE_AT: point } })), gateSeconds, onBoundary };
const { run } = site;
// What a release's own process did not survive, this one does not either: the power is gone.
site.run = (release, args) =>
  run(release, args).catch((error: unknown) => {
    if (point.startsWith("put-back:")) process.kill(process.pid, "SIGKILL");
    throw error;
  });
const release = { ...installed, version };
if (file === null) await rollBack(site, release, accepted);
else await applyUpdate(site, { file, pinned, installed: release });
