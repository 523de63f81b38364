import type { DrawCode, Result } from "../../../workers/protocol.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { OverlayContent, Variable } from "./contract.ts";
import { staticDrawings } from "./drawings.ts";
import type { FieldBoxes, Rendered, RenderInput } from "./rendering.ts";

/** What is placed on an uploaded PDF: one of the two ways in which a version makes its document. */

type Overlay = {
  content: OverlayContent;
  variables: readonly Variable[];
  /** Blob of the PDF that everything is drawn on. */
  fileSha256: string;
  boxes: FieldBoxes;
};

/** The uploaded PDF with its texts, variables and pictures. @throws as `PublishedVersion.render` */
export async function renderOverlay(
  deps: Pick<Deps, "blobs" | "pool">,
  { content, variables, fileSha256, boxes }: Overlay,
  input: RenderInput,
): Promise<Result<Rendered, DrawCode>> {
  const { locale, testMode, at, signal } = input;
  const pdf = await deps.blobs.get(fileSha256);
  const drawings = staticDrawings(content, variables, input.variables, locale);
  const drawn = await deps.pool.run(
    "stamp",
    { pdf, drawings, watermark: testMode ? "TEST" : null, at },
    signal === undefined ? {} : { signal },
  );
  if (!drawn.ok) return drawn;
  const { tail, pageCount, warnings } = drawn.value;
  return { ok: true, value: { parts: [pdf, tail], pageCount, warnings, boxes } };
}
