import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import {
  prepareSupportBundle,
  saveSupportBundle,
} from "../../../../../../server/features/appliance/support-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { notify } from "../../../../../shared/ui/kit/notify.tsx";
import { bytes } from "../../bytes.ts";
import { Failure } from "../../Failure.tsx";
import { saveFromAppliance, useLocalAct } from "../../local.ts";
import { verbatim } from "../../Said.tsx";

const t = translator("console");

/** Shows everything that the file will hold before it is saved. */
export function SupportBundle() {
  const prepare = useLocalAct(prepareSupportBundle);
  const save = useMutation({
    mutationFn: ({ id, filename }: { id: string; filename: string }) =>
      saveFromAppliance(saveSupportBundle, { params: { id } }, filename),
    onSuccess: (path) => path !== null && notify({ message: t("saved", { path }) }),
  });
  const bundle = prepare.data;
  return (
    <>
      <p className="soft">{t("diagnostics.bundleHint")}</p>
      {prepare.isError && <Failure error={prepare.error} />}
      {save.isError && <Failure error={save.error} />}
      {bundle && (
        <div className="bundle">
          {bundle.files.map((file) => (
            <details key={file.name}>
              <summary>
                {file.name} ({bytes(file.bytes)})
              </summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text must scroll by the keyboard too (WCAG 2.1.1) */}
              <pre tabIndex={0} {...verbatim()}>
                {file.text}
              </pre>
            </details>
          ))}
        </div>
      )}
      <Group>
        <Button variant={bundle ? "default" : "filled"} loading={prepare.isPending} onClick={() => prepare.mutate({})}>
          {bundle ? t("diagnostics.prepareAgain") : t("diagnostics.prepare")}
        </Button>
        {bundle && (
          <Button loading={save.isPending} onClick={() => save.mutate(bundle)}>
            {t("diagnostics.save")}
          </Button>
        )}
      </Group>
    </>
  );
}
