import { sql } from "kysely";
import { expect, test } from "vitest";
import { startAppliance } from "../../harness/appliance.ts";

/**
 * Every column of the database that may hold the hash of a blob. One that is neither known to the collection of garbage
 * nor said here to be no name would lose its files: whoever adds a column decides.
 */
const collected = [
  "envelopes.certificate_sha256",
  "envelopes.document_sha256",
  "envelopes.sealed_sha256",
  "leaves.document_sha256",
  "revisions.sha256",
  "signing_attachments.sha256",
  "signing_submissions.initials",
  "signing_submissions.signature",
  "template_files.sha256",
  "template_files.source_sha256",
  "template_versions.file_sha256",
];
/** Hashes of tokens and secrets, of documents that another column names, and signatures over something else. */
const noNames =
  /_(tokens|accesses|links|anchors)\.sha256$|\.(secret|token|access|challenge|state|browser)_sha256$|^((anchors|key_records|operator_heads)\.signature|signing_served\.sha256|consent_texts\.sha256|signing_submissions\.document_sha256)$/;

test("every column that names a blob is known to the collection", async () => {
  const app = await startAppliance();
  const { rows } = await sql<{ name: string }>`
    select m.name || '.' || p.name as name from sqlite_master m join pragma_table_info(m.name) p
    where m.type = 'table' and (p.name like '%sha256%' or p.name like '%blob%' or p.name in ('signature', 'initials'))
    order by 1
  `.execute(app.deps.db.read as Parameters<ReturnType<typeof sql>["execute"]>[0]);
  await app.stop();
  const names = rows.map(({ name }) => name);
  for (const name of collected) expect(names).toContain(name);
  const unknown = names.filter((name) => !collected.includes(name) && !noNames.test(name));
  expect(unknown).toEqual([]);
});
