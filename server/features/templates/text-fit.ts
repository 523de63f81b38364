import type { TextStyle } from "./fields.ts";

/** What page and document must agree on about the texts of fields before one is measured. Isomorphic, pure. */

type TextField = { width: number; height: number } & Pick<TextStyle, "size" | "padding" | "face" | "baseline">;

/** How the text of a field is set; empty for fields without a style. */
export function textStyleOf(field: TextStyle | object): TextStyle {
  return field;
}

/** Points that a field's text is set in unless it is too long: its own, else as large as its box and a normal hand allow. */
export function fieldTextSize({ size, height }: Pick<TextField, "size" | "height">): number {
  return size ?? Math.min(11, Math.max(6, height * 0.62));
}

/** Whether a text fits on one line of its box however wide its letters are: then nobody need measure it. */
export function surelyFits(text: string, field: TextField): boolean {
  // No Latin letter of the body font is wider than its size.
  if (field.face !== undefined || field.baseline !== undefined || !/^[ -~\u00a1-\u017f]*$/.test(text)) return false;
  const size = fieldTextSize(field);
  const padding = field.padding ?? 0;
  return size <= field.height * 0.9 - padding && text.length * size <= field.width - 2 * padding;
}
