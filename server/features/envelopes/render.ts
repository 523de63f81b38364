import type { DrawCode, Result, Warning } from "../../../workers/protocol.ts";
import type { Ts } from "../../kernel/clock.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { VariableValue } from "../templates/contract.ts";
import { type PublishedVersion, staticDrawings } from "../templates/service.ts";

/** The file in parts, base first; it is never needed in one piece. */
export type Rendered = { parts: readonly Uint8Array[]; pageCount: number; warnings: Warning[] };

/**
 * Draws revision 0: the template's PDF with its texts, variables and pictures. Fields stay empty, prefilled ones too:
 * each is drawn when its person has signed. The same input gives the same bytes.
 * @param input `at`: the time that is written into the file
 * @throws PoolBusy, TaskTimeout, TaskCrashed, BlobMissing, BlobDamaged
 */
export async function renderDocument(
  deps: Deps,
  input: {
    version: PublishedVersion;
    variables: Record<string, VariableValue>;
    locale: string;
    testMode: boolean;
    at: Ts;
    signal?: AbortSignal;
  },
): Promise<Result<Rendered, DrawCode>> {
  const { version, variables, locale, testMode, at, signal } = input;
  const pdf = await deps.blobs.get(version.fileSha256);
  const drawings = staticDrawings(version.content, version.variables, variables, locale);
  const drawn = await deps.pool.run(
    "stamp",
    { pdf, drawings, watermark: testMode ? "TEST" : null, at },
    signal === undefined ? {} : { signal },
  );
  if (!drawn.ok) return drawn;
  const { tail, pageCount, warnings } = drawn.value;
  return { ok: true, value: { parts: [pdf, tail], pageCount, warnings } };
}
