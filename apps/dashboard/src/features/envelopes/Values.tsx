import { type ReactNode, useMemo } from "react";
import type { Envelope, FieldValue } from "../../../../../server/features/envelopes/contract.ts";
import {
  type Field,
  getTemplateVersion,
  isField,
  type TemplateVersion,
} from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useCan } from "../../session.tsx";
import { day, inZone, kilobytes, number } from "./format.ts";

type VariableValue = NonNullable<Envelope["values"]>["variables"][string];

/** What the sender put in, and what the people who have signed filled in. */
export function Values({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const form = useForm(envelope);
  const { variables = {}, recipients: filled = {} } = envelope.values ?? {};
  const given = Object.entries(variables);
  if (given.length === 0 && Object.keys(filled).length === 0) return <p className="soft">{t("values.none")}</p>;
  return (
    <section aria-label={t("values.title")} className="envelope-values">
      {given.length > 0 && (
        <Table title={t("values.variables")}>
          {given.map(([name, value]) => (
            <Row key={name} label={form.variables.get(name) ?? name}>
              {variableText(value)}
            </Row>
          ))}
        </Table>
      )}
      {envelope.recipients.map(({ id, role, name }) => {
        const values = Object.entries(filled[role] ?? {});
        return (
          <Table key={id} title={`${name} (${role})`}>
            {values.length === 0 && (
              <tr>
                <td colSpan={2} className="soft">
                  {t("values.pending")}
                </td>
              </tr>
            )}
            {values.map(([field, value]) => (
              <Row key={field} label={form.fields.get(field)?.label || field}>
                <Value envelope={envelope.id} value={value} field={form.fields.get(field)} />
              </Row>
            ))}
          </Table>
        );
      })}
    </section>
  );
}

function Table({ title, children }: { title: string; children: ReactNode }) {
  const t = translator("envelopes");
  return (
    <table>
      <caption dir="auto">{title}</caption>
      <thead className="spoken">
        <tr>
          <th scope="col">{t("values.field")}</th>
          <th scope="col">{t("values.value")}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <tr>
      <th scope="row" dir="auto">
        {label}
      </th>
      <td dir="auto">{children}</td>
    </tr>
  );
}

type ValueProps = { envelope: string; value: FieldValue; field: Field | undefined };

function Value({ envelope, value, field }: ValueProps) {
  const t = translator("envelopes");
  if (Array.isArray(value)) {
    return (
      <ul>
        {value.map(({ id, filename, size }) => (
          <li key={id}>
            <a href={`/v1/envelopes/${envelope}/attachments/${id}`} download={filename}>
              {filename}
            </a>{" "}
            <span className="soft">{kilobytes(size)}</span>
          </li>
        ))}
      </ul>
    );
  }
  if (value !== null && typeof value === "object") {
    return t(`values.signed.${value.method}`, { at: inZone(value.signedAt, undefined) });
  }
  if (typeof value === "string" && value !== "") {
    if (field?.type === "image" || value.startsWith("data:image/")) return t("values.image");
    if (field?.type === "date" || field?.type === "date_signed") return day(value);
    if (field?.type === "radio" || field?.type === "dropdown") {
      return field.options.find((option) => option.value === value)?.label ?? value;
    }
  }
  return variableText(value);
}

function variableText(value: VariableValue | null): ReactNode {
  const t = translator("envelopes");
  if (value === null || value === "") return <span className="soft">{t("values.empty")}</span>;
  if (typeof value === "boolean") return value ? t("values.yes") : t("values.no");
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return value;
  return <Rows rows={value} />;
}

/** A list variable as the small table that it is. */
function Rows({ rows }: { rows: readonly Readonly<Record<string, string | number>>[] }) {
  const t = translator("envelopes");
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <details>
      <summary>{t("values.rows", { count: rows.length })}</summary>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity and never change
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>{row[column]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Fields, and the labels of variables, as far as the template's version may be read. */
function useForm({ template, templateVersion }: Envelope) {
  const enabled = useCan("template:read");
  const { data } = useEndpoint(
    getTemplateVersion,
    { params: { id: template, version: String(templateVersion) } },
    { enabled },
  );
  return useMemo(() => formOf(data), [data]);
}

function formOf(version: TemplateVersion | undefined) {
  const fields = new Map<string, Field>();
  const variables = new Map<string, string>();
  if (version === undefined) return { fields, variables };
  const { content } = version;
  for (const field of content.mode === "overlay" ? content.items.filter(isField) : content.fields) {
    fields.set(field.id, field);
  }
  for (const { name, label } of version.variables) if (label) variables.set(name, label);
  return { fields, variables };
}
