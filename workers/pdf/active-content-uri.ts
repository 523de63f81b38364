/** What following a URI does (ISO 32000-1 §12.6.4.7) besides leading somewhere. */
import { type PdfString, textOf } from "./objects.ts";

const SCRIPTS = new Set(["javascript", "vbscript", "jscript", "livescript"]);
/** Lead to a page, a mailbox, a telephone or a place, or only name something. Every other scheme starts some program. */
const ORDINARY = new Set("http https ftp ftps mailto tel fax sms sip sips geo urn doi".split(" "));

/**
 * `javascript` for a script; `launch` for what has a program or a file opened, be it on another computer; null for an
 * ordinary address and for what is relative to one.
 */
export function dangerOf(uri: PdfString): "javascript" | "launch" | null {
  // Browsers skip these, wherever they stand in a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  const text = textOf(uri).replace(/[\x00-\x20]+/g, "");
  if (/^[\\/]{2}/.test(text)) return "launch";
  // A host with its port has no scheme.
  if (/^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+):\d/i.test(text)) return null;
  const scheme = /^([a-z0-9][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || ORDINARY.has(scheme)) return null;
  return SCRIPTS.has(scheme) ? "javascript" : "launch";
}
