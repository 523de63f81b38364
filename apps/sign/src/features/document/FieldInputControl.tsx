import { type CSSProperties, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { answerTo, type Mine } from "./fields.ts";
import { useFilling } from "./store.ts";

type Props = {
  field: Mine;
  /** The option of a radio group that this control stands for; null for the whole field. */
  option?: string | null;
  /** CSS pixels a character of a comb field has. */
  cellWidth?: number | null;
  id?: string;
  "aria-label"?: string | undefined;
  "aria-required"?: boolean | undefined;
  "aria-invalid"?: boolean | undefined;
  "aria-description"?: string | undefined;
  title?: string | undefined;
};

/** The native control of a field: the same one lies on the page and at the foot of a small window. */
export function FieldInputControl({ field, option = null, cellWidth = null, ...aria }: Props) {
  const t = translator("sign");
  const filling = useFilling();
  const value = answerTo(field, filling.answers);
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const common = {
    ...aria,
    "data-field": field.id,
    onFocus: () => filling.goTo(field.id),
  };
  // A radio button has neither of these: they belong to the group.
  const { "aria-required": _required, "aria-invalid": _invalid, ...plain } = common;
  switch (field.type) {
    case "checkbox":
      return (
        <label className="field-tick">
          <input
            type="checkbox"
            {...common}
            checked={value === true}
            onChange={(event) => filling.set(field.id, event.currentTarget.checked)}
          />
        </label>
      );
    case "radio":
      return (
        <>
          {field.options
            .filter((entry) => option === null || entry.value === option)
            .map((entry) => (
              <label className="field-tick" key={entry.value}>
                <input
                  type="radio"
                  name={`${aria.id ?? "page"}-${field.id}`}
                  {...plain}
                  aria-label={`${aria["aria-label"] ?? ""}: ${entry.label ?? entry.value}`}
                  checked={value === entry.value}
                  onChange={() => filling.set(field.id, entry.value)}
                />
                {option === null && <span>{entry.label ?? entry.value}</span>}
              </label>
            ))}
        </>
      );
    case "dropdown":
      return (
        <select {...common} value={text} onChange={(event) => filling.set(field.id, event.currentTarget.value || null)}>
          <option value="">{t("field.choose")}</option>
          {field.options.map((entry) => (
            <option key={entry.value} value={entry.value}>
              {entry.label ?? entry.value}
            </option>
          ))}
        </select>
      );
    case "date":
      return (
        <input
          type="date"
          {...common}
          min={field.min}
          max={field.max}
          value={text}
          onChange={(event) => filling.set(field.id, event.currentTarget.value || null)}
        />
      );
    case "number":
      return <NumberInput field={field} common={common} />;
    case "text_input":
      if (field.multiline) {
        return (
          <textarea
            {...common}
            style={alignment(field)}
            maxLength={field.maxLength}
            placeholder={field.placeholder}
            value={text}
            onChange={(event) => filling.set(field.id, event.currentTarget.value)}
          />
        );
      }
      return (
        <input
          type="text"
          {...common}
          className={cellWidth ? "comb" : undefined}
          style={cellWidth ? ({ "--cell": `${cellWidth}px` } as CSSProperties) : alignment(field)}
          maxLength={field.cells ?? field.maxLength}
          placeholder={field.placeholder}
          value={text}
          onChange={(event) => filling.set(field.id, event.currentTarget.value)}
        />
      );
    default:
      return (
        <input
          type={field.type === "phone" ? "tel" : "text"}
          {...common}
          autoComplete={completions[field.type]}
          value={text}
          onChange={(event) => filling.set(field.id, event.currentTarget.value)}
        />
      );
  }
}

/** WCAG 1.3.5: what a browser may fill in by itself. */
const completions: Partial<Record<Mine["type"], string>> = {
  company: "organization",
  job_title: "organization-title",
  phone: "tel",
};

function alignment(field: { align?: "left" | "center" | "right" | "justify" | undefined }): CSSProperties | undefined {
  return field.align ? { textAlign: field.align } : undefined;
}

/** Keeps the text as typed; what is no number is sent as it is and refused with a sentence. */
function NumberInput({ field, common }: { field: Mine; common: object }) {
  const filling = useFilling();
  const value = answerTo(field, filling.answers);
  const known = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const [typed, setTyped] = useState(known);
  const change = (text: string) => {
    setTyped(text);
    const number = Number(text.trim().replace(",", "."));
    filling.set(field.id, text.trim() === "" ? null : Number.isFinite(number) ? number : text);
  };
  const same = Number(typed.replace(",", ".")) === value || typed === known;
  return (
    <input
      type="text"
      inputMode="decimal"
      {...common}
      value={same ? typed : known}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
