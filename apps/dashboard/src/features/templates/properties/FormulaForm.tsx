import { NativeSelect, Textarea } from "@mantine/core";
import { useEffect, useId, useRef, useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { formatNumber } from "../../../../../../server/features/templates/format.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { numberFields } from "../model.ts";
import { problemText } from "../problem-text.ts";
import { checkFormula, type FormulaCheck } from "./formula-check.ts";
import { type Form, NumberMember } from "./members.tsx";

/** A formula, checked while it is written and shown with sample values. What is not one is not stored. */
export function FormulaForm({ form, item }: { form: Form; item: Extract<OverlayItem, { type: "formula" }> }) {
  const t = translator("templates");
  const [text, setText] = useState(item.expression);
  const input = useRef<HTMLTextAreaElement>(null);
  const status = useId();
  useEffect(() => setText(item.expression), [item.expression]);
  const check = checkFormula(text, item.decimals, form.draft.items);
  const numbers = numberFields(form.draft.items);
  const commit = (expression: string) => {
    const isRight = checkFormula(expression, item.decimals, form.draft.items).kind === "result";
    if (isRight && expression !== item.expression) form.onChange({ expression });
  };
  const insert = (id: string) => {
    const { selectionStart = text.length, selectionEnd = text.length } = input.current ?? {};
    const next = `${text.slice(0, selectionStart)}${id}${text.slice(selectionEnd)}`;
    setText(next);
    commit(next);
    input.current?.focus();
  };
  return (
    <>
      <Textarea
        ref={input}
        label={t("formula.label")}
        description={t("formula.hint", { example: "round(price * count, 2)" })}
        rows={2}
        maxLength={1000}
        spellCheck={false}
        value={text}
        error={check.kind === "result" ? undefined : mistakeIn(check)}
        aria-describedby={status}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => commit(text)}
      />
      {check.kind === "syntax" && (
        <code className="formula-place" aria-hidden="true" dir="ltr">
          {text.slice(0, check.at)}
          <mark>{text.slice(check.at, check.at + 1) || " "}</mark>
          {text.slice(check.at + 1)}
        </code>
      )}
      <p className="hint" id={status} role="status">
        {check.kind === "result" && (
          <Result check={check} decimals={item.decimals} locale={form.draft.settings.locale} />
        )}
      </p>
      <NativeSelect
        label={t("formula.insert")}
        value=""
        data={[
          { value: "", label: numbers.length === 0 ? t("formula.noNumbers") : t("formula.choose") },
          ...numbers.map((id) => ({ value: id, label: nameOf(form.draft.items, id) })),
        ]}
        disabled={form.readOnly || numbers.length === 0}
        onChange={({ currentTarget }) => currentTarget.value !== "" && insert(currentTarget.value)}
      />
      <NumberMember form={form} member="decimals" label={t("props.decimals")} min={0} max={10} />
    </>
  );
}

function mistakeIn(check: Exclude<FormulaCheck, { kind: "result" }>): string {
  const t = translator("templates");
  if (check.kind === "unknown") return t("formula.unknown", { names: check.ids.join(", "), count: check.ids.length });
  const [message, place] = [problemText(check.message), check.at + 1];
  return message.includes(` ${place}`) ? message : t("formula.syntax", { message, place });
}

type ResultProps = { check: Extract<FormulaCheck, { kind: "result" }>; decimals: number | undefined; locale: string };

function Result({ check: { value, samples }, decimals, locale }: ResultProps) {
  const t = translator("templates");
  const result = value === null ? t("formula.empty") : formatNumber(value, decimals, locale);
  if (samples.length === 0) return t("formula.result", { result });
  const given = samples.map((sample) => `${sample.id} = ${formatNumber(sample.value, undefined, locale)}`).join(", ");
  return t("formula.sample", { given, result });
}

function nameOf(items: readonly OverlayItem[], id: string): string {
  const item = items.find((one) => one.id === id);
  return item && "label" in item && item.label ? `${item.label} (${id})` : id;
}
