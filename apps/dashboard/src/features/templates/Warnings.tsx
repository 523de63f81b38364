import type { Warning } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { warningText } from "./warning-text.ts";

/** What the service says about a document, each thing once: what publishing found, a dry run finds again. */
export function Warnings({ warnings = [] }: { warnings?: readonly Warning[] | undefined }) {
  if (warnings.length === 0) return null;
  return (
    <div className="notice">
      <strong>{translator("templates")("upload.warnings")}</strong>
      <ul className="plain-list">
        {[...new Set(warnings.map(warningText))].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}
