import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { exportAudit } from "../../../../../server/features/organization/export-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { useMode } from "../../mode.tsx";

/** Everything that is recorded, as a file. */
export function AuditExport() {
  const t = translator("settings");
  const { testMode } = useMode();
  const download = useMutation({
    mutationFn: async (format: "jsonl" | "csv") => {
      const query = { format, testMode: testMode ? "1" : "0" } as const;
      const { bytes, contentType, filename } = await callEndpoint(exportAudit, { query });
      const url = URL.createObjectURL(new Blob([bytes], { type: contentType }));
      const link = document.createElement("a");
      link.href = url;
      link.download = filename ?? `audit.${format}`;
      link.click();
      // The download has taken the bytes over once the click's task is done.
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    },
  });
  return (
    <section className="settings-section" aria-labelledby="audit-export">
      <h2 id="audit-export">{t("audit.export.title")}</h2>
      <p>{t("audit.export.text", { mode: testMode ? t("audit.modes.test") : t("audit.modes.live") })}</p>
      {download.isError && <Failure error={download.error} />}
      <Group>
        {(["jsonl", "csv"] as const).map((format) => (
          <Button
            key={format}
            variant="default"
            loading={download.isPending && download.variables === format}
            onClick={() => download.mutate(format)}
          >
            {t(`audit.export.${format}`)}
          </Button>
        ))}
      </Group>
    </section>
  );
}
