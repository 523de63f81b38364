import type { Deps } from "../../kernel/deps.ts";
import {
  type FieldProposals,
  isField,
  type OverlayContent,
  PlacedField,
  templateLimits,
  type Warning,
} from "./contract.ts";
import { drawn } from "./failures.ts";
import type { TemplateFileRow } from "./store.ts";

/** Fields that a file brings along, and what becomes of the file when a version takes them. */

/**
 * What the fields of a template on this file could be. Nothing is stored: the same file gives the same answer.
 * @throws AppError `render-failed` for a file that is too complex
 */
export async function proposeFields(deps: Deps, file: TemplateFileRow): Promise<FieldProposals> {
  const pdf = await deps.blobs.get(file.sha256);
  const found = await drawn(deps.pool.run("propose", { pdf, limit: templateLimits.fields }), { parameter: "file" });
  // Whatever names and values a file holds, only what a draft may hold comes out.
  const data = found.data.flatMap(({ field, source }) => {
    const parsed = PlacedField.safeParse(field);
    return parsed.success ? [{ field: parsed.data, source }] : [];
  });
  return { data, roles: [...new Set(data.map(({ field }) => field.role))] };
}

/** The PDF that a version is drawn on, in parts. */
export type Base = { parts: Uint8Array[]; formTaken: boolean; warnings: Warning[] };

/**
 * The file as it is, or with its form flattened and its tags gone when fields of the version take their place. Files that others signed
 * stay as they are.
 * @param at ISO 8601, is written into the file
 * @throws AppError `render-failed`
 */
export async function baseOf(
  deps: Deps,
  { content, fileSha256, at }: { content: OverlayContent; fileSha256: string; at: string },
  place: { pointer: string } | { parameter: string },
): Promise<Base> {
  const pdf = await deps.blobs.get(fileSha256);
  const fields = content.items.filter(isField).map((field) => ({ id: field.id, boxes: boxesOf(field) }));
  if (fields.length === 0) return { parts: [pdf], formTaken: false, warnings: [] };
  const { tail, formTaken, warnings } = await drawn(deps.pool.run("takeProposals", { pdf, fields, at }), place);
  return { parts: tail ? [pdf, tail] : [pdf], formTaken, warnings };
}

/** The places that a field takes: those of its options where each has one. */
function boxesOf(field: PlacedField) {
  const own = field.type === "radio" ? field.options.flatMap(({ box }) => box ?? []) : [];
  const { page, x, y, width, height } = field;
  return own.length > 0 ? own : [{ page, x, y, width, height }];
}
