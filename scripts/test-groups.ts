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

/**
 * Folders whose files share processes, in which each module is loaded once. Each group has two of its own: they grow with every
 * file, and a large process is slow to start others. A file that changes its whole process (it replaces modules of
 * Node, leaves settings behind) or measures its memory or processor time has one of its own.
 */
export const sharing = {
  groups: {
    quick: quickFolders,
    people: [
      "test/features/identity",
      "test/features/mcp",
      "test/features/organization",
      "test/features/retention",
      "test/features/sign-in",
    ],
    proof: ["test/commands", "test/features/evidence", "test/features/keys", "test/features/tls", "test/flows"],
    workers: ["test/locales", "test/workers"],
  },
  except: [
    "test/features/evidence/deleted-bundle.test.ts",
    "test/features/evidence/downloads.test.ts",
    "test/features/evidence/tsa-faults.test.ts",
    "test/features/organization/audit-export.test.ts",
    "test/features/retention/retention.test.ts",
    "test/flows/bad-input.test.ts",
    "test/kernel/durable.test.ts",
    "test/kernel/gathering.test.ts",
    "test/kernel/http/bodies.test.ts",
    "test/workers/inspect.test.ts",
    "test/workers/pdf/pictures.test.ts",
    "test/workers/stamp-endings.test.ts",
    "test/workers/typeset.test.ts",
  ],
};

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
