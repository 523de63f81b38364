import path from "node:path";

/** What `npm run test:quick` runs: no browser, no installation, nothing that waits. At most three minutes on two quiet cores. */
export const quickFolders = [
  "test/apps",
  "test/contract",
  "test/features/clock",
  "test/features/envelopes",
  "test/features/mail",
  "test/features/signing",
  "test/features/templates",
  "test/features/viewers",
  "test/kernel",
  "test/workers/pdf",
];

/** Browsers, and processes that are killed, updated or installed: a busy machine can fail them without a defect of ours. */
const secondTryFolders = [
  "test/console",
  "test/crash",
  "test/e2e",
  "test/faults",
  "test/features/backup",
  "test/features/tls",
  "test/features/update",
  "test/packaging",
  "test/privileged",
];

/** @param file absolute path of a test file, or one relative to the checkout */
export function maySecondTry(file: string): boolean {
  const relative = path.relative(path.resolve(import.meta.dirname, ".."), path.resolve(file));
  return secondTryFolders.some((folder) => relative.startsWith(`${folder}/`));
}
