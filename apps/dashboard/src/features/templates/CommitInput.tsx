import { Textarea, TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useState } from "react";

type Props = Omit<TextInputProps, "value" | "onChange" | "error"> & {
  value: string;
  /** What is wrong with the text; null when it may be taken. */
  check?: (text: string) => string | null;
  onCommit: (text: string) => void;
  multiline?: boolean;
  /** What is wrong with the value as it is kept. */
  problem?: string | undefined;
};

/** A text that counts when it is finished: on Enter or on leaving. A text that may not be is shown with its mistake. */
export function CommitInput({ value, check, onCommit, multiline = false, problem, ...rest }: Props) {
  const [text, setText] = useState(value);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    setText(value);
    setError(null);
  }, [value]);
  const commit = () => {
    if (text === value) return setError(null);
    const mistake = check?.(text) ?? null;
    setError(mistake);
    if (mistake === null) onCommit(text);
  };
  const common = {
    value: text,
    error: error ?? (text === value ? problem : null),
    onBlur: commit,
    label: rest.label,
    description: rest.description,
    placeholder: rest.placeholder,
    maxLength: rest.maxLength,
  };
  if (multiline) {
    return <Textarea {...common} rows={3} onChange={(event) => setText(event.currentTarget.value)} />;
  }
  return (
    <TextInput
      {...rest}
      {...common}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          commit();
        }
        if (event.key === "Escape") {
          setText(value);
          setError(null);
        }
      }}
    />
  );
}

/** A number as text in a form; empty is null where that is allowed. */
export function CommitNumber({
  value,
  onCommit,
  min,
  max,
  step = 1,
  optional = false,
  mistake,
  check,
  ...rest
}: {
  label: string;
  description?: string;
  placeholder?: string;
  value: number | null;
  onCommit: (value: number | null) => void;
  min: number;
  max: number;
  /** 1 is for whole numbers; with `any`, the arrow keys go by one. */
  step?: number | "any";
  optional?: boolean;
  /** Said of a text that is no such number. */
  mistake: string;
  /** What is wrong with the number for another reason; null when it may be taken. */
  check?: (value: number | null) => string | null;
  problem?: string | undefined;
}) {
  const parse = (text: string) => (text.trim() === "" ? null : Number(text));
  return (
    <CommitInput
      {...rest}
      type="number"
      inputMode={step === 1 ? "numeric" : "decimal"}
      min={min}
      max={max}
      step={step}
      value={value === null ? "" : String(value)}
      check={(text) => {
        const number = parse(text);
        if (number === null && !optional) return mistake;
        const whole = number === null || step !== 1 || Number.isInteger(number);
        const within = number === null || (Number.isFinite(number) && number >= min && number <= max);
        return whole && within ? (check?.(number) ?? null) : mistake;
      }}
      onCommit={(text) => onCommit(parse(text))}
    />
  );
}
