import { Checkbox, NativeSelect } from "@mantine/core";
import type { FieldInput, OverlayItem, StaticItem } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CommitInput } from "../CommitInput.tsx";
import { useEditing } from "../editing.ts";
import { itemName } from "../words.ts";
import { type Deciding, decidingFields, firstValues, showWhen, valuesIn, writtenValues } from "./conditions.ts";
import { type Form, Further } from "./members.tsx";

type FieldItem = Exclude<OverlayItem, StaticItem>;

/** Whether the field is always shown, or only while an earlier one has certain values. */
export function ConditionForm({ form, item }: { form: Form; item: FieldItem }) {
  const t = translator("templates");
  const offered = decidingFields(form.draft.items, item);
  const condition = item.visibleWhen;
  const other = condition && offered.find(({ id }) => id === condition.field);
  const wrong = form.problems["visibleWhen/field"];
  const { edit } = useEditing();
  const set = (values: FieldInput[]) =>
    condition && form.onChange({ visibleWhen: { field: condition.field, in: values } });
  return (
    <Further title={condition ? t("conditions.titleSet") : t("conditions.title")} form={form} members={["visibleWhen"]}>
      <NativeSelect
        label={t("conditions.field")}
        description={offered.length === 0 ? t("conditions.none") : undefined}
        value={condition?.field ?? ""}
        error={wrong}
        data={[
          { value: "", label: t("conditions.always") },
          ...offered.map((field) => ({ value: field.id, label: itemName(t, field) })),
          ...(condition && !other ? [{ value: condition.field, label: condition.field }] : []),
        ]}
        onChange={({ currentTarget: { value } }) => {
          const chosen = offered.find(({ id }) => id === value);
          edit((draft) => showWhen(draft, item.id, chosen && { field: chosen.id, in: firstValues(chosen) }));
        }}
      />
      {condition && other && <Values form={form} field={other} values={condition.in} onChange={set} />}
    </Further>
  );
}

type ValuesProps = {
  form: Form;
  field: Deciding;
  values: readonly FieldInput[];
  onChange: (values: FieldInput[]) => void;
};

function Values({ form, field, values, onChange }: ValuesProps) {
  const t = translator("templates");
  const wrong = Object.entries(form.problems).find(([member]) => member.startsWith("visibleWhen/in"))?.[1];
  if (field.type === "checkbox") {
    return (
      <NativeSelect
        label={t("conditions.is")}
        value={values.includes(true) ? "true" : "false"}
        data={[
          { value: "true", label: t("conditions.ticked") },
          { value: "false", label: t("conditions.notTicked") },
        ]}
        onChange={({ currentTarget }) => onChange([currentTarget.value === "true"])}
      />
    );
  }
  if (field.type === "radio" || field.type === "dropdown") {
    const choices = [
      ...field.options.map(({ value, label }) => ({ value, label: label ?? value })),
      { value: null, label: t("conditions.nothing") },
    ];
    return (
      <fieldset className="choices">
        <legend>{t("conditions.isOneOf")}</legend>
        {choices.map(({ value, label }) => (
          <Checkbox
            key={String(value)}
            label={label}
            checked={values.includes(value)}
            // A field that is never shown would be none.
            disabled={values.length === 1 && values.includes(value)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(
                choices.map((choice) => choice.value).filter((one) => (one === value ? checked : values.includes(one))),
              )
            }
          />
        ))}
        {wrong !== undefined && <p className="refused">{wrong}</p>}
      </fieldset>
    );
  }
  return (
    <CommitInput
      multiline
      label={t("conditions.isOneOf")}
      description={t("conditions.valuesHint")}
      value={writtenValues(values)}
      maxLength={5000}
      problem={wrong}
      check={(text) => (valuesIn(text, field) === null ? t("conditions.numbers") : null)}
      onCommit={(text) => onChange(valuesIn(text, field) ?? [])}
    />
  );
}
