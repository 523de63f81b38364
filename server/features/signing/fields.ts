import { z } from "zod";
import { ownMember, recordOf } from "../../kernel/record.ts";
import { FieldValue } from "../envelopes/contract.ts";
import type { EnvelopeRow, RecipientRow } from "../envelopes/service.ts";
import { FieldInput, type PlacedField } from "../templates/contract.ts";
import type { SigningField } from "./contract.ts";

/** What stands in the fields before and after somebody signs. Pure. */

const Prefilled = recordOf(z.string(), recordOf(z.string(), FieldInput));
const Finished = recordOf(z.string(), FieldValue);

/** Filled in by the service; nobody sends a value for them. */
export function isAutomatic({ type }: Pick<PlacedField, "type">): boolean {
  return type === "date_signed" || type === "full_name" || type === "email" || type === "formula";
}

export function isReadOnly(field: PlacedField): boolean {
  return isAutomatic(field) || ("readOnly" in field && field.readOnly === true);
}

/** What a field shows to its signer before anything was entered: the prefilled value, else the default of the template. */
export function initialValue(
  field: PlacedField,
  recipient: Pick<RecipientRow, "role" | "name" | "email">,
  prefilled: Readonly<Record<string, FieldInput>>,
): FieldInput {
  if (field.type === "full_name") return recipient.name;
  if (field.type === "email") return recipient.email;
  const given = ownMember(prefilled, field.id);
  if (given !== undefined) return given;
  return "default" in field && field.default !== undefined ? field.default : null;
}

/** What the sender filled in for a role. */
export function prefilledOf(envelope: Pick<EnvelopeRow, "prefilled">, role: string): Record<string, FieldInput> {
  return ownMember(Prefilled.parse(JSON.parse(envelope.prefilled)), role) ?? {};
}

/** What a recipient filled in; undefined while they have not finished. */
export function finishedValues(recipient: Pick<RecipientRow, "values">): Record<string, FieldValue> | undefined {
  return recipient.values === null ? undefined : Finished.parse(JSON.parse(recipient.values));
}

/** By field id: what everybody but this recipient has filled in who finished. */
export function valuesOfOthers(
  recipients: readonly Pick<RecipientRow, "id" | "values">[],
  recipient: string,
): Record<string, FieldValue> {
  return Object.assign({}, ...recipients.filter(({ id }) => id !== recipient).map((one) => finishedValues(one) ?? {}));
}

/** A field as the signing page gets it. */
export function presentField(item: PlacedField, value: FieldValue | null, editable: boolean): SigningField {
  const { page, x, y, width, height, ...field } = item;
  return { ...field, boxes: [{ page, x, y, width, height }], value, editable };
}
