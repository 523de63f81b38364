import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { PatternError } from "../../../../../../server/features/templates/pattern.ts";
import { checkFieldInput } from "../../../../../../server/features/templates/values.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { problemText } from "../problem-text.ts";
import { CheckMember, type Form, Further, NumberMember, TextMember } from "./members.tsx";
import { patternPresets, presetNames, presetOf } from "./patterns.ts";

type TextInputItem = Extract<OverlayItem, { type: "text_input" }>;

/** What a text asks for: how long, in which form, on how many lines. */
export function TextForm({ form, item }: { form: Form; item: TextInputItem }) {
  const t = translator("templates");
  const { onChange } = form;
  return (
    <>
      <CheckMember form={form} member="multiline" label={t("fields.multiline")} />
      <TextMember
        form={form}
        member="default"
        label={t("fields.default")}
        maxLength={4000}
        multiline={item.multiline === true}
      />
      <TextMember form={form} member="placeholder" label={t("props.placeholder")} maxLength={200} />
      <Further
        title={t("props.rules")}
        form={form}
        members={["minLength", "maxLength", "cells", "pattern", "patternMessage"]}
      >
        <div className="box-members">
          <NumberMember form={form} member="minLength" label={t("props.minLength")} min={0} max={4000} />
          <NumberMember form={form} member="maxLength" label={t("props.maxLength")} min={1} max={4000} />
          <NumberMember form={form} member="cells" label={t("props.cells")} min={2} max={50} />
        </div>
        <NativeSelect
          label={t("props.form")}
          value={presetOf(item.pattern) ?? (item.pattern === undefined ? "" : "own")}
          data={[
            { value: "", label: t("props.anyForm") },
            ...presetNames.map((name) => ({ value: name, label: t(`props.forms.${name}`) })),
            ...(item.pattern !== undefined && presetOf(item.pattern) === null
              ? [{ value: "own", label: t("props.ownForm") }]
              : []),
          ]}
          onChange={({ currentTarget }) => {
            const name = presetNames.find((one) => one === currentTarget.value);
            if (name) onChange({ pattern: patternPresets[name], patternMessage: t(`props.formMessages.${name}`) });
            else if (currentTarget.value === "") onChange({ pattern: undefined, patternMessage: undefined });
          }}
        />
        <TextMember
          form={form}
          member="pattern"
          label={t("props.pattern")}
          description={t("props.patternHint")}
          maxLength={500}
          spellCheck={false}
        />
        <TextMember form={form} member="patternMessage" label={t("props.patternMessage")} maxLength={300} />
        <TryIt item={item} />
      </Further>
    </>
  );
}

/** Says at once what the signer would be told of a text. */
function TryIt({ item }: { item: TextInputItem }) {
  const t = translator("templates");
  const [text, setText] = useState("");
  const mistake = text === "" ? null : firstMistake(item, text);
  return (
    <div>
      <TextInput
        label={t("props.try")}
        value={text}
        error={mistake ?? undefined}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <p className="hint" role="status">
        {text !== "" && mistake === null && t("props.tryGood")}
      </p>
    </div>
  );
}

function firstMistake(item: TextInputItem, text: string): string | null {
  try {
    const [error] = checkFieldInput(item, text, "#");
    if (!error) return null;
    return error.code === "pattern" && item.patternMessage !== undefined
      ? item.patternMessage
      : problemText(error.detail);
  } catch (error) {
    if (error instanceof PatternError) return problemText(error.message);
    throw error;
  }
}
