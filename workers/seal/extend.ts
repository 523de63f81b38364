/** Raises or renews a sealed file by appending; what stands in it stays byte for byte. */
import { PdfError } from "../pdf/objects.ts";
import { openPdf } from "../pdf/reader.ts";
import type { LongTermPorts, Result, SealCode, Tasks } from "../protocol.ts";
import { hashOf, type Prolonged, prolong } from "./long-term.ts";
import { examineSealedPdf } from "./verify.ts";

/**
 * The revisions that are missing on the way to the goal, or one more document timestamp with `renew`; an empty tail when
 * nothing could be added. Only a file that verifies is extended.
 */
export async function extend(
  input: Tasks["extend"]["input"],
  ports: LongTermPorts,
): Promise<Result<Prolonged & { protectedUntil: string | null }, SealCode>> {
  const { pdf, trusted, trustedTimestamp, goal, renew, at } = input;
  const { report, chains } = examineSealedPdf(pdf, { trusted, trustedTimestamp, at });
  const { valid, level } = report;
  const seal = report.signatures.findLast(({ kind, foreign }) => kind === "seal" && !foreign);
  if (!valid || !seal || level === null || level === "B-B") {
    const wrong = [...report.problems, ...report.signatures.flatMap(({ problems }) => problems)];
    const message = `the file cannot be extended: ${wrong.join(", ") || `its level is ${level}`}`;
    return { ok: false, error: { code: "seal-invalid", message } };
  }
  const stamps = report.signatures.filter(({ kind, foreign }) => kind === "document-timestamp" && !foreign);
  const fieldName = `${seal.field} T${stamps.length + 1}`;
  try {
    const given = { chains, goal, reached: level, renew, fieldName, at };
    const file = openPdf(pdf);
    file.makeRoom();
    const longer = await prolong(file, hashOf(pdf), given, ports);
    return { ok: true, value: { ...longer, protectedUntil: level === "B-LTA" ? report.protectedUntil : null } };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    return { ok: false, error: { code: "damaged", message: error.message, detail: { cause: error.code } } };
  }
}
