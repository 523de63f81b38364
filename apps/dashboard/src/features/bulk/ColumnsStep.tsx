import { NativeSelect } from "@mantine/core";
import { useId } from "react";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { fieldName, prefillable } from "../send/fields.ts";
import { type Mapping, type Target, unmapped } from "./columns.ts";
import type { Table } from "./csv.ts";

const t = translator("send");

type Props = {
  version: TemplateVersion;
  table: Table;
  targets: readonly Target[];
  mapping: Mapping;
  decimal: "." | ",";
  locked: boolean;
  onMapping: (mapping: Mapping) => void;
  onDecimal: (decimal: "." | ",") => void;
};

/** Which column holds what. */
export function ColumnsStep({ version, table, targets, mapping, decimal, locked, onMapping, onDecimal }: Props) {
  const id = useId();
  const missing = unmapped(targets, mapping);
  const first = table.rows.find(({ cells }) => cells.some((cell) => cell.trim() !== ""));
  const options = [
    { value: "", label: t("bulk.columns.unused") },
    ...targets.map((target) => ({ value: target.id, label: targetName(target, version) })),
  ];
  const set = (column: number, target: string) =>
    onMapping(
      mapping.map((one, place) => {
        if (place === column) return target === "" ? null : target;
        // A value comes from one column: the newest choice counts.
        return one === target ? null : one;
      }),
    );
  return (
    <section className="bulk-card" aria-labelledby={id}>
      <h2 id={id}>{t("bulk.columns.title")}</h2>
      <p className="soft">{locked ? t("bulk.columns.locked") : t("bulk.columns.text")}</p>
      <table className="bulk-table bulk-columns">
        <thead>
          <tr>
            <th scope="col">{t("bulk.columns.column")}</th>
            <th scope="col">{t("bulk.columns.sample")}</th>
            <th scope="col">{t("bulk.columns.holds")}</th>
          </tr>
        </thead>
        <tbody>
          {table.headers.map((header, column) => {
            const called = header.trim() || t("bulk.columns.unnamed");
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name, and they never move
              <tr key={column}>
                <th scope="row">{called}</th>
                <td className="soft" data-label={t("bulk.columns.sample")}>
                  {first?.cells[column] ?? ""}
                </td>
                <td data-label={t("bulk.columns.holds")}>
                  {locked ? (
                    options.find(({ value }) => value === (mapping[column] ?? ""))?.label
                  ) : (
                    <NativeSelect
                      aria-label={t("bulk.columns.holdsOf", { column: called })}
                      size="sm"
                      value={mapping[column] ?? ""}
                      data={options}
                      onChange={(event) => set(column, event.currentTarget.value)}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {missing.length > 0 && (
        <div className="notice bad" role="alert">
          {t("bulk.columns.missing", { columns: missing.map((target) => targetName(target, version)).join(", ") })}
        </div>
      )}
      {!locked && holdsNumbers(version, targets, mapping) && (
        <NativeSelect
          className="bulk-decimal"
          label={t("bulk.columns.decimal")}
          value={decimal}
          data={[
            { value: ".", label: "1234.50" },
            { value: ",", label: "1234,50" },
          ]}
          onChange={(event) => onDecimal(event.currentTarget.value === "," ? "," : ".")}
        />
      )}
    </section>
  );
}

function targetName(target: Target, version: TemplateVersion): string {
  switch (target.kind) {
    case "person":
      return t(`bulk.columns.person.${target.member}`, { role: target.role });
    case "variable": {
      const variable = version.variables.find(({ name }) => name === target.name);
      return t("bulk.columns.variable", { name: variable?.label?.trim() || target.name });
    }
    case "value": {
      const field = prefillable(version, target.role).find(({ id }) => id === target.field);
      return t("bulk.columns.value", { role: target.role, field: field ? fieldName(field) : target.field });
    }
    case "envelope":
      return t(`bulk.columns.envelope.${target.member}`);
  }
}

/** Whether it matters how numbers are written. */
function holdsNumbers(version: TemplateVersion, targets: readonly Target[], mapping: Mapping): boolean {
  return targets.some((target) => {
    if (!mapping.includes(target.id)) return false;
    if (target.kind === "variable") {
      return version.variables.some(({ name, type }) => name === target.name && type === "number");
    }
    if (target.kind !== "value") return false;
    return prefillable(version, target.role).some(({ id, type }) => id === target.field && type === "number");
  });
}
