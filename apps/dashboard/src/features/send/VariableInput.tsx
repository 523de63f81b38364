import { ActionIcon, Button, Textarea, TextInput } from "@mantine/core";
import type { Variable } from "../../../../../server/features/templates/contract.ts";
import { pointer } from "../../../../../server/kernel/problem.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Cross } from "../../../../shared/ui/icons.tsx";
import { inputWrapperOrder, YesNo } from "./FieldInput.tsx";
import type { Form } from "./form.ts";
import { understood } from "./understood.ts";

const t = translator("send");

type Row = Record<string, string>;
type Props = { variable: Variable; value: string | Row[]; form: Form; onChange: (value: string | Row[]) => void };

/** The input of a variable of the template, after its type. */
export function VariableInput({ variable, value, form, onChange }: Props) {
  const { name, label, type, default: preset } = variable;
  const at = pointer(["variables", name]);
  if (type === "list") return <ListInput {...{ variable, form, onChange }} rows={Array.isArray(value) ? value : []} />;
  const text = typeof value === "string" ? value : "";
  const common = {
    label: label?.trim() ? label : name,
    value: text,
    inputWrapperOrder,
    required: variable.required && preset === null,
    description: preset === null ? undefined : t("content.preset", { value: String(preset) }),
    ...form.input(at),
  };
  switch (type) {
    case "boolean":
      return <YesNo {...common} onChange={onChange} />;
    case "date":
      return <TextInput {...common} type="date" onChange={(event) => onChange(event.currentTarget.value)} />;
    case "number":
      return (
        <TextInput
          {...common}
          {...withNumber(common.description, text, form)}
          inputMode="decimal"
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "text":
      return (
        <Textarea
          {...common}
          autosize
          minRows={1}
          maxRows={8}
          maxLength={20_000}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

/** The hint of an input together with the number that was read. */
function withNumber(hint: string | undefined, text: string, form: Form): { description?: string } {
  const hints = [hint, understood(text, form.draft.decimal)].filter((one) => typeof one === "string");
  return hints.length > 0 ? { description: hints.join(" ") } : {};
}

type ListProps = { variable: Variable; rows: Row[]; form: Form; onChange: (rows: Row[]) => void };

function numberInput(text: string, form: Form) {
  return { inputMode: "decimal" as const, inputWrapperOrder, ...withNumber(undefined, text, form) };
}

/** A table of rows, for a list. */
function ListInput({ variable, rows, form, onChange }: ListProps) {
  const { name, label, columns = [], required, default: preset } = variable;
  const at = pointer(["variables", name]);
  const { error } = form.input(at);
  const called = label?.trim() ? label : name;
  const edit = (index: number, column: string, text: string) => {
    onChange(rows.map((row, place) => (place === index ? { ...row, [column]: text } : row)));
  };
  return (
    <fieldset className="send-list" data-pointer={at} data-wrong={error ? "" : undefined} tabIndex={-1}>
      <legend className="send-list-name">
        {called}
        {required && preset === null && <span aria-hidden="true"> *</span>}
      </legend>
      {error && (
        <p className="send-wrong" role="alert">
          {error}
        </p>
      )}
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.name} scope="col">
                  {column.name}
                </th>
              ))}
              <th>
                <span className="spoken">{t("content.rowActions")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity than its place
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column.name} data-label={column.name}>
                    <TextInput
                      aria-label={t("content.cell", { column: column.name, row: index + 1 })}
                      type={column.type === "date" ? "date" : "text"}
                      {...(column.type === "number" ? numberInput(row[column.name] ?? "", form) : {})}
                      value={row[column.name] ?? ""}
                      {...form.input(`${at}/${index}/${column.name}`)}
                      onChange={(event) => edit(index, column.name, event.currentTarget.value)}
                    />
                  </td>
                ))}
                <td>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="lg"
                    aria-label={t("content.removeRow", { row: index + 1 })}
                    onClick={() => onChange(rows.filter((_, place) => place !== index))}
                  >
                    <Cross />
                  </ActionIcon>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Button
        variant="default"
        size="sm"
        disabled={rows.length >= 1000}
        onClick={() => onChange([...rows, Object.fromEntries(columns.map((column) => [column.name, ""]))])}
      >
        {t("content.addRow", { list: called })}
      </Button>
    </fieldset>
  );
}
