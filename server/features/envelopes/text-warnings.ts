import type { Warning } from "../../../workers/protocol.ts";
import type { Deps } from "../../kernel/deps.ts";
import { TaskCrashed, TaskTimeout } from "../../kernel/pool.ts";
import type { FieldInput, PlacedField } from "../templates/contract.ts";
import { fieldDrawings, surelyFits } from "../templates/service.ts";

type Person = { role: string; name: string; email: string };

/**
 * Warns of what the sender has put into fields and what cannot be read there: prefilled values, names and addresses. A signer
 * may shorten what they can change; the rest would be drawn smaller than 6 points.
 * @param values by role and field id
 */
export async function textWarnings(
  deps: Deps,
  fields: readonly PlacedField[],
  people: readonly Person[],
  values: Readonly<Record<string, Readonly<Record<string, FieldInput>>>>,
  locale: string,
): Promise<Warning[]> {
  const texts = fields.flatMap((field) => {
    const value = textValue(field, people, values);
    return fieldDrawings([field], { [field.id]: value }, { locale }).flatMap((drawing) =>
      drawing.kind === "text" && !surelyFits(drawing.text, field) ? [{ field, drawing }] : [],
    );
  });
  if (texts.length === 0) return [];
  const measured = await deps.pool
    .run("fit", { drawings: texts.map(({ drawing }) => drawing) })
    .catch((error: unknown) => {
      // A dry run without these warnings is worth more than none.
      if (!(error instanceof TaskTimeout || error instanceof TaskCrashed)) throw error;
      deps.log.warn({ err: error }, "the texts of an envelope could not be measured");
      return { ok: false as const };
    });
  if (!measured.ok) return [];
  const { fits } = measured.value;
  return texts.flatMap(({ field: { id, page } }, index): Warning[] => {
    if (fits[index]?.fits !== false) return [];
    return [{ code: "text-tiny", message: `The text of the field "${id}" is too long to be read in it.`, page }];
  });
}

function textValue(
  field: PlacedField,
  people: readonly Person[],
  values: Parameters<typeof textWarnings>[3],
): FieldInput {
  const person = people.find(({ role }) => role === field.role);
  if (field.type === "full_name") return person?.name ?? null;
  if (field.type === "email") return person?.email ?? null;
  const ofRole = Object.hasOwn(values, field.role) ? values[field.role] : undefined;
  const given = ofRole && Object.hasOwn(ofRole, field.id) ? ofRole[field.id] : undefined;
  if (given !== undefined) return given;
  return "default" in field && field.default !== undefined ? field.default : null;
}
