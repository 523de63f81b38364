import { ownMember } from "../../../../../server/kernel/record.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { answerTo, isList, isRequired, type Mine } from "./fields.ts";
import { type Filling, problemOf } from "./store.ts";

/** What the field is called: its own label, else what kind of field it is. */
export function nameOf(field: Mine): string {
  return field.label ?? translator("sign")(`types.${field.type}`);
}

/** The accessible name and state of a field's control. */
export function describedBy(field: Mine, filling: Filling) {
  const problem = problemOf(filling, field);
  const hints = [field.tooltip, problem].filter((text) => text !== undefined);
  return {
    "aria-label": nameOf(field),
    "aria-required": isRequired(field) || undefined,
    "aria-invalid": problem !== undefined || undefined,
    "aria-description": hints.length > 0 ? hints.join(" ") : undefined,
    title: field.tooltip,
  };
}

const day = (text: string) =>
  new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(text));

/** What stands in the field as the signer sees it; empty when nothing does. */
export function shownText(field: Mine, filling: Filling): string {
  const value = answerTo(field, filling.answers);
  switch (field.type) {
    case "full_name":
      return filling.view.recipient.name;
    case "email":
      return filling.view.recipient.email;
    case "date_signed":
      return new Intl.DateTimeFormat(pageLanguage(), { dateStyle: "medium" }).format(new Date());
    case "formula":
      return ownMember(filling.computed, field.id) ?? "";
    case "date":
      return typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? day(value) : "";
    case "radio":
    case "dropdown":
      return field.options.find((option) => option.value === value)?.label ?? (typeof value === "string" ? value : "");
    case "attachment":
    case "image":
      return isList(value) ? filenames(value, filling).join(", ") : "";
    case "checkbox":
      return value === true ? "✓" : "";
    default:
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
  }
}

function filenames(ids: readonly string[], filling: Filling): string[] {
  return ids.map((id) => filling.uploads.files.find((upload) => upload.id === id)?.filename ?? id);
}
