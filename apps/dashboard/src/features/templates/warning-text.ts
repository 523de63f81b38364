import type { Warning } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";

/** What the service says about a document, in the reader's language. */

const known = [
  "repaired",
  "decrypted",
  "signatures-removed",
  "already-signed",
  "form-fields",
  "portfolio",
  "missing-content",
  "annotation-over-page",
  "annotation-in-front",
  "picture-left-out",
  "text-under-whiteout",
  "tag-left",
  "text-shrunk",
  "text-tiny",
  "text-clipped",
  "missing-glyphs",
  "no-signature-field",
  "active-content",
  "active-content-kept",
  "javascript",
  "javascript-removed",
  "launch",
  "launch-removed",
  "submit-form",
  "submit-form-removed",
  "reset-form",
  "reset-form-removed",
  "import-data",
  "import-data-removed",
  "remote-link",
  "remote-link-removed",
  "embedded-link",
  "embedded-link-removed",
  "automatic-link",
  "automatic-link-removed",
  "set-layers",
  "set-layers-removed",
  "hide",
  "hide-removed",
  "transition",
  "transition-removed",
  "rendition",
  "rendition-removed",
  "movie",
  "movie-removed",
  "sound",
  "sound-removed",
  "rich-media",
  "rich-media-removed",
  "3d",
  "3d-removed",
  "projection",
  "projection-removed",
  "external-content",
  "external-content-removed",
  "embedded-files",
  "embedded-files-removed",
  "file-attachment",
  "file-attachment-removed",
  "associated-files",
  "associated-files-removed",
] as const;
type Known = (typeof known)[number];
const isKnown = (code: string): code is Known => known.some((one) => one === code);

/** With its page, where it is about one. Codes without a sentence here are said as the service says them. */
export function warningText({ code, message, page }: Warning): string {
  const t = translator("templates");
  const text = isKnown(code) ? t(`warning.${code}`) : message;
  return page === undefined ? text : t("upload.warningOnPage", { page, message: text });
}
