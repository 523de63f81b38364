/** What a B-B seal costs beyond its floor (read, SHA-256, RSA-3072, write), and beside two signing libraries. */

import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CryptoKeySigner, PDF, type SignOptions } from "@libpdf/core";
import { plainAddPlaceholder } from "@signpdf/placeholder-plain";
import { P12Signer } from "@signpdf/signer-p12";
import { SignPdf } from "@signpdf/signpdf";
import type { SealPorts } from "../../workers/protocol.ts";
import { seal } from "../../workers/seal/seal.ts";
import { type Authority, makeAuthority } from "../harness/authority.ts";
import { samplePdf } from "../harness/pdfs.ts";
import { median } from "./median.ts";
import { AT, writeParts } from "./seal-parts.ts";

export type BenchResult = { name: string; ratio: number; target: string; detail: string };

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

type Contender = { name: string; run: () => Promise<void> };

export async function benchSeal(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "signet-bench-"));
  const authority = makeAuthority({ ca: "rsa-3072", seal: "rsa-3072" });
  try {
    const small = await samplePdf({ pages: 5 });
    const large = await samplePdf({ pages: 5, ballast: 20 * 1024 * 1024 });
    return [
      ...(await benchFile("5 pages", small, { own: 600, others: 15 }, 1.3, authority, folder)),
      ...(await benchFile("20 MB", large, { own: 41, others: 5 }, 1.2, authority, folder)),
      await benchLongTerm("5 pages", small, 15, authority, folder),
      await benchLongTerm("20 MB", large, 5, authority, folder),
      benchMemory("5 pages", small, authority, folder),
      benchMemory("20 MB", large, authority, folder),
    ];
  } finally {
    authority.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchFile(
  label: string,
  pdf: Uint8Array,
  rounds: { own: number; others: number },
  target: number,
  authority: Authority,
  folder: string,
): Promise<BenchResult[]> {
  const from = join(folder, "in.pdf");
  const to = join(folder, "out.pdf");
  const large = pdf.length > 1024 * 1024;
  writeFileSync(from, pdf);
  const { key, certificates } = authority.seal;
  const ports: SealPorts = { ...authority.ports(), sign: async (attributes) => sign("sha256", attributes, key) };
  const own = async (): Promise<void> => {
    const pdf = readFileSync(from);
    const result = await seal(
      {
        pdf,
        pages: null,
        certificates,
        key: "rsa",
        at: AT,
        name: "Signet",
        reason: "Completed",
        location: null,
        level: "B-B",
        fieldName: "Seal",
      },
      ports,
    );
    if (!result.ok) throw new Error(result.error.message);
    writeParts(to, [pdf, result.value.tail]);
  };
  await own();
  // Whoever seals must write this much more. The floor writes what it read, as we do: a buffer of zeros is one page of
  // memory over and over, and writing it costs a third less.
  const more = Buffer.alloc(statSync(to).size - pdf.length);
  const floor = async (): Promise<void> => {
    const pdf = readFileSync(from);
    sign("sha256", createHash("sha256").update(pdf).digest(), key);
    writeParts(to, [pdf, more]);
  };
  const others = [await libpdf(authority, from, to), signpdf(authority, from, to, folder)];
  const [floors = [], owns = []] = await interleaved(
    [
      { name: "floor", run: floor },
      { name: "own", run: own },
    ],
    rounds.own,
    large,
  );
  // Round by round: on a machine that others use too, one median may fall into a slow spell and the other not.
  const ratio = median(owns.map((time, round) => time / (floors[round] ?? Number.NaN)));
  const rivals = await interleaved([{ name: "own", run: own }, ...others], rounds.others, large);
  const rival = rivals.map(median);
  const milliseconds = (time: number): string => `${time.toFixed(2)} ms`;
  return [
    {
      name: `B-B ${label} ÷ (read + SHA-256 + RSA-3072 + write)`,
      ratio,
      target: `≤ ${target}`,
      detail: `${milliseconds(median(owns))} against ${milliseconds(median(floors))}`,
    },
    ...others.map(({ name }, index) => ({
      name: `${name} ÷ B-B ${label}`,
      ratio: (rival[index + 1] ?? 0) / (rival[0] ?? 1),
      target: "> 1",
      detail: `${milliseconds(rival[index + 1] ?? 0)} against ${milliseconds(rival[0] ?? 0)}`,
    })),
  ];
}

/** B-LTA beside LibPDF's, both with the same key, authority and revocation list at hand. */
async function benchLongTerm(
  label: string,
  pdf: Uint8Array,
  rounds: number,
  authority: Authority,
  folder: string,
): Promise<BenchResult> {
  const [from, to] = [join(folder, "in.pdf"), join(folder, "out.pdf")];
  writeFileSync(from, pdf);
  const { certificates } = authority.seal;
  const list = authority.revocationList();
  const ports: SealPorts = { ...authority.ports(AT), revocationList: async () => list };
  const about = { pages: null, certificates, key: "rsa", at: AT, name: "Signet", location: null } as const;
  const own = async (): Promise<void> => {
    const bytes = readFileSync(from);
    const given = { ...about, pdf: bytes, reason: "Completed", level: "B-LTA", fieldName: "Seal" } as const;
    const result = await seal(given, ports);
    if (!result.ok || result.value.level !== "B-LTA") throw new Error("B-LTA was not reached");
    writeParts(to, [bytes, result.value.tail]);
  };
  const rival = await libpdf(authority, from, to, {
    level: "B-LTA",
    timestampAuthority: { timestamp: (digest: Uint8Array) => ports.timestamp(digest) },
    revocationProvider: { getOCSP: async () => null, getCRL: async () => list },
  });
  const times = await interleaved([{ name: "own", run: own }, rival], rounds, pdf.length > 1024 * 1024);
  const [mine, theirs] = [median(times[0] ?? []), median(times[1] ?? [])];
  return {
    name: `LibPDF B-LTA ÷ B-LTA ${label}`,
    ratio: theirs / mine,
    target: "≥ 5",
    detail: `${theirs.toFixed(2)} ms against ${mine.toFixed(2)} ms`,
  };
}

/** What a seal needs beyond reading, hashing and writing, as the peak of a process; medians of processes that take turns. */
function benchMemory(label: string, pdf: Uint8Array, authority: Authority, folder: string): BenchResult {
  const from = join(folder, "in.pdf");
  writeFileSync(from, pdf);
  const { keyPem, pem } = authority.seal;
  const child = fileURLToPath(new URL("./seal-child.ts", import.meta.url));
  const peak = (mode: "seal" | "floor"): number => {
    const args = [child, mode, from, join(folder, "out.pdf"), keyPem, pem, authority.caPem];
    return Number(execFileSync(process.execPath, args, { encoding: "utf8" })) / 1024;
  };
  const rounds = Array.from({ length: 9 }, () => ({ floor: peak("floor"), own: peak("seal") }));
  const [floor, own] = [median(rounds.map((round) => round.floor)), median(rounds.map((round) => round.own))];
  return {
    name: `MB of peak memory that a B-B seal needs beyond its floor, ${label}`,
    ratio: own - floor,
    target: "≤ 15",
    detail: `${own.toFixed(1)} MB against ${floor.toFixed(1)} MB`,
  };
}

/** The times of each contender in milliseconds, round by round; they take turns, so that a busy machine slows all of them. */
async function interleaved(contenders: Contender[], rounds: number, large: boolean): Promise<number[][]> {
  const times = contenders.map((): number[] => []);
  // A quarter of the rounds is for the compiler: the appliance runs warm.
  for (let round = -Math.ceil(rounds / 4); round < rounds; round++) {
    // On a disk that is slower the second time, no one is always second.
    const turns = [...contenders.entries()];
    for (const [index, contender] of round % 2 === 0 ? turns : turns.toReversed()) {
      // The garbage of one must not be collected in the time of another. Where it is little this would only cool caches.
      if (large) collectGarbage();
      const start = performance.now();
      await contender.run();
      if (round >= 0) times[index]?.push(performance.now() - start);
    }
  }
  return times;
}

type LongTermOptions = Pick<SignOptions, "level" | "timestampAuthority" | "revocationProvider">;

async function libpdf(
  authority: Authority,
  from: string,
  to: string,
  longTerm: LongTermOptions = {},
): Promise<Contender> {
  const [own, ...chain] = authority.seal.certificates;
  if (!own) throw new Error("no certificate");
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const der = createPrivateKey(readFileSync(authority.seal.keyPem)).export({ format: "der", type: "pkcs8" });
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
  const signer = new CryptoKeySigner(key, own, "RSA", "RSASSA-PKCS1-v1_5", chain);
  const run = async (): Promise<void> => {
    const pdf = await PDF.load(readFileSync(from));
    const about = { reason: "Completed", signingTime: new Date(AT), fieldName: "Seal" };
    const { bytes } = await pdf.sign({ signer, ...about, ...longTerm });
    writeFileSync(to, bytes);
  };
  return { name: "LibPDF", run };
}

function signpdf(authority: Authority, from: string, to: string, folder: string): Contender {
  const p12 = join(folder, "seal.p12");
  const { keyPem, pem } = authority.seal;
  const args = ["-inkey", keyPem, "-in", pem, "-certfile", authority.caPem, "-passout", "pass:bench", "-out", p12];
  // node-forge reads the older encryption only.
  execFileSync("openssl", ["pkcs12", "-export", "-legacy", ...args], { stdio: "pipe" });
  const archive = readFileSync(p12);
  const run = async (): Promise<void> => {
    // A signer reads its archive to the end once, so that each signature needs its own.
    const signer = new P12Signer(archive, { passphrase: "bench" });
    const pdfBuffer = plainAddPlaceholder({
      pdfBuffer: readFileSync(from),
      reason: "Completed",
      contactInfo: "",
      name: "Signet",
      location: "",
      signingTime: new Date(AT),
      signatureLength: 8192,
      subFilter: "ETSI.CAdES.detached",
    });
    writeFileSync(to, await new SignPdf().sign(pdfBuffer, signer, new Date(AT)));
  };
  return { name: "signpdf", run };
}

if (import.meta.main) {
  for (const { name, ratio, target, detail } of await benchSeal()) {
    console.log(`${ratio.toFixed(2).padStart(7)}  ${name}  (target ${target}; ${detail})`);
  }
}
