import { Textarea, TextInput } from "@mantine/core";
import { pointer } from "../../../../../server/kernel/problem.ts";
import { translator } from "../../../../shared/i18n.ts";
import { FieldInput } from "./FieldInput.tsx";
import { prefillable } from "./fields.ts";
import type { Form } from "./form.ts";
import { sentPeople } from "./request.ts";
import { VariableInput } from "./VariableInput.tsx";

const t = translator("send");

/** What the mail and the document say. */
export function ContentStep({ form, templateName }: { form: Form; templateName: string }) {
  const { draft, version, change, input } = form;
  const roles = sentPeople(draft)
    .map(({ role }) => ({ role, fields: prefillable(version, role) }))
    .filter(({ fields }) => fields.length > 0);
  return (
    <>
      <fieldset className="send-group">
        <legend>{t("content.mail")}</legend>
        <TextInput
          label={t("content.title")}
          description={t("content.titleText", { name: templateName })}
          placeholder={templateName}
          value={draft.title}
          maxLength={200}
          {...input("#/title")}
          onChange={(event) => change({ title: event.currentTarget.value }, "#/title")}
        />
        <Textarea
          label={t("content.message")}
          description={t("content.messageText")}
          value={draft.message}
          maxLength={2000}
          rows={4}
          {...input("#/message")}
          onChange={(event) => change({ message: event.currentTarget.value }, "#/message")}
        />
      </fieldset>
      {version.variables.length > 0 && (
        <fieldset className="send-group">
          <legend>{t("content.variables")}</legend>
          <div className="send-grid">
            {version.variables.map((variable) => (
              <VariableInput
                key={variable.name}
                variable={variable}
                value={draft.variables[variable.name] ?? ""}
                form={form}
                onChange={(value) =>
                  change(
                    { variables: { ...draft.variables, [variable.name]: value } },
                    pointer(["variables", variable.name]),
                  )
                }
              />
            ))}
          </div>
        </fieldset>
      )}
      {roles.map(({ role, fields }) => (
        <fieldset className="send-group" key={role}>
          <legend>
            {t("content.values", { role: version.roles.find(({ name }) => name === role)?.label || role })}
          </legend>
          <p className="soft">{t("content.valuesText")}</p>
          <div className="send-grid">
            {fields.map((field) => {
              const at = pointer(["values", role, field.id]);
              return (
                <FieldInput
                  key={field.id}
                  field={field}
                  value={draft.values[role]?.[field.id] ?? ""}
                  decimal={draft.decimal}
                  input={input(at)}
                  onChange={(value) =>
                    change({ values: { ...draft.values, [role]: { ...draft.values[role], [field.id]: value } } }, at)
                  }
                />
              );
            })}
          </div>
        </fieldset>
      ))}
    </>
  );
}
