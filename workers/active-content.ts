/** What becomes of active content in an upload, and how its author is told. */
import { type ActiveKind, activeKinds, isAttachment } from "./pdf/active-content.ts";
import type { ActiveContentPolicy, Warning } from "./protocol.ts";
import { Refusal } from "./repair.ts";

/** What a document of this kind holds or does, as the middle of a sentence. */
const WORDS: Record<ActiveKind, string> = {
  javascript: "scripts (JavaScript)",
  launch: "actions that open programs or files",
  "submit-form": "actions that send form data to an address",
  "reset-form": "actions that clear its form",
  "import-data": "actions that fill its form from a file",
  "remote-link": "links to other files",
  "embedded-link": "links into attached files",
  "automatic-link": "actions that open an address without a click",
  "set-layers": "actions that show or hide layers",
  hide: "actions that show or hide form fields or comments",
  transition: "actions that play transitions",
  rendition: "multimedia",
  movie: "videos",
  sound: "sounds",
  "rich-media": "interactive media",
  "3d": "3D models",
  projection: "comments on 3D models",
  "external-content": "references to content of other files",
  "embedded-files": "attached files",
  "file-attachment": "files attached to pages",
  "associated-files": "files attached to parts of it",
};

const verb = (kind: ActiveKind): string => (kind === "rendition" ? "was" : "were");

export type Decision = {
  removed: ReadonlySet<ActiveKind>;
  /** Would be removed, were the document not signed by others. */
  spared: boolean;
};

/**
 * @param signed whether removing anything would end the signatures of others
 * @throws Refusal `active-content`
 */
export function decideActiveContent(
  found: ReadonlyMap<ActiveKind, number>,
  policy: ActiveContentPolicy | undefined,
  signed: boolean,
): Decision {
  const kinds = activeKinds.filter((kind) => found.has(kind));
  if (policy === "refuse" && kinds.length > 0) {
    const list = kinds.map((kind) => WORDS[kind]).join(", ");
    throw new Refusal("active-content", `The PDF contains ${list}. Documents with such content are not accepted here.`);
  }
  const removed = kinds.filter((kind) => policy === "remove" || (policy !== "warn" && !isAttachment(kind)));
  return { removed: new Set(signed ? [] : removed), spared: signed && removed.length > 0 };
}

/** One for each kind; a code with `-removed` behind it says that it is gone. */
export function activeContentWarnings(found: ReadonlyMap<ActiveKind, number>, decision: Decision): Warning[] {
  const warnings = activeKinds.flatMap((kind): Warning[] => {
    const count = found.get(kind);
    if (count === undefined) return [];
    return decision.removed.has(kind)
      ? [
          {
            code: `${kind}-removed`,
            message: `The document contained ${WORDS[kind]}, which ${verb(kind)} removed.`,
            count,
          },
        ]
      : [{ code: kind, message: `The document contains ${WORDS[kind]}.`, count }];
  });
  if (!decision.spared) return warnings;
  const message = "The document is signed, so its active content was kept: removing it would end those signatures.";
  return [...warnings, { code: "active-content-kept", message }];
}
