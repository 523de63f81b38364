import { Button, Checkbox, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  renderTemplate,
  type Variable,
  type VariableValue,
} from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { keepSamples, samplesOf } from "./samples.ts";

type Props = {
  template: string;
  version: string;
  variables: readonly Variable[];
  onClose: () => void;
};

const first = (variable: Variable) =>
  variable.default === null || Array.isArray(variable.default) ? "" : String(variable.default);

/** The version as a document, with variables filled in to try it; the service marks it as a preview. */
export function PreviewDialog({ template, version, variables, onClose }: Props) {
  const t = translator("templates");
  const simple = variables.filter(({ type }) => type !== "list");
  const [values, setValues] = useState<Record<string, string>>(() => {
    const kept = samplesOf(template);
    return Object.fromEntries(simple.map((variable) => [variable.name, kept[variable.name] ?? first(variable)]));
  });
  const [broken, setBroken] = useState<unknown>(null);
  const render = useMutation({
    mutationFn: () =>
      callEndpoint(renderTemplate, {
        params: { id: template, version },
        body: { variables: valuesOf(simple, values) },
      }),
    onMutate: () => setBroken(null),
  });
  const wrong = fieldErrors(render.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    keepSamples(template, values);
    render.mutate();
  };
  return (
    <Dialog opened onClose={onClose} size="56rem" title={t("preview.title")}>
      <form className="preview-form" onSubmit={submit}>
        {simple.map((variable) =>
          variable.type === "boolean" ? (
            <Checkbox
              key={variable.name}
              label={variable.label ?? variable.name}
              checked={values[variable.name] === "true"}
              onChange={(event) => setValues({ ...values, [variable.name]: String(event.currentTarget.checked) })}
            />
          ) : (
            <TextInput
              key={variable.name}
              label={variable.label ?? variable.name}
              type={variable.type}
              {...(variable.type === "number" ? { step: "any" } : {})}
              value={values[variable.name] ?? ""}
              error={wrong[`#/variables/${variable.name}`]}
              onChange={(event) => setValues({ ...values, [variable.name]: event.currentTarget.value })}
            />
          ),
        )}
        {simple.length > 0 && <p className="hint">{t("variables.sampleHint")}</p>}
        <Button type="submit" loading={render.isPending}>
          {render.data ? t("preview.again") : t("preview.render")}
        </Button>
      </form>
      {(render.isError || broken !== null) && <Failure error={render.error ?? broken} />}
      {render.data && !render.isError && (
        <div className="preview-pages" aria-busy={render.isPending}>
          <PdfPages bytes={render.data.bytes} pages={[]} onFailure={setBroken} />
        </div>
      )}
    </Dialog>
  );
}

function valuesOf(variables: readonly Variable[], texts: Record<string, string>): Record<string, VariableValue> {
  const values: Record<string, VariableValue> = {};
  for (const { name, type } of variables) {
    const text = texts[name] ?? "";
    if (text === "") continue;
    values[name] = type === "number" ? Number(text) : type === "boolean" ? text === "true" : text;
  }
  return values;
}
