import type { Deps } from "../../kernel/deps.ts";
import { derOf } from "../../kernel/pem.ts";
import { authorities, sealSigner } from "../keys/service.ts";
import { checkOperatorChain } from "../operators/service.ts";
import type { SelfTestFailure } from "./contract.ts";

/**
 * What a release has to be able to do before people are let in, tried on what it really has: its database, its worker threads
 * and its keys. It changes nothing, but for keys that a first start makes anyway.
 */

export type SelfTest = {
  /** What it could not do; null while it is still at it. Asked again, it tries anew after a failure. */
  ask: () => SelfTestFailure[] | null;
};

/** Longer than any part takes that will still succeed. */
const mostMs = 30_000;
/** So long what was found counts for whoever asks again and again. */
const freshMs = 30_000;

export function createSelfTest(deps: Deps): SelfTest {
  const parts: [string, (signal: AbortSignal) => Promise<string | null>][] = [
    ["database", () => readDatabase(deps)],
    ["operators' audit", () => walkOperators(deps)],
    ["seal", (signal) => sealAndVerify(deps, signal)],
  ];
  let last: { at: number; failed: SelfTestFailure[] } | null = null;
  let running = false;

  async function run(): Promise<void> {
    const failed: SelfTestFailure[] = [];
    for (const [part, attempt] of parts) {
      const problem = await limited(attempt).catch((error: unknown) =>
        error instanceof Error ? error.message : String(error),
      );
      if (problem !== null) failed.push({ part, problem });
    }
    last = { at: performance.now(), failed };
    running = false;
  }

  return {
    ask() {
      const fresh = last !== null && performance.now() - last.at < freshMs ? last : null;
      if (!running && (fresh === null || fresh.failed.length > 0)) {
        running = true;
        void run();
      }
      return fresh?.failed ?? null;
    },
  };
}

async function limited<T>(attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(mostMs);
  const late = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(new Error(`it took longer than ${mostMs / 1000} seconds`))),
  );
  return await Promise.race([attempt(signal), late]);
}

async function readDatabase({ db }: Deps): Promise<string | null> {
  const [problem] = await db.check("quick");
  return problem ?? null;
}

async function walkOperators({ db }: Deps): Promise<string | null> {
  const { valid, brokenAtSeq } = await checkOperatorChain(db.read);
  return valid ? null : `the chain is broken at ${brokenAtSeq}`;
}

/** Seals an empty page with the key in use, as its last signature before people's, and reads the seal. It is kept nowhere. */
async function sealAndVerify(deps: Deps, signal: AbortSignal): Promise<string | null> {
  const signer = await sealSigner(deps);
  const pdf = emptyPage();
  const at = deps.clock.ts();
  const made = await deps.pool.run(
    "seal",
    {
      pdf,
      pages: null,
      certificates: signer.certificates,
      key: signer.kind,
      at,
      name: "Signet",
      reason: "Test of a new release",
      location: null,
      level: "B-B",
      fieldName: "Test",
      timestamp: null,
      archive: null,
    },
    {
      signal,
      ports: {
        sign: (bytes) => signer.sign(bytes),
        signTimestamp: notAsked,
        timestampTime: notAsked,
        requestTimestamp: notAsked,
        revocationList: notAsked,
      },
    },
  );
  if (!made.ok) return made.error.message;
  const { seals } = await authorities(deps.db.read);
  const sealed = new Uint8Array(Buffer.concat([pdf, made.value.tail]));
  const read = await deps.pool.run("verifyPdf", { pdf: sealed, trusted: seals.map(derOf), at }, { signal });
  if (!read.ok) return "the seal could not be read";
  const problems = [...read.value.problems, ...read.value.signatures.flatMap((one) => one.problems)];
  return read.value.valid ? null : `the seal does not hold (${problems.join(", ")})`;
}

const notAsked = () => Promise.reject(new Error("a plain seal asks for no time"));

/** One empty page (ISO 32000-2, 7.5). */
function emptyPage(): Uint8Array {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << >> >>",
  ];
  let text = "%PDF-1.7\n";
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}`;
  return new TextEncoder().encode(
    `${text}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`,
  );
}
