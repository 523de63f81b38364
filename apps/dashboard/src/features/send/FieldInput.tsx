import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { Field } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { defaultText } from "./draft.ts";
import { fieldName } from "./fields.ts";
import type { Form } from "./form.ts";
import { understood } from "./understood.ts";

const t = translator("send");

/** Hints stand below, so that inputs beside each other stay in line. */
export const inputWrapperOrder: ("label" | "input" | "description" | "error")[] = [
  "label",
  "input",
  "description",
  "error",
];

type Props = {
  field: Field;
  value: string;
  decimal: Form["draft"]["decimal"];
  input: ReturnType<Form["input"]>;
  onChange: (value: string) => void;
};

/** The input of one field that is filled in beforehand; empty leaves it to the signer, or to the template's default. */
export function FieldInput({ field, value, decimal, input, onChange }: Props) {
  const preset = defaultText(field);
  const readOnly = "readOnly" in field && field.readOnly === true;
  const number = field.type === "number" ? understood(value, decimal) : null;
  const hints = [
    ...(readOnly ? [t("content.readOnly")] : []),
    ...(preset ? [t("content.preset", { value: preset })] : []),
    ...(number ? [number] : []),
  ];
  const common = {
    label: fieldName(field),
    ...(hints.length > 0 ? { description: hints.join(" ") } : {}),
    inputWrapperOrder,
    value,
    ...input,
  };
  switch (field.type) {
    case "checkbox":
      return <YesNo {...common} onChange={onChange} />;
    case "radio":
    case "dropdown":
      return (
        <NativeSelect
          {...common}
          data={[
            { value: "", label: t("content.leave") },
            ...field.options.map((option) => ({ value: option.value, label: option.label ?? option.value })),
          ]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "date":
      return (
        <TextInput
          {...common}
          type="date"
          {...(field.min ? { min: field.min } : {})}
          {...(field.max ? { max: field.max } : {})}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "number":
      return <TextInput {...common} inputMode="decimal" onChange={(event) => onChange(event.currentTarget.value)} />;
    default:
      return field.type === "text_input" && field.multiline ? (
        <Textarea {...common} rows={3} maxLength={4000} onChange={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <TextInput {...common} maxLength={4000} onChange={(event) => onChange(event.currentTarget.value)} />
      );
  }
}

type YesNoProps = {
  label: string;
  description?: string | undefined;
  inputWrapperOrder: typeof inputWrapperOrder;
  value: string;
  required?: boolean;
  "data-pointer": string;
  error: string | undefined;
  onChange: (value: string) => void;
};

/** Yes, no, or nothing said. */
export function YesNo({ onChange, ...common }: YesNoProps) {
  return (
    <NativeSelect
      {...common}
      data={[
        { value: "", label: t("content.leave") },
        { value: "true", label: t("content.yes") },
        { value: "false", label: t("content.no") },
      ]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
