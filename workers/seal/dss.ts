/** The document security store (ETSI EN 319 142-1 §5.4.2, ISO 32000-2 §12.8.4.3): certificates and revocation lists. */
import { hash } from "node:crypto";
import { decodeStream } from "../pdf/filters.ts";
import { name, type ObjectSource, PdfDict, PdfError, type PdfObject, PdfStream } from "../pdf/objects.ts";
import type { Revision } from "../pdf/revision.ts";
import { type Certificate, parseCertificate } from "./certificate.ts";
import { parseRevocationList, type RevocationList } from "./crl.ts";
import { DerError } from "./der.ts";

/** DER, as it stands in the store. */
export type StoredData = { certificates: Uint8Array[]; lists: Uint8Array[] };

const EXTENSION_LEVEL = 5;
const MAX_ENTRIES = 1000;
const MAX_BYTES = 32 * 1024 * 1024;

/** Adds what the store does not hold yet. @returns false when there was nothing to add */
export function addToStore(revision: Revision, data: StoredData): boolean {
  const before = storedData(revision, revision.catalog);
  const certificates = missing(before.certificates, data.certificates);
  const lists = missing(before.lists, data.lists);
  if (certificates.length + lists.length === 0) return false;
  const { catalog, base } = revision;
  const store = revision.dict(catalog.get("DSS"))?.clone() ?? new PdfDict();
  const extend = (key: string, added: readonly Uint8Array[]) => {
    if (added.length === 0) return;
    const refs = added.map((der) => revision.addStream(new PdfDict(), der));
    store.set(key, [...(revision.array(store.get(key)) ?? []), ...refs]);
  };
  extend("Certs", certificates);
  extend("CRLs", lists);
  const extensions = revision.dict(catalog.get("Extensions"))?.clone() ?? new PdfDict();
  extensions.set(
    "ESIC",
    new PdfDict([
      ["BaseVersion", name("1.7")],
      ["ExtensionLevel", EXTENSION_LEVEL],
    ]),
  );
  revision.set(base.catalogRef, catalog.clone().set("DSS", revision.add(store)).set("Extensions", extensions));
  return true;
}

function missing(held: readonly Uint8Array[], wanted: readonly Uint8Array[]): Uint8Array[] {
  const known = new Set(held.map(sha256));
  return wanted.filter((der) => {
    const own = sha256(der);
    if (known.has(own)) return false;
    known.add(own);
    return true;
  });
}
const sha256 = (der: Uint8Array): string => hash("sha256", der, "hex");

/** What a document's store holds, in its order; streams that cannot be read are left out. @throws PdfError `too-complex` */
export function storedData(file: ObjectSource, catalog: PdfDict): StoredData {
  const store = file.dict(catalog.get("DSS"));
  const budget = { objects: 0, scan: 0, inflate: MAX_BYTES };
  let left = MAX_BYTES;
  const read = (key: string): Uint8Array[] => {
    const entries = file.array(store?.get(key)) ?? [];
    if (entries.length > MAX_ENTRIES) throw new PdfError("too-complex", "too much in the document security store");
    return entries.flatMap((entry: PdfObject) => {
      const stream = file.resolve(entry);
      if (!(stream instanceof PdfStream)) return [];
      const bytes = bytesOf(file, stream, budget);
      left -= bytes?.length ?? 0;
      if (left < 0) throw new PdfError("too-complex", "too much in the document security store");
      return bytes ? [bytes] : [];
    });
  };
  return { certificates: read("Certs"), lists: read("CRLs") };
}

function bytesOf(file: ObjectSource, stream: PdfStream, budget: Parameters<typeof decodeStream>[2]): Uint8Array | null {
  try {
    return stream.dict.has("Filter") ? decodeStream(file, stream, budget, MAX_BYTES) : stream.raw;
  } catch (error) {
    if (error instanceof PdfError) return null;
    throw error;
  }
}

/** The store parsed; what is no certificate or no list that is judged here counts as absent. */
export function parseStored(data: StoredData): { certificates: Certificate[]; lists: RevocationList[] } {
  return {
    certificates: data.certificates.flatMap((der) => readable(() => parseCertificate(der))),
    lists: data.lists.flatMap((der) => readable(() => parseRevocationList(der))),
  };
}

export function readable<T>(parse: () => T): T[] {
  try {
    return [parse()];
  } catch (error) {
    if (error instanceof DerError) return [];
    throw error;
  }
}
