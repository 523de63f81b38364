import { Button } from "@mantine/core";
import { useId, useRef, useState } from "react";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Download } from "../../../../shared/ui/icons.tsx";
import type { Target } from "./columns.ts";
import { mostRows } from "./rows.ts";
import { download, type FileTrouble, type useFile } from "./useFile.ts";

const t = translator("send");

type Props = { csv: ReturnType<typeof useFile>; targets: readonly Target[]; locked: boolean };

/** Where the file comes from, and an empty one to begin with. */
export function FileStep({ csv, targets, locked }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file) void csv.read(file);
  };
  return (
    <section className="bulk-card" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t("bulk.file.title")}</h2>
      <p className="soft">{t("bulk.file.text")}</p>
      <Button
        variant="default"
        size="sm"
        leftSection={<Download size={16} />}
        onClick={() =>
          void download(
            t("bulk.file.example"),
            targets.map(({ header }) => header),
            [],
          )
        }
      >
        {t("bulk.file.header")}
      </Button>
      {csv.file === null ? (
        <label
          className="bulk-drop"
          data-takes-files=""
          htmlFor={id}
          data-over={over || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            take(event.dataTransfer.files);
          }}
        >
          <span>{t("bulk.file.choose")}</span>
          <input
            id={id}
            ref={input}
            type="file"
            accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
            disabled={csv.reading}
            onChange={(event) => {
              take(event.currentTarget.files);
              // The same file can then be chosen again, after it was corrected.
              event.currentTarget.value = "";
            }}
          />
        </label>
      ) : (
        <p className="bulk-file" role="status">
          <strong>{t("bulk.file.rows", { name: csv.file.name, count: csv.file.table.rows.length })}</strong>
          <button type="button" className="plain" disabled={locked} onClick={csv.drop}>
            {t("bulk.file.other")}
          </button>
        </p>
      )}
      {csv.trouble && (
        <div className="notice bad" role="alert">
          {troubleText(csv.trouble)}
        </div>
      )}
    </section>
  );
}

function troubleText(trouble: FileTrouble): string {
  if (trouble.kind === "quotes") return t("bulk.file.quotes", { row: trouble.row });
  if (trouble.kind !== "tooMany") return t(`bulk.file.${trouble.kind}`);
  const numbers = new Intl.NumberFormat(pageLanguage());
  return t("bulk.file.tooMany", { count: trouble.count, most: numbers.format(mostRows) });
}
