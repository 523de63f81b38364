import { isPlainText, isSeen } from "../../kernel/wire.ts";

/** What the texts of a draft may hold. Checked where one is saved: what was saved before stays readable. Isomorphic. */

/** Members that are shown on one line. */
const oneLine: ReadonlySet<string> = new Set(["name", "role", "label", "tooltip", "placeholder", "patternMessage"]);
const lineFault = "This must be a single line, without characters that turn the direction of writing.";
/** Those that somebody must be able to see; a label that is left empty is none. */
const visible: ReadonlySet<string> = new Set(["name", "role", "value", "consentText"]);
const visibleUnlessEmpty = "label";

type Path = (string | number)[];
export type TextFault = { path: Path; code: "min" | "pattern"; message: string };

/**
 * Every text with control characters; of the members that the contract names, those of several lines where one is shown, too, and
 * blank ones where there must be a name.
 */
export function textFaults(value: unknown, path: Path = []): TextFault[] {
  if (typeof value === "string") return faultsOf(value, path);
  if (Array.isArray(value)) return value.flatMap((entry, index) => textFaults(entry, [...path, index]));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) => textFaults(member, [...path, key]));
}

function faultsOf(text: string, path: Path): TextFault[] {
  if (!isPlainText(text, "many"))
    return [{ path, code: "pattern", message: "Control characters are not allowed here." }];
  // The rows of a list have columns, which are named as their author likes: `name`, say.
  if (path.includes("default")) return [];
  const member = String(path.findLast((part) => typeof part === "string") ?? "");
  const inLine = oneLine.has(member);
  if (inLine && !isPlainText(text, "one")) return [{ path, code: "pattern", message: lineFault }];
  const unseen = visible.has(member) ? text === "" || !isSeen(text) : member === visibleUnlessEmpty && !isSeen(text);
  return unseen ? [{ path, code: "min", message: "This must not be blank." }] : [];
}
