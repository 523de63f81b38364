/** Which fields a template of a PDF could have: those of its form, of tags in its text, and of its lines and boxes. */

import { PdfError } from "../pdf/objects.ts";
import { openPdf, type PdfFile } from "../pdf/reader.ts";
import type { Proposal, ProposedField, TaskResult, Tasks } from "../protocol.ts";
import { claimsToSign, signatureFields } from "../seal/fields.ts";
import { covered, DEFAULT_ROLE, Ids } from "./fields.ts";
import { fieldsOfWidgets, widgetsOf } from "./form.ts";
import { type FormProposal, proposalsOfField } from "./form-fields.ts";
import { fieldOfLine, type LineField, lineFields, partiesOf } from "./lines.ts";
import { PageReader } from "./page-content.ts";
import { fieldOfTag, type PlacedTag, tagsOnPage } from "./tags.ts";
import { textLines } from "./text-lines.ts";

/** A tag with its proposal, which is null when it has no room. */
export type TagProposal = { placed: PlacedTag; field: ProposedField | null };
/** All that was found, before what stands twice is left out. */
export type Found = { form: FormProposal[]; tags: TagProposal[]; lines: LineField[]; ids: Ids };

/** Of tags, and of lines: many times more than a template may have. */
const MAX_FOUND = 4_000;
/** Comparisons; a second or two. */
const MAX_EFFORT = 60_000_000;
/** Boxes of which one covers so much of the other stand for one field. */
const SAME = 0.3;

/**
 * In the order of the pages; on each those of the form in tab order, then the others from the top. Where several sources
 * found the same place, the form counts before tags, and tags before lines.
 */
export function propose({ pdf, limit }: Tasks["propose"]["input"]): TaskResult<"propose"> {
  try {
    const file = openPdf(pdf);
    file.makeRoom();
    const { form, tags, lines, ids } = findFields(file);
    const data: Proposal[] = form.map(({ field }) => ({ field, source: "form" }));
    for (const { field } of tags) if (field && !isTaken(field, data)) data.push({ field, source: "tag" });
    const parties = partiesOf(lines);
    const others: Proposal[] = lines.flatMap((line, index) => {
      const field = fieldOfLine(line, parties[index] ?? DEFAULT_ROLE, ids);
      return field && !isTaken(field, data) ? [{ field, source: "line" as const }] : [];
    });
    const sorted = inOrder([...data, ...others]).slice(0, limit);
    return { ok: true, value: { data: sorted, roles: [...new Set(sorted.map(({ field }) => field.role))] } };
  } catch (error) {
    if (!(error instanceof PdfError)) throw error;
    const code = error.code === "too-complex" ? "too-complex" : "damaged";
    return { ok: false, error: { code, message: error.message } };
  }
}

/** Reads the whole file. The ids of forms and tags do not depend on what its lines look like. @throws PdfError */
export function findFields(file: PdfFile, withLines = true): Found {
  const ids = new Ids();
  const form = fieldsOfWidgets(file, widgetsOf(file)).flatMap((field) => proposalsOfField(field, ids));
  const reader = new PageReader(file);
  const tags: TagProposal[] = [];
  const lines: LineField[] = [];
  const effort = { left: MAX_EFFORT };
  for (const page of file.pages()) {
    const content = reader.read(page);
    if (!content) continue;
    const text = textLines(content.letters);
    const placed = tagsOnPage(page, text).slice(0, MAX_FOUND - tags.length);
    tags.push(...placed.map((tag) => ({ placed: tag, field: fieldOfTag(tag, ids) })));
    if (withLines && lines.length < MAX_FOUND) lines.push(...lineFields(page, content, text, effort));
  }
  return { form, tags, lines, ids };
}

/** Files that others signed stay as they are. Usage rights of a form sign nothing that anybody agreed to. */
export const isSigned = (file: PdfFile): boolean =>
  [...signatureFields(file)].some(({ value }) => claimsToSign(file, value));

const boxesOf = (field: ProposedField) => field.options?.flatMap(({ box }) => box ?? []) ?? [];

function isTaken(field: ProposedField, data: readonly Proposal[]): boolean {
  return data.some(({ field: other }) => {
    const places = boxesOf(other);
    return (places.length > 0 ? places : [other]).some(
      (box) => covered(field, box) > SAME || covered(box, field) > SAME,
    );
  });
}

function inOrder(proposals: readonly Proposal[]): Proposal[] {
  const rank = ({ source, field }: Proposal): number[] => [field.page, source === "form" ? 0 : 1];
  return proposals.toSorted((a, b) => {
    const [first, second] = [rank(a), rank(b)];
    const byRank = (first[0] ?? 0) - (second[0] ?? 0) || (first[1] ?? 0) - (second[1] ?? 0);
    return byRank !== 0 || a.source === "form" ? byRank : levelOf(a) - levelOf(b) || a.field.x - b.field.x;
  });
}

/** Points: lower edges that differ by less are mostly in one line. */
const LEVEL = 8;
const levelOf = ({ field }: Proposal): number => Math.round((field.y + field.height) / LEVEL);
