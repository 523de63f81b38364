import { NativeSelect } from "@mantine/core";
import { languages } from "../../../../shared/languages.ts";

type Props = {
  label: string;
  description?: string;
  value: string;
  error?: string | undefined;
  /** A first choice with an empty value. */
  none?: string;
  onChange: (language: string) => void;
};

/** The languages that mails and pages speak; one that was set through the interface stays among them. */
export function LanguageSelect({ label, description, value, error, none, onChange }: Props) {
  const offered = languages();
  if (value !== "" && !offered.some(({ tag }) => tag === value)) offered.push({ tag: value, name: value });
  return (
    <NativeSelect
      label={label}
      {...(description ? { description } : {})}
      data={[
        ...(none === undefined ? [] : [{ value: "", label: none }]),
        ...offered.map(({ tag, name }) => ({ value: tag, label: name })),
      ]}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
