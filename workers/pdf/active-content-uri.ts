/** What following a URI does (ISO 32000-1 §12.6.4.7) besides leading somewhere. */
import { type PdfString, textOf } from "./objects.ts";

const SCRIPTS = new Set(["javascript", "vbscript", "jscript", "livescript"]);
/**
 * Schemes by which a link opens a file or hands orders to a program of the reader's machine. Everything else leads to a page, a
 * person or a place, or is a typing error (`URL:http://…`): it stays.
 */
const OPENS = new Set(
  "file data shell search mhtml hcp mk its jar res ldap ldaps smb nfs ssh telnet rdp vnc intent blob filesystem view-source".split(
    " ",
  ),
);

/**
 * `javascript` for a script; `launch` for what has a program or a file opened, be it on another computer; null for an
 * ordinary address and for what is relative to one.
 */
export function dangerOf(uri: PdfString): "javascript" | "launch" | null {
  // Browsers skip these, wherever they stand in a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  const text = textOf(uri).replace(/[\x00-\x20]+/g, "");
  // Without a scheme, but with the name of a computer: relative to a file, that is a file share.
  if (/^[\\/]{2}/.test(text)) return "launch";
  const scheme = /^([a-z0-9][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return null;
  if (SCRIPTS.has(scheme)) return "javascript";
  // One letter is a drive; those of Windows and Office (`ms-…`) start their parts with parameters.
  return scheme.length === 1 || scheme.startsWith("ms-") || OPENS.has(scheme) ? "launch" : null;
}
