import type { Reader } from "../../kernel/db.ts";

/**
 * Which blobs are named by rows. Blobs are shared by content: a file goes only when nothing names it any more. Columns of
 * hashes that are no names stand in `test/features/retention/names.test.ts`, which knows every column of the database.
 */

const atOnce = 200;

/**
 * Remembers every blob that a row names, by its first 48 bits: a few bytes each. Two blobs may share them, so that one is
 * rarely called named which is not; never the other way round.
 */
export async function indexNames(reader: Reader): Promise<(sha256: string) => boolean> {
  let places = new Float64Array(1024);
  let count = 0;
  for await (const sha256 of namedBlobs(reader)) {
    if (count === places.length) {
      const larger = new Float64Array(count * 2);
      larger.set(places);
      places = larger;
    }
    places[count] = placeOf(sha256);
    count += 1;
  }
  const sorted = places.subarray(0, count).sort();
  return (sha256) => {
    const place = placeOf(sha256);
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? place) < place) low = middle + 1;
      else high = middle;
    }
    return low < count && sorted[low] === place;
  };
}

const placeOf = (sha256: string) => Number.parseInt(sha256.slice(0, 12), 16);

/**
 * SHA-256 of every blob that a row names, some of them often. Memory stays the same however many there are. Read in pages
 * beside a running server: a name never moves to where the walk has been, for all but those of templates are put anew, which
 * makes a file young, and within a template a file is read before the versions that take its name over.
 */
export async function* namedBlobs(reader: Reader): AsyncGenerator<string> {
  for await (const { sha256 } of namedTemplateFiles(reader)) yield sha256;
  let after = "";
  for (;;) {
    const page = await reader
      .selectFrom("envelopes")
      .select(["id", "document_sha256", "sealed_sha256", "certificate_sha256", "documents_deleted_at"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(atOnce)
      .execute();
    const kept = page.filter((row) => row.documents_deleted_at === null);
    for (const row of kept) yield* present([row.document_sha256, row.sealed_sha256, row.certificate_sha256]);
    if (kept.length > 0)
      yield* ofEnvelopes(
        reader,
        kept.map(({ id }) => id),
      );
    const last = page.at(-1);
    if (last === undefined || page.length < atOnce) return;
    after = last.id;
  }
}

/** What templates and their versions name. */
export async function* namedTemplateFiles(reader: Reader): AsyncGenerator<{ template: string; sha256: string }> {
  let after = "";
  for (;;) {
    const page = await reader
      .selectFrom("templates")
      .select("id")
      .where("id", ">", after)
      .orderBy("id")
      .limit(atOnce)
      .execute();
    const ids = page.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    const files = await reader
      .selectFrom("template_files")
      .select(["template", "sha256", "source_sha256"])
      .where("template", "in", ids)
      .execute();
    for (const { template, sha256, source_sha256 } of files)
      for (const name of new Set([sha256, source_sha256])) yield { template, sha256: name };
    const versions = await reader
      .selectFrom("template_versions")
      .select(["template", "file_sha256"])
      .where("template", "in", ids)
      .execute();
    for (const { template, file_sha256: sha256 } of versions) yield { template, sha256 };
    if (ids.length < atOnce) return;
    after = last;
  }
}

async function* ofEnvelopes(reader: Reader, ids: string[]): AsyncGenerator<string> {
  const revisions = await reader.selectFrom("revisions").select("sha256").where("envelope", "in", ids).execute();
  for (const { sha256 } of revisions) yield sha256;
  // Each state of the sealed file: a seal that was raised later left the earlier one behind.
  const leaves = await reader.selectFrom("leaves").select("document_sha256").where("envelope", "in", ids).execute();
  for (const { document_sha256: sha256 } of leaves) yield sha256;
  const attachments = await reader
    .selectFrom("signing_attachments")
    .select("sha256")
    .where("envelope", "in", ids)
    .execute();
  for (const { sha256 } of attachments) yield sha256;
  const submissions = await reader
    .selectFrom("signing_submissions")
    .select(["signature", "initials"])
    .where("envelope", "in", ids)
    .execute();
  for (const { signature, initials } of submissions) yield* present([pictureOf(signature), pictureOf(initials)]);
}

function pictureOf(signature: string | null): string | null {
  const stored: { imageSha256?: string } = signature === null ? {} : JSON.parse(signature);
  return stored.imageSha256 ?? null;
}

function present(hashes: readonly (string | null)[]): string[] {
  return hashes.filter((hash) => hash !== null);
}
