import { setPriority } from "node:os";
import type { Config } from "../config.ts";
import type { WalkAnswer } from "../features/backup/contract.ts";
import { fsck } from "../features/evidence/fsck/fsck.ts";
import { createLog } from "../kernel/log.ts";
import { openDeps } from "../open-deps.ts";

/** The process of a drill that walks every chain and hash of the restored folder (`features/backup/drill.ts` starts it). */

// People who sign come first.
setPriority(0, 10);

const tell = (answer: WalkAnswer) => process.send?.(answer);

process.on("disconnect", () => process.exit(1));
process.once("message", (config: Config) => void walk(config));

async function walk(config: Config): Promise<void> {
  try {
    const { deps, close } = await openDeps({ config, log: createLog("silent") });
    const report = await fsck(deps, {
      threads: 1,
      onProgress: ({ share, files }) => tell({ done: Math.round(500 * Math.min(1, share) + 500 * Math.min(1, files)) }),
    });
    await close();
    const problems = report.problems.map(({ code, where, message }) => `${code} ${where}: ${message}`);
    tell({ report: { ok: report.ok, checked: report.checked, problems: problems.slice(0, 100) } });
  } catch (error) {
    tell({ failure: error instanceof Error ? error.message : String(error) });
  }
}
