import { Button, Progress } from "@mantine/core";
import { type DragEvent, useId, useRef, useState } from "react";
import { templateLimits } from "../../../../../server/features/templates/contract.ts";
import { pdf } from "../../../../../server/kernel/wire.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Pages } from "../../../../shared/ui/icons.tsx";

type Props = {
  file: File | null;
  onFile: (file: File) => void;
  /** Share that has gone out, from 0 to 1; null while nothing is being sent. */
  progress: number | null;
  disabled?: boolean;
};

const megabytes = (bytes: number) =>
  new Intl.NumberFormat(pageLanguage(), { style: "unit", unit: "megabyte", maximumFractionDigits: 1 }).format(
    bytes / 1024 / 1024,
  );

/** Takes one PDF, dropped or chosen, and refuses at once what the service would refuse for its type or size. */
export function PdfDrop({ file, onFile, progress, disabled = false }: Props) {
  const t = translator("templates");
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const hint = useId();
  const limit = megabytes(templateLimits.pdfBytes);

  const take = (chosen: File | undefined) => {
    if (!chosen || disabled) return;
    if (chosen.type !== pdf && !/\.pdf$/i.test(chosen.name))
      return setRefused(t("upload.notPdf", { name: chosen.name }));
    if (chosen.size === 0) return setRefused(t("upload.emptyFile", { name: chosen.name }));
    if (chosen.size > templateLimits.pdfBytes) {
      return setRefused(t("upload.tooLarge", { name: chosen.name, size: megabytes(chosen.size), limit }));
    }
    setRefused(null);
    // Systems that do not know the ending give no type.
    onFile(chosen.type === pdf ? chosen : new File([chosen], chosen.name, { type: pdf }));
  };
  const drag = (event: DragEvent, inside: boolean) => {
    event.preventDefault();
    setOver(inside && !disabled);
  };

  return (
    <div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a further way; the button inside does the same */}
      <div
        className="pdf-drop"
        data-takes-files=""
        data-over={over || undefined}
        onDragOver={(event) => drag(event, true)}
        onDragLeave={(event) => drag(event, false)}
        onDrop={(event) => {
          drag(event, false);
          take(event.dataTransfer.files[0]);
        }}
      >
        <Pages size={28} />
        <div className="pdf-drop-words">
          {file ? (
            <>
              <strong>{file.name}</strong>
              <span className="soft">{megabytes(file.size)}</span>
            </>
          ) : (
            <>
              <strong>{t("upload.drop")}</strong>
              <span className="soft" id={hint}>
                {t("upload.limits", { limit, pages: templateLimits.pages })}
              </span>
            </>
          )}
        </div>
        <Button variant="default" disabled={disabled} onClick={() => input.current?.click()} aria-describedby={hint}>
          {file ? t("upload.other") : t("upload.choose")}
        </Button>
        <input
          ref={input}
          type="file"
          accept=".pdf,application/pdf"
          aria-label={t("upload.choose")}
          hidden
          onChange={(event) => {
            take(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </div>
      {refused && (
        <p className="refused" role="alert">
          {refused}
        </p>
      )}
      {progress !== null && (
        <Progress value={progress * 100} mt="sm" aria-label={t("upload.progress")} animated={progress >= 1} />
      )}
    </div>
  );
}
