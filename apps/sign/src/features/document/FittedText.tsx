import type { CSSProperties } from "react";
import { fieldTextSize, textStyleOf } from "../../../../../server/features/templates/text-fit.ts";
import { drawnText, isAutomatic, type Mine } from "./fields.ts";
import { useFilling } from "./store.ts";
import "../../../../shared/ui/signature/fonts.css";

type Props = { field: Mine; box: Mine["boxes"][number]; scale: number };

/** The text of a field as the document will show it: in its face and size, on as many lines. Only for the eye. */
export function FittedText({ field, box, scale }: Props) {
  const filling = useFilling();
  const text = drawnText(field, filling.view, filling.answers);
  if (text === null || text.trim() === "") return null;
  const style = textStyleOf(field);
  const { face, weight, italic, underline, color, align, lineHeight = 1.25, baseline, padding = 0 } = style;
  const measured = filling.fits.get(field.id);
  const fit = measured?.text === text ? measured : undefined;
  const usual = fieldTextSize({ size: style.size, height: box.height });
  const multiline = field.type === "text_input" && field.multiline === true;
  // What is too long to be read is not taken: how small it would have to be is of no use to anybody.
  const refused = fit !== undefined && !fit.fits && !isAutomatic(field);
  const size = refused
    ? Math.min(6, usual)
    : (fit?.size ?? (multiline || baseline !== undefined ? usual : Math.min(usual, box.height * 0.9)));
  const top = baseline === undefined ? (multiline ? padding : null) : baseline - size * (lineHeight / 2 + 0.388);
  const css: CSSProperties = {
    fontFamily: `"${face ?? "Noto Sans"}", "Noto Sans", sans-serif`,
    fontSize: size * scale,
    fontWeight: weight,
    fontStyle: italic ? "italic" : undefined,
    textDecoration: underline ? "underline" : undefined,
    color,
    textAlign: align,
    lineHeight,
    paddingInline: padding * scale,
    ...(top === null ? { alignContent: "center" } : { paddingBlockStart: Math.max(0, top * scale) }),
  };
  return (
    <span className="field-fitted" style={css} dir="auto" aria-hidden="true">
      {text}
    </span>
  );
}
