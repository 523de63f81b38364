import { Button, Checkbox, NativeSelect } from "@mantine/core";
import { useState } from "react";
import { Variable, type VariableValue } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { CommitInput } from "./CommitInput.tsx";
import { type Edit, useEditing } from "./editing.ts";
import { addVariable, changeVariable, type Draft, declareVariable, removeVariable, variablesUsed } from "./model.ts";
import { problemText } from "./problem-text.ts";
import { formatErrors, numberFormats, sampleIn, variableDateFormats } from "./variable-formats.ts";

const types = ["text", "number", "date", "boolean"] as const;

/** What is filled in when an envelope is sent, and stands in printed texts as {{name}}. */
export function VariablesPanel({ draft, edit, readOnly }: { draft: Draft; edit: Edit; readOnly: boolean }) {
  const t = translator("templates");
  const { used, undeclared } = variablesUsed(draft);
  return (
    <section aria-label={t("variables.title")} className="panel-section">
      <p className="hint">{t("variables.hint")}</p>
      {undeclared.length > 0 && (
        <fieldset disabled={readOnly} className="choices">
          <legend>{t("variables.undeclared")}</legend>
          <div className="check-row">
            {undeclared.map((name) => (
              <Button
                key={name}
                size="compact-sm"
                variant="default"
                onClick={() => edit((now) => declareVariable(now, name))}
              >
                {t("props.declare", { name })}
              </Button>
            ))}
          </div>
        </fieldset>
      )}
      {draft.variables.length === 0 && <Empty title={t("variables.none")} />}
      <fieldset disabled={readOnly} className="bare stack">
        <ul className="cards">
          {draft.variables.map((variable, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a variable has no other name than the one that is being edited
            <li key={index} className="role-card">
              <VariableForm
                variable={variable}
                locale={draft.settings.locale}
                names={draft.variables.filter((_, at) => at !== index).map(({ name }) => name)}
                change={(patch) => edit((now) => changeVariable(now, index, patch))}
              />
              {!used.has(variable.name) && <p className="hint">{t("variables.unused")}</p>}
              {!readOnly && (
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="gray"
                  aria-label={t("variables.removeNamed", { name: variable.name })}
                  onClick={() => edit((now) => removeVariable(now, index))}
                >
                  {t("variables.remove")}
                </Button>
              )}
            </li>
          ))}
        </ul>
        {!readOnly && (
          <Button variant="default" onClick={() => edit((now) => addVariable(now, t("variables.next")))}>
            {t("variables.add")}
          </Button>
        )}
      </fieldset>
    </section>
  );
}

type FormProps = {
  variable: Variable;
  locale: string;
  names: readonly string[];
  change: (patch: Partial<Variable>) => void;
};

function VariableForm({ variable, locale, names, change }: FormProps) {
  const t = translator("templates");
  const { problems } = useEditing();
  const wrong = (member: string) => {
    const found = problems.find(
      (one) => one.place.kind === "variable" && one.place.name === variable.name && one.member === member,
    );
    return found && problemText(found.detail);
  };
  const mistakeIn = (name: string) => {
    if (!Variable.shape.name.safeParse(name).success) return t("variables.nameWrong");
    return names.includes(name) ? t("variables.nameTaken") : null;
  };
  return (
    <div className="role-form">
      <CommitInput
        label={t("variables.name")}
        description={<code>{`{{${variable.name}}}`}</code>}
        value={variable.name}
        maxLength={64}
        spellCheck={false}
        check={mistakeIn}
        onCommit={(name) => change({ name })}
      />
      <NativeSelect
        label={t("variables.type")}
        value={variable.type}
        // A list has rows and columns: it is made through the interface and kept as it is.
        disabled={variable.type === "list"}
        data={[...types, ...(variable.type === "list" ? (["list"] as const) : [])].map((value) => ({
          value,
          label: t(`variables.types.${value}`),
        }))}
        onChange={(event) => {
          const type = types.find((known) => known === event.currentTarget.value);
          if (type) change({ type, default: null, format: null });
        }}
      />
      {variable.type !== "list" && (
        <VariableDefault
          variable={variable}
          problem={wrong("default")}
          onChange={(value) => change({ default: value })}
        />
      )}
      {(variable.type === "number" || variable.type === "date") && (
        <VariableFormat
          variable={variable}
          locale={locale}
          problem={wrong("format")}
          onChange={(format) => change({ format })}
        />
      )}
      <CommitInput
        label={t("variables.label")}
        value={variable.label ?? ""}
        maxLength={200}
        onCommit={(label) => change({ label: label.trim() || null })}
      />
      <Checkbox
        label={t("variables.required")}
        checked={variable.required}
        onChange={(event) => change({ required: event.currentTarget.checked })}
      />
    </div>
  );
}

type FormatProps = {
  variable: Variable;
  locale: string;
  problem: string | undefined;
  onChange: (format: string | null) => void;
};

/** How a number or a date is written, with examples in the language of the document. */
function VariableFormat({ variable, locale, problem, onChange }: FormatProps) {
  const t = translator("templates");
  const [own, setOwn] = useState(false);
  const formats = variable.type === "number" ? numberFormats : variableDateFormats;
  const isOwn = own || (variable.format !== null && !formats.includes(variable.format));
  const check = (format: string) => {
    const [error] = formatErrors(variable, format);
    return error === undefined ? null : problemText(error);
  };
  return (
    <>
      <NativeSelect
        label={t("variables.format")}
        value={isOwn ? "own" : (variable.format ?? "")}
        error={isOwn ? undefined : problem}
        data={[
          { value: "", label: `${t("variables.formatAsIs")}: ${sampleIn(variable.type, null, locale)}` },
          ...formats.map((value) => ({ value, label: sampleIn(variable.type, value, locale) })),
          { value: "own", label: t("variables.ownFormat") },
        ]}
        onChange={({ currentTarget: { value } }) => {
          setOwn(value === "own");
          if (value !== "own") onChange(value || null);
        }}
      />
      {isOwn && (
        <CommitInput
          label={t("variables.ownFormat")}
          value={variable.format ?? ""}
          maxLength={64}
          spellCheck={false}
          problem={problem}
          check={check}
          onCommit={(format) => onChange(format || null)}
        />
      )}
    </>
  );
}

type DefaultProps = {
  variable: Variable;
  problem: string | undefined;
  onChange: (value: VariableValue | null) => void;
};

function VariableDefault({ variable, problem, onChange }: DefaultProps) {
  const t = translator("templates");
  const { type, default: value } = variable;
  if (type === "boolean") {
    return (
      <NativeSelect
        label={t("variables.default")}
        value={value === null ? "" : String(value)}
        data={[
          { value: "", label: t("variables.noDefault") },
          { value: "true", label: t("variables.yes") },
          { value: "false", label: t("variables.no") },
        ]}
        onChange={({ currentTarget }) => onChange(currentTarget.value === "" ? null : currentTarget.value === "true")}
      />
    );
  }
  return (
    <CommitInput
      label={t("variables.default")}
      type={type === "text" ? "text" : type}
      {...(type === "number" ? { step: "any" } : {})}
      value={value === null || Array.isArray(value) ? "" : String(value)}
      maxLength={20_000}
      problem={problem}
      onCommit={(text) => onChange(text === "" ? null : type === "number" ? Number(text) : text)}
    />
  );
}
