import { type Field, isField, type TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { takesInput } from "../../../../../server/features/templates/values.ts";

/** All fields of a version, wherever they stand. */
function fieldsOf({ content }: TemplateVersion): Field[] {
  return content.mode === "overlay" ? content.items.filter(isField) : content.fields;
}

/** The fields of a role that the sender may fill in beforehand. */
export function prefillable(version: TemplateVersion, role: string): Field[] {
  return fieldsOf(version).filter((field) => field.role === role && takesInput(field));
}

/** What a field is called where people read it. */
export function fieldName(field: Field): string {
  return field.label?.trim() ? field.label : field.id;
}
