import { z } from "zod";
import type { Ts } from "../../kernel/clock.ts";
import { ownMember, recordOf } from "../../kernel/record.ts";
import { type Box, type Field, isField, type OverlayItem, type PlacedField } from "./fields.ts";
import type { VariableValue } from "./variables.ts";
import type { Warning } from "./version-contract.ts";

/** What rendering a version gives: the document, and where its fields lie. Pure. */

/** By field id. */
export type FieldBoxes = Readonly<Record<string, Box>>;

/** Revision 0 of an envelope. The file comes in parts, base first: it is never needed in one piece. */
export type Rendered = {
  parts: readonly Uint8Array[];
  pageCount: number;
  warnings: Warning[];
  /** Where each field lies. A field that the variables leave out has no box and is not asked for. */
  boxes: FieldBoxes;
};

export type RenderInput = {
  variables: Record<string, VariableValue>;
  locale: string;
  testMode: boolean;
  /** The time that is written into the file. */
  at: Ts;
  signal?: AbortSignal;
};

/** Stored with revision 0: `[page, x, y, width, height]`, by field id. Never change what is stored. */
const StoredBoxes = recordOf(z.string(), z.tuple([z.int(), z.number(), z.number(), z.number(), z.number()]));

export function storedBoxes(boxes: FieldBoxes): string {
  const packed = Object.entries(boxes).map(([id, box]) => [id, [box.page, box.x, box.y, box.width, box.height]]);
  return JSON.stringify(Object.fromEntries(packed));
}

export function readBoxes(text: string): FieldBoxes {
  const packed = Object.entries(StoredBoxes.parse(JSON.parse(text)));
  return Object.fromEntries(packed.map(([id, [page, x, y, width, height]]) => [id, { page, x, y, width, height }]));
}

export function overlayBoxes({ items }: { items: readonly OverlayItem[] }): FieldBoxes {
  const fields = items.filter(isField);
  return Object.fromEntries(
    fields.map(({ id, page, x, y, width, height }) => [id, { page, x, y, width, height }] as const),
  );
}

/** The fields that the document has, each where it lies in it. */
export function placeFields(fields: readonly Field[], boxes: FieldBoxes): PlacedField[] {
  return fields.flatMap((field) => {
    const box = ownMember(boxes, field.id);
    return box === undefined ? [] : [{ ...field, ...box }];
  });
}
