import { NativeSelect } from "@mantine/core";
import { languages } from "../../../../shared/languages.ts";
import type { Form } from "./form.ts";

type Props = {
  label: string;
  /** What an empty choice means. */
  none: string;
  value: string;
  input: ReturnType<Form["input"]>;
  onChange: (locale: string) => void;
};

/** The languages that mails and signing pages are written in. */
export function LanguageSelect({ label, none, value, input, onChange }: Props) {
  return (
    <NativeSelect
      label={label}
      value={value}
      data={[{ value: "", label: none }, ...languages().map(({ tag, name }) => ({ value: tag, label: name }))]}
      {...input}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
