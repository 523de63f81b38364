import { NativeSelect } from "@mantine/core";
import { useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { formatDay } from "../../../../../../server/features/templates/format.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { type Form, Further, NumberMember, TextMember } from "./members.tsx";

const largest = 1_000_000_000_000;

/** Numbers: what is filled in, and between which bounds. */
export function NumberForm({ form }: { form: Form }) {
  const t = translator("templates");
  const bounds = { form, min: -largest, max: largest, step: "any" } as const;
  return (
    <>
      <NumberMember {...bounds} member="default" label={t("fields.default")} />
      <Further title={t("props.rules")} form={form} members={["min", "max", "decimals"]}>
        <div className="box-members">
          <NumberMember {...bounds} member="min" label={t("props.min")} />
          <NumberMember {...bounds} member="max" label={t("props.max")} />
          <NumberMember form={form} member="decimals" label={t("props.decimals")} min={0} max={10} />
        </div>
      </Further>
    </>
  );
}

/** Dates: the one that is filled in, the first and the last that may be, and how it is written. */
export function DateForm({ form, item }: { form: Form; item: Extract<OverlayItem, { type: "date" }> }) {
  const t = translator("templates");
  const day = { form, type: "date", maxLength: 10 } as const;
  return (
    <>
      <TextMember {...day} member="default" label={t("fields.default")} />
      <DateFormat form={form} format={item.format} />
      <Further title={t("props.rules")} form={form} members={["min", "max"]}>
        <div className="box-members wide">
          <TextMember {...day} member="min" label={t("props.earliest")} />
          <TextMember {...day} member="max" label={t("props.latest")} />
        </div>
      </Further>
    </>
  );
}

const formats = ["long", "short", "iso", "DD.MM.YYYY", "MM/DD/YYYY", "DD/MM/YYYY", "D MMMM YYYY"];
const sample = "2026-03-09";

/** How a date is written, with examples in the language of the document. */
export function DateFormat({ form, format }: { form: Form; format: string | undefined }) {
  const t = translator("templates");
  const { locale } = form.draft.settings;
  const [own, setOwn] = useState(false);
  const isOwn = own || (format !== undefined && format !== "medium" && !formats.includes(format));
  return (
    <>
      <NativeSelect
        label={t("props.dateFormat")}
        value={isOwn ? "own" : format === "medium" ? "" : (format ?? "")}
        data={[
          { value: "", label: formatDay(sample, "medium", locale) },
          ...formats.map((value) => ({ value, label: formatDay(sample, value, locale) })),
          { value: "own", label: t("props.ownFormat") },
        ]}
        onChange={({ currentTarget: { value } }) => {
          setOwn(value === "own");
          if (value !== "own") form.onChange({ format: value || undefined });
        }}
      />
      {isOwn && (
        <TextMember
          form={form}
          member="format"
          label={t("props.ownFormat")}
          description={t("props.ownFormatHint")}
          maxLength={64}
          spellCheck={false}
        />
      )}
    </>
  );
}
