import type { Deps } from "../../kernel/deps.ts";
import type { RawBody } from "../../kernel/endpoint.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import type { Remember } from "../../kernel/request.ts";
import { docx, pdf } from "../../kernel/wire.ts";
import { type TemplateFile, templateLimits } from "./contract.ts";
import { inspected } from "./failures.ts";
import { presentFile } from "./present.ts";
import * as store from "./store.ts";

/**
 * Takes a PDF as the base of a template. Kept are the upload as it came and, where it had to be repaired or decrypted or
 * lost its active content, the PDF that counts.
 * @throws AppError `unsupported-media-type`, `invalid-document`, `not-found` when the template was deleted meanwhile
 */
export async function uploadFile(
  deps: Deps,
  template: string,
  body: RawBody,
  remember: Remember | null,
): Promise<TemplateFile> {
  if (body.contentType === docx) throw wordComesLater();
  const activeContent = deps.config.activeContent ?? null;
  const about = { pdf: body.bytes, maxPages: templateLimits.pages, activeContent };
  const found = await inspected(deps.pool.run("inspect", about));
  const source = await deps.blobs.put(body.bytes);
  const base = found.pdf === null ? source : await deps.blobs.put(found.pdf);
  const row: store.TemplateFileRow = {
    id: newId("tfl"),
    template,
    filename: body.filename,
    source_type: pdf,
    size: base.size,
    sha256: base.sha256,
    source_sha256: source.sha256,
    page_count: found.pageCount,
    pages: JSON.stringify(found.pages),
    has_form_fields: found.hasFormFields ? 1 : 0,
    warnings: JSON.stringify(found.warnings),
    created_at: deps.clock.ts(),
  };
  const uploaded = presentFile(row);
  await deps.db.tx(async (tx) => {
    if (!(await store.isTemplate(tx, template))) throw notFound("The template");
    await store.insertFile(tx, row);
    await remember?.(tx, { status: 201, body: uploaded });
  });
  return uploaded;
}

export function wordComesLater(): AppError {
  return new AppError("unsupported-media-type", {
    detail: "Word files come with a later version of this appliance. Save the document as PDF and upload that.",
  });
}
