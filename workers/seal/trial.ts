/** Whether a document can be signed and sealed, and the seal be verified and renewed: all of it is done once with keys that nobody trusts. */
import { dict, name, PdfDict, PdfError, PdfRef, PdfStream } from "../pdf/objects.ts";
import type { PdfFile } from "../pdf/reader.ts";
import { Objects, rewritePdf } from "../pdf/rewrite.ts";
import type { Drawing, TaskPorts, TimestampSource } from "../protocol.ts";
import { requireDrawable, stamp } from "../stamp.ts";
import { storedData } from "./dss.ts";
import { coverage, findSignatures } from "./fields.ts";
import { sealTask } from "./task.ts";
import { throwawayKeys } from "./throwaway.ts";

// What a file may bring along; the verifier bears several times as much, so that room is left for what is added here.
const MAX_FIELDS = 50_000;
const MAX_SIGNATURES = 32;
const MAX_STORED = 500;
/** Units of what stamping, sealing and verifying read of it; later they may keep twice as much of the document (`makeRoom`). */
const MAX_READ = 3_500_000;

/** When a trial takes place: the same file is treated in the same way at all times. */
const AT = "2000-01-01T00:00:00.000Z";

/**
 * Reads what stamping needs of every page, stamps the first and the last, appends certificate pages, seals with validation data and a document timestamp, and
 * verifies the whole: with the same code as later, but for text, which is typeset nowhere here.
 * @throws PdfError when the document stands in the way of any of that
 */
export async function trySealing(file: PdfFile, pageCount: number): Promise<void> {
  const signatures = findSignatures(file, MAX_FIELDS);
  if (signatures.length > MAX_SIGNATURES) throw new PdfError("too-complex", "too many signatures");
  if (signatures.some((one) => one.byteRange.length > 0 && coverage(one, file.length) < 0)) {
    throw new PdfError("damaged", "a signature speaks of bytes that are not there");
  }
  const stored = storedData(file, file.catalog);
  if (stored.certificates.length + stored.lists.length > MAX_STORED) {
    throw new PdfError("too-complex", "too much in the document security store");
  }
  requireDrawable(file);
  const form = file.dict(file.catalog.get("AcroForm"));
  // What is written anew with stamps and seals, besides what has been read by now.
  for (const part of [file.trailer.get("Info"), file.catalog.get("Extensions"), form?.get("DR")]) file.resolve(part);
  if (file.kept > MAX_READ) throw new PdfError("too-complex", "too many objects");
  await trySeal(await tryStamps(file.bytes, pageCount));
}

/** A picture, too, since it needs a place among the page's resources. */
async function tryStamps(pdf: Uint8Array, pageCount: number): Promise<Uint8Array> {
  const box = { x: 10, y: 10, width: 10, height: 10 };
  const drawings = [...new Set([1, pageCount])].flatMap((page): Drawing[] => [
    { kind: "check", page, ...box },
    { kind: "image", image: DOT, page, ...box },
  ]);
  const stamped = await stamp({ pdf, drawings, watermark: null, at: AT });
  if (stamped.ok) return Buffer.concat([pdf, stamped.value.tail]);
  throw new PdfError(
    stamped.error.code === "too-complex" ? "too-complex" : "damaged",
    `nothing can be drawn on it: ${stamped.error.message}`,
  );
}

async function trySeal(pdf: Uint8Array): Promise<void> {
  const { seal, timestamp } = throwawayKeys();
  const source: TimestampSource = {
    kind: "built-in",
    certificates: [timestamp.certificate],
    policy: "1.2.3",
    serial: "1",
    privateKey: timestamp.privateKey,
  };
  const sealed = await sealTask(
    {
      pdf,
      pages: certificatePages(),
      certificates: [seal.certificate],
      key: "ec-p256",
      privateKey: seal.privateKey,
      at: AT,
      name: "Trial",
      reason: "Trial",
      location: null,
      level: "B-LTA",
      fieldName: "Signet trial",
      timestamp: source,
      archive: { ...source, serial: "2" },
    },
    PORTS,
  );
  if (!sealed.ok) throw new PdfError(codeOf(sealed.error), `it cannot be sealed: ${sealed.error.message}`);
  const { level, shortfall } = sealed.value;
  if (level !== "B-LTA") throw new PdfError("damaged", `its seal cannot be made to last: ${shortfall}`);
}

const codeOf = ({ detail }: { detail?: Record<string, string | number> }): PdfError["code"] =>
  detail?.cause === "too-complex" ? "too-complex" : "damaged";

const unasked = (): Promise<never> => Promise.reject(new Error("a trial asks nobody"));
/** Both keys are at hand, and their certificates are their own roots, of which no revocation list speaks. */
const PORTS: TaskPorts = {
  sign: unasked,
  signTimestamp: unasked,
  timestampTime: async () => Buffer.from(AT, "ascii"),
  requestTimestamp: unasked,
  revocationList: unasked,
};

/** One grey pixel as PNG. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
  "base64",
);

let pages: Uint8Array | null = null;

/** A PDF of one page with a line on it, in place of the certificate of completion. */
function certificatePages(): Uint8Array {
  const catalog = new PdfRef(1);
  const tree = new PdfRef(2);
  const page = new PdfRef(3);
  const content = new PdfRef(4);
  pages ??= rewritePdf(
    new Objects([
      [catalog, dict({ Type: name("Catalog"), Pages: tree })],
      [tree, dict({ Type: name("Pages"), Kids: [page], Count: 1, MediaBox: [0, 0, 595, 842] })],
      [page, dict({ Type: name("Page"), Parent: tree, Contents: content, Resources: new PdfDict() })],
      [content, new PdfStream(new PdfDict(), Buffer.from("10 10 m 20 20 l S"))],
    ]),
    dict({ Root: catalog }),
  );
  return pages;
}
