/** One seal, or its floor, in a process of its own, for its peak memory: `seal-child.ts seal|floor FROM TO KEY CERTIFICATE …`. */
import { createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { seal } from "../../workers/seal/seal.ts";
import { AT, writeParts } from "./seal-parts.ts";

const [mode, from = "", to = "", keyFile = "", ...certificateFiles] = process.argv.slice(2);
const key = createPrivateKey(readFileSync(keyFile));
const certificates = certificateFiles.map((file) => new X509Certificate(readFileSync(file)).raw);
const pdf = readFileSync(from);
if (mode === "floor") {
  sign("sha256", createHash("sha256").update(pdf).digest(), key);
  writeParts(to, [pdf]);
} else {
  const about = { key: "rsa", at: AT, name: "Signet", reason: "Completed", location: null, fieldName: "Seal" } as const;
  const result = await seal(
    { ...about, pdf, pages: null, certificates, level: "B-B" },
    {
      sign: async (attributes) => sign("sha256", attributes, key),
      timestamp: () => Promise.reject(new Error("level B-B has no timestamp")),
      timestampRoots: () => [],
      revocationList: () => Promise.reject(new Error("level B-B has no revocation list")),
      archiveTimestamp: () => Promise.reject(new Error("level B-B has no timestamp")),
    },
  );
  if (!result.ok) throw new Error(result.error.message);
  writeParts(to, [pdf, result.value.tail]);
}
// The mark of this program alone: the resource usage of the process begins with that of the one it was forked from.
console.log(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
