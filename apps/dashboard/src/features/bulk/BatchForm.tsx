import { useCallback, useEffect, useMemo, useState } from "react";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useSession } from "../../session.tsx";
import { type Batch, batchesPlace, carryOver, forgetBatch, newBatch, readBatch, readPredecessor } from "./batch.ts";
import { CheckStep } from "./CheckStep.tsx";
import { ColumnsStep } from "./ColumnsStep.tsx";
import { mapColumns, targetsOf, unmapped } from "./columns.ts";
import { FileStep } from "./FileStep.tsx";
import { RunStep } from "./RunStep.tsx";
import { contentOf, readRows } from "./rows.ts";
import { useBatch } from "./useBatch.ts";
import type { CsvFile, useFile } from "./useFile.ts";

type Props = {
  version: TemplateVersion;
  csv: ReturnType<typeof useFile>;
  testMode: boolean;
  onVersion: (version: number | null) => void;
};

/** The way of one file from its columns to its envelopes. */
export function BatchForm({ version, csv, testMode, onVersion }: Props) {
  const targets = useMemo(() => targetsOf(version), [version]);
  const { file } = csv;
  const [busy, setBusy] = useState(false);
  useUnsaved(busy, { lostBy: ["mode", "language"] });
  return (
    <>
      <FileStep csv={csv} targets={targets} locked={busy} />
      {file && <FileRows {...{ version, file, testMode, onVersion }} onBusy={setBusy} />}
    </>
  );
}

type RowsProps = Omit<Props, "csv"> & { file: CsvFile; onBusy: (busy: boolean) => void };

function FileRows({ version, file, testMode, onVersion, onBusy }: RowsProps) {
  const { organization } = useSession();
  const timeZone = organization?.timeZone ?? "UTC";
  const [now] = useState(Date.now);
  const places = batchesPlace({ organization: organization?.id ?? "", testMode, template: version.template });
  const place = `${places}${file.hash}`;
  const [batch, setBatch] = useState<Batch | null>(() => readBatch(place, now));
  const [before, setBefore] = useState<Batch | null>(() =>
    batch === null ? readPredecessor(places, file.headersHash) : null,
  );
  const wanted = batch?.templateVersion ?? null;
  useEffect(() => onVersion(wanted), [wanted, onVersion]);
  const targets = useMemo(() => targetsOf(version), [version]);
  const earlier = batch ?? before;
  const [mapping, setMapping] = useState(() => earlier?.mapping ?? mapColumns(file.table.headers, targets));
  const [decimal, setDecimal] = useState(() => earlier?.decimal ?? (file.separator === ";" ? "," : "."));
  const complete = unmapped(targets, mapping).length === 0;
  const rows = useMemo(
    () => (complete ? readRows(file.table, { version, targets, mapping, decimal, timeZone, now }) : []),
    [complete, file.table, version, targets, mapping, decimal, timeZone, now],
  );
  useEffect(() => {
    if (before === null) return;
    let gone = false;
    const contents = rows.map((row) => ({ number: row.number, content: contentOf(row) }));
    void carryOver(before, contents).then((carried) => {
      if (gone) return;
      setBefore(null);
      const same = Object.keys(carried.sent).length > 0;
      // The same batch goes on, so that a row on its way when the other file stopped is not sent twice either.
      if (same) setBatch({ ...before, ...carried, templateVersion: version.version ?? before.templateVersion });
    });
    return () => {
      gone = true;
    };
  }, [before, rows, version.version]);
  const { run, begin, end, kept, elsewhere } = useBatch({ place, testMode });
  /** Goes on with what another tab began: its columns are read as they were read there. */
  const adopt = useCallback((found: Batch | null) => {
    setBatch(found);
    if (found === null) return;
    setMapping(found.mapping);
    setDecimal(found.decimal);
  }, []);
  useEffect(() => {
    if (run !== null) return;
    const follow = ({ key }: StorageEvent) => {
      if (key === place) adopt(readBatch(place, Date.now()));
    };
    window.addEventListener("storage", follow);
    return () => window.removeEventListener("storage", follow);
  }, [run, place, adopt]);
  // What was begun goes on with the version that it was begun with.
  if (before !== null || (wanted !== null && wanted !== version.version)) return <Loading rows={3} />;
  return (
    <>
      <ColumnsStep
        {...{ version, targets, mapping, decimal }}
        locked={batch !== null}
        table={file.table}
        onMapping={setMapping}
        onDecimal={setDecimal}
      />
      {complete && <CheckStep rows={rows} testMode={testMode} />}
      {complete && (
        <RunStep
          rows={rows}
          batch={batch}
          run={run}
          kept={kept}
          elsewhere={elsewhere}
          now={now}
          testMode={testMode}
          onBusy={onBusy}
          onStart={() =>
            begin(() => {
              // Another tab may have begun since the file was opened here: then its batch is shown before it goes on.
              const found = readBatch(place, Date.now());
              if (found !== null && found.id !== batch?.id) {
                adopt(found);
                return null;
              }
              const { name, headersHash: headers } = file;
              const reading = { name, headers, templateVersion: version.version ?? 0, mapping, decimal };
              const begun = found ?? batch ?? newBatch(reading, Date.now());
              setBatch(begun);
              return { batch: begun, rows: rows.filter(({ findings }) => findings.length === 0) };
            })
          }
          onFresh={() => {
            end();
            forgetBatch(place);
            setBatch(null);
          }}
        />
      )}
    </>
  );
}
