import { execFile } from "node:child_process";
import { appendFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { copySources } from "../harness/copied-sources.ts";
import { edges } from "./rules.mjs";

/** A file, new or with a line more, that may not import what it imports, in flat and in nested folders; each with the rule that finds it. */
const planted: readonly [file: string, imports: string, rule: string][] = [
  ["server/features/tls/acme/planted-contract.ts", "node:fs", "1 isomorphic files run anywhere"],
  ["server/kernel/planted.ts", "../features/mail/service.ts", "2a the kernel imports no feature"],
  ["server/features/keys/pkcs11/planted.ts", "../routes.ts", "2b only feature.ts imports routes"],
  ["server/features/sign-in/planted.ts", "./passkeys/routes.ts", "2b only feature.ts imports routes"],
  ["server/commands/planted.ts", "../features/mail/feature.ts", "2b only features.ts imports each feature.ts"],
  ["server/features/evidence/anchors/planted-store.ts", "../service.ts", "2c store, state and present"],
  ["server/features/sign-in/social/planted-contract.ts", "./store.ts", "2d contracts and jobs stand at the bottom"],
  ["server/features/evidence/fsck/planted.ts", "../../envelopes/progress.ts", "3a across features"],
  ["server/features/signing/planted.ts", "../templates/drawings.ts", "3a across features"],
  ["server/features/signing/planted-other.ts", "../keys/service.ts", "3b signing uses the services"],
  ["server/features/keys/pkcs11/planted-above.ts", "../../tls/acme/contract.ts", "3c keys imports nothing"],
  ["workers/sealing-tasks.ts", "./stamp.ts", "4c threads that sign load nothing"],
  ["workers/parsing-tasks.ts", "./asking.ts", "4d threads that read uploads"],
  ["server/features/keys/pkcs11/planted-socket.ts", "node:net", "6 sockets only through"],
];

const Report = z.object({
  summary: z.object({ violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })) }),
});

test("each of fourteen planted violations is found, in flat and in nested folders", async () => {
  const copy = await copySources([
    "server",
    "workers",
    "locales",
    "package.json",
    "tsconfig.json",
    "test/architecture",
  ]);
  for (const [file, imports] of planted) await appendFile(path.join(copy, file), `import "${imports}";\n`);
  const { stdout } = await promisify(execFile)(
    "node_modules/.bin/depcruise",
    ["--config", "test/architecture/rules.mjs", "--output-type", "json", "server", "workers"],
    { cwd: copy, maxBuffer: 256 * 1024 * 1024 },
  ).catch((error: { stdout: string }) => error);
  const { summary } = Report.parse(JSON.parse(stdout));
  for (const [file, , rule] of planted) {
    const broken = summary.violations.filter(({ from }) => from === file).map(({ rule: { name } }) => name);
    expect(broken, file).toEqual(expect.arrayContaining([expect.stringContaining(rule)]));
  }
});

test("the list of features goes from the bottom up", () => {
  const order = Object.keys(edges);
  for (const [feature, others] of Object.entries(edges))
    for (const other of others)
      expect(order.indexOf(other), `${feature} → ${other}`).toBeLessThan(order.indexOf(feature));
});
