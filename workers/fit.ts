/** How texts go into their boxes: measured by the template that draws them, so that what is told is what is drawn. */
import { itemOf } from "./overlay.ts";
import type { TaskResult, Tasks, TextFit } from "./protocol.ts";
import { typeset } from "./typeset.ts";

/** For each drawing how its text fits; null for what is no text and for combs, whose cells say how much fits. */
export async function measureTexts({ drawings }: Tasks["fit"]["input"]): Promise<TaskResult<"fit">> {
  const fits: (TextFit | null)[] = drawings.map(() => null);
  const items = drawings.flatMap((drawing, id) => {
    const item = itemOf(drawing, id)?.item;
    if (item === undefined || (item.kind !== "line" && item.kind !== "paragraphs")) return [];
    if (!item.fits) return [{ ...item, measured: true }];
    fits[id] = { size: item.size, fits: true, room: null };
    return [];
  });
  if (items.length > 0) {
    const fonts = new Set(items.flatMap((item) => item.fonts));
    const pages = [{ width: 10, height: 10, items }];
    const { notes } = await typeset({ template: "overlay.typ", data: { pages }, fonts });
    for (const note of notes) if (isFit(note)) fits[note.id] = { size: note.size, fits: note.fits, room: note.room };
  }
  return { ok: true, value: { fits } };
}

function isFit(note: unknown): note is TextFit & { id: number } {
  return (
    typeof note === "object" && note !== null && "id" in note && "size" in note && "fits" in note && "room" in note
  );
}
