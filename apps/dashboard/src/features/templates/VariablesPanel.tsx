import { Button, Checkbox, NativeSelect } from "@mantine/core";
import { Variable, type VariableValue } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { CommitInput } from "./CommitInput.tsx";
import { addVariable, changeVariable, type Draft, removeVariable } from "./model.ts";

type Edit = (change: (draft: Draft) => Draft, kind?: string | null) => void;
const types = ["text", "number", "date", "boolean"] as const;

/** What is filled in when an envelope is sent, and stands in printed texts as {{name}}. */
export function VariablesPanel({ draft, edit, readOnly }: { draft: Draft; edit: Edit; readOnly: boolean }) {
  const t = translator("templates");
  return (
    <section aria-label={t("variables.title")} className="panel-section">
      <p className="hint">{t("variables.hint")}</p>
      {draft.variables.length === 0 && <Empty title={t("variables.none")} />}
      <fieldset disabled={readOnly} className="bare stack">
        <ul className="cards">
          {draft.variables.map((variable, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a variable has no other name than the one that is being edited
            <li key={index} className="role-card">
              <VariableForm
                variable={variable}
                names={draft.variables.filter((_, at) => at !== index).map(({ name }) => name)}
                change={(patch) => edit((now) => changeVariable(now, index, patch))}
              />
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

type FormProps = { variable: Variable; names: readonly string[]; change: (patch: Partial<Variable>) => void };

function VariableForm({ variable, names, change }: FormProps) {
  const t = translator("templates");
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
        <VariableDefault variable={variable} onChange={(value) => change({ default: value })} />
      )}
      <Checkbox
        label={t("variables.required")}
        checked={variable.required}
        onChange={(event) => change({ required: event.currentTarget.checked })}
      />
    </div>
  );
}

type DefaultProps = { variable: Variable; onChange: (value: VariableValue | null) => void };

function VariableDefault({ variable, onChange }: DefaultProps) {
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
      onCommit={(text) => onChange(text === "" ? null : type === "number" ? Number(text) : text)}
    />
  );
}
