/** How long the seals of a file last, as far as the file itself proves it (ETSI EN 319 142-1 §6). */
import type { PdfFile } from "../pdf/reader.ts";
import type { SealLevel } from "../protocol.ts";
import { linksOf, type RevocationList, type Standing, standing } from "./crl.ts";
import { parseStored, storedData } from "./dss.ts";
import type { CheckedSignature, SealReport } from "./verify.ts";

/** Two authorities may each be off by what is tolerated when they are asked (300 s). */
const CLOCKS_APART_MS = 600_000;
const LEVELS: readonly SealLevel[] = ["B-B", "B-T", "B-LT", "B-LTA"];

/** Fills in levels, times and what the stored lists say. `own` in the order in which they were added. */
export function judgeLongTerm(report: SealReport, file: PdfFile, own: readonly CheckedSignature[]): void {
  checkTimes(own);
  const atEnd = listsOf(file);
  const stamps = own.filter(({ report: { kind, problems } }) => kind === "document-timestamp" && problems.length === 0);
  for (const seal of own) {
    if (seal.report.kind !== "seal") {
      checkRoot(seal, own);
      continue;
    }
    const verdict = standingOf(seal, atEnd);
    if (verdict === "revoked") seal.report.problems.push("revoked");
    if (seal.report.level !== "B-T" || verdict !== "good") continue;
    const lasting = stamps.some(({ report: { coveredTo, problems } }) => {
      if (coveredTo <= seal.report.coveredTo || problems.length > 0) return false;
      const lists = coveredTo === file.length ? atEnd : listsOf(file.earlier(coveredTo));
      return standingOf(seal, lists) === "good";
    });
    seal.report.level = lasting ? "B-LTA" : "B-LT";
  }
  const levels = own.flatMap(({ report: { kind, level } }) =>
    kind === "seal" && level ? [LEVELS.indexOf(level)] : [],
  );
  report.level = LEVELS[Math.min(...levels)] ?? null;
  const newest = own.findLast(({ report: { timestamp, problems } }) => timestamp && problems.length === 0);
  report.protectedUntil = newest?.report.timestamp?.validUntil ?? null;
}

const listsOf = (file: PdfFile): RevocationList[] => parseStored(storedData(file, file.catalog)).lists;

/** What the lists say of all certificates behind a seal at the time of its timestamp. */
function standingOf({ report, chain, timestampChain }: CheckedSignature, lists: readonly RevocationList[]): Standing {
  const at = report.timestamp?.at;
  if (!chain || !timestampChain || !at || report.timestamp?.problems.length !== 0) return "unknown";
  const all = [...linksOf(chain), ...linksOf(timestampChain)].map((link) =>
    standing(link, lists, { from: at, until: at }),
  );
  if (all.includes("revoked")) return "revoked";
  return all.includes("unknown") ? "unknown" : "good";
}

/** The installation's own authority carries nothing that needs excuse, as with the timestamps within seals. */
function checkRoot({ report, timestampChain }: CheckedSignature, own: readonly CheckedSignature[]): void {
  const root = timestampChain?.at(-1)?.sha256;
  const sealRoots = own.flatMap(({ chain }) => chain?.at(-1)?.sha256 ?? []);
  if (report.timestamp?.stray && root !== undefined && sealRoots.includes(root)) {
    report.problems.push("timestamp-invalid");
  }
}

function checkTimes(own: readonly CheckedSignature[]): void {
  let latest = Number.NEGATIVE_INFINITY;
  for (const { report } of own) {
    const at = report.timestamp?.problems.length === 0 ? Date.parse(report.timestamp.at ?? "") : Number.NaN;
    if (Number.isNaN(at)) continue;
    if (report.kind === "document-timestamp" && at < latest - CLOCKS_APART_MS) {
      report.problems.push("timestamp-out-of-order");
    }
    latest = Math.max(latest, at);
  }
}
